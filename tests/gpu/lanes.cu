// Barriers that the lanes of a rank share, and what the barriers leave behind: the cases of
// tests/conformance/barrier_lane_bodies.hpp and barrier_bodies.hpp that barriers.cu has not, as
// kernels, on 2, 3, 4 and 8 ranks, on one GPU and on two.
#include "gpu/device_checks.cuh"
#include "gpu/exchange.cuh"
#include "muster/barrier.hpp"

namespace {

using namespace muster;
using namespace muster::gpu_test;

constexpr std::uint32_t most_lanes = 4;
constexpr std::uint32_t threads = 64;
constexpr std::uint32_t rounds = 60;
constexpr std::uint32_t near_wrap = 0xfffffff0U;
using Coop = gpu::Block<threads>;

// A stamp of each thread of each lane of each rank, at every rank: where SystemBarrier is to order
// all of them. GridBarrier orders those of the own rank.
struct Stamps {
  WindowRef<std::uint32_t> inbox;  // P * most_lanes rows of `threads`
  bool own = false;                // only at the own rank

  template <class F>
  __device__ void write(F& fabric, std::uint32_t round) const {
    for (std::uint32_t step = 0; step < (own ? 1 : fabric.size()); ++step) {
      const Rank peer = right_of(fabric, step);
      fabric.address(inbox,
                     peer)[place(fabric.rank().value, fabric.lane().value, fabric.thread())] =
          value(round, fabric.rank().value, fabric.lane().value, fabric.thread());
    }
  }
  template <class F>
  __device__ void check(F& fabric, DeviceChecks& checks, std::uint32_t round) const {
    check(fabric, checks, round, fabric.lanes());
  }
  // Those of the first `lanes` lanes.
  template <class F>
  __device__ void check(F& fabric, DeviceChecks& checks, std::uint32_t round,
                        std::uint32_t lanes) const {
    const std::uint32_t other = (fabric.thread() + 1 + round) % threads;
    for (std::uint32_t rank = 0; rank < fabric.size(); ++rank) {
      if (own && rank != fabric.rank().value) continue;
      for (std::uint32_t lane = 0; lane < lanes; ++lane)
        checks.equal(fabric.local(inbox)[place(rank, lane, other)],
                     value(round, rank, lane, other));
    }
  }

