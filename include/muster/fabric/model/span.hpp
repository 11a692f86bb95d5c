// What an operation of the model is about: a stretch of memory, how it is touched, and where in the
// source. Included by muster/fabric/model.hpp.
#pragma once

#include <cstdint>
#include <source_location>

#include "muster/types.hpp"

namespace muster::model {

using Where = std::source_location;

enum class Access : std::uint8_t { read, write, remote_add };

// Who meets at a barrier: the same lane of every rank, all lanes of one rank, all lanes of all.
enum class BarrierScope : std::uint8_t { lane, rank, team };

// `count` elements of `element` bytes each, from `offset` bytes into a segment.
struct Span {
  std::uint32_t segment = 0;
  std::uint64_t offset = 0;
  std::int64_t count = 0;
  std::uint32_t element = 1;
};

}  // namespace muster::model
