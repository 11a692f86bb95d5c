// Gather: the root gets what all ranks have, in the order of the ranks.
#pragma once

#include <cstdint>

#include "muster/collective/call.hpp"
#include "muster/collective/rooted.hpp"
#include "muster/fabric.hpp"

namespace muster {

// to[r * count + i] on rank `root` = from[i] of rank r, 0 <= i < count: count elements x P ranks to
// P * count elements on one; `to` of the others is not looked at.
//
// All others show their elements in messages, from which the root loads them (Rooted says why
// nothing is overwritten too early, and that nothing is in flight when a call ends: the next may
// have another root).
//
// Cost, P ranks, m messages: each peer m notifies, the root m (P-1) waits and (m + 1) / 2 (P-1)
// notifies; (P-1) * count elements read by the root.
//
// `to` and `from` are windows of the team (their part of this rank) or plain memory of the rank,
// read as one run of elements. At the root `from` may be the own part of `to`, count elements from
// root * count on; else they do not overlap.
//
// Plain bytes: copy it into bodies and kernels. It owns its memory; calls of one object may follow
// each other at once. Lanes share the elements. After a call that was not `ok`, `to` holds
// anything, and the next call returns `refused`. With Cells::credits all its cells are zero when
// all ranks have returned.
template <class T, std::int64_t C = detail::collective_tile<T>, Cells kept = Cells::epochs>
class Gather {
 public:
  static constexpr Cells cells = kept;  // what its cells hold
  Gather() = default;
  template <SetUp Team>
  explicit Gather(Team& team, CollectiveOptions options = {})
      : rooted_(team, Rooted<T, cells>::message_of(detail::chunk_of<T>(options.chunk), C)) {}

  // Called by all threads of the lane; the same status to all. All ranks say the same count >= 0
  // and the same root.
  template <Fabric F, TransferEnd To, TransferEnd From>
  MUSTER_FN WaitStatus run(F& fabric, To to, From from, std::int64_t count, Rank root) const {
    const bool is_root = root == fabric.rank();
    const std::int64_t all = detail::of_all_ranks(count, fabric.size());
    auto tile = fabric.template tile<T, 1, C>();
    return rooted_.run(
        fabric,
        {.name = "Gather",
         .root = root,
         .way = Way::to_root,
         .count = count,
         .most = rooted_.elements(),
         .is_valid = all >= 0 && detail::holds_call(to, is_root ? all : 0, from, count,
                                                    fabric.rank().value * count)},
        [&](auto& turn, std::uint32_t index, Share part) {
          detail::each_tile<C>(part.count, [&](std::int64_t at, std::int64_t length) {
            const std::int64_t first = part.first + at;
            fabric.load(tile, detail::as_run(from), detail::run_box(first, length));
            if (!is_root) return turn.write(tile, index, at, length);
            const auto keep = [&](Rank rank) {
              fabric.store(tile, detail::as_run(to),
                           detail::run_box(rank.value * count + first, length));
            };
            keep(root);
            for (std::uint32_t step = 1; step < fabric.size(); ++step) {
              const Rank peer = right_of(fabric, step);
              turn.read(tile, peer, index, at, length);
              keep(peer);
            }
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
