#include "check/html_text.hpp"

#include <cstddef>
#include <cstdint>

namespace muster::check {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

std::uint32_t byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// The bytes of the character that begins the text; 0 where none does (RFC 3629: no overlong form,
// no surrogate, nothing above U+10FFFF).
std::size_t character(std::string_view text) {
  const std::uint32_t first = byte_at(text, 0);
  if (first < 0x80) return 1;
  const std::size_t bytes = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (bytes == 0 || first > 0xF4 || text.size() < bytes) return 0;
  for (std::size_t at = 1; at < bytes; ++at)
    if ((byte_at(text, at) & 0xC0U) != 0x80) return 0;
  const std::uint32_t second = byte_at(text, 1);
  const bool refused = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                       (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return refused ? 0 : bytes;
}

std::string_view escape_of(char letter) {
  switch (letter) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    case '\t':
    case '\n': return "";
    default: break;
  }
  const auto code = static_cast<unsigned char>(letter);
  return code < 0x20 || code == 0x7F ? replacement : "";
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t bytes = character(text);
    const std::string_view escape = bytes == 0   ? replacement
                                    : bytes == 1 ? escape_of(text.front())
                                                 : std::string_view{};
    if (escape.empty())
      out += text.substr(0, bytes);
    else
      out += escape;
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return out;
}

}  // namespace muster::check
