// Signals and counters of a kernel's lane. Included by muster/fabric/gpu/fabric.cuh.
#pragma once

#include <cstdint>

#include "muster/fabric/gpu/access.cuh"
#include "muster/fabric/gpu/check.cuh"
#include "muster/fabric/gpu/coop.cuh"
#include "muster/fabric/gpu/lane.cuh"
#include "muster/fabric/gpu/watch.cuh"
#include "muster/types.hpp"

namespace muster::gpu::detail {

template <class Coop, Ranks team, bool checks>
class LaneSignals : public LaneState<Coop, team, checks> {
  using State = LaneState<Coop, team, checks>;

 protected:
  using State::admit;
  using State::cell;
  using State::complete_loads;
  using State::coop_;
  using State::loading_;
  using State::peers_;
  using State::place;
  using State::ready;
  using State::since_;
  using State::speaks;

 public:
  using State::rank;

  // A signal, looked up once for a loop that notifies or awaits it again and again.
  class Target {
   public:
    // Not where the signal or the rank is known not to exist, which takes checks. Then it must not
    // be notified.
    [[nodiscard]] MUSTER_FN bool valid() const { return !checks || word != nullptr; }

   private:
    friend class LaneSignals;
    std::uint32_t* word = nullptr;
  };

  // The signal as `owner` has it: to notify a peer, or to wait for the own.
  [[nodiscard]] MUSTER_FN Target resolve(Signal signal, Rank owner) {
    Target target;
    if (admit(Operation::notify, signal, owner)) target.word = cell(signal, owner);
    return target;
  }

  MUSTER_FN void notify(Signal signal, Rank peer, std::uint32_t value, NotifyOp op,
                        Order order = Order::release, Scope scope = Scope::system) {
    if (speaks() && admit(Operation::notify, signal, peer))
      deposit(cell(signal, peer), value, op, order, scope);
  }
  MUSTER_FN void notify(Target target, std::uint32_t value, NotifyOp op,
                        Order order = Order::release, Scope scope = Scope::system) {
    if (speaks()) deposit(target.word, value, op, order, scope);
  }

  WaitStatus MUSTER_FN wait(Signal signal, Compare compare, std::uint32_t value,
                            Order order = Order::acquire, Scope scope = Scope::system) {
    if (!ready(Operation::wait, signal)) return peers_.status();
    return wait_on<Operation::wait>(cell(signal, rank()), compare, value, order, scope);
  }
  // See muster::Target. All threads of a warp poll, whether they need it or not, and leave the loop
  // together: where one thread polled and the others waited for it, an exchange of two GPUs took a
  // fifth longer (two H200, by hand; `muster bench --fabric gpu barrier` shows the whole).
  WaitStatus MUSTER_FN wait_converge(Target target, std::uint32_t count, Compare compare,
                                     std::uint32_t value, Order order, Scope scope) {
    complete_loads();
    // An acquire pairs with the peer's release notify.
    return with_access<Order::acquire>(acquire_part(order), scope, [&](auto access) {
      using Poll = decltype(access);
      const auto seen = [&] { return satisfies(Poll::load(target.word), compare, value); };
      if (!peers_.careful() && coop_.await(count, seen)) [[likely]]
        return WaitStatus::ok;
      const LongWait end = wait_out<Poll>(peers_.handle(), place(), target.word, compare, value,
                                          count, peers_.status(), since_, coop_);
      since_ = end.since;
      peers_.become(end.status);
      return end.status;
    });
  }

  WaitStatus MUSTER_FN test(Signal signal, Compare compare, std::uint32_t value,
                            Order order = Order::acquire, Scope scope = Scope::system) {
    if (!ready(Operation::wait, signal)) return peers_.status();
    if (satisfies(read(signal, order, scope), compare, value)) return WaitStatus::ok;
    // A loop of tests ends where the team has failed, as a wait does.
    if (++tests_ % polls_between_looks != 0) return WaitStatus::pending;
    return failure_or_pending(peers_.handle());
  }

  // The record of a failed one names the first condition.
  AnyStatus MUSTER_FN wait_any(const Condition* conditions, std::uint32_t count,
                               Order order = Order::acquire, Scope scope = Scope::system) {
    for (std::uint32_t i = 0; i < count; ++i)
      if (!ready(Operation::wait_any, conditions[i].signal)) return {peers_.status(), 0};
    Watch watch(peers_.handle(), since_);
    since_ = watch.since();
    WaitStatus status = WaitStatus::ok;
    for (int polls = 1; status == WaitStatus::ok; ++polls) {
      for (std::uint32_t i = 0; i < count; ++i)
        if (satisfies(read(conditions[i].signal, order, scope), conditions[i].compare,
                      conditions[i].value))
          return {WaitStatus::ok, i};
      if (polls % first_polls == 0) status = watch.look();
    }
    Trouble trouble{.operation = Operation::wait_any, .status = status};
    if (count > 0) {
      trouble.segment = conditions[0].signal.segment;
      trouble.cell = conditions[0].signal.cell;
      trouble.seen = read(conditions[0].signal);
      trouble.compare = static_cast<std::uint32_t>(conditions[0].compare);
      trouble.expected = conditions[0].value;
    }
    give_up(peers_.handle(), place(), trouble);
    return {status, 0};
  }

  [[nodiscard]] MUSTER_FN std::uint32_t read(Signal signal, Order order = Order::relaxed,
                                             Scope scope = Scope::system) {
    if (!admit(Operation::wait, signal, rank())) return 0;
    const std::uint32_t seen = with_access<Order::acquire>(
        acquire_part(order), scope, [&](auto access) { return access.load(cell(signal, rank())); });
    loading_ |= seen;  // as a tile's load
    return seen;
  }

