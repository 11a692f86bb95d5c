// Draws random programs. Most are correct: they are put together from blocks that are (messages,
// acknowledgements, barriers, rings, sums, hand-offs), one after the other in one order for all
// threads, and some are then spoilt by one or two small changes.
#pragma once

#include <cstdint>

#include "program.hpp"

namespace muster::fuzz {

// SplitMix64: the same numbers on every platform.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return z ^ z >> 31;
  }
  // 0 .. n-1
  std::uint32_t below(std::size_t n) { return static_cast<std::uint32_t>(next() % n); }
  bool percent(std::uint32_t share) { return below(100) < share; }

 private:
  std::uint64_t state_;
};

// Fixed by seed and profile; `fetched`: with fetched operations.
[[nodiscard]] Program draw(std::uint64_t seed, Profile profile, bool fetched = false);

// One of kernels that overlap, with slots whose data is its own flag.
[[nodiscard]] Program draw_kernels(std::uint64_t seed, Profile profile);

// One small change: an operation dropped, weakened, moved, or with another value, cell or peer.
void spoil(Program& program, Random& random);

// Nothing in it breaks the rules of the language: transfers of one rank onto itself do not overlap,
// the threads of a lane call the same transfers, put_signal only where a lane is one thread, no
// notify to a cell of hand and take, one launch_wait in every thread of a kernel but the first, and
// at most one launch_done, behind it.
[[nodiscard]] bool well_formed(const Program& program);

}  // namespace muster::fuzz
