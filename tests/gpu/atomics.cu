// What fetched operations promise, on GPUs: the cases of tests/conformance/atomic_bodies.hpp as
// kernels, on 2, 3, 4 and 8 ranks, on one GPU and on two.
#include "gpu/device_checks.cuh"

namespace {

using namespace muster;
using namespace muster::gpu_test;

static_assert(AtomicFabric<gpu::Fabric<gpu::Thread>> && AtomicFabric<gpu::Fabric<gpu::Block<64>>>);

// Each returns what was there, and leaves what it says: on a neighbour's cell that nobody else
// touches, and on the own rank's.
__global__ void values_kernel(const __grid_constant__ gpu::Handle handle, Board board,
                              Signals signals) {
  gpu::Fabric<gpu::Thread> fabric(handle);
  DeviceChecks checks(fabric, board);
  const auto found = [&](Fetched fetched, std::uint32_t value, int line = __builtin_LINE()) {
    checks.ok(fetched.status, line);
    checks.equal(fetched.value, value, line);
  };
  const Rank places[] = {right_of(fabric), fabric.rank()};
  for (std::uint32_t i = 0; i < 2; ++i) {
    const Signal cell = signals[i];
    const Rank at = places[i];
    for (const Order order : {Order::relaxed, Order::acquire, Order::release, Order::acq_rel}) {
      for (const Scope scope : {Scope::system, Scope::device}) {
        // Of another GPU, a cell takes the scope of all.
        if (scope == Scope::device && i == 0) continue;
        found(fabric.fetch_add(cell, at, 5, order, scope), 0);
        found(fabric.fetch_add(cell, at, ~0U, order, scope), 5);
        found(fabric.fetch_add(cell, at, 0, order, scope), 4);
        found(fabric.exchange(cell, at, 0xffffffffU, order, scope), 4);
        found(fabric.fetch_add(cell, at, 3, order, scope), 0xffffffffU);
        found(fabric.compare_swap(cell, at, 3, 9, order, scope), 2);
        found(fabric.compare_swap(cell, at, 2, 9, order, scope), 2);
        found(fabric.exchange(cell, at, 0, order, scope), 9);
      }
    }
  }
  found(fabric.fetch_add(signals[0], right_of(fabric), 7), 0);
  checks.ok(fabric.wait(signals[0], Compare::eq, 7));
  checks.end();
}

constexpr std::uint32_t tickets_each = 20;

// All threads of all ranks draw tickets at rank 0, while others add: every number is given once.
__global__ void tickets_kernel(const __grid_constant__ gpu::Handle handle, Board board,
                               Signals next, WindowRef<std::uint32_t> given) {
  gpu::Fabric<gpu::Block<64>> fabric(handle);
  DeviceChecks checks(fabric, board);
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < tickets_each; ++i) {
    const Fetched ticket = fabric.fetch_add(next[0], Rank{0}, 1, Order::relaxed);
    if (!checks.ok(ticket.status) || !checks.holds(ticket.value < given.size())) return;
    checks.holds(i == 0 || ticket.value > last);
    last = ticket.value;
    atomicAdd_system(&fabric.address(given, Rank{0})[ticket.value], 1U);
  }
  fabric.converge();
  if (fabric.thread() == 0) checks.end();
}

constexpr std::uint32_t lock_rounds = 100;

// A lock by exchange and by compare_swap in turn: what one holder left, the next one finds.
__global__ void lock_kernel(const __grid_constant__ gpu::Handle handle, Board board, Signals lock,
                            WindowRef<std::uint32_t> number) {
  gpu::Fabric<gpu::Thread> fabric(handle);
  DeviceChecks checks(fabric, board);
  const Rank home{0};
  for (std::uint32_t i = 0; i < lock_rounds; ++i) {
    Fetched found{WaitStatus::ok, 1};
    while (found.status == WaitStatus::ok && found.value != 0)
      found = i % 2 == 0 ? fabric.exchange(lock[0], home, 1, Order::acquire)
                         : fabric.compare_swap(lock[0], home, 0, 1, Order::acquire);
    if (!checks.ok(found.status)) return;
    fabric.address(number, home)[0] = fabric.address(number, home)[0] + 1;
    checks.equal(fabric.exchange(lock[0], home, 0, Order::release).value, 1);
  }
  checks.end();
}

// "The last one of us" sees what all others released before it.
__global__ void last_kernel(const __grid_constant__ gpu::Handle handle, Board board,
                            Signals arrived, WindowRef<std::uint32_t> numbers) {
  gpu::Fabric<gpu::Thread> fabric(handle);
  DeviceChecks checks(fabric, board);
  const Rank home{0};
  const auto there = fabric.address(numbers, home);
  for (std::uint32_t round = 0; round < arrived.count; ++round) {
    const std::int64_t row = std::int64_t{round} * numbers.cols;
    there[row + fabric.rank().value] = 100 * round + fabric.rank().value + 1;
    const Fetched before = fabric.fetch_add(arrived[round], home, 1);
    if (!checks.ok(before.status)) return;
    if (before.value + 1 != fabric.size()) continue;
    for (std::uint32_t rank = 0; rank < fabric.size(); ++rank)
      checks.equal(there[row + rank], 100 * round + rank + 1);
  }
  checks.end();
}

// ---- the host's side

constexpr gpu::Shape one_thread{.lanes = 1, .threads = 1};

void values() {
  on_every_placement(1, [](gpu::World& world, const Board& board) {
    need(world.launch(values_kernel, one_thread, board, need(world.signals(2))));
  });
}

void tickets() {
  on_every_placement(2, [](gpu::World& world, const Board& board) {
    const std::int64_t all = std::int64_t{tickets_each} * 64 * 2 * world.size();
    const auto given = need(world.window<std::uint32_t>({all}));
    need(world.launch(tickets_kernel, {.lanes = 2, .threads = 64}, board, need(world.signals(1)),
                      given));
    need(world.synchronize());
    const auto times = fetch(world, given, Rank{0});
    for (std::int64_t at = 0; at < all; ++at)
      expect(times[static_cast<std::size_t>(at)] == 1, "ticket %lld was given %u times",
             static_cast<long long>(at), times[static_cast<std::size_t>(at)]);
  });
}

void lock() {
  on_every_placement(1, [](gpu::World& world, const Board& board) {
    const auto number = need(world.window<std::uint32_t>({1}));
    need(world.launch(lock_kernel, one_thread, board, need(world.signals(1)), number));
    need(world.synchronize());
    const std::uint32_t counted = fetch(world, number, Rank{0})[0];
    expect(counted == lock_rounds * world.size(), "%u were counted, not %u", counted,
           lock_rounds * world.size());
  });
}

void last_of_us() {
  on_every_placement(1, [](gpu::World& world, const Board& board) {
    const auto numbers = need(world.window<std::uint32_t>({50, world.size()}));
    need(world.launch(last_kernel, one_thread, board, need(world.signals(50)), numbers));
  });
}

}  // namespace

int main(int argc, char** argv) {
  return run("atomics", argc, argv,
             {{"values", values},
              {"tickets_are_given_once", tickets},
              {"lock_excludes", lock},
              {"last_one_sees_all", last_of_us}});
}
