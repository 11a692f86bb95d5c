// What a barrier is for, as bodies over any barrier: data that each use must, or need not, carry.
#pragma once

#include <cstdint>

#include "muster/barrier/use.hpp"
#include "muster/check.hpp"

namespace muster::check::builtin {

using model::BarrierScope;

// What two lanes write is so many elements apart: in lines of a cache of their own.
inline constexpr std::uint32_t line = 16;

// The windows that the bodies below write and read, in slots, and what they expect there.
class Exchange {
 public:
  Exchange(model::Team& team, std::uint32_t slots, std::uint32_t lanes, BarrierScope scope)
      : own_(*team.window<std::uint32_t>({slots, line * lanes}, "own")),
        inbox_(*team.window<std::uint32_t>({slots, team.size(), lanes}, "inbox")),
        slots_(slots),
        scope_(scope) {}

  // Into the own window, by the lane's last thread.
  template <class F>
  void write_own(F& fabric, std::uint32_t call) const {
    if (fabric.thread() + 1 == fabric.threads())
      fabric.local(own_)[own_.at(slot(call), line * fabric.lane().value)] =
          number(fabric.rank(), fabric.lane(), call);
  }

  // From the own window into every peer's inbox.
  template <class F>
  void put(F& fabric, std::uint32_t call) const {
    fabric.converge();  // thread 0 moves what the last one wrote
    const std::int64_t from = own_.at(slot(call), line * fabric.lane().value);
    const std::int64_t to = inbox_at(fabric, call, fabric.rank(), fabric.lane());
    for (std::uint32_t peer = 0; peer < fabric.size(); ++peer)
      if (Rank{peer} != fabric.rank()) fabric.put(inbox_, Rank{peer}, to, own_, from, 1);
  }

  // The peers' own windows, where they lie.
  template <class F>
  void read_peers(F& fabric, std::uint32_t call) const {
    look_at_peers(fabric, call, [&](Rank rank, Lane lane) { return number(rank, lane, call); });
  }

  // The same before anybody has written them.
  template <class F>
  void read_zeros(F& fabric, std::uint32_t call) const {
    look_at_peers(fabric, call, [](Rank, Lane) { return 0U; });
  }

  // What the peers have put into the own inbox, by the lane's last thread.
  template <class F>
  void read_inbox(F& fabric, std::uint32_t call) const {
    if (fabric.thread() + 1 != fabric.threads()) return;
    each_of_reach(fabric, [&](Rank rank, Lane lane) {
      if (rank == fabric.rank()) return;
      const std::uint32_t seen = fabric.local(inbox_)[inbox_at(fabric, call, rank, lane)];
      muster::expect(fabric, seen == number(rank, lane, call),
                     "the inbox holds this call's numbers");
    });
  }

 private:
  [[nodiscard]] std::int64_t slot(std::uint32_t call) const { return call % slots_; }

  template <class F>
  [[nodiscard]] std::int64_t inbox_at(const F& fabric, std::uint32_t call, Rank from,
                                      Lane lane) const {
    return inbox_.at(slot(call) * fabric.size() + from.value, lane.value);
  }

  static std::uint32_t number(Rank rank, Lane lane, std::uint32_t call) {
    return 1 + call * 10'000 + lane.value * 100 + rank.value;
  }

  template <class F, class Expected>
  void look_at_peers(F& fabric, std::uint32_t call, Expected&& expected) const {
    each_of_reach(fabric, [&](Rank rank, Lane lane) {
      auto tile = fabric.template tile<std::uint32_t, 1, 1>();
      const Box box{slot(call), line * lane.value, 1, 1};
      if (rank == fabric.rank())
        fabric.load(tile, own_, box);
      else
        (void)fabric.remote_load(tile, own_, rank, box);  // what it finds is expected below
      tile.each([&](std::int64_t, std::int64_t, std::uint32_t seen) {
        muster::expect(fabric, seen == expected(rank, lane),
                       "a peer's own window holds its number");
      });
    });
  }

  template <class F, class Visit>
  void each_of_reach(F& fabric, Visit&& visit) const {
    for (std::uint32_t rank = 0; rank < fabric.size(); ++rank)
      for (std::uint32_t lane = 0; lane < fabric.lanes(); ++lane) {
        if (scope_ == BarrierScope::lane && Lane{lane} != fabric.lane()) continue;
        if (scope_ == BarrierScope::rank && Rank{rank} != fabric.rank()) continue;
        visit(Rank{rank}, Lane{lane});
      }
  }

