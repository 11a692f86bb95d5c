// May a protocol whose signals clear themselves reset a cell by adding back, by setting zero, or
// not at all? Each shape with each way, to be run by the checker; docs/self_clearing.md holds the
// answers.
#include <cstdint>

#include "muster/barrier.hpp"
#include "muster/check.hpp"

namespace muster::self_clearing {
namespace {

using check::Kind;
using model::Team;

enum class Reset : std::uint8_t {
  add_back,   // what was waited for is taken back by an add
  set_early,  // the cell is set to zero before anybody hears that the next call may begin
  set_late,   // ... after somebody may have heard
  epochs,     // no reset: values grow from call to call
};

constexpr bool grows(Reset reset) {
  return reset == Reset::epochs;
}

// By the waiter, to its own cell: it has taken effect on return, and speaks to nobody else.
template <class F>
void clear(F& fabric, Reset reset, Signal cell, std::uint32_t waited_for) {
  if (reset == Reset::add_back)
    fabric.notify(cell, fabric.rank(), ~waited_for + 1, NotifyOp::add, Order::relaxed);
  if (reset == Reset::set_early || reset == Reset::set_late)
    fabric.notify(cell, fabric.rank(), 0, NotifyOp::set, Order::relaxed);
}

// A deposit of call `call`: 1 where the cell is cleared, else the call's number.
template <class F>
void tell(F& fabric, Reset reset, Signal cell, Rank peer, std::uint32_t call) {
  if (grows(reset))
    fabric.notify(cell, peer, call, NotifyOp::set);
  else
    fabric.notify(cell, peer, 1, NotifyOp::add);
}

// Each rank tells each peer and waits for each. With set_early a second barrier keeps the peers out
// of the next call until all have cleared their cells.
// A relaxed wait suffices for the meeting, which speaks for no data; it invalidates no cache.
template <Reset reset, Order order = Order::acquire>
void barrier(Team& team, std::uint32_t calls) {
  const Rows rows = *team.rows();
  const EpochBarrier second(team);
  if (!grows(reset)) team.promise_zero(rows);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    for (std::uint32_t call = 1; call <= calls; ++call) {
      const WaitStatus status = check::barrier_call(fabric, [&] {
        fabric.converge();
        const Signal mine = rows.from(fabric.lane(), fabric.rank());
        for_each_peer(fabric, [&](Rank peer) { tell(fabric, reset, mine, peer, call); });
        WaitStatus all = WaitStatus::ok;
        for_each_peer(fabric, [&](Rank peer) {
          const Signal theirs = rows.from(fabric.lane(), peer);
          all = worst(all, fabric.wait(theirs, Compare::ge, grows(reset) ? call : 1, order));
          clear(fabric, reset, theirs, 1);
        });
        if (reset == Reset::set_early) all = worst(all, second.sync(fabric));
        return fabric.converge(all);
      });
      if (status != WaitStatus::ok) return status;
    }
    return WaitStatus::ok;
  });
}

// Rank 0 sends a value to everybody and goes on when everybody has read the last one. The cell in
// question is the one that says that the value is there; the readers' answers are epochs.
template <Reset reset>
void broadcast(Team& team, std::uint32_t calls) {
  const auto inbox = *team.window<int>({1}, "inbox");
  const Signal there = (*team.signals(1))[0];
  const Rows read = *team.rows();
  if (!grows(reset)) team.promise_zero(Signals{there, 1});
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const Rank root{0};
    for (std::uint32_t call = 1; call <= calls; ++call) {
      WaitStatus status = WaitStatus::ok;
      if (fabric.rank() == root) {
        for_each_peer(fabric, [&](Rank peer) {
          status =
              worst(status, fabric.wait(read.from(fabric.lane(), peer), Compare::ge, call - 1));
        });
        if (fabric.converge(status) != WaitStatus::ok) return status;
        for (std::uint32_t p = 1; p < fabric.size(); ++p) {
          auto tile = fabric.template tile<int, 1, 1>();
          tile.each([&](auto, auto, int& value) { value = static_cast<int>(call); });
          fabric.remote_store(tile, inbox, Rank{p}, Box{0, 0, 1, 1});
        }
        fabric.converge();
        for_each_peer(fabric, [&](Rank peer) { tell(fabric, reset, there, peer, call); });
      } else if (fabric.thread() == 0) {
        status = fabric.wait(there, Compare::ge, grows(reset) ? call : 1);
        if (status == WaitStatus::ok)
          expect(fabric, fabric.local(inbox)[0] == static_cast<int>(call), "this call's value");
        if (reset != Reset::set_late) clear(fabric, reset, there, 1);
        fabric.notify(read.from(fabric.lane(), fabric.rank()), root, call, NotifyOp::set);
        if (reset == Reset::set_late) clear(fabric, reset, there, 1);
      }
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
    }
    return WaitStatus::ok;
  });
}

