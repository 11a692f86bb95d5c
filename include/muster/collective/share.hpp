// Who does which elements: a run of elements cut into shares, one for each part (a rank, or a
// lane).
#pragma once

#include <cstdint>
#include <numeric>

#include "muster/types.hpp"

namespace muster {

// `count` elements from element `first` on. It may be empty; who has it still meets the others.
struct Share {
  std::int64_t first = 0;
  std::int64_t count = 0;

  [[nodiscard]] MUSTER_FN constexpr std::int64_t end() const { return first + count; }
  friend constexpr bool operator==(const Share&, const Share&) = default;
};

// The least number of elements of T that is a multiple of 16 bytes.
template <class T>
inline constexpr std::int64_t share_grain = 16 / std::gcd(std::int64_t{16},
                                                          static_cast<std::int64_t>(sizeof(T)));

// The share of `part` (0 <= part < parts) in `count` >= 0 elements of T. The shares follow each
// other and cover all elements, each once. They begin at multiples of `grain` > 0 elements (a row,
// say, that one lane shall hold whole), 16 bytes where it is not said. They differ by at most one
// grain; the earlier ones are the larger, but that the last takes what is left behind the last
// whole grain.
template <class T>
[[nodiscard]] MUSTER_FN constexpr Share share_of(std::int64_t count, std::uint32_t part,
                                                 std::uint32_t parts,
                                                 std::int64_t grain = share_grain<T>) {
  const std::int64_t grains = count / grain;
  const std::int64_t each = grains / parts;
  const std::int64_t more = grains % parts;  // so many parts have one grain more
  const auto begin = [&](std::int64_t one) {
    return (one * each + (one < more ? one : more)) * grain;
  };
  const std::int64_t first = begin(part);
  return {first, (part + 1 == parts ? count : begin(std::int64_t{part} + 1)) - first};
}

}  // namespace muster
