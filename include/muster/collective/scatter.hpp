// Scatter: every rank gets a part of its own of what the root has.
#pragma once

#include <cstdint>

#include "muster/collective/call.hpp"
#include "muster/collective/rooted.hpp"
#include "muster/fabric.hpp"

namespace muster {

// to[i] = from[rank() * count + i] of rank `root`, 0 <= i < count: P * count elements on one to
// count elements x P ranks; `from` of the others is not looked at.
//
// The root shows in each message a part for every other rank, which loads its own (Rooted says why
// nothing is overwritten too early, and that nothing is in flight when a call ends: the next may
// have another root).
//
// Cost, P ranks, m messages of a P-th of a slot: the root m (P-1) notifies, each peer (m + 1) / 2
// and m waits; count elements read by each peer.
//
// `to` and `from` are windows of the team (their part of this rank) or plain memory of the rank,
// read as one run of elements. At the root `to` may be the own part of `from`, count elements from
// root * count on; else they do not overlap.
//
// Plain bytes: copy it into bodies and kernels. It owns its memory; calls of one object may follow
// each other at once. Lanes share the elements. After a call that was not `ok`, `to` holds
// anything, and the next call returns `refused`. With Cells::credits all its cells are zero when
// all ranks have returned.
template <class T, std::int64_t C = detail::collective_tile<T>, Cells kept = Cells::epochs>
class Scatter {
 public:
  static constexpr Cells cells = kept;  // what its cells hold
  Scatter() = default;
  template <SetUp Team>
  explicit Scatter(Team& team, CollectiveOptions options = {})
      : rooted_(team, message_of(detail::chunk_of<T>(options.chunk), team.size())) {}

  // Called by all threads of the lane; the same status to all. All ranks say the same count >= 0
  // and the same root.
  template <Fabric F, TransferEnd To, TransferEnd From>
  MUSTER_FN WaitStatus run(F& fabric, To to, From from, std::int64_t count, Rank root) const {
    const bool is_root = root == fabric.rank();
    const std::int64_t all = detail::of_all_ranks(count, fabric.size());
    const std::int64_t most = rooted_.elements() / fabric.size();
    auto tile = fabric.template tile<T, 1, C>();
    return rooted_.run(
        fabric,
        {.name = "Scatter",
         .root = root,
         .way = Way::from_root,
         .count = count,
         .most = most,
         .is_valid = all >= 0 && detail::holds_call(to, count, from, is_root ? all : 0,
                                                    -(fabric.rank().value * count))},
        [&](auto& turn, std::uint32_t index, Share part) {
          detail::each_tile<C>(part.count, [&](std::int64_t at, std::int64_t length) {
            const std::int64_t first = part.first + at;
            if (is_root) {
              const auto load = [&](Rank rank) {
                fabric.load(tile, detail::as_run(from),
                            detail::run_box(rank.value * count + first, length));
              };
              for (std::uint32_t step = 1; step < fabric.size(); ++step) {
                const Rank peer = right_of(fabric, step);
                load(peer);
                turn.write(tile, index, peer.value * most + at, length);
              }
              load(root);
            } else {
              turn.read(tile, root, index, fabric.rank().value * most + at, length);
            }
            fabric.store(tile, detail::as_run(to), detail::run_box(first, length));
          });
        });
  }

  // Those of the messages, and those of the answers.
  [[nodiscard]] MUSTER_FN Rows rows() const { return rooted_.rows(); }
  [[nodiscard]] MUSTER_FN Rows answers() const { return rooted_.answers(); }

 private:
  // At least one element for each rank.
  [[nodiscard]] static constexpr std::int64_t message_of(std::int64_t chunk, std::uint32_t ranks) {
    const std::int64_t message = Rooted<T, cells>::message_of(chunk, C);
    return message < ranks ? ranks : message;
  }

  Rooted<T, cells> rooted_;
};

}  // namespace muster
