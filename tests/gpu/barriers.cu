// Every barrier between 1 to 16 ranks, on one GPU and on two, with lanes of 1 to 256 threads, with
// data, with ranks that come late, with use in turn of several kinds.
#include "gpu/exchange_host.hpp"

namespace {

using namespace muster;
using namespace muster::gpu_test;

constexpr std::uint32_t rounds = 200;

gpu::World make_world(const std::vector<int>& devices, std::uint32_t lanes) {
  return need(gpu::World::create(
      {.devices = devices, .lanes = lanes, .bytes = 32U << 20U, .deadline = patience()}));
}

// `participants` of the block's threads are the lane.
template <class Coop, class Barrier>
void exchange_at(const std::vector<int>& devices, const gpu::Shape& shape,
                 std::uint32_t participants, std::uint32_t skew_ns) {
  gpu::World world = make_world(devices, shape.lanes + 1);
  const Barrier barrier(world);
  Exchange exchange = make_exchange(world, shape.lanes, participants, rounds);
  exchange.skew_ns = skew_ns;
  const std::string what = text_of(devices) + ", " + std::to_string(shape.lanes) + " lanes of " +
                           std::to_string(participants);
  const auto kernel = world.size() > gpu::near_ranks
                          ? exchange_kernel<Coop, Barrier, gpu::Ranks::many>
                          : exchange_kernel<Coop, Barrier>;
  for (std::uint32_t launch = 0; launch < 2; ++launch) {
    exchange.first_round = launch * rounds;
    need(world.launch(kernel, shape, barrier, exchange));
    const Result<void> end = world.synchronize();
    expect(end.has_value(), "%s: %s", what.c_str(), end ? "" : to_string(end.error()).c_str());
    if (!end) return;
  }
  check_verdict(world, exchange, std::uint64_t{2} * rounds * shape.lanes, what);
}

template <class Coop, class Barrier>
void exchange_everywhere(std::uint32_t threads, std::uint32_t participants) {
  for (const auto& devices : placements({1, 2, 3, 4, 8, 16})) {
    exchange_at<Coop, Barrier>(devices, {.lanes = 1, .threads = threads}, participants, 0);
    exchange_at<Coop, Barrier>(devices, {.lanes = 3, .threads = threads}, participants, 20'000);
  }
}

template <class Barrier>
void all_lanes_of() {
  exchange_everywhere<gpu::Warp, Barrier>(64, 32);
  exchange_everywhere<gpu::Block<>, Barrier>(256, 256);
}

// ---- several kinds in one kernel, in an order that all ranks draw alike

struct Kinds {
  EpochBarrier epoch;
  CreditBarrier credit;
  FlipBarrier flip;
  CounterBarrier counter;
  DisseminationBarrier dissemination;
};

template <class Coop>
__global__ void kinds_kernel(const __grid_constant__ gpu::Handle handle, Kinds kinds,
                             Exchange exchange) {
  gpu::Fabric<Coop> fabric(handle);
  std::uint32_t calls = exchange.first_round;
  const auto any = [&] {
    switch (mix(fabric.lane().value, ++calls) % 5) {
      case 0: return kinds.epoch.sync(fabric);
      case 1: return kinds.credit.sync(fabric);
      case 2: return kinds.flip.sync(fabric);
      case 3: return kinds.counter.sync(fabric);
      default: return kinds.dissemination.sync(fabric);
    }
  };
  exchange_rounds(fabric, exchange, any, any);
}

void kinds_in_turn() {
  for (const auto& devices : placements({2, 3, 8})) {
    gpu::World world = make_world(devices, 3);
    const Kinds kinds{EpochBarrier(world), CreditBarrier(world), FlipBarrier(world),
                      CounterBarrier(world), DisseminationBarrier(world)};
    Exchange exchange = make_exchange(world, 3, 96, 400);
    exchange.skew_ns = 5'000;
    need(world.launch(kinds_kernel<gpu::Block<96>>, {.lanes = 3, .threads = 96}, kinds, exchange));
    need(world.synchronize());
    check_verdict(world, exchange, 3 * 400, text_of(devices));
  }
}

// ---- the scoped form

template <class Coop, class Barrier>
__global__ void scoped_kernel(const __grid_constant__ gpu::Handle handle, Barrier barrier,
                              Exchange exchange) {
  if (!takes_part<Coop>()) return;
  gpu::Fabric<Coop> fabric(handle);
  const WaitStatus status = barrier.scoped(fabric, [&](auto& scope) {
    const auto sync = [&] { return scope.sync(); };
    exchange_rounds(fabric, exchange, sync, sync);
  });
  if (status != WaitStatus::ok) atomicAdd(&fabric.local(exchange.verdict)[4], 1U);
}

template <class Coop, class Barrier>
void scoped_everywhere(std::uint32_t threads, std::uint32_t participants) {
  for (const auto& devices : placements({1, 2, 3, 8})) {
    gpu::World world = make_world(devices, 2);
    const Barrier barrier(world);
    Exchange exchange = make_exchange(world, 2, participants, rounds);
    for (std::uint32_t launch = 0; launch < 3; ++launch) {
      exchange.first_round = launch * rounds;
      // Between two scoped launches a one-shot one: they share the counter.
      const auto kernel =
          launch == 1 ? exchange_kernel<Coop, Barrier> : scoped_kernel<Coop, Barrier>;
      need(world.launch(kernel, {.lanes = 2, .threads = threads}, barrier, exchange));
      need(world.synchronize());
    }
    check_verdict(world, exchange, std::uint64_t{3} * 2 * rounds, text_of(devices));
  }
}

// ---- little enough for tools that slow everything down, on one GPU

template <class Barrier>
void few_rounds(const std::vector<int>& devices) {
  gpu::World world = make_world(devices, 2);
  const Barrier barrier(world);
  const Exchange exchange = make_exchange(world, 2, 64, 10);
  need(world.launch(exchange_kernel<gpu::Block<>, Barrier>, {.lanes = 2, .threads = 64}, barrier,
                    exchange));
  need(world.synchronize());
  check_verdict(world, exchange, 20, text_of(devices));
}

void sanitized() {
  for (const std::vector<int>& devices : {std::vector<int>{0, 0}, std::vector<int>{0, 0, 0}}) {
    few_rounds<EpochBarrier>(devices);
    few_rounds<CreditBarrier>(devices);
    few_rounds<FlipBarrier>(devices);
    few_rounds<CounterBarrier>(devices);
  }
}

// ---- uses without data: `entry` after an earlier launch's writes, `rendezvous`

__global__ void write_kernel(const __grid_constant__ gpu::Handle handle, Exchange exchange) {
  gpu::Fabric<gpu::Block<64>> fabric(handle);
  write_stamps(fabric, exchange, exchange.first_round);
}

__global__ void entry_kernel(const __grid_constant__ gpu::Handle handle, EpochBarrier barrier,
                             Exchange exchange) {
  gpu::Fabric<gpu::Block<64>> fabric(handle);
  const WaitStatus entered = barrier.sync(fabric, use::entry);
  if (entered == WaitStatus::ok) check_stamps(fabric, exchange, exchange.first_round);
  const WaitStatus left =
      worst(barrier.sync(fabric, use::rendezvous), barrier.sync(fabric, use::exit));
  if (fabric.thread() != 0) return;
  if (worst(entered, left) != WaitStatus::ok) atomicAdd(&fabric.local(exchange.verdict)[4], 1U);
  atomicAdd(&fabric.local(exchange.verdict)[5], 1U);
}

void entry_after_a_launch() {
  for (const auto& devices : placements({2, 4})) {
    gpu::World world = make_world(devices, 1);
    const EpochBarrier barrier(world);
    Exchange exchange = make_exchange(world, 1, 64, 1);
    const gpu::Shape shape{.lanes = 1, .threads = 64};
    need(world.prepare(write_kernel, shape));
    need(world.prepare(entry_kernel, shape));
    for (std::uint32_t round = 0; round < 300; ++round) {
      exchange.first_round = round;
      need(world.launch(write_kernel, shape, exchange));
      need(world.launch(entry_kernel, shape, barrier, exchange));
    }
    need(world.synchronize());
    check_verdict(world, exchange, 300, text_of(devices));
  }
}

// ---- epochs and sums that wrap

__global__ void set_epochs_kernel(const __grid_constant__ gpu::Handle handle, EpochBarrier epoch,
                                  CounterBarrier counter, std::uint32_t value) {
  gpu::Fabric<gpu::Thread> fabric(handle);
  const Lane lane = fabric.lane();
  fabric.set_counter(epoch.rows().epoch(lane), value);
  fabric.set_counter(counter.rows().epoch(lane), value);
  for_each_peer(fabric, [&](Rank peer) {
    fabric.notify(epoch.rows().from(lane, fabric.rank()), peer, value, NotifyOp::set);
  });
  fabric.notify(counter.rows().from(lane, Rank{0}), fabric.rank(), value, NotifyOp::set);
}

void through_the_wrap() {
  for (const auto& devices : placements({2, 3})) {
    gpu::World world = make_world(devices, 1);
    const EpochBarrier epoch(world);
    const CounterBarrier counter(world);
    Exchange exchange = make_exchange(world, 1, 32, 100);
    need(world.launch(set_epochs_kernel, {.lanes = 1, .threads = 1}, epoch, counter, 0xfffffff0U));
    need(world.synchronize());  // all have set before any meets
    need(world.launch(exchange_kernel<gpu::Warp, EpochBarrier>, {.lanes = 1, .threads = 32}, epoch,
                      exchange));
    exchange.first_round = 100;
    need(world.launch(exchange_kernel<gpu::Warp, CounterBarrier>, {.lanes = 1, .threads = 32},
                      counter, exchange));
    need(world.synchronize());
    check_verdict(world, exchange, 200, text_of(devices));
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run(
      "barriers", argc, argv,
      {{"epoch", all_lanes_of<EpochBarrier>},
       {"credit", all_lanes_of<CreditBarrier>},
       {"flip", all_lanes_of<FlipBarrier>},
       {"counter", all_lanes_of<CounterBarrier>},
       {"dissemination", all_lanes_of<DisseminationBarrier>},
       {"epoch_of_a_thread", [] { exchange_everywhere<gpu::Thread, EpochBarrier>(32, 1); }},
       {"flip_of_a_block_of_one", [] { exchange_everywhere<gpu::Block<1>, FlipBarrier>(1, 1); }},
       {"epoch_of_1024", [] { exchange_everywhere<gpu::Block<1024>, EpochBarrier>(1024, 1024); }},
       {"kinds_in_turn", kinds_in_turn},
       {"scoped_warp", [] { scoped_everywhere<gpu::Warp, EpochBarrier>(32, 32); }},
       {"scoped_block", [] { scoped_everywhere<gpu::Block<256>, EpochBarrier>(256, 256); }},
       {"scoped_thread", [] { scoped_everywhere<gpu::Thread, EpochBarrier>(1, 1); }},
       {"scoped_dissemination", [] { scoped_everywhere<gpu::Warp, DisseminationBarrier>(32, 32); }},
       {"entry_after_a_launch", entry_after_a_launch},
       {"through_the_wrap", through_the_wrap},
       {"sanitized", sanitized}});
}
