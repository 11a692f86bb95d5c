// ReduceScatter: the operator over what all ranks have, a part of it to each.
#pragma once

#include <cstdint>

#include "muster/collective/call.hpp"
#include "muster/collective/stage.hpp"
#include "muster/collective/sums.hpp"
#include "muster/fabric.hpp"

namespace muster {

// to[i] = op over all ranks of from[rank() * count + i], 0 <= i < count: P * count elements x P
// ranks to count elements on each.
//
// Cost per rank and call, P ranks: 1 round for each P-th of a chunk of count; (P-1) * count
// elements read. The order of the ranks is the order of the sum, as in AllReduce.
//
// `to` and `from` are windows of the team (their part of this rank) or plain memory of the rank,
// read as one run of elements. `to` may be the own part of `from`, count elements
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
class ReduceScatter {
 public:
  ReduceScatter() = default;
  template <SetUp Team>
  explicit ReduceScatter(Team& team, RowOptions options = {})
      : grain_(options.grain, detail::chunk_of<T>(options.chunk)),
        stage_(team, detail::chunk_for_each<T>(team, options.chunk, options.grain),
               Passing::between_two) {}

  // Called by all threads of the lane; the same status to all. All ranks say the same count >= 0.
  template <Fabric F, TransferEnd To, TransferEnd From, class Op = Sum>
  MUSTER_FN WaitStatus run(F& fabric, To to, From from, std::int64_t count, Op op = {}) const {
    return run(fabric, to, from, count, detail::NoHook{}, detail::NoHook{}, op);
  }

  // The same with hooks.
  template <Fabric F, TransferEnd To, TransferEnd From, class Before, class After, class Op = Sum>
  MUSTER_FN WaitStatus run(F& fabric, To to, From from, std::int64_t count, Before before,
                           After after, Op op = {}) const {
    const OneCall call(fabric);
    fabric.converge();  // other threads of the lane may have written what this one reads
    const std::int64_t all = detail::of_all_ranks(count, fabric.size());
    const bool is_valid =
        all >= 0 && detail::holds_call(to, count, from, all, -(fabric.rank().value * count));
    detail::describe_collective<T>(fabric, "ReduceScatter", stage_.rows(),
                                   detail::operator_code(op), count, is_valid);
    if (!is_valid) return WaitStatus::invalid;
    const Share mine = grain_.share(count, fabric.lane().value, fabric.lanes());
    return detail::with_tile_for<T, C, detail::hooked<Before, After>>(mine.count, [&](auto width) {
      return reduce<decltype(width)::value>(fabric, detail::as_run(to), detail::as_run(from), count,
                                            mine, op, before, after);
    });
  }

 private:
  // What a rank reduces itself it need not show: nobody else reads it.
  template <std::int64_t width, class F, class To, class From, class Op, class Before, class After>
  MUSTER_FN WaitStatus reduce(F& fabric, To to, From from, std::int64_t count, Share mine, Op op,
                              Before before, After after) const {
    detail::Sums<T, width, F> sums(fabric);
    auto rounds = stage_.rounds(fabric);
    const std::int64_t in_a_tile = grain_.whole(width);
    const std::int64_t most = grain_.whole(stage_.elements() / fabric.size());
    detail::each_piece(mine.count, most, [&](std::int64_t first, std::int64_t piece) {
      const std::int64_t start = mine.first + first;
      detail::show_parts<width>(fabric, rounds, sums.tile(), from, count, start, piece, most,
                                before, in_a_tile);
      if (rounds.meet() != WaitStatus::ok) return false;
      if constexpr (decltype(rounds)::template folds_straight<To, From, Op> &&
                    !detail::hooked<Before, After>)
        if (fabric.size() == 2) {
          const std::int64_t me = fabric.rank().value;
          rounds.fold_to(to, detail::run_box(start, piece), from,
                         detail::run_box(me * count + start, piece), most, op);
          return true;
        }
      detail::each_part(piece, in_a_tile, [&](std::int64_t at, std::int64_t length) {
        const auto shown_at = [&](Rank rank) {
          return detail::part_place(fabric, rank, fabric.rank()) * most + at;
        };
        const Box own = detail::run_box(fabric.rank().value * count + start + at, length);
        const auto read = [&](Rank rank, auto& tile) {
          if (rank != fabric.rank()) return rounds.read(tile, rank, shown_at(rank), length);
          fabric.load(tile, from, own);
          before(tile, own);
        };
        auto& total = sums.by_adding(fabric.size(), read, [&](Rank rank, auto& all, auto& tile) {
          if (rank != fabric.rank()) return rounds.add(all, tile, rank, shown_at(rank), length, op);
          if constexpr (!detail::hooked<Before, After>)
            return detail::add_from(fabric, all, tile, from, rank, own, op);
          read(rank, tile);
          all.combine(tile, op);
        });
        const Box box = detail::run_box(start + at, length);
        after(total, box);
        fabric.store(total, to, box);
      });
      return true;
    });
    return rounds.end();
  }

  detail::Grain<T, C> grain_;
  Stage<T> stage_;
};

}  // namespace muster
