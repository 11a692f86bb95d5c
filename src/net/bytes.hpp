// Numbers and texts as bytes: little-endian, texts behind their length.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace muster::detail::net {

template <class Number>
void put_number(std::string& bytes, Number number) {
  static_assert(std::is_unsigned_v<Number>);
  for (std::size_t i = 0; i < sizeof number; ++i)
    bytes += static_cast<char>(static_cast<unsigned char>(number >> (8 * i)));
}

inline void put_text(std::string& bytes, std::string_view text) {
  put_number(bytes, static_cast<std::uint32_t>(text.size()));
  bytes += text;
}

// Takes what put_* has put, in the same order. Where there is less than is asked for, it gives zero
// and nothing, and is_whole() is false from then on.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <class Number>
  [[nodiscard]] Number number() {
    const std::string_view part = take(sizeof(Number));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < part.size(); ++i)
      value |= std::uint64_t{static_cast<unsigned char>(part[i])} << (8 * i);
    return static_cast<Number>(value);
  }

  [[nodiscard]] std::string_view text() { return take(number<std::uint32_t>()); }

  [[nodiscard]] std::string_view rest() { return take(bytes_.size()); }

  // All that was asked for was there.
  [[nodiscard]] bool is_whole() const { return whole_; }
  [[nodiscard]] bool is_empty() const { return bytes_.empty(); }

 private:
  std::string_view take(std::size_t count) {
    if (count > bytes_.size()) {
      whole_ = false;
      bytes_ = {};
      return {};
    }
    const std::string_view part = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return part;
  }

  std::string_view bytes_;
  bool whole_ = true;
};

}  // namespace muster::detail::net
