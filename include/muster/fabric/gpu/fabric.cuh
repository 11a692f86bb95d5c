// The Fabric of a CUDA kernel: load and store reach the memory of every rank.
#pragma once

#include <cstddef>
#include <cstdint>

#include "muster/fabric/gpu/check.cuh"
#include "muster/fabric/gpu/coop.cuh"
#include "muster/fabric/gpu/coordinates.cuh"
#include "muster/fabric/gpu/copy.cuh"
#include "muster/fabric/gpu/handle.hpp"
#include "muster/fabric/gpu/lane.cuh"
#include "muster/fabric/gpu/part.cuh"
#include "muster/fabric/gpu/signals.cuh"
#include "muster/fabric/gpu/tile.cuh"
#include "muster/fabric/gpu/watch.cuh"
#include "muster/types.hpp"

namespace muster::gpu {

template <class Coop, Ranks team, bool checks>
class Part;

// One lane of one rank, made in the kernel by every thread of `Coop`:
//
//   __global__ void kernel(const __grid_constant__ muster::gpu::Handle handle, ...) {
//     muster::gpu::Fabric fabric(handle);        // the block is the lane
//     muster::gpu::Fabric<muster::gpu::Warp> fabric(handle);   // made by one warp of the block
//
// Rank and lane follow from the block. A block that has several fabrics (parts of the lane, say)
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
class Fabric : public detail::LaneSignals<Coop, team, checks> {
  using Base = detail::LaneSignals<Coop, team, checks>;
  using Base::admit;
  using Base::converge_alike;
  using Base::loading_;
  using Base::peers_;
  using Base::place;
  using Base::since_;

 public:
  static constexpr bool is_device = true;

  // `handle` outlives the fabric: it is the kernel's parameter.
  MUSTER_FN explicit Fabric(const Handle& handle, Coop coop = {})
      : Base(handle, coordinates_of_block(handle), coop, true) {}

  // For kernels that deal out ranks and lanes in another way: lane k of every rank must run.
  MUSTER_FN Fabric(const Handle& handle, LaneCoordinates at, Coop coop = {})
      : Base(handle, at, coop, at.rank.value < handle.ranks && at.lane.value < at.lanes) {}

  // Identity and meeting: fabric/gpu/lane.cuh. Signals: fabric/gpu/signals.cuh.
  using Base::converge;
  using Base::lane;
  using Base::lanes;
  using Base::notify;
  using Base::rank;
  using Base::size;
  using Base::thread;
  using Base::threads;

  // ---- parts of a lane that is a block; see PartFabric. Those of several warps meet at the named
  // barriers 1 to 15 (part.cuh): other code of the block uses none of these at that time

