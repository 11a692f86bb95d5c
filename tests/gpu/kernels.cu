// Every barrier and every operation in a kernel, for every kind of lane: this must compile for all
// architectures. What they do is for the programs that need a GPU to say.
#include <type_traits>

#include "muster/barrier.hpp"
#include "muster/fabric/gpu.cuh"
#include "muster/handoff.hpp"

namespace {

using namespace muster;

// A barrier is a kernel's parameter: its rows and nothing else.
template <class Barrier, std::size_t rows = 1>
inline constexpr bool is_plain_rows = std::is_trivially_copyable_v<Barrier> &&
                                      sizeof(Barrier) == rows * sizeof(Rows);
static_assert(is_plain_rows<EpochBarrier> && is_plain_rows<CounterBarrier>);
static_assert(is_plain_rows<CreditBarrier> && is_plain_rows<FlipBarrier>);
static_assert(is_plain_rows<DisseminationBarrier> && is_plain_rows<GridBarrier>);
static_assert(is_plain_rows<SystemBarrier, 2>);
static_assert(std::is_trivially_copyable_v<GridArrivals>);
static_assert(sizeof(GridArrivals) == sizeof(Rows) + sizeof(std::uint32_t));

template <class Barrier, class Coop>
__global__ void sync_kernel(const __grid_constant__ gpu::Handle handle, Barrier barrier,
                            BarrierUse use, WaitStatus* status) {
  gpu::Fabric<Coop> fabric(handle);
  const WaitStatus result = barrier.sync(fabric, use);
  if (fabric.thread() == 0) *status = result;
}

template <class Barrier, class Coop>
__global__ void scoped_kernel(const __grid_constant__ gpu::Handle handle, Barrier barrier,
                              int steps, WaitStatus* status) {
  gpu::Fabric<Coop> fabric(handle);
  const WaitStatus result = barrier.scoped(fabric, [&](auto& scope) {
    for (int i = 0; i < steps && scope.sync() == WaitStatus::ok; ++i) {
    }
  });
  if (fabric.thread() == 0) *status = result;
}

// Lanes that arrive without waiting, and lanes that wait without arriving.
template <class Coop>
__global__ void arrivals_kernel(const __grid_constant__ gpu::Handle handle, GridArrivals filled,
                                GridArrivals emptied, WaitStatus* status) {
  gpu::Fabric<Coop> fabric(handle);
  WaitStatus result = WaitStatus::ok;
  if (fabric.lane().value < filled.arrivals()) {
    result = filled.post(fabric);
    result = worst(result, emptied.wait(fabric, use::exit));
  } else {
    result = filled.wait(fabric);
    result = worst(result, emptied.post(fabric, use::exit));
  }
  if (fabric.thread() == 0) *status = result;
}

// What a barrier leaves out of the concept.
template <class T, class Coop>
__global__ void move_kernel(const __grid_constant__ gpu::Handle handle, WindowRef<T> window,
                            Rank peer, Signals signals, Condition* conditions) {
  gpu::Fabric<Coop> fabric(handle);
  auto tile = fabric.template tile<T, 8, 16>();
  const Box box = clip(window, 0, 0, 8, 16);
  fabric.load(tile, window, box);
  tile.each([](std::int64_t, std::int64_t col, T& value) { value = value + static_cast<T>(col); });
  fabric.store(tile, window, box);
  fabric.converge();
  auto sums = fabric.template tile_like<Accumulator<T>>(tile);
  sums.assign(tile);
  sums.combine(tile, ReduceOp::sum);
  tile.combine(tile, Max{});
  sums.zip(tile, [](Accumulator<T>& mine, T theirs) {
    if (theirs == T{}) mine = Accumulator<T>{};
  });
  tile.assign(sums);
  fabric.store(tile, MemoryRef<T>{fabric.local(window).data(), window.rows, window.cols}, box);
  WaitStatus status = fabric.remote_load(tile, window, peer, box);
  fabric.remote_store(tile, window, peer, box);
  fabric.remote_add(tile, window, peer, box);
  fabric.put(window, peer, 0, window, 1, window.size() - 1);
  const auto request = fabric.get_async(window, 1, window, peer, 0, window.size() - 1);
  fabric.progress();
  status = worst(status, fabric.complete(request));
  status = worst(status, fabric.get(window, 1, window, peer, 0, window.size() - 1));
  status = worst(status, worst(fabric.flush(peer), fabric.flush()));
  fabric.put_signal(window, peer, 0, window, 0, 1, signals[0], 1, NotifyOp::add);
  const AnyStatus any = fabric.wait_any(conditions, 2);
  const std::uint32_t which = fabric.broadcast(any.index);
  status = worst(status, fabric.test(signals[which], Compare::ge, 1));
  const Fetched found = fabric.fetch_add(signals[0], peer, 1, Order::relaxed);
  status = worst(status, fabric.exchange(signals[1], peer, found.value, Order::release).status);
  status = worst(status, fabric.compare_swap(signals[1], peer, 0, 1).status);
  status = fabric.converge(worst(any.status, status));
  if (worst(status, fabric.status()) == WaitStatus::ok)
    fabric.local(window)[0] = fabric.address(window, peer)[0];
}

// A lane in parts: one warp, and two behind it.
template <class Coop>
__global__ void parts_kernel(const __grid_constant__ gpu::Handle handle, EpochBarrier barrier,
                             WindowRef<float> window, Signal told, WaitStatus* status) {
  gpu::Fabric<Coop> fabric(handle);
  WaitStatus result = WaitStatus::ok;
  if (fabric.template in_part<muster::Warps<1>>(0)) {
    auto part = fabric.template part<muster::Warps<1>>(0);
    result = barrier.sync(part);
    result = worst(result, part.get(window, 0, window, right_of(part), 64, 64));
    if (part.thread() == 0)
      part.notify(told, part.rank(), 1, NotifyOp::add, Order::release, Scope::block);
  } else if (fabric.template in_part<muster::Threads<64>>(32)) {
    auto part = fabric.template part<muster::Threads<64>>(32);
    if (part.thread() == 0) result = part.wait(told, Compare::ge, 1, Order::acquire, Scope::block);
    result = part.converge(result);
    auto tile = part.template tile<float, 1, 64>();
    part.load(tile, window, Box{0, 0, 1, 64});
    part.store(tile, window, Box{0, 64 * part.broadcast(1), 1, 64});
  }
  result = fabric.converge(result);
  if (fabric.thread() == 0) *status = result;
}

template <class T, class Coop>
__global__ void packet_kernel(const __grid_constant__ gpu::Handle handle, Slots slots, Rank peer,
                              WaitStatus* status) {
  gpu::Fabric<Coop> fabric(handle);
  auto tile = fabric.template tile<T, 8, 16>();
  fabric.put_packets(slots, peer, 0, tile, 1);
  *status = fabric.wait_packets(tile, slots, 0, 1);
  fabric.clear_packets(slots, 0, 1);
}

template <class Coop>
__global__ void handoff_kernel(const __grid_constant__ gpu::Handle handle, Handoff handoff,
                               Rank peer, WaitStatus* status) {
  gpu::Fabric<Coop> fabric(handle);
  WaitStatus one = WaitStatus::ok;
  if (fabric.thread() == 0) {
    one = handoff.vacant(fabric);
    handoff.post(fabric, peer);
    one = worst(one, handoff.wait(fabric));
    handoff.acknowledge(fabric, peer);
  }
  *status = fabric.converge(one);
}

template <class Coop>
void instantiate(const gpu::Handle& handle, WaitStatus* status) {
  sync_kernel<EpochBarrier, Coop><<<1, 32>>>(handle, EpochBarrier{}, use::full, status);
  sync_kernel<CreditBarrier, Coop><<<1, 32>>>(handle, CreditBarrier{}, use::exit, status);
  sync_kernel<FlipBarrier, Coop><<<1, 32>>>(handle, FlipBarrier{}, use::entry, status);
  sync_kernel<CounterBarrier, Coop><<<1, 32>>>(handle, CounterBarrier{}, use::full, status);
  sync_kernel<DisseminationBarrier, Coop>
      <<<1, 32>>>(handle, DisseminationBarrier{}, use::full, status);
  scoped_kernel<EpochBarrier, Coop><<<1, 32>>>(handle, EpochBarrier{}, 2, status);
  scoped_kernel<CreditBarrier, Coop><<<1, 32>>>(handle, CreditBarrier{}, 2, status);
  scoped_kernel<FlipBarrier, Coop><<<1, 32>>>(handle, FlipBarrier{}, 2, status);
  arrivals_kernel<Coop><<<1, 32>>>(handle, GridBarrier{}.expecting(2), GridArrivals{}, status);
  handoff_kernel<Coop><<<1, 32>>>(handle, Handoff{}, Rank{1}, status);
}

template <class T, class Coop>
void instantiate_move(const gpu::Handle& handle) {
  move_kernel<T, Coop><<<1, 32>>>(handle, WindowRef<T>{}, Rank{1}, Signals{}, nullptr);
}

}  // namespace

