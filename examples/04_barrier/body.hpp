// Step 4: a barrier, made by hand from notify and wait; then the builtin, which is the same thing.
//
// Before it each rank puts a number into a window of its right neighbour's; behind it each reads
// what the left one has put: whoever passes the barrier sees what all did before. Then each looks
// at its row of arrival cells: it reads 1 in the column of every peer, for each has deposited once,
// and 0 in its own, for nobody notifies himself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "muster/barrier/credit.hpp"
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

// The number that a rank puts into its right neighbour's window.
constexpr std::uint32_t number_of(std::uint32_t rank) {
  return 100 + rank;
}

// A window for what the left neighbour puts, and one to put from.
struct Boxes {
  template <class Team>
  explicit Boxes(Team& team)
      : inbox(*team.template window<std::uint32_t>({1})),
        outbox(*team.template window<std::uint32_t>({1})) {}

  muster::WindowRef<std::uint32_t> inbox;
  muster::WindowRef<std::uint32_t> outbox;
};

// Puts the own number and meets: then the left neighbour's is in the own inbox. The put is on its
// way still when the notify is made; it is the release that carries it.
template <muster::Fabric F, class Barrier>
muster::WaitStatus cross(F& fabric, const Boxes& boxes, const Barrier& barrier) {
  if (fabric.thread() == 0) fabric.local(boxes.outbox)[0] = number_of(fabric.rank().value);
  fabric.put(boxes.inbox, muster::right_of(fabric), 0, boxes.outbox, 0, 1);
  return barrier.sync(fabric);
}

// Returns a row of each rank on rank 0, and nothing on the others: its arrival cells, and behind
// them the number that has crossed the barrier.
template <class Team, class Barrier>
muster::Result<std::vector<std::uint32_t>> arrival_rows(Team& team, Barrier barrier) {
  using namespace muster;
  const std::int64_t length = team.size() + 1;
  const Boxes boxes(team);
  const auto own = *team.template window<std::uint32_t>({length});
  const auto table = *team.template window<std::uint32_t>({team.size(), length});
  // A second barrier, over rows of its own. The first one would do to publish the table, but its
  // cells would move on to 2 while slower ranks still read them.
  const HandMadeBarrier published(*team.rows());

  std::vector<std::uint32_t> rows;
  const Result<void> ran = team.lane([&](auto& fabric) -> WaitStatus {
    if (const WaitStatus met = cross(fabric, boxes, barrier); met != WaitStatus::ok) return met;

    for_each_index(fabric, fabric.size(), [&](std::int64_t column) {
      const Rank writer{static_cast<std::uint32_t>(column)};
      fabric.local(own)[column] = fabric.read(barrier.rows().from(fabric.lane(), writer));
    });
    if (fabric.thread() == 0) {
      const std::uint32_t crossed = fabric.local(boxes.inbox)[0];
      fabric.local(own)[length - 1] = crossed;
    }
    fabric.converge();  // the whole row, whoever of the lane's threads wrote it

    // Each rank puts its row into the table of rank 0; the second barrier carries it there. Rank 0
    // itself is notified by nobody, so what it puts to itself needs the flush.
    fabric.put(table, Rank{0}, table.at(fabric.rank().value, 0), own, 0, length);
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

// Another builtin, which takes back what it has waited for: behind it all cells are zero, so other
// code that leaves them zero may use the same ones. Data crosses it as well. Returns the own row,
// the number behind it, as above.
template <class Team>
muster::Result<std::vector<std::uint32_t>> row_after_credits(Team& team) {
  using namespace muster;
  const Boxes boxes(team);
  const CreditBarrier barrier(team);
  std::vector<std::uint32_t> row;
  const Result<void> ran = team.lane([&](auto& fabric) -> WaitStatus {
    if (const WaitStatus met = cross(fabric, boxes, barrier); met != WaitStatus::ok) return met;
    if (fabric.thread() != 0) return WaitStatus::ok;
    for (std::uint32_t writer = 0; writer < fabric.size(); ++writer)
      row.push_back(fabric.read(barrier.rows().from(fabric.lane(), Rank{writer})));
    row.emplace_back(fabric.local(boxes.inbox)[0]);
    return WaitStatus::ok;
  });
  if (!ran) return ran.error();
  return row;
}

// Its golden value: zeros, and the left neighbour's number.
inline muster::Result<void> check_zeros(const std::vector<std::uint32_t>& row, std::uint32_t rank,
                                        std::uint32_t ranks) {
  std::vector<std::uint32_t> right(ranks);
  right.push_back(number_of((rank + ranks - 1) % ranks));
  if (row == right) return {};
  return muster::Error{.code = muster::ErrorCode::mismatch,
                       .what = "rank " + std::to_string(rank) +
                               " has a cell that is not zero, or another number than its left "
                               "neighbour's"};
}

// The golden value: 1 everywhere, 0 on the diagonal, and the left neighbour's number.
inline muster::Result<void> check_arrivals(const std::vector<std::uint32_t>& rows,
                                           std::uint32_t ranks) {
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::uint32_t crossed = rows.at(rank * (ranks + 1) + ranks);
    if (crossed != number_of((rank + ranks - 1) % ranks))
      return muster::Error{.code = muster::ErrorCode::mismatch,
                           .what = "rank " + std::to_string(rank) + " has got " +
                                   std::to_string(crossed) + " from its left neighbour"};
    for (std::uint32_t writer = 0; writer < ranks; ++writer) {
      const std::uint32_t seen = rows.at(rank * (ranks + 1) + writer);
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
