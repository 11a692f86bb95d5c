// A whole all-reduce, as a kernel author writes one: sums of float16, of any count, on any number
// of lanes, safe to call again at once. docs/kernels.md goes through it; `muster check
// example/all_reduce` proves it, and all_reduce.cu runs it on GPUs.
#pragma once

#include <cstdint>

#include "muster/barrier/epoch.hpp"
#include "muster/fabric.hpp"
#include "muster/half.hpp"

namespace example {

// Every lane shows its peers one tile at a time: it writes the tile into a slot of its own rank,
// meets its namesakes, and reads theirs. All ranks add in the same order, rank 0 first, so that all
// get the same bits.
//
// Slots: `depth` of them for each lane, used in turn. The lane's slots are its own whatever tile it
// has, for its barrier speaks to its namesakes alone. A slot of round r is written again in round
// r + depth: with a depth of 2 the writer has met the others in round r + 1 by then, and each came
// there after it had read round r. With a depth of 1 it would have heard nothing since:
// `muster check broken/all_reduce_one_slot`.
template <std::int64_t C>
class AllReduce {
 public:
  template <muster::SetUp Team>
  explicit AllReduce(Team& team, std::int64_t depth = 2)
      : barrier_(team),
        slots_(*team.template window<muster::float16>({team.max_lanes() * depth, C})),
        depth_(depth) {}

  // Called by all threads of the lane. `data` is a window or plain memory of 1 x count elements,
  // which becomes the sum over all ranks; all ranks have the same count and number of lanes. After
  // a status that is not ok, which is the same to all threads, it holds anything.
  template <muster::Fabric F, class Data>
  MUSTER_FN muster::WaitStatus sum(F& fabric, Data data) const {
    using namespace muster;
    auto mine = fabric.template tile<float16, 1, C>();
    auto sums = fabric.template tile_like<Accumulator<float16>>(mine);  // float
    const std::int64_t lane = fabric.lane().value;
    // Rounds are counted where the barrier counts: on from call to call, for each lane by itself,
    // since a call with fewer lanes leaves some out.
    std::uint32_t round = fabric.counter(barrier_.rows().epoch(fabric.lane()));
    for (std::int64_t at = lane * C; at < data.cols; at += fabric.lanes() * C, ++round) {
      const Box piece = clip(data, at);  // the last tile is ragged
      const Box slot{lane * depth_ + round % depth_, 0, 1, piece.cols};
      fabric.load(mine, data, piece);
      fabric.store(mine, slots_, slot);
      const WaitStatus met = barrier_.sync(fabric);
      if (met != WaitStatus::ok) return met;

      sums.each([](std::int64_t, std::int64_t, float& element) { element = 0; });
      for (std::uint32_t rank = 0; rank < fabric.size(); ++rank) {
        // A load that fails fails the lane: the next barrier, or the end, tells.
        (void)fabric.remote_load(mine, slots_, Rank{rank}, slot);
        sums.combine(mine, Sum{});
      }
      mine.assign(sums);  // rounded once
      fabric.store(mine, data, piece);
    }
    return fabric.converge(WaitStatus::ok);
  }

 private:
  template <class Data>
  [[nodiscard]] MUSTER_FN static muster::Box clip(const Data& data, std::int64_t at) {
    return {0, at, 1, data.cols - at < C ? data.cols - at : C};
  }

  muster::EpochBarrier barrier_;
  muster::WindowRef<muster::float16> slots_;
  std::int64_t depth_;
};

}  // namespace example
