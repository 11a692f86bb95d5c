// The Fabric of a CUDA kernel: load and store reach the memory of every rank.
#pragma once

#include <cstddef>
#include <cstdint>

#include "muster/fabric/gpu/access.cuh"
#include "muster/fabric/gpu/check.cuh"
#include "muster/fabric/gpu/coop.cuh"
#include "muster/fabric/gpu/coordinates.cuh"
#include "muster/fabric/gpu/copy.cuh"
#include "muster/fabric/gpu/handle.hpp"
#include "muster/fabric/gpu/peer_addresses.cuh"
#include "muster/fabric/gpu/tile.cuh"
#include "muster/fabric/gpu/watch.cuh"
#include "muster/types.hpp"

namespace muster::gpu {

// One lane of one rank, made in the kernel by every thread of `Coop`:
//
//   __global__ void kernel(const __grid_constant__ muster::gpu::Handle handle, ...) {
//     muster::gpu::Fabric fabric(handle);        // the block is the lane
//     muster::gpu::Fabric<muster::gpu::Warp> fabric(handle);   // made by one warp of the block
//
// Rank and lane follow from the block. A block that has several fabrics (of specialised warps, say)
// gives each its own barrier objects, since they all are the same lane.
//
// The threads of a warp come to a converge, or a call that converges, at the same place of the
// code. At two places (one in each branch of an if, say) a block of several warps hangs.
//
// What the kernel leaves in windows must not be read through `const __restrict__` pointers or
// __ldg: those loads may be served from before an acquire.
//
// A wait polls. It looks at the abort word and at its deadline after some 6 us, and then every
// 30 us. The first failure of each rank is recorded for the host (World::error).
//
// Looked at in every kernel, for it costs next to nothing: that the launch has the lane's threads
// (Block<256> in blocks of 128 ends at once and is reported), no more lanes than the world and no
// more ranks than the type. Arguments (cells, ranks, windows, runs, boxes, packets) only with
// `checks`: the teams of a put's windows alone were 3 % of a put of 4 KiB.
//
// `team` says whether the team may have more than near_ranks (8) ranks: their addresses take a load
// from device memory. `checks` whether the kernel can check its arguments (see checks_compiled).
template <class Coop = Block<>, Ranks team = Ranks::few, bool checks = checks_compiled>
class Fabric {
 public:
  static constexpr bool is_device = true;

  // `handle` outlives the fabric: it is the kernel's parameter.
  MUSTER_FN explicit Fabric(const Handle& handle, Coop coop = {})
      : Fabric(handle, coordinates_of_block(handle), coop, true) {}

  // For kernels that deal out ranks and lanes in another way: lane k of every rank must run.
  MUSTER_FN Fabric(const Handle& handle, LaneCoordinates at, Coop coop = {})
      : Fabric(handle, at, coop, at.rank.value < handle.ranks && at.lane.value < at.lanes) {}

  // ---- identity and meeting

  [[nodiscard]] MUSTER_FN Rank rank() const { return Rank{peers_.rank()}; }
  [[nodiscard]] MUSTER_FN std::uint32_t size() const { return peers_.ranks(); }
  [[nodiscard]] MUSTER_FN Lane lane() const { return Lane{peers_.lane()}; }
  [[nodiscard]] MUSTER_FN std::uint32_t lanes() const { return peers_.lanes(); }
  [[nodiscard]] MUSTER_FN std::uint32_t thread() const { return coop_.thread(); }
  [[nodiscard]] MUSTER_FN std::uint32_t threads() const { return coop_.threads(); }
  [[nodiscard]] MUSTER_FN static constexpr Profile profile() { return Profile::direct; }

  // Tiles that were loaded before are complete. A barrier of the block alone would let loads that
  // are under way pass a later relaxed notify; a release notify could do without.
  MUSTER_FN void converge() {
    complete_loads();
    coop_.meet();
  }

