// ReduceScatterV: the operator over what all ranks have, a part of it, of any length, to each.
#pragma once

#include <cstdint>

#include "muster/collective/call.hpp"
#include "muster/collective/counts.hpp"
#include "muster/collective/stage.hpp"
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
      : counts_(team), stage_(team, detail::chunk_for_each<T>(options.chunk, team.size())) {}

  // Called by all threads of the lane; the same status to all. All ranks say the same operator.
  template <Fabric F, TransferEnd To, TransferEnd From, class Op = Sum>
  MUSTER_FN WaitStatus run(F& fabric, To to, From from, Parts parts, Op op = {}) const {
    const OneCall call(fabric);
    fabric.converge();  // other threads of the lane may have written what this one reads
    detail::describe_collective<T>(fabric, "ReduceScatterV", counts_.rows(),
                                   detail::operator_code(op), 0);
    if (detail::has_failed(fabric, stage_.rows())) return WaitStatus::refused;
    const WaitStatus agreed = counts_.agree(
        fabric, own_fault(fabric, to, from, parts),
        [&](Rank peer) { return parts.counts.data[peer.value]; }, [&](Rank) { return to.size(); },
        true);
    if (agreed != WaitStatus::ok) return agreed;
    const auto table = counts_.table(fabric);
    detail::Sums<T, C, F> sums(fabric);
    auto rounds = stage_.rounds(fabric);
    const std::int64_t most = stage_.elements() / fabric.size();
    const std::int64_t longest = table.template longest<T>();
    const Share mine = table.template share<T>(fabric.rank(), fabric.rank());
    for (std::int64_t start = 0; start < longest; start += most) {
      for (std::uint32_t step = 0; step < fabric.size(); ++step) {
        const Rank peer = right_of(fabric, step);
        const Share theirs = table.template share<T>(fabric.rank(), peer);
        detail::show<C>(fabric, rounds, sums.tile(), detail::as_run(from),
                        parts.places.data[peer.value] + theirs.first + start,
                        detail::piece_of(theirs, start, most), peer.value * most);
      }
      if (rounds.meet() != WaitStatus::ok) break;
      detail::each_tile<C>(detail::piece_of(mine, start, most), [&](std::int64_t at,
                                                                    std::int64_t length) {
        auto& total = sums.over_ranks(fabric.size(), op, [&](Rank rank, auto& tile) {
          rounds.read(tile, rank, fabric.rank().value * most + at, length);
        });
        fabric.store(total, detail::as_run(to), detail::run_box(mine.first + start + at, length));
      });
    }
    return rounds.end();
  }

  // Why the last call of this lane was `invalid`: the same on all ranks.
  template <Fabric F>
  [[nodiscard]] MUSTER_FN CountFault fault(F& fabric) const {
    return counts_.table(fabric).fault(true);
  }

 private:
  template <class F, class To, class From>
  [[nodiscard]] MUSTER_FN static CountFault own_fault(const F& fabric, To to, From from,
                                                      Parts parts) {
    using Kind = CountFault::Kind;
    const Rank rank = fabric.rank();
    const CountFault given = detail::fault_of(parts, from.size(), rank, fabric.size(), Kind::count);
    if (given.kind != Kind::none) return given;
    if (!detail::holds_call(to, to.size(), from, from.size(), detail::nowhere))
      return {Kind::overlap, rank, rank, from.size(), to.size()};
    return {};
  }

  Counts counts_;
  Stage<T> stage_;
};

}  // namespace muster
