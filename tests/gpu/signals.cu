// What signals and counters promise, on GPUs: the cases of tests/conformance/signal_bodies.hpp as
// kernels, on 2, 3, 4 and 8 ranks, on one GPU and on two.
#include "gpu/device_checks.cuh"

namespace {

using namespace muster;
using namespace muster::gpu_test;

struct CompareStep {
  NotifyOp op;
  std::uint32_t value;
  Compare compare;  // does not hold before the deposit, and holds after it
  std::uint32_t expected;
  std::uint32_t then;  // what the cell reads afterwards
};

__constant__ constexpr CompareStep compare_steps[] = {
    {NotifyOp::set, 5, Compare::eq, 5, 5},
    {NotifyOp::set, 6, Compare::ne, 5, 6},
    {NotifyOp::set, 7, Compare::ge, 7, 7},
    {NotifyOp::add, 1, Compare::gt, 7, 8},
    {NotifyOp::set, 3, Compare::lt, 8, 3},
    {NotifyOp::set, 2, Compare::le, 2, 2},
    // Wrap-safe: below zero is less than zero, and the sum passes from there to 0x10.
    {NotifyOp::set, 0xfffffff0U, Compare::lt, 0, 0xfffffff0U},
    {NotifyOp::add, 0x20, Compare::ge, 0xfffffff8U, 0x10},
    {NotifyOp::add, ~0U, Compare::lt, 0x10, 0xf},
    {NotifyOp::set, 0, Compare::eq, 0, 0},
};

// Each comparison ends on the deposit that satisfies it, on a ring, with both orders.
__global__ void notify_and_wait_kernel(const __grid_constant__ gpu::Handle handle, Board board,
                                       Signals signals) {
  gpu::Fabric<gpu::Thread> fabric(handle);
  DeviceChecks checks(fabric, board);
  const Signal data = signals[0];   // written by the left neighbour
  const Signal taken = signals[1];  // written by the right neighbour
  std::uint32_t count = 0;
  for (const bool relaxed : {false, true}) {
    const Order notify = relaxed ? Order::relaxed : Order::release;
    const Order wait = relaxed ? Order::relaxed : Order::acquire;
    for (const CompareStep& step : compare_steps) {
      ++count;
      fabric.notify(data, right_of(fabric), step.value, step.op, notify);
      checks.ok(fabric.wait(data, step.compare, step.expected, wait));
      checks.equal(fabric.read(data), step.then);
      // The next deposit must not come before this one has been read.
      fabric.notify(taken, left_of(fabric), count, NotifyOp::set, notify);
      if (!checks.ok(fabric.wait(taken, Compare::ge, count, wait))) return;
    }
  }
  checks.end();
}

// All threads of all ranks add to one cell of rank 0: no deposit is lost.
__global__ void adds_kernel(const __grid_constant__ gpu::Handle handle, Board board, Signals sum) {
  constexpr std::uint32_t adds = 100;
  gpu::Fabric<gpu::Block<64>> fabric(handle);
  DeviceChecks checks(fabric, board);
  for (std::uint32_t i = 0; i < adds; ++i)
    fabric.notify(sum[0], Rank{0}, 1 + i % 3, NotifyOp::add, Order::relaxed);
  if (fabric.thread() != 0) return;
  if (fabric.rank() == Rank{0}) {
    const std::uint32_t each = adds / 3 * 6 + 1;  // 33 times 1 + 2 + 3, and a 1
    const std::uint32_t all = each * fabric.threads() * fabric.lanes() * fabric.size();
    if (fabric.lane() == Lane{0}) {
      checks.ok(fabric.wait(sum[0], Compare::ge, all));
      checks.equal(fabric.read(sum[0]), all);
    }
  }
  checks.end();
}

// Deposits by one lane into one cell take effect in program order, relaxed ones too.
__global__ void order_kernel(const __grid_constant__ gpu::Handle handle, Board board,
                             Signals signals) {
  constexpr std::uint32_t last = 20'000;
  gpu::Fabric<gpu::Warp> fabric(handle);
  DeviceChecks checks(fabric, board);
  // One thread deposits and another looks on: of the same rank they would not meet otherwise.
  if (fabric.thread() == 0)
    for (std::uint32_t value = 1; value <= last; ++value)
      fabric.notify(signals[0], right_of(fabric), value, NotifyOp::set, Order::relaxed);
  if (fabric.thread() != 1) return;
  for (std::uint32_t seen = 0; seen < last;) {
    if (!checks.ok(fabric.wait(signals[0], Compare::gt, seen, Order::relaxed))) return;
    const std::uint32_t now = fabric.read(signals[0]);
    if (!checks.holds(now > seen && now <= last)) return;
    seen = now;
  }
  checks.end();
}

// test() never blocks and never says ok too early; a notify to the own rank has taken effect.
__global__ void test_kernel(const __grid_constant__ gpu::Handle handle, Board board,
                            Signals signals) {
  gpu::Fabric<gpu::Thread> fabric(handle);
  DeviceChecks checks(fabric, board);
  const auto test = [&](Compare compare, std::uint32_t value) {
    return fabric.test(signals[0], compare, value);
  };
  checks.equal(fabric.read(signals[0]), 0);
  checks.holds(test(Compare::ge, 1) == WaitStatus::pending);
  checks.ok(test(Compare::eq, 0));
  fabric.notify(signals[0], fabric.rank(), 1, NotifyOp::set);
  checks.equal(fabric.read(signals[0]), 1);
  checks.ok(test(Compare::ge, 1));
  fabric.notify(signals[0], fabric.rank(), ~0U, NotifyOp::add);
  checks.holds(test(Compare::ge, 1) == WaitStatus::pending);
  checks.end();
}

// wait_any blocks until one holds, and names the lowest of those that do.
__global__ void wait_any_kernel(const __grid_constant__ gpu::Handle handle, Board board,
                                Signals signals) {
  gpu::Fabric<gpu::Thread> fabric(handle);
  DeviceChecks checks(fabric, board);
  const Condition three[] = {
      {signals[0], Compare::ge, 1}, {signals[1], Compare::ge, 1}, {signals[2], Compare::ge, 1}};
  fabric.notify(signals[2], right_of(fabric), 1, NotifyOp::set);
  const AnyStatus only = fabric.wait_any(three, 3);
  checks.ok(only.status);
  checks.equal(only.index, 2);

  fabric.notify(signals[3], left_of(fabric), 1, NotifyOp::set);  // the reader has seen it
  checks.ok(fabric.wait(signals[3], Compare::ge, 1));
  fabric.notify(signals[1], right_of(fabric), 1, NotifyOp::set);
  fabric.notify(signals[4], right_of(fabric), 1, NotifyOp::set);  // both are there now
  checks.ok(fabric.wait(signals[4], Compare::ge, 1));
  const AnyStatus both = fabric.wait_any(three, 3);
  checks.ok(both.status);
  checks.equal(both.index, 1);
  checks.end();
}

// Counters start at zero, live between launches, and each lane has its own.
__global__ void counters_kernel(const __grid_constant__ gpu::Handle handle, Board board, Rows rows,
                                std::uint32_t expected) {
  gpu::Fabric<gpu::Block<64>> fabric(handle);
  DeviceChecks checks(fabric, board);
  const Counter counter = rows.epoch(fabric.lane());
  const std::uint32_t shift = expected == 0 ? 0 : fabric.lane().value;
  checks.equal(fabric.counter(counter), expected + shift);
  fabric.converge();
  if (fabric.thread() == 0) fabric.set_counter(counter, expected + 100 + fabric.lane().value);
  fabric.converge();
  checks.equal(fabric.counter(counter), expected + 100 + fabric.lane().value);
  if (fabric.thread() == 0) checks.end();
}

// Lane k talks to lane k, and lanes of one rank that wait for each other are there at once.
__global__ void lanes_kernel(const __grid_constant__ gpu::Handle handle, Board board, Rows rows,
                             Signals ring) {
  gpu::Fabric<gpu::Warp> fabric(handle);
  DeviceChecks checks(fabric, board);
  checks.equal(fabric.lanes(), 3);
  const std::uint32_t next_lane = (fabric.lane().value + 1) % fabric.lanes();
  for (std::uint32_t round = 1; round <= 200; ++round) {
    WaitStatus status = WaitStatus::ok;
    if (fabric.thread() == 0) {
      fabric.notify(ring[next_lane], fabric.rank(), round, NotifyOp::set);
      status = fabric.wait(ring[fabric.lane().value], Compare::ge, round);
    }
    fabric.converge();
    for_each_peer(fabric, [&](Rank peer) {
      fabric.notify(rows.from(fabric.lane(), fabric.rank()), peer, round, NotifyOp::set);
    });
    for_each_peer(fabric, [&](Rank peer) {
      status = worst(status, fabric.wait(rows.from(fabric.lane(), peer), Compare::ge, round));
    });
    if (!checks.ok(fabric.converge(status))) return;
  }
  if (fabric.thread() == 0) checks.end();
}

template <class Coop>
__global__ void converge_kernel(const __grid_constant__ gpu::Handle handle, Board board) {
  gpu::Fabric<Coop> fabric(handle);
  DeviceChecks checks(fabric, board);
  const std::uint32_t last = fabric.threads() - 1;
  for (std::uint32_t round = 0; round < 50; ++round) {
    checks.equal(fabric.broadcast(fabric.thread() * 1000 + round), round);
    fabric.converge();
    checks.ok(fabric.converge(WaitStatus::ok));
    // What one thread has met, all learn; then it is forgotten.
    const bool is_late = fabric.thread() == (round % 2 == 0 ? last : 0);
    const WaitStatus mine = is_late ? WaitStatus::expired : WaitStatus::ok;
    checks.holds(fabric.converge(mine) == WaitStatus::expired);
    checks.ok(fabric.converge(WaitStatus::ok));
  }
  if (fabric.thread() == 0) checks.end();
}

// Every other rank is visited once, by one thread; thread t begins t + 1 to the right.
template <class Coop>
__global__ void peers_kernel(const __grid_constant__ gpu::Handle handle, Board board,
                             WindowRef<std::uint32_t> visits) {
  gpu::Fabric<Coop> fabric(handle);
  DeviceChecks checks(fabric, board);
  std::uint32_t step = 1 + fabric.thread();
  for_each_peer(fabric, [&](Rank peer) {
    checks.equal(peer.value, (fabric.rank().value + step) % fabric.size());
    atomicAdd(&fabric.local(visits)[peer.value], 1U);
    step += fabric.threads();
  });
  fabric.converge();
  for (std::uint32_t rank = 0; rank < fabric.size(); ++rank)
    checks.equal(fabric.local(visits)[rank], rank == fabric.rank().value ? 0 : 1);
  if (fabric.thread() == 0) checks.end();
}

// ---- the host's side

constexpr gpu::Shape one_thread{.lanes = 1, .threads = 1};

template <class Kernel>
void with_signals(Kernel kernel, std::uint32_t count, const gpu::Shape& shape) {
  on_every_placement(shape.lanes, [&](gpu::World& world, const Board& board) {
    need(world.launch(kernel, shape, board, need(world.signals(count))));
  });
}

void counters() {
  on_every_placement(9, [](gpu::World& world, const Board& board) {
    const Rows rows = need(world.rows(3));
    for (const std::uint32_t expected : {0U, 100U, 200U})
      need(world.launch(counters_kernel, {.lanes = 3, .threads = 64}, board, rows, expected));
  });
}

void lanes() {
  on_every_placement(3, [](gpu::World& world, const Board& board) {
    need(world.launch(lanes_kernel, {.lanes = 3, .threads = 32}, board, need(world.rows(3)),
                      need(world.signals(3))));
  });
}

template <class Coop>
void converging(std::uint32_t threads) {
  on_every_placement(2, [&](gpu::World& world, const Board& board) {
    need(world.launch(converge_kernel<Coop>, {.lanes = 2, .threads = threads}, board));
  });
}

template <class Coop>
void peers(std::uint32_t threads) {
  on_every_placement(1, [&](gpu::World& world, const Board& board) {
    const auto visits = need(world.window<std::uint32_t>({world.size()}));
    need(world.launch(peers_kernel<Coop>, {.lanes = 1, .threads = threads}, board, visits));
  });
}

}  // namespace

int main(int argc, char** argv) {
  return run("signals", argc, argv,
             {{"notify_and_wait", [] { with_signals(notify_and_wait_kernel, 2, one_thread); }},
              {"adds_commute", [] { with_signals(adds_kernel, 1, {.lanes = 3, .threads = 64}); }},
              {"deposits_keep_their_order",
               [] { with_signals(order_kernel, 1, {.lanes = 1, .threads = 32}); }},
              {"test_does_not_block", [] { with_signals(test_kernel, 1, one_thread); }},
              {"wait_any_names_the_lowest", [] { with_signals(wait_any_kernel, 5, one_thread); }},
              {"counters_persist", counters},
              {"lanes_run_at_once", lanes},
              {"converge_of_a_warp", [] { converging<gpu::Warp>(32); }},
              {"converge_of_warps", [] { converging<gpu::Warps<3>>(96); }},
              {"converge_of_a_block", [] { converging<gpu::Block<256>>(256); }},
              {"peers_of_a_thread", [] { peers<gpu::Thread>(1); }},
              {"peers_of_three_threads", [] { peers<gpu::Block<3>>(3); }},
              {"peers_of_a_warp", [] { peers<gpu::Warp>(32); }}});
}