// Each rank adds its part to each peer's sum and tells it; a barrier ends the call. The cell in
// question counts the parts that have come.
template <Reset reset>
void reduce_scatter(Team& team, std::uint32_t calls) {
  const auto sum = *team.window<int>({1}, "sum");
  const Signal parts = (*team.signals(1))[0];
  const EpochBarrier end(team);
  if (!grows(reset)) team.promise_zero(Signals{parts, 1});
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    const std::uint32_t peers = fabric.size() - 1;
    for (std::uint32_t call = 1; call <= calls; ++call) {
      for (std::uint32_t step = 1; step <= peers; ++step) {
        auto tile = fabric.template tile<int, 1, 1>();
        tile.each([&](auto, auto, int& value) { value = static_cast<int>(call); });
        const Rank peer = right_of(fabric, step);
        fabric.remote_add(tile, sum, peer, Box{0, 0, 1, 1});
      }
      fabric.converge();
      for_each_peer(fabric, [&](Rank peer) { fabric.notify(parts, peer, 1, NotifyOp::add); });
      WaitStatus status = WaitStatus::ok;
      if (fabric.thread() == 0) {
        status = fabric.wait(parts, Compare::ge, grows(reset) ? call * peers : peers);
        if (status == WaitStatus::ok)
          expect(fabric, fabric.local(sum)[0] == static_cast<int>(call * peers), "the sum");
        fabric.local(sum)[0] = 0;
        if (reset != Reset::set_late) clear(fabric, reset, parts, peers);
      }
      status = worst(fabric.converge(status), end.sync(fabric));
      if (reset == Reset::set_late && fabric.thread() == 0) clear(fabric, reset, parts, peers);
      if (status != WaitStatus::ok) return status;
    }
    return WaitStatus::ok;
  });
}

// The same with no barrier behind it: the next call begins as soon as this rank has heard from all.
// Each peer has a cell of its own and each call a sum of its own, so that only the reset can go
// wrong. With set_late the cells are set to zero after the last wait of the call.
template <Reset reset>
void reduce_scatter_bare(Team& team, std::uint32_t calls) {
  const auto sums = *team.window<int>({calls}, "sums");
  const Rows rows = *team.rows();
  if (!grows(reset)) team.promise_zero(rows);
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    for (std::uint32_t call = 1; call <= calls; ++call) {
      for (std::uint32_t step = 1; step < fabric.size(); ++step) {
        auto tile = fabric.template tile<int, 1, 1>();
        tile.each([&](auto, auto, int& value) { value = static_cast<int>(call); });
        const Rank peer{(fabric.rank().value + step) % fabric.size()};
        fabric.remote_add(tile, sums, peer, Box{0, call - 1, 1, 1});
      }
      fabric.converge();
      const Signal mine = rows.from(fabric.lane(), fabric.rank());
      for_each_peer(fabric, [&](Rank peer) { tell(fabric, reset, mine, peer, call); });
      WaitStatus status = WaitStatus::ok;
      for_each_peer(fabric, [&](Rank peer) {
        const Signal theirs = rows.from(fabric.lane(), peer);
        status = worst(status, fabric.wait(theirs, Compare::ge, grows(reset) ? call : 1));
      });
      for_each_peer(fabric,
                    [&](Rank peer) { clear(fabric, reset, rows.from(fabric.lane(), peer), 1); });
      if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
      if (fabric.thread() == 0) (void)static_cast<int>(fabric.local(sums)[call - 1]);
    }
    return WaitStatus::ok;
  });
}

}  // namespace

// In set_late a set is unordered with the adds of peers that are in the next call already.
// NOLINTBEGIN(bugprone-macro-parentheses): the name of a template takes none.
#define MUSTER_SELF_CLEARING_EARLY(shape)                                                 \
  MUSTER_CHECK(shape##_set_zero_early,                                                    \
               {.ranks = 3, .calls = 3, .noncoherent = true, .group = "self_clearing"}) { \
    shape<Reset::set_early>(team, calls);                                                 \
  }
#define MUSTER_SELF_CLEARING(shape)                                                       \
  MUSTER_CHECK(shape##_add_back,                                                          \
               {.ranks = 3, .calls = 3, .noncoherent = true, .group = "self_clearing"}) { \
    shape<Reset::add_back>(team, calls);                                                  \
  }                                                                                       \
  MUSTER_CHECK(shape##_set_zero_late, {.ranks = 3,                                        \
                                       .calls = 3,                                        \
                                       .noncoherent = true,                               \
                                       .group = "self_clearing",                          \
                                       .fails = Kind::clobber}) {                         \
    shape<Reset::set_late>(team, calls);                                                  \
  }                                                                                       \
  MUSTER_CHECK(shape##_epochs,                                                            \
               {.ranks = 3, .calls = 3, .noncoherent = true, .group = "self_clearing"}) { \
    shape<Reset::epochs>(team, calls);                                                    \
  }
// NOLINTEND(bugprone-macro-parentheses)

MUSTER_SELF_CLEARING(barrier)
MUSTER_SELF_CLEARING_EARLY(barrier)
MUSTER_SELF_CLEARING(broadcast)
MUSTER_SELF_CLEARING_EARLY(broadcast)
MUSTER_SELF_CLEARING(reduce_scatter)
MUSTER_SELF_CLEARING_EARLY(reduce_scatter)
MUSTER_SELF_CLEARING(reduce_scatter_bare)

// Wrong on noncoherent alone: the add starts from what the cache has held since the last call.
MUSTER_CHECK(barrier_add_back_unseen, {.ranks = 3,
                                       .calls = 3,
                                       .noncoherent = true,
                                       .group = "self_clearing",
                                       .fails = Kind::noncoherent}) {
  barrier<Reset::add_back, Order::relaxed>(team, calls);
}

}  // namespace muster::self_clearing
