// remote_add at its target: numbers added one by one, each atomically.
#pragma once

#include <cstddef>

#include "muster/fabric/ucx/context.hpp"

namespace muster::ucx {

[[nodiscard]] constexpr std::size_t bytes_of(Number number) {
  switch (number) {
    case Number::word8: return 1;
    case Number::word16:
    case Number::half:
    case Number::brain: return 2;
    case Number::word32:
    case Number::float32: return 4;
    case Number::word64:
    case Number::float64: return 8;
  }
  return 1;
}

// `bytes` of numbers from `from` (aligned to nothing) to those at `to`, which are aligned.
void add_numbers(std::byte* to, const std::byte* from, std::size_t bytes, Number number);

}  // namespace muster::ucx