  MUSTER_FN WaitStatus converge(WaitStatus status) {
    complete_loads();
    status = coop_.meet(worst(status, peers_.status()));
    peers_.become(status);
    return status;
  }

  template <detail::Broadcastable T>
  [[nodiscard]] MUSTER_FN T broadcast(T value) {
    complete_loads();
    return coop_.broadcast(value);
  }

  // May a barrier have noted that it must not be called again? Not where a lane that has failed
  // does nothing more, as long as the team has not failed before this launch. See Refusal.
  [[nodiscard]] MUSTER_FN bool has_notes() const { return peers_.handle().notes != 0; }

  // Waits between the two share one deadline: see muster::OneCall. No clock is read before one of
  // them turns slow.
  MUSTER_FN bool begin_call() {
    const bool inner = since_ != detail::no_call;
    if (!inner) since_ = detail::not_slow;
    return inner;
  }
  MUSTER_FN void end_call(bool inner) {
    if (!inner) since_ = detail::no_call;
  }

  // ---- signals and counters

  // A signal, looked up once for a loop that notifies or awaits it again and again.
  class Target {
   public:
    // Not where the signal or the rank is known not to exist, which takes checks. Then it must not
    // be notified.
    [[nodiscard]] MUSTER_FN bool valid() const { return !checks || word != nullptr; }

