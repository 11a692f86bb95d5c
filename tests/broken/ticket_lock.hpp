// A ticket lock at rank 0, as the broken protocols with a lock have it: whoever holds it counts up
// an element there. What each does in its own way: draw(fabric, next) is a ticket, by a fetched
// operation; await(fabric, called, ticket) blocks until that number is called; and
// release(fabric, called, ticket) calls the next one.
#pragma once

#include "broken.hpp"

namespace muster::broken {

inline constexpr Rank lock_home{0};

template <class Draw, class Await, class Release>
void count_under_lock(Team& team, std::uint32_t calls, Draw draw, Await await, Release release) {
  const auto mine = *team.window<int>({1}, "mine");
  const Signals next = *team.signals(1);
  const Signals called = *team.signals(1);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    for (std::uint32_t call = 0; call < calls; ++call) {
      const Fetched ticket = draw(fabric, next[0]);
      if (ticket.status != WaitStatus::ok) return ticket.status;
      const WaitStatus status = await(fabric, called[0], ticket.value);
      if (status != WaitStatus::ok) return status;
      send(fabric, mine, lock_home, 0, fetch(fabric, mine, lock_home, 0) + 1);
      if (const WaitStatus flushed = fabric.flush(); flushed != WaitStatus::ok) return flushed;
      release(fabric, called[0], ticket.value);
    }
    return WaitStatus::ok;
  });
}

// The number is called on every rank: each waits at a cell of its own.
inline constexpr auto await_own = [](auto& fabric, Signal called, std::uint32_t ticket) {
  return fabric.wait(called, Compare::ge, ticket);
};
template <class F>
void call_everywhere(F& fabric, Signal called, Order order) {
  for_each_peer(fabric, [&](Rank peer) { fabric.notify(called, peer, 1, NotifyOp::add, order); });
  fabric.notify(called, fabric.rank(), 1, NotifyOp::add, order);
}

}  // namespace muster::broken