  template <class P>
  requires detail::is_block<Coop>
  [[nodiscard]] MUSTER_FN bool in_part(std::uint32_t first) const {
    return thread() - detail::coop_of_part<P>(first).first() < detail::PartCoop<P>::static_threads;
  }
  template <class P>
  requires detail::is_block<Coop>
  [[nodiscard]] MUSTER_FN Part<detail::PartCoop<P>, team, checks> part(std::uint32_t first) {
    Base::complete_loads();
    return Part<detail::PartCoop<P>, team, checks>(
        peers_.handle(), LaneCoordinates{rank(), lane(), lanes()}, detail::coop_of_part<P>(first));
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
    (void)remote_load(tile, window, rank(), box);  // the lane has it: converge tells
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
  MUSTER_FN WaitStatus remote_load(Tile& tile, WindowRef<T> window, Rank peer, Box box) {
    if (!admit(Operation::tile, window, peer, box)) return peers_.status();
    tile.read(peers_.patch(window, peer, box).constant());
    loading_ |= tile.digest();
    return WaitStatus::ok;
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

  // ---- slots whose data is its own flag: 16 bytes at a time where a thread holds so many

  template <class Tile>
  requires HasSentinel<typename Tile::value_type> MUSTER_FN void replace_sentinel(Tile& tile) {
    tile.replace_sentinel();
  }

  template <class Tile>
  requires HasSentinel<typename Tile::value_type> MUSTER_FN void put_sentinel(SentinelSlots slots,
                                                                              Rank peer,
                                                                              std::int64_t at,
                                                                              Tile& tile) {
    if (admit(Operation::packets, slots, peer, Box{0, at, 1, Tile::sentinel_lines}))
      tile.put_sentinel(peers_.sentinels(slots, peer, at));
  }
  template <class Tile>
  requires HasSentinel<typename Tile::value_type> WaitStatus MUSTER_FN
  wait_sentinel(Tile& tile, SentinelSlots slots, std::int64_t at) {
    if (peers_.status() != WaitStatus::ok ||
        !admit(Operation::packets, slots, rank(), Box{0, at, 1, Tile::sentinel_lines}))
      return peers_.status();
    return detail::wait_until(
        peers_.handle(), since_,
        [&] { return tile.take_sentinel(peers_.sentinels(slots, rank(), at)); },
        [&](WaitStatus status) {
          detail::give_up(peers_.handle(), place(),
                          {.operation = Operation::packets,
                           .status = status,
                           .segment = slots.segment,
                           .compare = static_cast<std::uint32_t>(Compare::ne),
                           .expected = 0});
        });
  }
  template <class Tile>
  requires HasSentinel<typename Tile::value_type> MUSTER_FN void clear_sentinel(SentinelSlots slots,
                                                                                std::int64_t at,
                                                                                const Tile& tile) {
    if (admit(Operation::packets, slots, rank(), Box{0, at, 1, Tile::sentinel_lines}))
      tile.clear_sentinel(peers_.sentinels(slots, rank(), at));
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
  MUSTER_FN WaitStatus get(WindowRef<T> to, std::int64_t to_at, WindowRef<T> from, Rank peer,
                           std::int64_t from_at, std::int64_t count) {
    copy(to, rank(), to_at, from, peer, from_at, count);
    return converge_alike();
  }
  template <class T>
  MUSTER_FN void put_signal(WindowRef<T> to, Rank peer, std::int64_t to_at, WindowRef<T> from,
                            std::int64_t from_at, std::int64_t count, Signal signal,
                            std::uint32_t value, NotifyOp op) {
    put(to, peer, to_at, from, from_at, count);
    // Speaks for all threads, which have met; carries more than the payload here.
    if (thread() == 0) notify(signal, peer, value, op);
  }

  // Nothing to tell one transfer from another by: see put_async.
  struct Request {};

  // The threads do the copying, so nothing is under way on return, and the end of a kernel has
  // nothing to complete. A later release notify to `peer` carries the put, whichever thread makes
  // it (contract 1): so the threads meet here, too.
  template <class T>
  MUSTER_FN Request put_async(WindowRef<T> to, Rank peer, std::int64_t to_at, WindowRef<T> from,
                              std::int64_t from_at, std::int64_t count) {
    put(to, peer, to_at, from, from_at, count);
    return {};
  }
  // But for the meeting, which complete and flush make: no notify speaks for a get before.
  template <class T>
  MUSTER_FN Request get_async(WindowRef<T> to, std::int64_t to_at, WindowRef<T> from, Rank peer,
                              std::int64_t from_at, std::int64_t count) {
    copy(to, rank(), to_at, from, peer, from_at, count);
    return {};
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
  WaitStatus MUSTER_FN flush() { return converge_alike(); }
  WaitStatus MUSTER_FN flush(Rank /*peer: nothing is under way to any*/) { return flush(); }
  WaitStatus MUSTER_FN complete(Request /*request*/) { return flush(); }

 private:
  template <class T>
  [[nodiscard]] MUSTER_FN static detail::Patch<T> patch(MemoryRef<T> memory, Box box) {
    return {memory.data + memory.at(box.row, box.col), memory.cols, box.rows, box.cols};
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
};

// Some warps of a block. A fabric like others; what it has loaded has come when it ends, for the
// converge of the lane does not know of it.
template <class Coop, Ranks team, bool checks>
class Part : public Fabric<Coop, team, checks> {
 public:
  MUSTER_FN ~Part() { this->complete_loads(); }

 private:
  template <class, Ranks, bool>
  friend class Fabric;
  MUSTER_FN Part(const Handle& handle, LaneCoordinates at, Coop coop)
      : Fabric<Coop, team, checks>(handle, at, coop) {}
};

}  // namespace muster::gpu
