// What some fabrics can do besides: a protocol that needs it says so by the concept that it is
// constrained with. Included by muster/fabric.hpp.
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

#include "muster/fabric.hpp"

namespace muster {

// Load and store reach the peer's memory: address(window, peer) is a view like local(window).
template <class F, class T>
concept AddressingOf = requires(F& fabric, WindowRef<T> window, Rank peer) {
  { fabric.address(window, peer) } -> std::same_as<decltype(fabric.local(window))>;
};

template <class F>
concept DirectFabric = Fabric<F> && AddressingOf<F, float>;

// Cells that pass between 0 and 1, one thread handing and one taking (FlipBarrier):
//   hand(signal, peer, order)   block until the peer's cell is 0, make it 1
//   take(signal, order)         block until the own cell is 1, make it 0
template <class F>
concept HandoffFabric = Fabric<F> && requires(F& fabric, Signal signal, Rank peer) {
  { fabric.hand(signal, peer, Order::release) } -> std::same_as<WaitStatus>;
  { fabric.take(signal, Order::acquire) } -> std::same_as<WaitStatus>;
};

// Parts of a lane whose threads do different things at a time: some warps of a block bring data,
// others compute.
//
//   in_part<P>(first) -> bool   is the calling thread one of the part? P is Warps<n> or
//                               Threads<n>, `first` is in warps or threads of the lane
//   part<P>(first) -> Part      that part; called by all its threads, at the same place of the
//                               code, and by no other
//
// A part is a fabric: the same lane of the same rank, with thread() and threads() of its own. What
// the contract says of a lane, it says of the part: its threads alone meet at its converge, are
// there for its tiles and transfers, and share its status; a release notify of it carries, besides
// what its threads have acquired or met, its own transfers alone. The parts of a lane that are in
// use at a time have no thread in common, and each has its own barrier objects: a part is in use
// from when it is made until the lane converges. A part has no parts.
//
// Parts tell each other what they have done by signals of their own rank: notify and wait with
// Scope::block, which need reach nobody else. As any notify to the own rank it carries no transfer
// to another one: who wants that flushes first. The cells are those of the team, not memory of the
// block: they are zero before any lane runs, where a kernel would have to clear its own before it
// may use them; they are named alike on every fabric; and a count in them goes on from launch to
// launch.
//
// What a thread did for its lane comes before what it then does for a part, and the other way
// round; towards other threads a converge of the part, or of the lane, lies between. The lane
// converges when all its threads are out of their parts; that a part has failed, it learns from
// converge(status).
template <class F, class P>
using PartOf = decltype(std::declval<F&>().template part<P>(std::uint32_t{}));

template <class F>
concept PartFabric = Fabric<F> && Fabric<PartOf<F, Warps<1>>> &&
    requires(F& fabric, std::uint32_t first) {
  { fabric.template in_part<Warps<1>>(first) } -> std::same_as<bool>;
};

// Read-modify-writes on signals that return what they found: tickets, semaphores, locks, "the last
// one of us". Called by one thread of the lane each; `order` is any, see 11 of the contract.
//   fetch_add(signal, peer, value, order = acq_rel, scope = system) -> Fetched
//       adds to the peer's cell (or the own rank's)
//   exchange(signal, peer, value, order, scope) -> Fetched
//       puts the value in the place of what is there
//   compare_swap(signal, peer, expected, desired, order, scope) -> Fetched
//       puts `desired` in the place of `expected`; where another value is there, that one is
//       returned, and nothing is changed
//
// Each returns when the answer is there: over a link that takes a round trip. A loop over one of
// them is a poll: it ends where the team fails, for then the status is not `ok`, and it has no
// deadline. Where the waiting may be long, wait for a cell of the own instead, which the others
// notify. The checker explores fetched operations by search, and certifies no protocol that has
// them: their answers depend on who comes first.
template <class F>
concept AtomicFabric = Fabric<F> &&
    requires(F& fabric, Signal signal, Rank peer, std::uint32_t value) {
  { fabric.fetch_add(signal, peer, value) } -> std::same_as<Fetched>;
  { fabric.fetch_add(signal, peer, value, Order::acquire, Scope::system) } -> std::same_as<Fetched>;
  { fabric.exchange(signal, peer, value) } -> std::same_as<Fetched>;
  { fabric.exchange(signal, peer, value, Order::release, Scope::system) } -> std::same_as<Fetched>;
  { fabric.compare_swap(signal, peer, value, value) } -> std::same_as<Fetched>;
  {
    fabric.compare_swap(signal, peer, value, value, Order::relaxed, Scope::system)
    } -> std::same_as<Fetched>;
};

// Tiles in slots, with a flag beside the data: small messages that need no notify.
//
// Called by the lane together; `at` is in lines of the slots, a tile takes packet_lines of them.
//
//   put_packets(slots, peer, at, tile, flag)
//       the tile into the peer's slots. It carries the tile alone, and is ordered with nothing else
//   wait_packets(tile, slots, at, flag) -> WaitStatus
//       block until all of the calling thread's elements stand in the own slots with this very
//       flag, and read them; each thread has its own status, converge(status) gives the lane's.
//       Both sides use the same type of tile and the same number of threads
//   clear_packets(slots, at, lines)
//       own slots to zero, where no packet can be in flight: between two barriers
//
// The flag of a message differs from every one that its slots still hold: count the messages. 0 is
// reserved, it is what cleared slots hold. The slots are cleared before the count comes round.
//
// A slot may be written again once its reader has deposited to the writer, after it has read. Two
// sets of slots that alternate give that where every rank sends to every peer in every call:
// packets of call k+1 from q were sent after q had read all of call k, so who has received them may
// write the set of call k again in call k+2. This holds for each thread by itself, for it writes
// what its like reads. With one set, or where a peer is left out in between, it does not hold.
template <class F, class Tile>
concept PacketingWith = requires(F& fabric, Tile& tile, Slots slots, Rank peer, std::int64_t at,
                                 std::uint32_t flag) {
  fabric.put_packets(slots, peer, at, tile, flag);
  { fabric.wait_packets(tile, slots, at, flag) } -> std::same_as<WaitStatus>;
  fabric.clear_packets(slots, at, at);
};

template <class F>
concept PacketFabric = Fabric<F> && PacketingWith<F, TileOf<F>>;

// Kernels that may begin before the one before them has ended (programmatic dependent launch), one
// after another in a stream. Called by all threads of the lane each, outside of parts; nothing
// where kernels do not overlap.
//
//   launch_wait()   until the kernel before has ended. It acquires what that one has released by
//                   its end (10), and that what came before. A kernel that may begin early calls
//                   it in every thread before it ends, and before launch_done
//   launch_done()   the next kernel may begin, once every lane has come here or has ended. It
//                   carries nothing: the end of the kernel does, to the launch_wait of the next
//
// Before launch_wait a kernel knows what the last but one had acquired and done, and nothing of the
// last one: what that one writes it does not touch, a counter neither, and what that one reads it
// does not write. So before it go addresses, parameters, and data that has been there for longer.
template <class F>
concept LaunchFabric = Fabric<F> && requires(F& fabric) {
  { fabric.launch_wait() } -> std::same_as<void>;
  { fabric.launch_done() } -> std::same_as<void>;
};

// Tiles in slots whose data says itself that it has come, for they hold the sentinel until then
// (fabric/sentinel.hpp says which numbers have one): half the bytes of packets, no notify.
//
// Called by the lane together; `at` is in lines of the slots, a tile takes sentinel_lines of them.
// Each thread speaks for its own elements. All ranks send such a tile with as many threads.
//
//   replace_sentinel(tile)
//       elements that are the sentinel become another NaN. What is sent must have been through it;
//       and what the sender goes on with itself, so that all ranks go on with the same
//   put_sentinel(slots, peer, at, tile)
//       the tile into the peer's slots, which hold sentinels. It carries the tile alone, is ordered
//       with nothing else, and carries to who receives it only what had been done before this
//       kernel began (10), from where launch_wait has returned (LaunchFabric)
//   wait_sentinel(tile, slots, at) -> WaitStatus
//       block until none of the calling thread's elements in the own slots is the sentinel, and
//       read them; each thread has its own status, converge(status) gives the lane's. It learns
//       what put_sentinel carries where its next kernel begins: the data itself it has at once
//   clear_sentinel(slots, at, tile)
//       sentinels in the own slots again, for the thread's own elements of such a tile. A write as
//       any other: after the thread has read them, before the peer's next put_sentinel there
//
// Nothing tells two messages in one slot apart. So a slot is cleared between the two, and the
// second must come behind the clearing: put_sentinel carries nothing that its own kernel has done,
// and a clearing therefore reaches the peers with what the NEXT kernel puts. SentinelExchange shows
// how many sets of slots that takes.
template <class F, class Tile>
concept SentinelingWith = requires(F& fabric, Tile& tile, SentinelSlots slots, Rank peer,
                                   std::int64_t at) {
  fabric.replace_sentinel(tile);
  fabric.put_sentinel(slots, peer, at, tile);
  { fabric.wait_sentinel(tile, slots, at) } -> std::same_as<WaitStatus>;
  fabric.clear_sentinel(slots, at, tile);
};

template <class F>
concept SentinelFabric = Fabric<F> && SentinelingWith<F, TileOf<F>>;

// As FabricAll: with every other type of number.
template <class F, class... Ts>
concept DirectFabricOfEach = (AddressingOf<F, Ts> && ...);
template <class F>
concept DirectFabricAll = DirectFabric<F> &&
    DirectFabricOfEach<F, double, float16, bfloat16, std::int8_t, std::uint8_t, std::int16_t,
                       std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
template <class F, class... Ts>
concept PacketFabricOfEach = (PacketingWith<F, TileOf<F, Ts>> && ...);
template <class F>
concept PacketFabricAll = PacketFabric<F> &&
    PacketFabricOfEach<F, double, float16, bfloat16, std::int8_t, std::uint8_t, std::int16_t,
                       std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;

template <class F, class... Ts>
concept SentinelFabricOfEach = (SentinelingWith<F, TileOf<F, Ts>> && ...);
template <class F>
concept SentinelFabricAll =
    SentinelFabric<F> && SentinelFabricOfEach<F, double, float16, bfloat16> &&
    !SentinelingWith<F, TileOf<F, std::int32_t>>;

// Runs inside a kernel.
template <class F>
concept DeviceFabric = Fabric<F> && F::is_device;

}  // namespace muster
