// The extents of a window, checked and folded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "muster/result.hpp"

namespace muster {

struct Extents {
  std::int64_t rows = 1;  // elements
  std::int64_t cols = 1;
  std::uint64_t bytes = 0;
};

// What every set-up side makes of the extents that it is given, in elements of `element` bytes: the
// last becomes the columns, all before it fold into the rows. `call` begins the errors ("window").
// Errors: invalid_argument where there are none, or one is below 1; out_of_memory where the bytes
// are more than can be counted, which is where bytes were mistaken for elements.
[[nodiscard]] Result<Extents> fold_extents(const char* call, std::span<const std::int64_t> extents,
                                           std::size_t element);

}  // namespace muster