// Never called: it only has to be compiled.
void instantiate_all(const muster::gpu::Handle& handle, muster::WaitStatus* status) {
  instantiate<gpu::Thread>(handle, status);
  instantiate<gpu::Warp>(handle, status);
  instantiate<gpu::Warps<3>>(handle, status);
  instantiate<gpu::Block<>>(handle, status);
  instantiate<gpu::Block<256>>(handle, status);
  sync_kernel<GridBarrier, gpu::Warp><<<1, 32>>>(handle, GridBarrier{}, use::full, status);
  sync_kernel<SystemBarrier, gpu::Warp><<<1, 32>>>(handle, SystemBarrier{}, use::full, status);
  parts_kernel<gpu::Block<>><<<1, 96>>>(handle, EpochBarrier{}, {}, Signal{}, status);
  parts_kernel<gpu::Block<128>><<<1, 128>>>(handle, EpochBarrier{}, {}, Signal{}, status);
  packet_kernel<float, gpu::Warp><<<1, 32>>>(handle, Slots{}, Rank{1}, status);
  packet_kernel<double, gpu::Block<64>><<<1, 64>>>(handle, Slots{}, Rank{1}, status);
  instantiate_move<float, gpu::Thread>(handle);
  instantiate_move<float, gpu::Block<>>(handle);
  instantiate_move<double, gpu::Warp>(handle);
  instantiate_move<std::uint8_t, gpu::Warps<3>>(handle);
  instantiate_move<std::int64_t, gpu::Block<256>>(handle);
  instantiate_move<muster::float16, gpu::Warp>(handle);
  instantiate_move<muster::bfloat16, gpu::Block<64>>(handle);
}
