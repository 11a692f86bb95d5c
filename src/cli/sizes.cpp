#include "cli/sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace muster::cli {

namespace {

constexpr std::uint64_t most_factor = 1024;

std::optional<std::uint64_t> whole(std::string_view digits) {
  std::uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (digits.empty() || error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

// How far K, M or G shifts; 0 for anything else.
unsigned shift_of(char suffix) {
  switch (suffix) {
    case 'K':
    case 'k': return 10;
    case 'M':
    case 'm': return 20;
    case 'G':
    case 'g': return 30;
    default: return 0;
  }
}

Error wrong(std::string what) {
  return Error{ErrorCode::invalid_argument, std::move(what)};
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t colon = 0; (colon = text.find(':')) != std::string_view::npos;) {
    parts.push_back(text.substr(0, colon));
    text.remove_prefix(colon + 1);
  }
  parts.push_back(text);
  return parts;
}

}  // namespace

Result<std::uint64_t> parse_size(std::string_view text, SizeLimits limits) {
  const unsigned shift = text.empty() ? 0 : shift_of(text.back());
  const auto number = whole(shift == 0 ? text : text.substr(0, text.size() - 1));
  if (!number)
    return wrong(
        fmt::format("'{}' is not a size: write a number of bytes, with K, M or G for powers of "
                    "1024 (8, 64K, 2M)",
                    text));
  const auto [step, most] = limits;
  if (*number == 0 || *number > most >> shift || (*number << shift) % step != 0)
    return wrong(fmt::format("'{}' is not a multiple of {} from {} to {}", text, size_word(step),
                             size_word(step), size_word(most)));
  return *number << shift;
}

Result<Sizes> parse_size_word(const std::string& word, SizeLimits limits) {
  const std::vector<std::string_view> parts = split(word);
  if (parts.size() > 3)
    return wrong(fmt::format("'{}' is not a range: write FROM:TO or FROM:TO:FACTOR", word));
  const Result<std::uint64_t> from = parse_size(parts[0], limits);
  if (!from) return from.error();
  if (parts.size() == 1) return Sizes{*from};
  const Result<std::uint64_t> to = parse_size(parts[1], limits);
  if (!to) return to.error();
  if (*to < *from)
    return wrong(fmt::format("'{}' falls: {} is below {}", word, parts[1], parts[0]));
  const auto factor = parts.size() == 3 ? whole(parts[2]) : std::uint64_t{2};
  if (!factor || *factor < 2 || *factor > most_factor)
    return wrong(fmt::format("the factor of '{}' is '{}'; it must be a whole number from 2 to {}",
                             word, parts[2], most_factor));
  Sizes sizes;
  for (std::uint64_t size = *from; size <= *to; size *= *factor) sizes.push_back(size);
  return sizes;
}

Result<Sizes> parse_sizes(const std::vector<std::string>& words, SizeLimits limits) {
  Sizes all;
  for (const std::string& word : words) {
    const Result<Sizes> sizes = parse_size_word(word, limits);
    if (!sizes) return sizes.error();
    for (const std::uint64_t size : *sizes)
      if (std::find(all.begin(), all.end(), size) == all.end()) all.push_back(size);
  }
  return all;
}

std::string size_word(std::uint64_t bytes) {
  constexpr std::string_view suffixes = "KMG";
  std::string word = std::to_string(bytes);
  for (const char suffix : suffixes) {
    if (bytes == 0 || bytes % 1024 != 0) break;
    bytes /= 1024;
    word = std::to_string(bytes) + suffix;
  }
  return word;
}

}  // namespace muster::cli