 private:
  [[nodiscard]] __device__ std::int64_t place(std::uint32_t rank, std::uint32_t lane,
                                              std::uint32_t thread) const {
    return inbox.at(std::int64_t{rank} * most_lanes + lane, thread);
  }
  [[nodiscard]] __device__ static std::uint32_t value(std::uint32_t round, std::uint32_t rank,
                                                      std::uint32_t lane, std::uint32_t thread) {
    return mix(round, (rank * most_lanes + lane) * 1024 + thread);
  }
};

// Each round all write, meet, check, and meet again; some come late.
template <class F, class First, class Second>
__device__ bool stamp_rounds(F& fabric, DeviceChecks& checks, const Stamps& stamps,
                             std::uint32_t first_round, First first, Second second) {
  for (std::uint32_t round = first_round; round < first_round + rounds; ++round) {
    const std::uint32_t draw = mix(fabric.rank().value * 64 + fabric.lane().value, round);
    if (draw % 4 == 0) spin(draw / 4 % 5'000);
    stamps.write(fabric, round);
    if (!checks.ok(first())) return false;
    stamps.check(fabric, checks, round);
    if (!checks.ok(second())) return false;
  }
  return true;
}

enum class Form { sync, split, scoped };

template <class Barrier, Form form>
__global__ void shared_kernel(const __grid_constant__ gpu::Handle handle, Board board,
                              Barrier barrier, Stamps stamps, std::uint32_t first_round) {
  gpu::Fabric<Coop> fabric(handle);
  DeviceChecks checks(fabric, board);
  const auto sync = [&] { return barrier.sync(fabric); };
  const auto split = [&] {
    const auto arrival = barrier.arrive(fabric);
    return barrier.wait(fabric, arrival);
  };
  bool good = false;
  if constexpr (form == Form::scoped)
    checks.ok(barrier.scoped(fabric, [&](auto& scope) {
      good = stamp_rounds(
          fabric, checks, stamps, first_round, [&] { return scope.sync(); },
          [&] {
            scope.arrive();
            return scope.wait();
          });
    }));
  else if constexpr (form == Form::split)
    good = stamp_rounds(fabric, checks, stamps, first_round, split, split);
  else
    good = stamp_rounds(fabric, checks, stamps, first_round, sync, sync);
  if (good && fabric.thread() == 0) checks.end();
}

Stamps make_stamps(gpu::World& world, bool own) {
  return {need(world.window<std::uint32_t>({world.size() * most_lanes, threads})), own};
}

// Launches of as many lanes as come, one after the other: the rows were made for four.
template <class Barrier>
void shared_by_lanes(bool own) {
  constexpr std::uint32_t launches[] = {3, 1, 4, 2, 2, 3, 1, 4};
  on_every_placement(20, [&](gpu::World& world, const Board& board) {
    const Barrier barrier(world);
    const Stamps stamps = make_stamps(world, own);
    std::uint32_t launch = 0;
    for (const std::uint32_t lanes : launches) {
      constexpr auto split = Form::split;
      const auto kernel = launch % 3 == 0   ? shared_kernel<Barrier, Form::sync>
                          : launch % 3 == 1 ? shared_kernel<Barrier, split>
                                            : shared_kernel<Barrier, Form::scoped>;
      need(world.launch(kernel, {.lanes = lanes, .threads = threads}, board, barrier, stamps,
                        rounds * launch++));
    }
  });
}

// A lane of its own each, in turn as one call, as two and in a scope.
template <class Barrier>
void lane_by_lane() {
  on_every_placement(3, [](gpu::World& world, const Board& board) {
    const Barrier barrier(world);
    const Stamps stamps = make_stamps(world, false);
    const gpu::Shape shape{.lanes = 1, .threads = threads};
    need(world.launch(shared_kernel<Barrier, Form::sync>, shape, board, barrier, stamps, 0U));
    need(world.launch(shared_kernel<Barrier, Form::scoped>, shape, board, barrier, stamps, rounds));
    need(world.launch(shared_kernel<Barrier, Form::split>, shape, board, barrier, stamps,
                      2 * rounds));
  });
}

// ---- channels of a pad

// A lane each, on channels of one pad of 32.
void flip_on_channels() {
  on_every_placement(3, [](gpu::World& world, const Board& board) {
    const Rows pad = pad_rows(need(world.signals(32 * world.size())), world.size());
    const FlipBarrier last(pad, PadChannel{31});
    const FlipBarrier other(pad, PadChannel{3});
    const Stamps stamps = make_stamps(world, false);
    const gpu::Shape shape{.lanes = 1, .threads = threads};
    constexpr auto split = Form::split;
    need(world.launch(shared_kernel<FlipBarrier, Form::sync>, shape, board, last, stamps, 0U));
    need(world.launch(shared_kernel<FlipBarrier, split>, shape, board, other, stamps, rounds));
    need(world.launch(shared_kernel<FlipBarrier, Form::scoped>, shape, board, last, stamps,
                      2 * rounds));
  });
}

// ---- lanes that produce, and lanes that consume

// The first `producers` lanes write what all lanes behind them find; and again, once these have
// read.
__global__ void producers_kernel(const __grid_constant__ gpu::Handle handle, Board board,
                                 GridArrivals filled, GridArrivals emptied, Stamps stamps,
                                 std::uint32_t first_round) {
  gpu::Fabric<Coop> fabric(handle);
  DeviceChecks checks(fabric, board);
  const bool produces = fabric.lane().value < filled.arrivals();
  for (std::uint32_t round = first_round; round < first_round + rounds; ++round) {
    const std::uint32_t draw = mix(fabric.rank().value * 64 + fabric.lane().value, round);
    if (draw % 4 == 0) spin(draw / 4 % 5'000);
    if (produces) {
      stamps.write(fabric, round);
      if (!checks.ok(filled.post(fabric)) || !checks.ok(emptied.wait(fabric, use::exit))) return;
    } else {
      if (!checks.ok(filled.wait(fabric))) return;
      stamps.check(fabric, checks, round, filled.arrivals());
      if (!checks.ok(emptied.post(fabric, use::exit))) return;
    }
  }
  if (fabric.thread() == 0) checks.end();
}

void producers_and_consumers() {
  on_every_placement(3 * most_lanes, [](gpu::World& world, const Board& board) {
    const Stamps stamps = make_stamps(world, true);
    for (const std::uint32_t producers : {1U, 2U, 3U}) {
      const auto filled = GridBarrier(world).expecting(producers);
      const auto emptied = GridBarrier(world).expecting(most_lanes - producers);
      need(world.launch(producers_kernel, {.lanes = most_lanes, .threads = threads}, board, filled,
                        emptied, stamps, rounds * producers));
    }
  });
}

// ---- epochs and sums that wrap

template <class Barrier>
__global__ void move_epochs_kernel(const __grid_constant__ gpu::Handle handle, Barrier barrier) {
  gpu::Fabric<gpu::Thread> fabric(handle);
  const Rows rows = barrier.rows();
  fabric.set_counter(rows.epoch(fabric.lane()), near_wrap);
  for_each_peer(fabric, [&](Rank peer) {
    fabric.notify(rows.from(fabric.lane(), fabric.rank()), peer, near_wrap, NotifyOp::set);
  });
  if constexpr (requires { barrier.grid_rows(); }) {
    const Rows grid = barrier.grid_rows();
    fabric.set_counter(grid.epoch(fabric.lane()), near_wrap);
    if (fabric.lane() == Lane{0})
      fabric.notify(grid.from(Lane{0}, Rank{0}), fabric.rank(), near_wrap, NotifyOp::set);
  }
}

template <class Barrier>
__global__ void past_the_wrap_kernel(const __grid_constant__ gpu::Handle handle, Board board,
                                     Barrier barrier) {
  gpu::Fabric<gpu::Thread> fabric(handle);
  DeviceChecks checks(fabric, board);
  if (checks.holds(fabric.counter(barrier.rows().epoch(fabric.lane())) < near_wrap)) checks.end();
}

template <class Barrier>
void through_the_wrap(std::uint32_t lanes) {
  on_every_placement(2 * lanes, [&](gpu::World& world, const Board& board) {
    const Barrier barrier(world);
    const Stamps stamps = make_stamps(world, false);
    const gpu::Shape one{.lanes = lanes, .threads = 1};
    need(world.launch(move_epochs_kernel<Barrier>, one, barrier));
    need(world.synchronize());  // all have moved before any meets
    need(world.launch(shared_kernel<Barrier, Form::sync>, {.lanes = lanes, .threads = threads},
                      board, barrier, stamps, 0U));
    need(world.launch(past_the_wrap_kernel<Barrier>, one, board, barrier));
  });
}

// ---- cells that are zero again

template <class Barrier>
__global__ void meet_kernel(const __grid_constant__ gpu::Handle handle, Board board,
                            Barrier barrier, EpochBarrier quiet) {
  gpu::Fabric<gpu::Warp> fabric(handle);
  DeviceChecks checks(fabric, board);
  for (int round = 0; round < 7; ++round) checks.ok(barrier.sync(fabric));
  checks.ok(quiet.sync(fabric));  // nobody is still inside of a call
  for (std::uint32_t writer = 0; writer < fabric.size(); ++writer)
    checks.equal(fabric.read(barrier.rows().from(fabric.lane(), Rank{writer})), 0);
  if (fabric.thread() == 0) checks.end();
}

template <class Barrier>
void returns_to_zero() {
  on_every_placement(2, [](gpu::World& world, const Board& board) {
    const Barrier barrier(world);
    const EpochBarrier quiet(world);
    need(world.launch(meet_kernel<Barrier>, {.lanes = 2, .threads = 32}, board, barrier, quiet));
  });
}

}  // namespace

int main(int argc, char** argv) {
  return run("lanes", argc, argv,
             {{"grid", [] { shared_by_lanes<GridBarrier>(true); }},
              {"system", [] { shared_by_lanes<SystemBarrier>(false); }},
              {"producers_and_consumers", producers_and_consumers},
              {"epoch", lane_by_lane<EpochBarrier>},
              {"counter", lane_by_lane<CounterBarrier>},
              {"dissemination", lane_by_lane<DisseminationBarrier>},
              {"automatic", lane_by_lane<Barrier>},
              {"system_wraps", [] { through_the_wrap<SystemBarrier>(3); }},
              {"dissemination_wraps", [] { through_the_wrap<DisseminationBarrier>(1); }},
              {"flip_on_channels", flip_on_channels},
              {"credit_returns_to_zero", returns_to_zero<CreditBarrier>},
              {"flip_returns_to_zero", returns_to_zero<FlipBarrier>}});
}
