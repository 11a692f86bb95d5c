// Broadcast: every rank gets what the root has.
#pragma once

#include <cstdint>

#include "muster/collective/call.hpp"
#include "muster/collective/rooted.hpp"
#include "muster/fabric.hpp"

namespace muster {

// to[i] on every rank = from[i] of rank `root`, 0 <= i < count; `from` of the others is not looked
// at.
//
// The root shows its elements in messages, from which all others load them (Rooted says why nothing
// is overwritten too early, and that nothing is in flight when a call ends: the next may have
// another root).
//
// Cost, P ranks, m messages: the root m (P-1) notifies, each peer (m + 1) / 2 and m waits; count
// elements read by each peer.
//
// `to` and `from` are windows of the team (their part of this rank) or plain memory of the rank,
// read as one run of elements. They are the same, or do not overlap.
//
// Plain bytes: copy it into bodies and kernels. It owns its memory; calls of one object may follow
// each other at once. Lanes share the elements. After a call that was not `ok`, `to` holds
// anything, and the next call returns `refused`. With Cells::credits all its cells are zero when
// all ranks have returned.
template <class T, std::int64_t C = detail::collective_tile<T>, Cells kept = Cells::epochs>
class Broadcast {
 public:
  static constexpr Cells cells = kept;  // what its cells hold
  static constexpr std::uint32_t depth = Rooted<T, cells>::depth;

  Broadcast() = default;
  template <SetUp Team>
  explicit Broadcast(Team& team, CollectiveOptions options = {})
      : rooted_(team, Rooted<T, cells>::message_of(detail::chunk_of<T>(options.chunk), C)) {}

  // Called by all threads of the lane; the same status to all. All ranks say the same count >= 0
  // and the same root.
  template <Fabric F, TransferEnd To, TransferEnd From>
  MUSTER_FN WaitStatus run(F& fabric, To to, From from, std::int64_t count, Rank root) const {
    const bool is_root = root == fabric.rank();
    auto tile = fabric.template tile<T, 1, C>();
    return rooted_.run(fabric,
                       {.name = "Broadcast",
                        .root = root,
                        .way = Way::from_root,
                        .count = count,
                        .most = rooted_.elements(),
                        .is_valid = detail::holds_call(to, count, from, is_root ? count : 0, 0)},
                       [&](auto& turn, std::uint32_t index, Share part) {
                         detail::each_tile<C>(
                             part.count, [&](std::int64_t at, std::int64_t length) {
                               const Box box = detail::run_box(part.first + at, length);
                               if (is_root) {
                                 fabric.load(tile, detail::as_run(from), box);
                                 turn.write(tile, index, at, length);
                               } else {
                                 turn.read(tile, root, index, at, length);
                               }
                               fabric.store(tile, detail::as_run(to), box);
                             });
                       });
  }

  // Those of the messages, and those of the answers.
  [[nodiscard]] MUSTER_FN Rows rows() const { return rooted_.rows(); }
  [[nodiscard]] MUSTER_FN Rows answers() const { return rooted_.answers(); }

 private:
  Rooted<T, cells> rooted_;
};

}  // namespace muster