  WindowRef<std::uint32_t> own_;
  WindowRef<std::uint32_t> inbox_;
  std::uint32_t slots_;
  BarrierScope scope_;
};

template <class Barrier, class F>
bool meet(const Barrier& barrier, F& fabric, BarrierUse how, BarrierScope scope) {
  return barrier_call(
             fabric, [&] { return barrier.sync(fabric, how); }, 0, scope) == WaitStatus::ok;
}

// Everything before is visible after; and what was read before the next call may be overwritten
// after it, which is why two slots take turns.
template <class Barrier>
void full(model::Team& team, std::uint32_t lanes, std::uint32_t calls, const Barrier& barrier,
          BarrierScope scope = BarrierScope::lane) {
  const Exchange data(team, 2, lanes, scope);
  (void)team.lanes(lanes, [&](auto& fabric) {
    for (std::uint32_t call = 0; call < calls; ++call) {
      data.write_own(fabric, call);
      data.put(fabric, call);
      if (!meet(barrier, fabric, use::full, scope)) return;
      data.read_peers(fabric, call);
      data.read_inbox(fabric, call);
    }
  });
}

// The same in the scoped form, whose state stays in registers.
template <class Barrier>
void scoped(model::Team& team, std::uint32_t lanes, std::uint32_t calls, const Barrier& barrier,
            BarrierScope scope = BarrierScope::lane) {
  const Exchange data(team, 2, lanes, scope);
  (void)team.lanes(lanes, [&](auto& fabric) {
    return barrier.scoped(fabric, [&](auto& scoped) {
      for (std::uint32_t call = 0; call < calls; ++call) {
        data.write_own(fabric, call);
        data.put(fabric, call);
        const auto met = barrier_call(
            fabric, [&] { return scoped.sync(); }, 0, scope);
        if (met != WaitStatus::ok) return;
        data.read_peers(fabric, call);
        data.read_inbox(fabric, call);
      }
    });
  });
}

// One kernel writes, the next one begins with the barrier and reads.
template <class Barrier>
void entry(model::Team& team, std::uint32_t lanes, std::uint32_t calls, const Barrier& barrier,
           BarrierScope scope = BarrierScope::lane) {
  const Exchange data(team, 2, lanes, scope);
  for (std::uint32_t call = 0; call < calls; ++call) {
    (void)team.lanes(lanes, [&](auto& fabric) {
      data.write_own(fabric, call);
      data.put(fabric, call);
    });
    (void)team.lanes(lanes, [&](auto& fabric) {
      if (!meet(barrier, fabric, use::entry, scope)) return;
      data.read_peers(fabric, call);
      data.read_inbox(fabric, call);
    });
  }
}

// The peers have read the own window: it may be written, here and in the next kernel.
template <class Barrier>
void exit(model::Team& team, std::uint32_t lanes, std::uint32_t calls, const Barrier& barrier,
          BarrierScope scope = BarrierScope::lane) {
  const Exchange data(team, calls + 1, lanes, scope);
  const auto met = team.lanes(lanes, [&](auto& fabric) {
    for (std::uint32_t call = 0; call < calls; ++call) {
      data.read_zeros(fabric, call);
      if (call + 1 == calls) data.read_zeros(fabric, calls);
      if (!meet(barrier, fabric, use::exit, scope)) return WaitStatus::expired;
      data.write_own(fabric, call);
    }
    return WaitStatus::ok;
  });
  if (met) (void)team.lanes(lanes, [&](auto& fabric) { data.write_own(fabric, calls); });
}

// The lanes meet; nothing else.
template <class Barrier>
void rendezvous(model::Team& team, std::uint32_t lanes, std::uint32_t calls, const Barrier& barrier,
                BarrierScope scope = BarrierScope::lane) {
  (void)team.lanes(lanes, [&](auto& fabric) {
    for (std::uint32_t call = 0; call < calls; ++call)
      if (!meet(barrier, fabric, use::rendezvous, scope)) return;
  });
}

}  // namespace muster::check::builtin
