// What some fabrics can do besides: a protocol that needs it says so by the concept that it is
// constrained with. Included by muster/fabric.hpp.
#pragma once

#include <concepts>
#include <cstdint>

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

// Runs inside a kernel.
template <class F>
concept DeviceFabric = Fabric<F> && F::is_device;

}  // namespace muster
