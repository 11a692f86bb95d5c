// Step 18: a ticket lock. Whoever wants it draws a number at rank 0; who is done tells all ranks,
// and each waits on its own memory until its number is called. What the lock guards is a number at
// rank 0 that each holder loads and stores one higher, so it is the number of the ticket.
#pragma once

#include <cstdint>
#include <string>

#include "muster/expect.hpp"
#include "muster/fabric.hpp"
#include "muster/result.hpp"

namespace tutorial {

struct Counted {
  std::uint32_t number = 0;   // on rank 0, at the end
  std::uint32_t in_turn = 0;  // how often this rank found its ticket's number
};

class TicketLock {
 public:
  template <class Team>
  explicit TicketLock(Team& team) : next_(*team.signals(1)), called_(*team.signals(1)) {}

  struct Ticket {
    muster::WaitStatus status;
    std::uint32_t number;
  };

  // By all threads of the lane. The number is thread 0's.
  template <muster::AtomicFabric F>
  [[nodiscard]] Ticket acquire(F& fabric) const {
    using namespace muster;
    Fetched mine;
    if (fabric.thread() == 0) {
      // Relaxed: the number orders nothing, the wait does.
      mine = fabric.fetch_add(next_[0], Rank{0}, 1, Order::relaxed);
      if (mine.status == WaitStatus::ok)
        mine.status = fabric.wait(called_[0], Compare::ge, mine.value);
    }
    const std::uint32_t number = fabric.broadcast(mine.value);
    return {fabric.converge(mine.status), number};
  }

  // Adds 1 to every rank's cell, so a cell holds how many have been here. The next holder may be
  // any rank: what went to rank 0 is there before anybody is told.
  template <muster::AtomicFabric F>
  void release(F& fabric) const {
    using namespace muster;
    (void)fabric.flush();  // converges, too
    for_each_peer(fabric, [&](Rank peer) { fabric.notify(called_[0], peer, 1, NotifyOp::add); });
    if (fabric.thread() == 0) fabric.notify(called_[0], fabric.rank(), 1, NotifyOp::add);
  }

  // Until so many have been here.
  template <muster::AtomicFabric F>
  [[nodiscard]] muster::WaitStatus all_done(F& fabric, std::uint32_t holders) const {
    muster::WaitStatus status = muster::WaitStatus::ok;
    if (fabric.thread() == 0) status = fabric.wait(called_[0], muster::Compare::ge, holders);
    return fabric.converge(status);
  }

 private:
  muster::Signals next_;    // on rank 0: the next ticket
  muster::Signals called_;  // on each rank: how many holders have been here
};

template <class Team>
muster::Result<Counted> ticket_lock_step(Team& team, std::uint32_t rounds) {
  using namespace muster;
  const auto number = *team.template window<std::uint32_t>({1}, "number");
  const TicketLock lock(team);
  Counted result;
  const Result<void> ran = team.lane([&](auto& fabric) -> WaitStatus {
    auto one = fabric.template tile<std::uint32_t, 1, 1>();
    for (std::uint32_t round = 0; round < rounds; ++round) {
      const auto ticket = lock.acquire(fabric);
      if (ticket.status != WaitStatus::ok) return ticket.status;
      const WaitStatus loaded = fabric.remote_load(one, number, Rank{0}, Box{0, 0, 1, 1});
      one.each([&](std::int64_t, std::int64_t, std::uint32_t& element) {
        expect(fabric, element == ticket.number, "the number is the ticket's");
        if (element == ticket.number) ++result.in_turn;
        ++element;
      });
      fabric.remote_store(one, number, Rank{0}, Box{0, 0, 1, 1});
      if (const WaitStatus met = fabric.converge(loaded); met != WaitStatus::ok) return met;
      lock.release(fabric);
    }
    const WaitStatus done = lock.all_done(fabric, fabric.size() * rounds);
    if (done != WaitStatus::ok) return done;
    if (fabric.rank() == Rank{0} && fabric.thread() == 0) result.number = fabric.local(number)[0];
    return WaitStatus::ok;
  });
  if (!ran) return ran.error();
  return result;
}

[[nodiscard]] inline muster::Result<void> check_counted(const Counted& seen, std::uint32_t rank,
                                                        std::uint32_t ranks, std::uint32_t rounds) {
  const std::uint32_t expected = rank == 0 ? ranks * rounds : 0;
  if (seen.number == expected && seen.in_turn == rounds) return {};
  return muster::Error{
      .code = muster::ErrorCode::mismatch,
      .what = "rank " + std::to_string(rank) + " found the number " + std::to_string(seen.number) +
              " at the end, expected " + std::to_string(expected) + ", and was in turn " +
              std::to_string(seen.in_turn) + " times of " + std::to_string(rounds)};
}

}  // namespace tutorial
