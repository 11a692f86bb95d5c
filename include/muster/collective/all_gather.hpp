// AllGather: every rank gets what all ranks have, in the order of the ranks.
#pragma once

#include <cstdint>

#include "muster/collective/call.hpp"
#include "muster/collective/stage.hpp"
#include "muster/fabric.hpp"

namespace muster {

// to[r * count + i] = from[i] of rank r, 0 <= i < count: count elements x P ranks to P * count
// elements on each.
//
// Cost per rank and call, P ranks: 1 round for each chunk of count; (P-1) * count elements read.
//
// `to` and `from` are windows of the team (their part of this rank) or plain memory of the rank,
// read as one run of elements. `from` may be the own part of `to`, count elements
// from rank() * count on; else they do not overlap.
//
// The caller's own arithmetic costs no second pass over memory, as in AllReduce: before(tile, box)
// is called on what this rank is about to send, box being its place in `from` (in one row), and
// after(tile, box) on what it is about to store, box being its place in `to`: each element once, by
// all threads of the lane whose share it is. With `.grain` the length of a row, a tile holds whole
// rows of one rank's part. (The last may be shorter.) They may read and write what else the lane
// has, and converge; not communicate.
//
// Plain bytes: copy it into bodies and kernels. It owns its memory; calls of one object may follow
// each other at once. Lanes share the elements. After a call that was not `ok`, `to` holds
// anything, and the next call returns `refused`.
template <class T, std::int64_t C = detail::collective_tile<T>>
class AllGather {
 public:
  AllGather() = default;
  template <SetUp Team>
  explicit AllGather(Team& team, RowOptions options = {})
      : grain_(options.grain, detail::chunk_of<T>(options.chunk)),
        stage_(team, detail::chunk_of<T>(options.chunk), Passing::between_two) {}

  // Called by all threads of the lane; the same status to all. All ranks say the same count >= 0.
  template <Fabric F, TransferEnd To, TransferEnd From>
  MUSTER_FN WaitStatus run(F& fabric, To to, From from, std::int64_t count) const {
    return run(fabric, to, from, count, detail::NoHook{}, detail::NoHook{});
  }

  // The same with hooks.
  template <Fabric F, TransferEnd To, TransferEnd From, class Before, class After>
  MUSTER_FN WaitStatus run(F& fabric, To to, From from, std::int64_t count, Before before,
                           After after) const {
    const OneCall call(fabric);
    fabric.converge();  // other threads of the lane may have written what this one reads
    const std::int64_t all = detail::of_all_ranks(count, fabric.size());
    const bool is_valid =
        all >= 0 && detail::holds_call(to, all, from, count, fabric.rank().value * count);
    detail::describe_collective<T>(fabric, "AllGather", stage_.rows(), detail::no_operator, count,
                                   is_valid);
    if (!is_valid) return WaitStatus::invalid;
    const Share mine = grain_.share(count, fabric.lane().value, fabric.lanes());
    return detail::with_tile_for<T, C, detail::hooked<Before, After>>(mine.count, [&](auto width) {
      return gather<decltype(width)::value>(fabric, detail::as_run(to), detail::as_run(from), count,
                                            mine, before, after);
    });
  }

 private:
  // Nothing needs a tile.
  template <class F, class To, class From>
  static constexpr bool straight = Stage<T>::template Rounds<F>::template writes_straight<From>&&
      detail::CarriesStraight<F, To, From>;

  template <std::int64_t width, class F, class To, class From, class Before, class After>
  MUSTER_FN WaitStatus gather(F& fabric, To to, From from, std::int64_t count, Share mine,
                              Before before, After after) const {
    auto tile = fabric.template tile<T, 1, width>();
    auto rounds = stage_.rounds(fabric);
    const std::int64_t in_a_tile = grain_.whole(width);
    const std::int64_t most = grain_.whole(stage_.elements());
    detail::each_piece(mine.count, most, [&](std::int64_t first, std::int64_t piece) {
      const std::int64_t start = mine.first + first;
      const std::int64_t own_start = fabric.rank().value * count + start;
      if constexpr (straight<F, To, From> && !detail::hooked<Before, After>) {
        const Box box = detail::run_box(start, piece);
        if (piece > 0) rounds.write_from(from, box, 0);
        const auto keep_own = [&] {
          if (piece > 0) fabric.carry(to, detail::run_box(own_start, piece), from, box);
        };
        if (rounds.meet(keep_own) != WaitStatus::ok) return false;
      } else {
        detail::each_part(piece, in_a_tile, [&](std::int64_t at, std::int64_t length) {
          const Box box = detail::run_box(start + at, length);
          fabric.load(tile, from, box);
          before(tile, box);
          rounds.write(tile, at, length);
          const Box own = detail::run_box(own_start + at, length);
          after(tile, own);
          fabric.store(tile, to, own);
        });
        if (rounds.meet() != WaitStatus::ok) return false;
      }
      for (std::uint32_t step = 1; step < fabric.size(); ++step) {
        const Rank owner = right_of(fabric, step);
        detail::collect<width>(fabric, rounds, tile, owner, 0, to, owner.value * count + start,
                               piece, after, in_a_tile);
      }
      return true;
    });
    return rounds.end();
  }

  detail::Grain<T, C> grain_;
  Stage<T> stage_;
};

}  // namespace muster
