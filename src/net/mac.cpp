#include "net/mac.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <stdexcept>

namespace muster::detail::net {

Mac mac_of(std::string_view key, std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  Mac mac{};
  unsigned int length = 0;
  const auto* made =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac.data(), &length);
  if (made == nullptr || length != mac.size())
    throw std::runtime_error("libcrypto has no HMAC-SHA256");
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
