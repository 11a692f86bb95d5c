// Ring: reduce and gather from neighbour to neighbour.
#pragma once

#include <cstdint>

#include "muster/collective/call.hpp"
#include "muster/collective/channel.hpp"
#include "muster/collective/share.hpp"
#include "muster/fabric.hpp"

namespace muster {

// A is what travels: the type that sums are kept in, so that they are rounded once.
//
// A block of elements is cut into P chunks. In step t = 0 ... 2(P-1) a rank deals with chunk
// me-1-t (mod P): it receives it from the left (but in step 0), adds what it has itself (in the
// first P-1 steps, step 0 takes its own), keeps it (from step P-1 on, where chunk `me` is whole),
// and sends it to the right (but in the last step). A chunk is sent in at most depth - 1 messages:
// so what lay in the slot of message j of a step is message j-1 of the step before, or an earlier
// one. The neighbour reads that before it sends message j of this step itself, so nobody waits for
// one who waits for him. With `depth` messages all would wait in a circle.
template <class A>
class Ring {
 public:
  Ring() = default;
  // Messages of a `depth`th of `chunk` elements, but not less than a tile where chunk allows it;
  // they and tiles begin at multiples of `grain` elements, where that is not 0.
  template <SetUp Team>
  Ring(Team& team, std::int64_t chunk, std::int64_t tile, std::int64_t grain = 0)
      : channel_(team, whole(message_of(chunk, tile), grain)), grain_(grain) {}

  [[nodiscard]] MUSTER_FN Rows rows() const { return channel_.rows(); }

  // to = op over all ranks of from, for the elements of `mine`. C: elements of a tile. The hooks
  // are those of AllReduce.
  template <std::int64_t C, Fabric F, class To, class From, class Op, class Before, class After>
  MUSTER_FN WaitStatus all_reduce(F& fabric, To to, From from, Share mine, Op op, Before before,
                                  After after) const {
    using T = typename To::value_type;
    auto own = fabric.template tile<T, 1, C>();
    auto sums = fabric.template tile_like<A>(own);
    auto turn = channel_.turn(fabric);
    const std::uint32_t ranks = fabric.size();
    const std::uint32_t last = 2 * (ranks - 1);
    const std::int64_t most = channel_.elements() * (Channel<A>::depth - 1);  // of a chunk
    const std::int64_t block = most * ranks;
    const std::int64_t grain = grain_ > 0                   ? grain_
                               : most % share_grain<A> == 0 ? share_grain<A>
                                                            : 1;
    const std::int64_t in_a_tile = grain_ > 0 ? whole(C, grain_) : C;
    for (std::int64_t done = 0; done < mine.count && turn.status() == WaitStatus::ok;
         done += block) {
      const std::int64_t count = mine.count - done < block ? mine.count - done : block;
      // Chunks differ in length, not in messages: each rank sends as many as it receives.
      // (The first is the longest but for a tail that the last has.)
      const std::int64_t head = share_of<A>(count, 0, ranks, grain).count;
      const std::int64_t tail = share_of<A>(count, ranks - 1, ranks, grain).count;
      const std::int64_t longest = head > tail ? head : tail;
      for (std::uint32_t step = 0; step <= last; ++step) {
        const Move move{step != 0, step < ranks, step + 1 >= ranks, step != last};
        const Share chunk = share_of<A>(count, left_of(fabric, 1 + step).value, ranks, grain);
        detail::each_part(longest, channel_.elements(), [&](std::int64_t at, std::int64_t length) {
          const std::int64_t left = chunk.count > at ? chunk.count - at : 0;
          const Share part{mine.first + done + chunk.first + at, left < length ? left : length};
          pass(fabric, turn, own, sums, to, from, op, move, part, in_a_tile, before, after);
        });
      }
    }
    return turn.end();
  }

 private:
  struct Move {
    bool receives;
    bool adds;
    bool keeps;
    bool sends;
  };

  // One message.
  template <class F, class Turn, class Own, class Sums, class To, class From, class Op,
            class Before, class After>
  MUSTER_FN static void pass(F& fabric, Turn& turn, Own& own, Sums& sums, To to, From from, Op op,
                             Move move, Share part, std::int64_t in_a_tile, Before before,
                             After after) {
    if (move.receives) (void)turn.begin_receive();
    if (move.sends) (void)turn.begin_send();
    if (turn.status() != WaitStatus::ok) return;
    detail::each_part(part.count, in_a_tile, [&](std::int64_t at, std::int64_t length) {
      const Box box = detail::run_box(part.first + at, length);
      if (move.receives) turn.read(sums, at, length);
      if (move.adds) {
        fabric.load(own, from, box);
        before(own, box);
        if (move.receives)
          sums.combine(own, op);
        else
          sums.assign(own);
      }
      if (move.keeps) {
        own.assign(sums);
        after(own, box);
        fabric.store(own, to, box);
      }
      if (move.sends) turn.write(sums, at, length);
    });
    if (move.receives) turn.end_receive();
    if (move.sends) turn.end_send();
  }

  [[nodiscard]] static constexpr std::int64_t message_of(std::int64_t chunk, std::int64_t tile) {
    const std::int64_t part = chunk / Channel<A>::depth;
    if (part >= tile) return part;
    return chunk < tile ? chunk : tile;
  }

  // Of `elements` those of whole grains, but one at least.
  [[nodiscard]] MUSTER_FN static constexpr std::int64_t whole(std::int64_t elements,
                                                              std::int64_t grain) {
    if (grain == 0) return elements;
    return elements < grain ? grain : elements / grain * grain;
  }

  Channel<A> channel_;
  std::int64_t grain_ = 0;
};

}  // namespace muster
