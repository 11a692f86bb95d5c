// AllToAllV: every rank gets a part of its own from every rank, of any length.
#pragma once

#include <cstdint>

#include "muster/collective/call.hpp"
#include "muster/collective/counted.hpp"
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
      : counted_(team, detail::chunk_for_each<T>(team, options.chunk)) {}

  // Called by all threads of the lane; the same status to all.
  template <Fabric F, TransferEnd To, TransferEnd From>
  MUSTER_FN WaitStatus run(F& fabric, To to, Parts rooms, MemoryRef<std::int64_t> received,
                           From from, Parts parts) const {
    const std::int64_t most = counted_.elements() / fabric.size();
    auto tile = fabric.template tile<T, 1, C>();
    return counted_.run(
        fabric, {.name = "AllToAllV", .most = most, .received = received},
        [&] { return own_fault(fabric, to, rooms, received, from, parts); },
        [&](Rank peer) { return parts.counts.data[peer.value]; },
        [&](Rank peer) { return rooms.counts.data[peer.value]; },
        [&](auto& rounds, const auto& table, std::int64_t at) {
          for (std::uint32_t step = 0; step < fabric.size(); ++step) {
            const Rank peer = right_of(fabric, step);
            const Share mine = table.template share<T>(fabric.rank(), peer);
            detail::show<C>(fabric, rounds, tile, detail::as_run(from),
                            parts.places.data[peer.value] + mine.first + at,
                            detail::piece_of(mine, at, most), step * most);
          }
          if (rounds.meet() != WaitStatus::ok) return false;
          for (std::uint32_t step = 0; step < fabric.size(); ++step) {
            const Rank source = right_of(fabric, step);
            const Share theirs = table.template share<T>(source, fabric.rank());
            detail::collect<C>(fabric, rounds, tile, source,
                               detail::part_place(fabric, source, fabric.rank()) * most,
                               detail::as_run(to),
                               rooms.places.data[source.value] + theirs.first + at,
                               detail::piece_of(theirs, at, most));
          }
          return true;
        });
  }

  // Why the last call of this lane was `invalid`: the same on all ranks.
  template <Fabric F>
  [[nodiscard]] MUSTER_FN CountFault fault(F& fabric) const {
    return counted_.fault(fabric, false);
  }

 private:
  template <class F, class To, class From>
  [[nodiscard]] MUSTER_FN static CountFault own_fault(const F& fabric, To to, Parts rooms,
                                                      MemoryRef<std::int64_t> received, From from,
                                                      Parts parts) {
    const Rank rank = fabric.rank();
    const CountFault sent =
        detail::fault_of(parts, from.size(), CountFault::End::from, rank, fabric.size());
    if (sent.kind != CountFault::Kind::none) return sent;
    return detail::fault_of_rooms(to, rooms, received, from, rank, fabric.size());
  }

  detail::Counted<T> counted_;
};

}  // namespace muster
