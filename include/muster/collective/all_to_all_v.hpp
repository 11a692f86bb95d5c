// AllToAllV: every rank gets a part of its own from every rank, of any length.
#pragma once

#include <cstdint>

#include "muster/collective/call.hpp"
#include "muster/collective/counts.hpp"
#include "muster/collective/stage.hpp"
#include "muster/fabric.hpp"

namespace muster {

// to[rooms.places[s] + i] = from[parts.places[rank()] + i] of rank s, 0 <= i < n, where n is rank
// s's parts.counts[rank()]; received[s] = n. Exactly these elements move, and nothing else of `to`
// is written.
//
// rooms.counts[s] is the capacity for what rank s sends. A count that is negative, or beyond what
// `from` holds or the peer has room for, is `invalid` on all ranks, whoever gave it; nothing has
// moved then, fault() says what was wrong, and the next call is as good as any.
//
// Cost per rank and call, P ranks: 1 round for the counts (see Counts), and 1 for each P-th of a
// chunk of the longest part that any rank sends to any; the counted elements read.
//
// `to` and `from` are windows of the team (their part of this rank) or plain memory of the rank,
// read as one run of elements; they do not overlap, nor do rooms. `received` may be empty.
//
// Plain bytes: copy it into bodies and kernels. It owns its memory; calls of one object may follow
// each other at once. Lanes share the elements of each part, and are told the same counts; all
// lanes of all ranks run. After a call that was not `ok`, nor `invalid`, `to` holds anything, and
// the next call returns `refused`.
template <class T, std::int64_t C = detail::collective_tile<T>>
class AllToAllV {
 public:
  AllToAllV() = default;
  template <SetUp Team>
  explicit AllToAllV(Team& team, CollectiveOptions options = {})
      : counts_(team), stage_(team, detail::chunk_for_each<T>(options.chunk, team.size())) {}

  // Called by all threads of the lane; the same status to all.
  template <Fabric F, TransferEnd To, TransferEnd From>
  MUSTER_FN WaitStatus run(F& fabric, To to, Parts rooms, MemoryRef<std::int64_t> received,
                           From from, Parts parts) const {
    const OneCall call(fabric);
    fabric.converge();  // other threads of the lane may have written what this one reads
    detail::describe_collective<T>(fabric, "AllToAllV", counts_.rows(), 0, 0);
    if (detail::has_failed(fabric, stage_.rows())) return WaitStatus::refused;
    const CountFault own = own_fault(fabric, to, rooms, received, from, parts);
    const WaitStatus agreed = counts_.agree(
        fabric, own, [&](Rank peer) { return parts.counts.data[peer.value]; },
        [&](Rank peer) { return rooms.counts.data[peer.value]; });
    if (agreed != WaitStatus::ok) return agreed;
    const auto table = counts_.table(fabric);
    if (fabric.lane() == Lane{0} && fabric.thread() == 0)
      for (std::int64_t rank = 0; rank < received.size(); ++rank)
        received.data[rank] = table.count(Rank{static_cast<std::uint32_t>(rank)}, fabric.rank());
    auto tile = fabric.template tile<T, 1, C>();
    auto rounds = stage_.rounds(fabric);
    const std::int64_t most = stage_.elements() / fabric.size();
    const std::int64_t longest = table.template longest<T>();
    for (std::int64_t at = 0; at < longest; at += most) {
      for (std::uint32_t step = 0; step < fabric.size(); ++step) {
        const Rank peer = right_of(fabric, step);
        const Share mine = table.template share<T>(fabric.rank(), peer);
        detail::show<C>(fabric, rounds, tile, detail::as_run(from),
                        parts.places.data[peer.value] + mine.first + at,
                        detail::piece_of(mine, at, most), peer.value * most);
      }
      if (rounds.meet() != WaitStatus::ok) break;
      for (std::uint32_t step = 0; step < fabric.size(); ++step) {
        const Rank source = right_of(fabric, step);
        const Share theirs = table.template share<T>(source, fabric.rank());
        detail::collect<C>(fabric, rounds, tile, source, fabric.rank().value * most,
                           detail::as_run(to), rooms.places.data[source.value] + theirs.first + at,
                           detail::piece_of(theirs, at, most));
      }
    }
    return rounds.end();
  }

  // Why the last call of this lane was `invalid`: the same on all ranks.
  template <Fabric F>
  [[nodiscard]] MUSTER_FN CountFault fault(F& fabric) const {
    return counts_.table(fabric).fault(false);
  }

 private:
  template <class F, class To, class From>
  [[nodiscard]] MUSTER_FN static CountFault own_fault(const F& fabric, To to, Parts rooms,
                                                      MemoryRef<std::int64_t> received, From from,
                                                      Parts parts) {
    using Kind = CountFault::Kind;
    const Rank rank = fabric.rank();
    const std::uint32_t ranks = fabric.size();
    const CountFault sent = detail::fault_of(parts, from.size(), rank, ranks, Kind::count);
    if (sent.kind != Kind::none) return sent;
    const CountFault kept = detail::fault_of(rooms, to.size(), rank, ranks, Kind::room);
    if (kept.kind != Kind::none) return kept;
    if (received.size() != 0 && received.size() != ranks)
      return {Kind::parts, rank, rank, received.size(), ranks};
    if (!detail::holds_call(to, to.size(), from, from.size(), detail::nowhere))
      return {Kind::overlap, rank, rank, from.size(), to.size()};
    return {};
  }

  Counts counts_;
  Stage<T> stage_;
};

}  // namespace muster
