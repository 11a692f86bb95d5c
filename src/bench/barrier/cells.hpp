// What the hand-written barriers are made of.
#pragma once

#include <atomic>
#include <cstdint>

namespace muster::bench {

// A word with two cache lines to itself: the hardware fetches lines in pairs.
struct alignas(128) Cell {
  std::atomic<std::uint32_t> word;
};

// Wrap-safe.
[[nodiscard]] inline bool reached(std::uint32_t seen, std::uint32_t epoch) {
  return static_cast<std::int32_t>(seen - epoch) >= 0;
}

}  // namespace muster::bench