  [[nodiscard]] MUSTER_FN std::uint32_t counter(Counter counter) {
    if (!admit(Operation::counter, Signal{counter.segment, counter.cell}, rank())) return 0;
    return *peers_.own(counter);
  }

  MUSTER_FN void set_counter(Counter counter, std::uint32_t value) {
    if (!admit(Operation::counter, Signal{counter.segment, counter.cell}, rank())) return;
    *peers_.own(counter) = value;
  }

  // One thread hands to a cell and one takes from it. The hander alone turns a 0 into a 1, by
  // compare-and-swap across the link, which takes one trip where the cell is free. The taker alone
  // turns a 1 into a 0, so it polls its own memory and stores.
  WaitStatus MUSTER_FN hand(Signal signal, Rank peer, Order order = Order::release) {
    if (peers_.status() != WaitStatus::ok || !admit(Operation::hand, signal, peer))
      return peers_.status();
    std::uint32_t* const word = cell(signal, peer);
    return with_access<Order::release>(release_part(order), Scope::system, [&](auto access) {
      while (access.swap(word, 0, 1) != 0) {
        const WaitStatus status =
            wait_on<Operation::hand>(word, Compare::eq, 0, Order::relaxed, Scope::system);
        if (status != WaitStatus::ok) return status;
      }
      return WaitStatus::ok;
    });
  }

  WaitStatus MUSTER_FN take(Signal signal, Order order = Order::acquire) {
    if (!ready(Operation::take, signal)) return peers_.status();
    std::uint32_t* const word = cell(signal, rank());
    // An acquire pairs with the peer's release hand.
    const WaitStatus status = wait_on<Operation::take>(word, Compare::eq, 1, order, Scope::system);
    // Relaxed: the next hand learns from it only that the cell is free.
    if (status == WaitStatus::ok) Relaxed::store(word, 0);
    return status;
  }

  // ---- fetched operations: an atom on the cell, across the link where it is a peer's

  Fetched MUSTER_FN fetch_add(Signal signal, Rank peer, std::uint32_t value,
                              Order order = Order::acq_rel, Scope scope = Scope::system) {
    return fetched(signal, peer, order, scope,
                   [value](auto access, std::uint32_t* word) { return access.add(word, value); });
  }
  Fetched MUSTER_FN exchange(Signal signal, Rank peer, std::uint32_t value,
                             Order order = Order::acq_rel, Scope scope = Scope::system) {
    return fetched(signal, peer, order, scope, [value](auto access, std::uint32_t* word) {
      return access.exchange(word, value);
    });
  }
  Fetched MUSTER_FN compare_swap(Signal signal, Rank peer, std::uint32_t expected,
                                 std::uint32_t desired, Order order = Order::acq_rel,
                                 Scope scope = Scope::system) {
    return fetched(signal, peer, order, scope,
                   [expected, desired](auto access, std::uint32_t* word) {
                     return access.swap(word, expected, desired);
                   });
  }

 protected:
  using State::State;

 private:
  // A release pairs with whoever acquires the value that is left, an acquire with whoever released
  // into the one that was found.
  template <class Apply>
  Fetched MUSTER_FN fetched(Signal signal, Rank peer, Order order, Scope scope, Apply&& apply) {
    if (!speaks() || !admit(Operation::fetch, signal, peer)) return {peers_.status(), 0};
    std::uint32_t* const word = cell(signal, peer);
    const std::uint32_t found =
        with_any_access(order, scope, [&](auto access) { return apply(access, word); });
    loading_ |= found;  // as a tile's load
    // A loop of them ends where the team has failed, as one of tests does.
    if (++tests_ % polls_between_looks != 0) return {WaitStatus::ok, found};
    const WaitStatus status = failure_or_pending(peers_.handle());
    return {status == WaitStatus::pending ? WaitStatus::ok : status, found};
  }

  MUSTER_FN void deposit(std::uint32_t* word, std::uint32_t value, NotifyOp op, Order order,
                         Scope scope) {
    // A release pairs with the acquire poll of the peer's wait.
    with_access<Order::release>(release_part(order), scope, [&](auto access) {
      if (op == NotifyOp::set)
        access.store(word, value);
      else
        access.add(word, value);
    });
  }

  // The rest of a wait_converge that takes long: called by all threads of the lane, so that where
  // it is called from, none of them goes a way of its own.
  template <class Poll>
  [[gnu::noinline]] MUSTER_FN static LongWait wait_out(const Handle& handle, Place place,
                                                       std::uint32_t* word, Compare compare,
                                                       std::uint32_t value, std::uint32_t count,
                                                       WaitStatus status, std::uint64_t since,
                                                       Coop coop) {
    LongWait end{status, since};
    if (place.thread < count && status == WaitStatus::ok)
      end = wait_longer<Poll, Operation::wait>(handle, place, word, compare, value, since);
    return {coop.meet(end.status), end.since};
  }

  template <Operation operation>
  WaitStatus MUSTER_FN wait_on(std::uint32_t* word, Compare compare, std::uint32_t value,
                               Order order, Scope scope) {
    // An acquire pairs with the peer's release notify.
    return with_access<Order::acquire>(acquire_part(order), scope, [&](auto access) {
      return wait_for<decltype(access), operation>(peers_.handle(), place(), word, compare, value,
                                                   since_);
    });
  }

  int tests_ = 0;  // that said pending, and fetched operations that changed nothing
};

}  // namespace muster::gpu::detail
