// ReduceScatterV: the operator over what all ranks have, a part of it, of any length, to each.
#pragma once

#include <cstdint>

#include "muster/collective/call.hpp"
#include "muster/collective/counted.hpp"
#include "muster/collective/sums.hpp"
#include "muster/fabric.hpp"

namespace muster {

// to[i] = op over all ranks of from[parts.places[rank()] + i], 0 <= i < parts.counts[rank()]; each
// rank has places of its own, the counts are the same on all. Nothing else of `to` is written. The
// order of the ranks is the order of the sum, as in AllReduce.
//
// A count that is negative, or beyond what `from` holds or that rank's `to` has room for, or that
// is another one than rank 0 says, is `invalid` on all ranks, whoever gave it; nothing has moved
// then, fault() says what was wrong, and the next call is as good as any.
//
// Cost per rank and call, P ranks: 1 round for the counts (see Counts), and 1 for each P-th of a
// chunk of the longest part; P-1 times the own part read.
//
// `to` and `from` are windows of the team (their part of this rank) or plain memory of the rank,
// read as one run of elements; they do not overlap.
//
// Plain bytes: copy it into bodies and kernels. It owns its memory; calls of one object may follow
// each other at once. Lanes share the elements of each part, and are told the same counts; all
// lanes of all ranks run. After a call that was not `ok`, nor `invalid`, `to` holds anything, and
// the next call returns `refused`.
template <class T, std::int64_t C = detail::collective_tile<T>>
class ReduceScatterV {
 public:
  ReduceScatterV() = default;
  template <SetUp Team>
  explicit ReduceScatterV(Team& team, CollectiveOptions options = {})
      : counted_(team, detail::chunk_for_each<T>(team, options.chunk)) {}

  // Called by all threads of the lane; the same status to all. All ranks say the same operator.
  template <Fabric F, TransferEnd To, TransferEnd From, class Op = Sum>
  MUSTER_FN WaitStatus run(F& fabric, To to, From from, Parts parts, Op op = {}) const {
    const std::int64_t most = counted_.elements() / fabric.size();
    detail::Sums<T, C, F> sums(fabric);
    return counted_.run(
        fabric,
        {.name = "ReduceScatterV", .op = detail::operator_code(op), .alike = true, .most = most},
        [&] { return own_fault(fabric, to, from, parts); },
        [&](Rank peer) { return parts.counts.data[peer.value]; }, [&](Rank) { return to.size(); },
        [&](auto& rounds, const auto& table, std::int64_t start) {
          for (std::uint32_t step = 0; step < fabric.size(); ++step) {
            const Rank peer = right_of(fabric, step);
            const Share theirs = table.template share<T>(fabric.rank(), peer);
            detail::show<C>(fabric, rounds, sums.tile(), detail::as_run(from),
                            parts.places.data[peer.value] + theirs.first + start,
                            detail::piece_of(theirs, start, most), step * most);
          }
          if (rounds.meet() != WaitStatus::ok) return false;
          const Share mine = table.template share<T>(fabric.rank(), fabric.rank());
          const auto add = [&](std::int64_t at, std::int64_t length) {
            auto& total = sums.over_ranks(fabric.size(), op, [&](Rank rank, auto& tile) {
              rounds.read(tile, rank, detail::part_place(fabric, rank, fabric.rank()) * most + at,
                          length);
            });
            fabric.store(total, detail::as_run(to),
                         detail::run_box(mine.first + start + at, length));
          };
          detail::each_tile<C>(detail::piece_of(mine, start, most), add);
          return true;
        });
  }

  // Why the last call of this lane was `invalid`: the same on all ranks.
  template <Fabric F>
  [[nodiscard]] MUSTER_FN CountFault fault(F& fabric) const {
    return counted_.fault(fabric, true);
  }

 private:
  template <class F, class To, class From>
  [[nodiscard]] MUSTER_FN static CountFault own_fault(const F& fabric, To to, From from,
                                                      Parts parts) {
    using Kind = CountFault::Kind;
    const Rank rank = fabric.rank();
    const CountFault given =
        detail::fault_of(parts, from.size(), CountFault::End::from, rank, fabric.size());
    if (given.kind != Kind::none) return given;
    if (!detail::holds_call(to, to.size(), from, from.size(), detail::nowhere))
      return {Kind::overlap, rank, rank, from.size(), to.size()};
    return {};
  }

  detail::Counted<T> counted_;
};

}  // namespace muster
