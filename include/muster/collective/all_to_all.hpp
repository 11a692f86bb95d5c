// AllToAll: every rank gets a part of its own from every rank.
#pragma once

#include <cstdint>

#include "muster/collective/call.hpp"
#include "muster/collective/stage.hpp"
#include "muster/fabric.hpp"

namespace muster {

// to[s * count + i] = from[rank() * count + i] of rank s, 0 <= i < count: P * count elements x P
// ranks to P * count elements on each.
//
// Cost per rank and call, P ranks: 1 round for each P-th of a chunk of count; (P-1) * count
// elements read.
//
// `to` and `from` are windows of the team (their part of this rank) or plain memory of the rank,
// read as one run of elements. They do not overlap.
//
// Plain bytes: copy it into bodies and kernels. It owns its memory; calls of one object may follow
// each other at once. Lanes share the elements. After a call that was not `ok`, `to` holds
// anything, and the next call returns `refused`.
template <class T, std::int64_t C = detail::collective_tile<T>>
class AllToAll {
 public:
  AllToAll() = default;
  template <SetUp Team>
  explicit AllToAll(Team& team, CollectiveOptions options = {})
      : stage_(team, detail::chunk_for_each<T>(team, options.chunk), Passing::between_two) {}

  // Called by all threads of the lane; the same status to all. All ranks say the same count >= 0.
  template <Fabric F, TransferEnd To, TransferEnd From>
  MUSTER_FN WaitStatus run(F& fabric, To to, From from, std::int64_t count) const {
    const OneCall call(fabric);
    fabric.converge();  // other threads of the lane may have written what this one reads
    const std::int64_t all = detail::of_all_ranks(count, fabric.size());
    const bool is_valid = all >= 0 && detail::holds_call(to, all, from, all, detail::nowhere);
    detail::describe_collective<T>(fabric, "AllToAll", stage_.rows(), detail::no_operator, count,
                                   is_valid);
    if (!is_valid) return WaitStatus::invalid;
    const Share mine = share_of<T>(count, fabric.lane().value, fabric.lanes());
    return detail::with_tile<T, C>(mine.count, [&](auto width) {
      return exchange<decltype(width)::value>(fabric, detail::as_run(to), detail::as_run(from),
                                              count, mine);
    });
  }

 private:
  template <std::int64_t width, class F, class To, class From>
  MUSTER_FN WaitStatus exchange(F& fabric, To to, From from, std::int64_t count, Share mine) const {
    auto tile = fabric.template tile<T, 1, width>();
    auto rounds = stage_.rounds(fabric);
    const std::uint32_t me = fabric.rank().value;
    const std::int64_t most = stage_.elements() / fabric.size();
    detail::each_piece(mine.count, most, [&](std::int64_t first, std::int64_t piece) {
      const std::int64_t start = mine.first + first;
      detail::show_parts<width>(fabric, rounds, tile, from, count, start, piece, most);
      const auto keep_own = [&] {
        detail::copy_run<width>(fabric, tile, to, from, me * count + start, piece);
      };
      if (rounds.meet(keep_own) != WaitStatus::ok) return false;
      for (std::uint32_t step = 1; step < fabric.size(); ++step) {
        const Rank source = right_of(fabric, step);
        detail::collect<width>(fabric, rounds, tile, source,
                               detail::part_place(fabric, source, fabric.rank()) * most, to,
                               source.value * count + start, piece);
      }
      return true;
    });
    return rounds.end();
  }

  Stage<T> stage_;
};

}  // namespace muster
