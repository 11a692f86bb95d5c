// A digest that tells texts apart which differ by chance, not by design: FNV-1a.
#pragma once

#include <cstdint>
#include <string_view>

namespace muster {

inline constexpr std::uint64_t digest_of_nothing = 0xcbf2'9ce4'8422'2325ULL;

// Of what had the digest `before`, and the text behind it.
[[nodiscard]] constexpr std::uint64_t digest_of(std::string_view text,
                                                std::uint64_t before = digest_of_nothing) {
  std::uint64_t hash = before;
  for (const char byte : text) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x0000'0100'0000'01b3ULL;
  }
  return hash;
}

}  // namespace muster
