// Reduce: the root gets the operator over what all ranks have.
#pragma once

#include <cstdint>

#include "muster/collective/call.hpp"
#include "muster/collective/rooted.hpp"
#include "muster/collective/sums.hpp"
#include "muster/fabric.hpp"

namespace muster {

// to[i] on rank `root` = op over all ranks of from[i], 0 <= i < count: count elements x P ranks to
// count elements on one; `to` of the others is not looked at.
//
// All others show their elements in messages, from which the root loads them (Rooted says why
// nothing is overwritten too early, and that nothing is in flight when a call ends: the next may
// have another root). The order of the ranks is the order of the sum, as in AllReduce, whoever the
// root is.
//
// Cost, P ranks, m messages: each peer m notifies, the root m (P-1) waits and (m + 1) / 2 (P-1)
// notifies; (P-1) * count elements read by the root.
//
// `to` and `from` are windows of the team (their part of this rank) or plain memory of the rank,
// read as one run of elements. They are the same, or do not overlap.
//
// Plain bytes: copy it into bodies and kernels. It owns its memory; calls of one object may follow
// each other at once. Lanes share the elements. After a call that was not `ok`, `to` holds
// anything, and the next call returns `refused`. With Cells::credits all its cells are zero when
// all ranks have returned.
template <class T, std::int64_t C = detail::collective_tile<T>, Cells kept = Cells::epochs>
class Reduce {
 public:
  static constexpr Cells cells = kept;  // what its cells hold
  Reduce() = default;
  template <SetUp Team>
  explicit Reduce(Team& team, CollectiveOptions options = {})
      : rooted_(team, Rooted<T, cells>::message_of(detail::chunk_of<T>(options.chunk), C)) {}

  // Called by all threads of the lane; the same status to all. All ranks say the same count >= 0,
  // the same root and the same operator.
  template <Fabric F, TransferEnd To, TransferEnd From, class Op = Sum>
  MUSTER_FN WaitStatus run(F& fabric, To to, From from, std::int64_t count, Rank root,
                           Op op = {}) const {
    const bool is_root = root == fabric.rank();
    detail::Sums<T, C, F> sums(fabric);
    return rooted_.run(
        fabric,
        {.name = "Reduce",
         .root = root,
         .way = Way::to_root,
         .count = count,
         .most = rooted_.elements(),
         .is_valid = detail::holds_call(to, is_root ? count : 0, from, count, 0),
         .op = detail::operator_code(op)},
        [&](auto& turn, std::uint32_t index, Share part) {
          detail::each_tile<C>(part.count, [&](std::int64_t at, std::int64_t length) {
            const Box box = detail::run_box(part.first + at, length);
            if (!is_root) {
              fabric.load(sums.tile(), detail::as_run(from), box);
              return turn.write(sums.tile(), index, at, length);
            }
            auto& total = sums.over_ranks(fabric.size(), op, [&](Rank rank, auto& tile) {
              if (rank == root)
                fabric.load(tile, detail::as_run(from), box);
              else
                turn.read(tile, rank, index, at, length);
            });
            fabric.store(total, detail::as_run(to), box);
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
