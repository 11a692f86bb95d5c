// Step 4: a barrier, made by hand from notify and wait; then the builtin, which is the same thing.
//
// After one barrier each rank looks at its row of arrival cells: it reads 1 in the column of every
// peer, for each has deposited once, and 0 in its own, for nobody notifies himself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/barrier/epoch.hpp"
#include "muster/fabric.hpp"
#include "muster/result.hpp"

namespace tutorial {

// `rows` has one cell for each lane and writer, so no two ranks write one cell. The epoch counts
// the calls: a cell that has reached it says that its writer has arrived at this call, or at a
// later one. It lives in a counter beside the cells, so that the next call finds it, whoever makes
// it.
class HandMadeBarrier {
 public:
  explicit HandMadeBarrier(muster::Rows rows) : rows_(rows) {}

  template <muster::Fabric F>
  [[nodiscard]] muster::WaitStatus sync(F& fabric) const {
    using namespace muster;
    const Epoch epoch = Epoch{fabric.counter(rows_.epoch(fabric.lane()))}.next();

    // All threads of the lane meet: the one that notifies speaks for what all of them wrote.
    fabric.converge();
    for_each_peer(fabric, [&](Rank peer) {
      const Signal mine = rows_.from(fabric.lane(), fabric.rank());
      fabric.notify(mine, peer, epoch.value, NotifyOp::set, Order::release);
    });

    // At least the epoch, not equal to it: a fast peer may have arrived at the next call already.
    WaitStatus status = WaitStatus::ok;
    for_each_peer(fabric, [&](Rank peer) {
      const Signal theirs = rows_.from(fabric.lane(), peer);
      status = worst(status, fabric.wait(theirs, Compare::ge, epoch.value, Order::acquire));
    });
    if (fabric.thread() == 0) fabric.set_counter(rows_.epoch(fabric.lane()), epoch.value);
    return fabric.converge(status);  // what one thread acquired, all have; one status for all
  }

  [[nodiscard]] muster::Rows rows() const { return rows_; }

 private:
  muster::Rows rows_;
};

// Returns the arrival rows of all ranks, ranks x ranks, on rank 0; nothing on the others.
template <class Team, class Barrier>
muster::Result<std::vector<std::uint32_t>> arrival_rows(Team& team, Barrier barrier) {
  using namespace muster;
  const auto own = *team.template window<std::uint32_t>({team.size()});
  const auto table = *team.template window<std::uint32_t>({team.size(), team.size()});
  // A second barrier, over rows of its own. The first one would do to publish the table, but its
  // cells would move on to 2 while slower ranks still read them.
  const HandMadeBarrier published(*team.rows());

  std::vector<std::uint32_t> rows;
  const Result<void> ran = team.lane([&](auto& fabric) -> WaitStatus {
    if (const WaitStatus met = barrier.sync(fabric); met != WaitStatus::ok) return met;

    for_each_index(fabric, fabric.size(), [&](std::int64_t column) {
      const Rank writer{static_cast<std::uint32_t>(column)};
      fabric.local(own)[column] = fabric.read(barrier.rows().from(fabric.lane(), writer));
    });
    fabric.converge();  // the whole row, whoever of the lane's threads wrote it

    // Each rank puts its row into the table of rank 0; the second barrier carries it there. Rank 0
    // itself is notified by nobody, so what it puts to itself needs the flush.
    fabric.put(table, Rank{0}, table.at(fabric.rank().value, 0), own, 0, fabric.size());
    if (const WaitStatus put = fabric.flush(); put != WaitStatus::ok) return put;
    if (const WaitStatus met = published.sync(fabric); met != WaitStatus::ok) return met;

    if (fabric.rank() == Rank{0} && fabric.thread() == 0)
      for (std::int64_t i = 0; i < table.size(); ++i) rows.emplace_back(fabric.local(table)[i]);
    return WaitStatus::ok;
  });
  if (!ran) return ran.error();
  return rows;
}

template <class Team>
muster::Result<std::vector<std::uint32_t>> barrier_step(Team& team, bool use_builtin) {
  if (use_builtin) return arrival_rows(team, muster::EpochBarrier(team));
  return arrival_rows(team, HandMadeBarrier(*team.rows()));
}

// The golden value: 1 everywhere, 0 on the diagonal.
inline muster::Result<void> check_arrivals(const std::vector<std::uint32_t>& rows,
                                           std::uint32_t ranks) {
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    for (std::uint32_t writer = 0; writer < ranks; ++writer) {
      const std::uint32_t seen = rows.at(rank * ranks + writer);
      const std::uint32_t expected = rank == writer ? 0 : 1;
      if (seen != expected)
        return muster::Error{.code = muster::ErrorCode::mismatch,
                             .what = "rank " + std::to_string(rank) + " counts " +
                                     std::to_string(seen) + " arrivals of rank " +
                                     std::to_string(writer) + ", expected " +
                                     std::to_string(expected)};
    }
  }
  return {};
}

}  // namespace tutorial
