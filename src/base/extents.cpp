#include "base/extents.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace muster {

Result<Extents> fold_extents(const char* call, std::span<const std::int64_t> extents,
                             std::size_t element) {
  constexpr std::uint64_t most_bytes = 1ULL << 62U;  // so that sums of two can be counted, too
  const auto invalid = [&](std::string what) {
    return Error{ErrorCode::invalid_argument, fmt::format("{}: {}", call, what)};
  };
  if (extents.empty()) return invalid("extents is empty; it must name at least one extent");
  Extents folded;
  folded.bytes = element;
  bool fits = true;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] < 1)
      return invalid(
          fmt::format("extents[{}] is {}; it must be at least 1 (elements)", i, extents[i]));
    const auto extent = static_cast<std::uint64_t>(extents[i]);
    fits = fits && !__builtin_mul_overflow(folded.bytes, extent, &folded.bytes) &&
           folded.bytes <= most_bytes;
    if (fits) (i + 1 < extents.size() ? folded.rows : folded.cols) *= extents[i];
  }
  if (fits) return folded;
  return Error{ErrorCode::out_of_memory,
               fmt::format("{}: extents {{{}}} ask for more bytes than can be counted; extents "
                           "are elements of {} bytes, not bytes",
                           call, fmt::join(extents, ", "), element)};
}

}  // namespace muster
