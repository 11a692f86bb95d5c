// The Fabric of a CUDA kernel: load and store reach the memory of every rank.
#pragma once

#include <cstddef>
#include <cstdint>

#include "muster/fabric/gpu/access.cuh"
#include "muster/fabric/gpu/check.cuh"
#include "muster/fabric/gpu/coop.cuh"
#include "muster/fabric/gpu/copy.cuh"
#include "muster/fabric/gpu/handle.hpp"
#include "muster/fabric/gpu/tile.cuh"
#include "muster/fabric/gpu/watch.cuh"
#include "muster/types.hpp"

namespace muster::gpu {

// Which lane of which rank the calling thread belongs to.
struct Seat {
  Rank rank;
  Lane lane;
  std::uint32_t lanes = 1;
};

// What follows from the block: see Handle.
[[nodiscard]] MUSTER_FN inline Seat seat_of_block(const Handle& handle) {
  Seat seat{Rank{handle.first_rank}, Lane{detail::block_in_grid()}, detail::blocks_in_grid()};
  if (handle.ranks_here > 1) {
    seat.lanes /= handle.ranks_here;
    seat.rank.value += seat.lane.value / seat.lanes;
    seat.lane.value %= seat.lanes;
  }
  return seat;
}

// One lane of one rank, made in the kernel by every thread of `Coop`:
//
//   __global__ void kernel(const __grid_constant__ muster::gpu::Handle handle, ...) {
//     muster::gpu::Fabric fabric(handle);        // the block is the lane
//     muster::gpu::Fabric<muster::gpu::Warp> fabric(handle);   // made by one warp of the block
//
// Rank and lane follow from the block. A block that has several fabrics (of specialised warps, say)
// gives each its own barrier objects, since they all are the same lane.
//
// What the kernel leaves in windows must not be read through `const __restrict__` pointers or
// __ldg: those loads may be served from before an acquire.
//
// A wait polls. It looks at the abort word and at its deadline after some 10 us, and then every
// 30 us. The first failure of each rank is recorded for the host (World::error).
template <class Coop = Block<>>
class Fabric {
 public:
  static constexpr bool is_device = true;

  // `handle` outlives the fabric: it is the kernel's parameter.
  MUSTER_FN explicit Fabric(const Handle& handle, Coop coop = {})
      : Fabric(handle, seat_of_block(handle), coop) {}

  // For kernels that deal out ranks and lanes in another way: lane k of every rank must run.
  MUSTER_FN Fabric(const Handle& handle, Seat seat, Coop coop = {})
      : handle_(handle),
        coop_(coop),
        ranks_(handle.ranks),
        rank_(seat.rank.value),
        lane_(seat.lane.value),
        lanes_(seat.lanes),
        checked_(handle.verify != 0) {
    // More lanes than the rows were made for would deposit into other rows.
    if (lanes_ > handle.max_lanes || lane_ >= lanes_) {
      checked_ = true;
      settle(detail::refuse(handle, place(), {.operation = Operation::launch}));
    }
  }

  // ---- identity and meeting

  [[nodiscard]] MUSTER_FN Rank rank() const { return Rank{rank_}; }
  [[nodiscard]] MUSTER_FN std::uint32_t size() const { return ranks_; }
  [[nodiscard]] MUSTER_FN Lane lane() const { return Lane{lane_}; }
  [[nodiscard]] MUSTER_FN std::uint32_t lanes() const { return lanes_; }
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
    status = coop_.meet(worst(status, status_));
    // An abort ends all later waits at once. An expired wait does not: the next may succeed.
    status_ = status > WaitStatus::expired ? status : WaitStatus::ok;
    return status;
  }

  template <detail::Broadcastable T>
  [[nodiscard]] MUSTER_FN T broadcast(T value) {
    complete_loads();
    return coop_.broadcast(value);
  }

  // ---- signals and counters

  MUSTER_FN void notify(Signal signal, Rank peer, std::uint32_t value, NotifyOp op,
                        Order order = Order::release, Scope scope = Scope::system) {
    const Target target = resolve(signal, peer);
    if (!checked_ || target.valid()) notify(target, value, op, order, scope);
  }

  // A peer's signal, looked up once for a loop that notifies it again and again.
  class Target {
   public:
    // Not where the signal or the peer does not exist. Such a target must not be notified.
    [[nodiscard]] MUSTER_FN bool valid() const { return word != nullptr; }

   private:
    friend class Fabric;
    std::uint32_t* word = nullptr;
  };

  [[nodiscard]] MUSTER_FN Target resolve(Signal signal, Rank peer) {
    Target target;
    if (admit(Operation::notify, signal, peer))
      target.word = cell(signal.segment, signal.cell, peer);
    return target;
  }

