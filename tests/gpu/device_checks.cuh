// Checks inside kernels: they count what does not hold and keep the first of it, which the host
// reports with the line of the test. Any thread may check.
#pragma once

#include <cstdint>
#include <string>

#include "gpu/support.hpp"
#include "muster/fabric/gpu.cuh"

namespace muster::gpu_test {

// In a window of each rank's: failures; line, lane, seen and expected of the first; lanes that came
// to their end.
struct Board {
  WindowRef<std::uint32_t> words;

  static constexpr std::int64_t count = 6;
};

class DeviceChecks {
 public:
  template <class F>
  __device__ DeviceChecks(F& fabric, const Board& board)
      : words_(fabric.local(board.words).data()), lane_(fabric.lane().value) {}

  __device__ bool equal(std::uint32_t seen, std::uint32_t expected, int line = __builtin_LINE()) {
    if (seen == expected) return true;
    good_ = false;
    if (atomicAdd(&words_[0], 1U) == 0) {
      words_[1] = static_cast<std::uint32_t>(line);
      words_[2] = lane_;
      words_[3] = seen;
      words_[4] = expected;
    }
    return false;
  }
  __device__ bool holds(bool condition, int line = __builtin_LINE()) {
    return equal(condition ? 1 : 0, 1, line);
  }
  __device__ bool ok(WaitStatus status, int line = __builtin_LINE()) {
    return equal(static_cast<std::uint32_t>(status), static_cast<std::uint32_t>(WaitStatus::ok),
                 line);
  }
  [[nodiscard]] __device__ bool good() const { return good_; }

  // Called once by one thread of the lane: a kernel that never ran must not pass.
  __device__ void end() { atomicAdd(&words_[5], 1U); }

 private:
  std::uint32_t* words_;
  std::uint32_t lane_;
  bool good_ = true;
};

inline Board make_board(gpu::World& world) {
  return {need(world.window<std::uint32_t>({Board::count}))};
}

// `lanes`: how many have called end() on each rank since the world was new.
inline void check_board(const gpu::World& world, const Board& board, std::uint32_t lanes,
                        const std::string& what) {
  for (std::uint32_t rank = 0; rank < world.size(); ++rank) {
    const auto words = fetch(world, board.words, Rank{rank});
    expect(words[0] == 0,
           "%s, rank %u: %u checks failed, the first in line %u, lane %u: %u, not %u", what.c_str(),
           rank, words[0], words[1], words[2], words[3], words[4]);
    expect(words[5] == lanes, "%s, rank %u: %u lanes came to their end, not %u", what.c_str(), rank,
           words[5], lanes);
  }
}

// launch(world, board) starts kernels in which each rank's lanes call end() `lanes` times in all;
// on 2, 3, 4 and 8 ranks, on one GPU and on two.
template <class Launch>
void on_every_placement(std::uint32_t lanes, Launch launch) {
  for (const auto& devices : placements({2, 3, 4, 8})) {
    gpu::World world = need(gpu::World::create({.devices = devices,
                                                .lanes = 4,
                                                .bytes = 8U << 20U,
                                                .deadline = patience(),
                                                .on_expiry = retry,
                                                .verify = true}));
    const Board board = make_board(world);
    launch(world, board);
    const Result<void> end = world.synchronize();
    expect(end.has_value(), "%s: %s", text_of(devices).c_str(),
           end ? "" : to_string(end.error()).c_str());
    check_board(world, board, lanes, text_of(devices));
  }
}

}  // namespace muster::gpu_test
