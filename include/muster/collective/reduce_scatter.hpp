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
// Plain bytes: copy it into bodies and kernels. It owns its memory; calls of one object may follow
// each other at once. Lanes share the elements. After a call that was not `ok`, `to` holds
// anything, and the next call returns `refused`.
template <class T, std::int64_t C = detail::collective_tile<T>>
class ReduceScatter {
 public:
  ReduceScatter() = default;
  template <SetUp Team>
  explicit ReduceScatter(Team& team, CollectiveOptions options = {})
      : stage_(team, detail::chunk_for_each<T>(options.chunk, team.size())) {}

  // Called by all threads of the lane; the same status to all. All ranks say the same count >= 0.
  template <Fabric F, TransferEnd To, TransferEnd From, class Op = Sum>
  MUSTER_FN WaitStatus run(F& fabric, To to, From from, std::int64_t count, Op op = {}) const {
    const OneCall call(fabric);
    fabric.converge();  // other threads of the lane may have written what this one reads
    const std::int64_t all = detail::of_all_ranks(count, fabric.size());
    if (all < 0 || !detail::holds_call(to, count, from, all, -(fabric.rank().value * count)))
      return WaitStatus::invalid;
    detail::describe_collective<T>(fabric, "ReduceScatter", stage_.rows(),
                                   detail::operator_code(op), count);
    const Share mine = share_of<T>(count, fabric.lane().value, fabric.lanes());
    return detail::with_tile<T, C>(mine.count, [&](auto width) {
      return reduce<width()>(fabric, detail::as_run(to), detail::as_run(from), count, mine, op);
    });
  }

 private:
  // What a rank reduces itself it need not show: nobody else reads it.
  template <std::int64_t width, class F, class To, class From, class Op>
  MUSTER_FN WaitStatus reduce(F& fabric, To to, From from, std::int64_t count, Share mine,
                              Op op) const {
    detail::Sums<T, width, F> sums(fabric);
    auto rounds = stage_.rounds(fabric);
    const std::int64_t most = stage_.elements() / fabric.size();
    detail::each_piece(mine.count, most, [&](std::int64_t first, std::int64_t piece) {
      const std::int64_t start = mine.first + first;
      detail::show_parts<width>(fabric, rounds, sums.tile(), from, count, start, piece, most);
      if (rounds.meet() != WaitStatus::ok) return false;
      detail::each_tile<width>(piece, [&](std::int64_t at, std::int64_t length) {
        auto& total = sums.over_ranks(fabric.size(), op, [&](Rank rank, auto& tile) {
          if (rank == fabric.rank())
            fabric.load(tile, from, detail::run_box(rank.value * count + start + at, length));
          else
            rounds.read(tile, rank, fabric.rank().value * most + at, length);
        });
        fabric.store(total, to, detail::run_box(start + at, length));
      });
      return true;
    });
    return rounds.end();
  }

  Stage<T> stage_;
};

}  // namespace muster
