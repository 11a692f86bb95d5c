// Who knows the job's token, and what comes from them: HMAC-SHA256 (RFC 2104, FIPS 180-4) of
// OpenSSL's libcrypto. Nothing here is cryptography of our own.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace muster::detail::net {

inline constexpr std::size_t mac_bytes = 32;
using Mac = std::array<unsigned char, mac_bytes>;
using Nonce = std::array<unsigned char, 32>;

// Of the parts one behind the other. Who calls it sees to it that no two meanings have one text:
// all parts but the last are of fixed length. Throws std::runtime_error where the library has none.
[[nodiscard]] Mac mac_of(std::string_view key, std::initializer_list<std::string_view> parts);

// In a time that does not depend on where they differ.
[[nodiscard]] bool same(const Mac& one, std::string_view other);

// From the system's generator. Throws std::runtime_error where it has nothing to give.
[[nodiscard]] Nonce fresh_nonce();

[[nodiscard]] inline std::string_view bytes_of(const std::array<unsigned char, 32>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace muster::detail::net