   private:
    friend class Fabric;
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
    return detail::with_access<Order::acquire>(acquire_part(order), scope, [&](auto access) {
      using Poll = decltype(access);
      const auto seen = [&] { return satisfies(Poll::load(target.word), compare, value); };
      if (!peers_.careful() && coop_.await(count, seen)) [[likely]]
        return WaitStatus::ok;
      const detail::LongWait end = wait_out<Poll>(peers_.handle(), place(), target.word, compare,
                                                  value, count, peers_.status(), since_, coop_);
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
    if (++tests_ % detail::polls_between_looks != 0) return WaitStatus::pending;
    return detail::failure_or_pending(peers_.handle());
  }

  // The record of a failed one names the first condition.
  AnyStatus MUSTER_FN wait_any(const Condition* conditions, std::uint32_t count,
                               Order order = Order::acquire, Scope scope = Scope::system) {
    for (std::uint32_t i = 0; i < count; ++i)
      if (!ready(Operation::wait_any, conditions[i].signal)) return {peers_.status(), 0};
    detail::Watch watch(peers_.handle(), since_);
    since_ = watch.since();
    WaitStatus status = WaitStatus::ok;
    for (int polls = 1; status == WaitStatus::ok; ++polls) {
      for (std::uint32_t i = 0; i < count; ++i)
        if (satisfies(read(conditions[i].signal, order, scope), conditions[i].compare,
                      conditions[i].value))
          return {WaitStatus::ok, i};
      if (polls % detail::first_polls == 0) status = watch.look();
    }
    detail::Trouble trouble{.operation = Operation::wait_any, .status = status};
    if (count > 0) {
      trouble.segment = conditions[0].signal.segment;
      trouble.cell = conditions[0].signal.cell;
      trouble.seen = read(conditions[0].signal);
      trouble.compare = static_cast<std::uint32_t>(conditions[0].compare);
      trouble.expected = conditions[0].value;
    }
    detail::give_up(peers_.handle(), place(), trouble);
    return {status, 0};
  }

  [[nodiscard]] MUSTER_FN std::uint32_t read(Signal signal, Order order = Order::relaxed,
                                             Scope scope = Scope::system) {
    if (!admit(Operation::wait, signal, rank())) return 0;
    const std::uint32_t seen = detail::with_access<Order::acquire>(
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
    return detail::with_access<Order::release>(
        release_part(order), Scope::system, [&](auto access) {
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
    if (status == WaitStatus::ok) detail::Relaxed::store(word, 0);
    return status;
  }

  // ---- windows and tiles

  template <class T>
  [[nodiscard]] MUSTER_FN View<T> local(WindowRef<T> window) {
    return address(window, rank());
  }

  // The peer's memory. In checked teams the own, where there is no such peer, and null where the
  // window is not the team's.
  template <class T>
  [[nodiscard]] MUSTER_FN View<T> address(WindowRef<T> window, Rank peer) {
    if (!admit(Operation::window, window, peer, Box{}))
      return peer.value < size() ? View<T>(nullptr, 0) : local(window);
    return View<T>(peers_.data(window, peer), window.size());
  }

  template <class T, std::int64_t R, std::int64_t C>
  [[nodiscard]] MUSTER_FN Tile<T, R, C, Coop::static_threads> tile() {
    using Result = Tile<T, R, C, Coop::static_threads>;
    // A lane of fewer threads than each thread keeps room for would drop elements.
    if (Coop::static_threads == 0 && threads() < Result::least_threads) [[unlikely]]
      peers_.settle(
          detail::refuse_tile(peers_.handle(), place(), threads(), Result::least_threads));
    return Result(thread(), threads());
  }

  // Zero, with the same elements in the same threads.
  template <class U, class T, std::int64_t R, std::int64_t C, std::uint32_t count, int width>
  [[nodiscard]] MUSTER_FN Tile<U, R, C, count, width> tile_like(
      const Tile<T, R, C, count, width>& /*tile*/) {
    return Tile<U, R, C, count, width>(thread(), threads());
  }

  // Several loads may be under way together: the next converge waits for them.
  template <class Tile, class T>
  MUSTER_FN void load(Tile& tile, WindowRef<T> window, Box box) {
    remote_load(tile, window, rank(), box);
  }
  template <class Tile, class T>
  MUSTER_FN void store(Tile& tile, WindowRef<T> window, Box box) {
    remote_store(tile, window, rank(), box);
  }
  // From and to plain memory: by pointer, unchecked, as a kernel's own loads and stores are.
  template <class Tile, class T>
  MUSTER_FN void load(Tile& tile, MemoryRef<T> memory, Box box) {
    tile.read(patch(memory, box).constant());
    loading_ |= tile.digest();
  }
  template <class Tile, class T>
  MUSTER_FN void store(Tile& tile, MemoryRef<T> memory, Box box) {
    tile.write(patch(memory, box));
  }
  template <class Tile, class T>
  MUSTER_FN void remote_load(Tile& tile, WindowRef<T> window, Rank peer, Box box) {
    if (!admit(Operation::tile, window, peer, box)) return;
    tile.read(peers_.patch(window, peer, box).constant());
    loading_ |= tile.digest();
  }
  template <class Tile, class T>
  MUSTER_FN void remote_store(Tile& tile, WindowRef<T> window, Rank peer, Box box) {
    if (admit(Operation::tile, window, peer, box)) tile.write(peers_.patch(window, peer, box));
  }
  template <class Tile, class T>
  MUSTER_FN void remote_add(Tile& tile, WindowRef<T> window, Rank peer, Box box) {
    if (admit(Operation::tile, window, peer, box)) tile.add_to(peers_.patch(window, peer, box));
  }

  // ---- packets: each 4 bytes of a tile with the flag beside them, written and read in one piece

  template <class Tile>
  MUSTER_FN void put_packets(Slots slots, Rank peer, std::int64_t at, Tile& tile,
                             std::uint32_t flag) {
    if (admit(Operation::packets, slots, peer, Box{0, at, 1, Tile::packet_lines}))
      tile.put_packets(peers_.packets(slots, peer, at), flag);
  }

  template <class Tile>
  WaitStatus MUSTER_FN wait_packets(Tile& tile, Slots slots, std::int64_t at, std::uint32_t flag) {
    if (peers_.status() != WaitStatus::ok ||
        !admit(Operation::packets, slots, rank(), Box{0, at, 1, Tile::packet_lines}))
      return peers_.status();
    return detail::wait_until(
        peers_.handle(), since_,
        [&] { return tile.take_packets(peers_.packets(slots, rank(), at), flag); },
        [&](WaitStatus status) {
          detail::give_up(peers_.handle(), place(),
                          {.operation = Operation::packets,
                           .status = status,
                           .segment = slots.segment,
                           .compare = static_cast<std::uint32_t>(Compare::eq),
                           .expected = flag});
        });
  }

  MUSTER_FN void clear_packets(Slots slots, std::int64_t at, std::int64_t lines) {
    if (!admit(Operation::packets, slots, rank(), Box{0, at, 1, lines})) return;
    std::uint64_t* const words = peers_.packets(slots, rank(), at);
    for (std::int64_t i = thread(); i < lines * detail::packets_in_line; i += threads())
      detail::Packet(words[i]).store(0, cuda::memory_order_relaxed);
  }

  // ---- transfers: copies by all threads of the lane, which meet before, so that what any of them
  // wrote is sent, and after, so that all may go on with what was copied

  template <class T>
  MUSTER_FN void put(WindowRef<T> to, Rank peer, std::int64_t to_at, WindowRef<T> from,
                     std::int64_t from_at, std::int64_t count) {
    copy(to, peer, to_at, from, rank(), from_at, count);
    converge();
  }
  template <class T>
  MUSTER_FN void get(WindowRef<T> to, std::int64_t to_at, WindowRef<T> from, Rank peer,
                     std::int64_t from_at, std::int64_t count) {
    copy(to, rank(), to_at, from, peer, from_at, count);
    converge();
  }
  template <class T>
  MUSTER_FN void put_signal(WindowRef<T> to, Rank peer, std::int64_t to_at, WindowRef<T> from,
                            std::int64_t from_at, std::int64_t count, Signal signal,
                            std::uint32_t value, NotifyOp op) {
    put(to, peer, to_at, from, from_at, count);
    // Speaks for all threads, which have met; carries more than the payload here.
    if (thread() == 0) notify(signal, peer, value, op);
  }

  // The threads do the copying, so nothing is under way on return, and the end of a kernel has
  // nothing to complete. A later release notify to `peer` carries the put, whichever thread makes
  // it (contract 1): so the threads meet here, too.
  template <class T>
  MUSTER_FN void put_async(WindowRef<T> to, Rank peer, std::int64_t to_at, WindowRef<T> from,
                           std::int64_t from_at, std::int64_t count) {
    put(to, peer, to_at, from, from_at, count);
  }
  // But for the meeting, which flush makes: no notify speaks for a get that is not flushed.
  template <class T>
  MUSTER_FN void get_async(WindowRef<T> to, std::int64_t to_at, WindowRef<T> from, Rank peer,
                           std::int64_t from_at, std::int64_t count) {
    copy(to, rank(), to_at, from, peer, from_at, count);
  }

  // `count` elements between memories that the lane's threads reach, up to 16 bytes at a time. The
  // caller converges.
  template <class T>
  MUSTER_FN void copy(T* to, const T* from, std::int64_t count) {
    detail::copy_run(reinterpret_cast<std::byte*>(to), reinterpret_cast<const std::byte*>(from),
                     count * static_cast<std::int64_t>(sizeof(T)), thread(), threads());
  }

  // No fence: nobody may look at a target before an acquire of a deposit that was released after
  // the flush, by a thread of this lane, and a release carries all that its thread has met.
  MUSTER_FN void flush() { converge(); }

 private:
  [[nodiscard]] MUSTER_FN std::uint32_t* cell(Signal signal, Rank owner) const {
    return peers_.cell(signal.segment, signal.cell, owner.value);
  }
  [[nodiscard]] MUSTER_FN detail::Place place() const { return peers_.place(thread()); }
  MUSTER_FN Fabric(const Handle& handle, LaneCoordinates at, Coop coop, bool within)
      : coop_(coop), peers_(handle, at, within, coop) {}

  template <class T>
  [[nodiscard]] MUSTER_FN static detail::Patch<T> patch(MemoryRef<T> memory, Box box) {
    return {memory.data + memory.at(box.row, box.col), memory.cols, box.rows, box.cols};
  }

  // A lane that has failed deposits nothing more: its peers would take that for a call that is
  // well.
  [[nodiscard]] MUSTER_FN bool speaks() const { return peers_.status() == WaitStatus::ok; }

  MUSTER_FN void deposit(std::uint32_t* word, std::uint32_t value, NotifyOp op, Order order,
                         Scope scope) {
    // A release pairs with the acquire poll of the peer's wait.
    detail::with_access<Order::release>(release_part(order), scope, [&](auto access) {
      if (op == NotifyOp::set)
        access.store(word, value);
      else
        access.add(word, value);
    });
  }

  // The rest of a wait_converge that takes long: called by all threads of the lane, so that where
  // it is called from, none of them goes a way of its own.
  template <class Poll>
  [[gnu::noinline]] MUSTER_FN static detail::LongWait wait_out(
      const Handle& handle, detail::Place place, std::uint32_t* word, Compare compare,
      std::uint32_t value, std::uint32_t count, WaitStatus status, std::uint64_t since, Coop coop) {
    detail::LongWait end{status, since};
    if (place.thread < count && status == WaitStatus::ok)
      end = detail::wait_longer<Poll, Operation::wait>(handle, place, word, compare, value, since);
    return {coop.meet(end.status), end.since};
  }

  template <Operation operation>
  WaitStatus MUSTER_FN wait_on(std::uint32_t* word, Compare compare, std::uint32_t value,
                               Order order, Scope scope) {
    // An acquire pairs with the peer's release notify.
    return detail::with_access<Order::acquire>(acquire_part(order), scope, [&](auto access) {
      return detail::wait_for<decltype(access), operation>(peers_.handle(), place(), word, compare,
                                                           value, since_);
    });
  }

  template <class T>
  MUSTER_FN void copy(WindowRef<T> to, Rank to_rank, std::int64_t to_at, WindowRef<T> from,
                      Rank from_rank, std::int64_t from_at, std::int64_t count) {
    converge();
    if (!peers_.admit_run(thread(), to, to_rank, to_at, count) ||
        !peers_.admit_run(thread(), from, from_rank, from_at, count))
      return;
    auto* const target = reinterpret_cast<std::byte*>(peers_.data(to, to_rank) + to_at);
    const auto* const source =
        reinterpret_cast<const std::byte*>(peers_.data(from, from_rank) + from_at);
    const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(T));
    if (!peers_.apart(thread(), target, source, to_at, from_at, count, bytes)) return;
    detail::copy_run(target, source, bytes, thread(), threads());
  }

  [[nodiscard]] MUSTER_FN bool admit(Operation operation, Signal signal, Rank peer) {
    return peers_.admit(thread(), operation, signal, peer);
  }
  template <class T>
  [[nodiscard]] MUSTER_FN bool admit(Operation operation, WindowRef<T> window, Rank peer, Box box) {
    return peers_.admit(thread(), operation, window, peer, box);
  }
  // For operations that would block: not where the lane has failed.
  [[nodiscard]] MUSTER_FN bool ready(Operation operation, Signal signal) {
    return peers_.status() == WaitStatus::ok && admit(operation, signal, rank());
  }

  // A branch on the loaded words cannot be passed before they are there.
  MUSTER_FN void complete_loads() {
    if ((loading_ & peers_.handle().zero) != 0) detail::trap();
    loading_ = 0;
  }

  [[no_unique_address]] Coop coop_;
  detail::PeerAddresses<team, checks> peers_;
  std::uint32_t loading_ = 0;  // digest of what was loaded since the last converge
  std::uint64_t since_ = detail::no_call;
  int tests_ = 0;  // that said pending
};

}  // namespace muster::gpu