  MUSTER_FN void notify(Target target, std::uint32_t value, NotifyOp op,
                        Order order = Order::release, Scope scope = Scope::system) {
    // A release pairs with the acquire poll of the peer's wait.
    detail::with_access<Order::release>(release_part(order), scope, [&](auto access) {
      if (op == NotifyOp::set)
        access.store(target.word, value);
      else
        access.add(target.word, value);
    });
  }

  WaitStatus MUSTER_FN wait(Signal signal, Compare compare, std::uint32_t value,
                            Order order = Order::acquire, Scope scope = Scope::system) {
    if (!ready(Operation::wait, signal)) return status_;
    std::uint32_t* const word = cell(signal.segment, signal.cell, rank());
    // An acquire pairs with the peer's release notify.
    return detail::with_access<Order::acquire>(acquire_part(order), scope, [&](auto access) {
      return detail::wait_for<decltype(access)>(handle_, place(), word, compare, value,
                                                about(Operation::wait, signal));
    });
  }

  WaitStatus MUSTER_FN test(Signal signal, Compare compare, std::uint32_t value,
                            Order order = Order::acquire, Scope scope = Scope::system) {
    if (!ready(Operation::wait, signal)) return status_;
    return satisfies(read(signal, order, scope), compare, value) ? WaitStatus::ok
                                                                 : WaitStatus::pending;
  }

  // The record of a failed one names the first condition.
  AnyStatus MUSTER_FN wait_any(const Condition* conditions, std::uint32_t count,
                               Order order = Order::acquire, Scope scope = Scope::system) {
    for (std::uint32_t i = 0; i < count; ++i)
      if (!ready(Operation::wait_any, conditions[i].signal)) return {status_, 0};
    const detail::Watch watch(handle_);
    WaitStatus status = WaitStatus::ok;
    for (int polls = 1; status == WaitStatus::ok; ++polls) {
      for (std::uint32_t i = 0; i < count; ++i)
        if (satisfies(read(conditions[i].signal, order, scope), conditions[i].compare,
                      conditions[i].value))
          return {WaitStatus::ok, i};
      if (polls % detail::first_polls == 0) status = watch.look();
    }
    detail::Trouble trouble;
    if (count > 0) {
      trouble = about(Operation::wait_any, conditions[0].signal);
      trouble.seen = read(conditions[0].signal);
      trouble.compare = static_cast<std::uint32_t>(conditions[0].compare);
      trouble.expected = conditions[0].value;
    }
    trouble.status = status;
    detail::record(handle_, place(), trouble);
    return {status, 0};
  }

  [[nodiscard]] MUSTER_FN std::uint32_t read(Signal signal, Order order = Order::relaxed,
                                             Scope scope = Scope::system) {
    if (!admit(Operation::wait, signal, rank())) return 0;
    std::uint32_t* const word = cell(signal.segment, signal.cell, rank());
    return detail::with_access<Order::acquire>(acquire_part(order), scope,
                                               [&](auto access) { return access.load(word); });
  }

  [[nodiscard]] MUSTER_FN std::uint32_t counter(Counter counter) {
    if (!admit(Operation::counter, Signal{counter.segment, counter.cell}, rank())) return 0;
    return *cell(counter.segment, counter.cell, rank());
  }

  MUSTER_FN void set_counter(Counter counter, std::uint32_t value) {
    if (!admit(Operation::counter, Signal{counter.segment, counter.cell}, rank())) return;
    *cell(counter.segment, counter.cell, rank()) = value;
  }

  // One thread hands to a cell and one takes from it. The hander alone turns a 0 into a 1, by
  // compare-and-swap across the link, which takes one trip where the cell is free. The taker alone
  // turns a 1 into a 0, so it polls its own memory and stores.
  WaitStatus MUSTER_FN hand(Signal signal, Rank peer, Order order = Order::release) {
    if (status_ != WaitStatus::ok || !admit(Operation::hand, signal, peer)) return status_;
    std::uint32_t* const word = cell(signal.segment, signal.cell, peer);
    detail::Trouble trouble = about(Operation::hand, signal);
    trouble.peer = peer.value;
    return detail::with_access<Order::release>(
        release_part(order), Scope::system, [&](auto access) {
          while (access.swap(word, 0, 1) != 0) {
            const WaitStatus status =
                detail::wait_for<detail::Relaxed>(handle_, place(), word, Compare::eq, 0, trouble);
            if (status != WaitStatus::ok) return status;
          }
          return WaitStatus::ok;
        });
  }

