#include "net/mac.hpp"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <memory>
#include <stdexcept>

namespace muster::detail::net {
namespace {

struct Free {
  void operator()(EVP_MAC* mac) const { EVP_MAC_free(mac); }
  void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
};

const unsigned char* unsigned_bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

Mac mac_of(std::string_view key, std::initializer_list<std::string_view> parts) {
  static const std::unique_ptr<EVP_MAC, Free> hmac(EVP_MAC_fetch(nullptr, "HMAC", nullptr));
  const std::unique_ptr<EVP_MAC_CTX, Free> context(EVP_MAC_CTX_new(hmac.get()));
  char digest[] = "SHA256";
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_end()};
  bool well = context != nullptr &&
              EVP_MAC_init(context.get(), unsigned_bytes(key), key.size(), parameters) == 1;
  for (const std::string_view part : parts)
    well = well && EVP_MAC_update(context.get(), unsigned_bytes(part), part.size()) == 1;
  Mac mac{};
  std::size_t length = 0;
  well = well && EVP_MAC_final(context.get(), mac.data(), &length, mac.size()) == 1;
  if (!well || length != mac.size()) throw std::runtime_error("libcrypto has no HMAC-SHA256");
  return mac;
}

bool same(const Mac& one, std::string_view other) {
  return other.size() == one.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

Nonce fresh_nonce() {
  Nonce nonce{};
  if (RAND_bytes(nonce.data(), static_cast<int>(nonce.size())) != 1)
    throw std::runtime_error("libcrypto has no random bytes");
  return nonce;
}

}  // namespace muster::detail::net
