#include "base/printable.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace muster {

namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  // 0: it is none
};

// The first of the text, as RFC 3629 has it.
Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xF8   ? 0
                            : first >= 0xF0 ? 4
                            : first >= 0xE0 ? 3
                            : first >= 0xC0 ? 2
                                            : 0;
  if (bytes == 0 || text.size() < bytes) return {};
  std::uint32_t code = first & (0x7FU >> bytes);
  for (std::size_t at = 1; at < bytes; ++at) {
    if ((byte(at) & 0xC0U) != 0x80U) return {};
    code = code << 6U | (byte(at) & 0x3FU);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool exists = code >= least[bytes] && code < 0x110000 && (code < 0xD800 || code > 0xDFFF);
  return exists ? Character{code, bytes} : Character{};
}

// C0, DEL and C1; and what turns the direction of writing, which shows a name as another.
bool commands(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const Character first = first_of(text);
    const std::size_t bytes = first.bytes == 0 ? 1 : first.bytes;
    const bool plain = first.bytes > 0 && !commands(first.code);
    if (plain) shown += text.substr(0, bytes);
    for (std::size_t at = 0; !plain && at < bytes; ++at)
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at]));
    text.remove_prefix(bytes);
  }
  return shown;
}

}  // namespace muster