  WaitStatus MUSTER_FN take(Signal signal, Order order = Order::acquire) {
    if (!ready(Operation::take, signal)) return status_;
    std::uint32_t* const word = cell(signal.segment, signal.cell, rank());
    // An acquire pairs with the peer's release hand.
    const WaitStatus status =
        detail::with_access<Order::acquire>(acquire_part(order), Scope::system, [&](auto access) {
          return detail::wait_for<decltype(access)>(handle_, place(), word, Compare::eq, 1,
                                                    about(Operation::take, signal));
        });
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
      return peer.value < ranks_ ? View<T>(nullptr, 0) : local(window);
    return View<T>(data(window, peer), window.size());
  }

  template <class T, std::int64_t R, std::int64_t C>
  [[nodiscard]] MUSTER_FN Tile<T, R, C, Coop::static_threads> tile() {
    using Result = Tile<T, R, C, Coop::static_threads>;
    // A lane of fewer threads than each thread keeps room for would drop elements.
    if (Coop::static_threads == 0 && threads() < Result::least_threads)
      settle(detail::refuse(handle_, place(), {.operation = Operation::tile}));
    return Result(thread(), threads());
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
  template <class Tile, class T>
  MUSTER_FN void remote_load(Tile& tile, WindowRef<T> window, Rank peer, Box box) {
    if (!admit(Operation::tile, window, peer, box)) return;
    tile.read(patch(window, peer, box));
    loading_ |= tile.digest();
  }
  template <class Tile, class T>
  MUSTER_FN void remote_store(Tile& tile, WindowRef<T> window, Rank peer, Box box) {
    if (admit(Operation::tile, window, peer, box)) tile.write(patch(window, peer, box));
  }
  template <class Tile, class T>
  MUSTER_FN void remote_add(Tile& tile, WindowRef<T> window, Rank peer, Box box) {
    if (admit(Operation::tile, window, peer, box)) tile.add_to(patch(window, peer, box));
  }

  // ---- packets: each 4 bytes of a tile with the flag beside them, written and read in one piece

  template <class Tile>
  MUSTER_FN void put_packets(Slots slots, Rank peer, std::int64_t at, Tile& tile,
                             std::uint32_t flag) {
    if (admit(Operation::packets, slots, peer, Box{0, at, 1, Tile::packet_lines}))
      tile.put_packets(packets(slots, peer, at), flag);
  }

  template <class Tile>
  WaitStatus MUSTER_FN wait_packets(Tile& tile, Slots slots, std::int64_t at, std::uint32_t flag) {
    if (status_ != WaitStatus::ok ||
        !admit(Operation::packets, slots, rank(), Box{0, at, 1, Tile::packet_lines}))
      return status_;
    return detail::wait_until(
        handle_, [&] { return tile.take_packets(packets(slots, rank(), at), flag); },
        [&](WaitStatus status) {
          detail::record(handle_, place(),
                         {.operation = Operation::packets,
                          .status = status,
                          .segment = slots.segment,
                          .compare = static_cast<std::uint32_t>(Compare::eq),
                          .expected = flag});
        });
  }

  MUSTER_FN void clear_packets(Slots slots, std::int64_t at, std::int64_t lines) {
    if (!admit(Operation::packets, slots, rank(), Box{0, at, 1, lines})) return;
    std::uint64_t* const words = packets(slots, rank(), at);
    for (std::int64_t i = thread(); i < lines * detail::packets_in_line; i += threads())
      detail::Packet(words[i]).store(0, cuda::memory_order_relaxed);
  }

  // ---- transfers: copies by all threads of the lane, which meet before, so that what any of them
  // wrote is sent, and after, so that all may go on with what was copied

  template <class T>
  MUSTER_FN void put(WindowRef<T> to, Rank peer, std::int64_t to_at, WindowRef<T> from,
                     std::int64_t from_at, std::int64_t count) {
    put_async(to, peer, to_at, from, from_at, count);
    converge();
  }
  template <class T>
  MUSTER_FN void get(WindowRef<T> to, std::int64_t to_at, WindowRef<T> from, Rank peer,
                     std::int64_t from_at, std::int64_t count) {
    get_async(to, to_at, from, peer, from_at, count);
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

  // The threads do the copying, so these are done on return but for the meeting, which flush makes.
  template <class T>
  MUSTER_FN void put_async(WindowRef<T> to, Rank peer, std::int64_t to_at, WindowRef<T> from,
                           std::int64_t from_at, std::int64_t count) {
    copy(to, peer, to_at, from, rank(), from_at, count);
  }
  template <class T>
  MUSTER_FN void get_async(WindowRef<T> to, std::int64_t to_at, WindowRef<T> from, Rank peer,
                           std::int64_t from_at, std::int64_t count) {
    copy(to, rank(), to_at, from, peer, from_at, count);
  }

  // No fence: nobody may look at a target before an acquire of a deposit that was released after
  // the flush, by a thread of this lane, and a release carries all that its thread has met.
  MUSTER_FN void flush() { converge(); }

 private:
  // ---- addresses

  [[nodiscard]] MUSTER_FN std::byte* base(std::uint32_t segment, Rank owner) const {
    const Segment& memory = handle_.segments[segment];
    if (ranks_ <= near_ranks) return memory.near[owner.value];
    // Volatile only so that the compiler does not merge it with the load above: that one reads the
    // constant bank, as long as it is one of its own.
    return const_cast<std::byte* const volatile*>(memory.far)[owner.value];
  }
  [[nodiscard]] MUSTER_FN std::uint32_t* cell(std::uint32_t segment, std::uint32_t index,
                                              Rank owner) const {
    return reinterpret_cast<std::uint32_t*>(base(segment, owner)) + index;
  }
  template <class T>
  [[nodiscard]] MUSTER_FN T* data(WindowRef<T> window, Rank owner) const {
    return reinterpret_cast<T*>(base(window.segment, owner) + window.offset);
  }
  template <class T>
  [[nodiscard]] MUSTER_FN detail::Patch<T> patch(WindowRef<T> window, Rank owner, Box box) const {
    return {data(window, owner) + window.at(box.row, box.col), window.cols, box.rows, box.cols};
  }

  [[nodiscard]] MUSTER_FN std::uint64_t* packets(Slots slots, Rank owner, std::int64_t at) const {
    return reinterpret_cast<std::uint64_t*>(data(slots, owner) + at);
  }

  template <class T>
  MUSTER_FN void copy(WindowRef<T> to, Rank to_rank, std::int64_t to_at, WindowRef<T> from,
                      Rank from_rank, std::int64_t from_at, std::int64_t count) {
    converge();
    if (!admit(to, to_rank, to_at, count) || !admit(from, from_rank, from_at, count)) return;
    detail::copy_run(reinterpret_cast<std::byte*>(data(to, to_rank) + to_at),
                     reinterpret_cast<const std::byte*>(data(from, from_rank) + from_at),
                     count * static_cast<std::int64_t>(sizeof(T)), thread(), threads());
  }

  // ---- checks: one test of a register where there is nothing to look at

  // A lane that broke the contract deposits nothing more; windows stay readable.
  [[nodiscard]] MUSTER_FN bool admit(Operation operation, Signal signal, Rank peer) {
    if (!checked_) return true;
    return status_ != WaitStatus::invalid &&
           settle(detail::check_cell(handle_, place(), operation, signal, peer));
  }
  template <class T>
  [[nodiscard]] MUSTER_FN bool admit(Operation operation, WindowRef<T> window, Rank peer, Box box) {
    if (!checked_) return true;
    const auto size = static_cast<std::int64_t>(sizeof(T));
    const WindowRef<std::byte> bytes{window.offset, window.rows, window.cols * size, window.segment,
                                     window.team};
    return settle(detail::check_box(handle_, place(), operation, bytes, peer,
                                    {box.row, box.col * size, box.rows, box.cols * size}));
  }
  // A run of elements, as a box of the window laid out in one row.
  template <class T>
  [[nodiscard]] MUSTER_FN bool admit(WindowRef<T> window, Rank peer, std::int64_t at,
                                     std::int64_t count) {
    const WindowRef<T> row{window.offset, 1, window.size(), window.segment, window.team};
    return admit(Operation::transfer, row, peer, Box{0, at, 1, count});
  }
  // For operations that would block: not where the lane has failed.
  [[nodiscard]] MUSTER_FN bool ready(Operation operation, Signal signal) {
    return status_ == WaitStatus::ok && admit(operation, signal, rank());
  }

  MUSTER_FN bool settle(WaitStatus status) {
    status_ = worst(status_, status);
    return status == WaitStatus::ok;
  }

  [[nodiscard]] MUSTER_FN detail::Place place() const {
#if defined(__CUDA_ARCH__)
    return {rank_, lane_, detail::block_in_grid(), thread()};
#else
    return {rank_, lane_, lane_, thread()};
#endif
  }
  [[nodiscard]] MUSTER_FN static detail::Trouble about(Operation operation, Signal signal) {
    return {.operation = operation, .segment = signal.segment, .cell = signal.cell};
  }

  // A branch on the loaded words cannot be passed before they are there.
  MUSTER_FN void complete_loads() {
    if ((loading_ & handle_.zero) != 0) detail::trap();
    loading_ = 0;
  }

  const Handle& handle_;
  [[no_unique_address]] Coop coop_;
  std::uint32_t ranks_;
  std::uint32_t rank_;
  std::uint32_t lane_;
  std::uint32_t lanes_;
  bool checked_;                        // operations look at their arguments first
  WaitStatus status_ = WaitStatus::ok;  // sticky: above `expired`
  std::uint32_t loading_ = 0;           // digest of tiles loaded since the last converge
};

}  // namespace muster::gpu
