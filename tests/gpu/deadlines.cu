// How long a call may take in a kernel, and what becomes of a team whose wait has expired.
#include <cuda_runtime_api.h>

#include <chrono>
#include <thread>

#include "gpu/exchange_host.hpp"
#include "muster/packet.hpp"

namespace {

using namespace muster;
using namespace muster::gpu_test;
using std::chrono::milliseconds;

constexpr milliseconds deadline{200};

struct Outcome {
  std::uint64_t nanoseconds;
  std::uint32_t status;
  std::uint32_t next;  // of a second call
};

gpu::World make_world(std::uint32_t ranks, OnExpiry on_expiry) {
  return need(gpu::World::create({.devices = std::vector<int>(ranks, 0),
                                  .lanes = 1,
                                  .bytes = 4U << 20U,
                                  .deadline = deadline,
                                  .on_expiry = on_expiry}));
}

// ---- one call, one deadline: a lane of one thread waits for its peers one after the other

// Rank r comes `step_ns` * r late, or never where that is 0; rank 0 at once.
template <class Call>
__global__ void late_kernel(const __grid_constant__ gpu::Handle handle, Call call,
                            std::uint64_t step_ns, WindowRef<Outcome> outcomes) {
  gpu::Fabric<gpu::Thread> fabric(handle);
  if (fabric.rank().value > 0) {
    if (step_ns == 0) return;
    spin(step_ns * fabric.rank().value);
  }
  const std::uint64_t begin = gpu::detail::nanoseconds();
  const WaitStatus status = call(fabric);
  fabric.local(outcomes)[0] = {gpu::detail::nanoseconds() - begin,
                               static_cast<std::uint32_t>(status), 0};
}

template <class Barrier>
struct Sync {
  Barrier barrier;
  template <class F>
  __device__ WaitStatus operator()(F& fabric) const {
    return barrier.sync(fabric);
  }
};

template <class Barrier>
struct Scoped {
  Barrier barrier;
  template <class F>
  __device__ WaitStatus operator()(F& fabric) const {
    return barrier.scoped(fabric, [](auto& scope) { (void)scope.sync(); });
  }
};

struct Packets {
  PacketExchange<float, 1, 32> exchange;
  template <class F>
  __device__ WaitStatus operator()(F& fabric) const {
    auto tile = fabric.template tile<float, 1, 32>();
    const std::uint32_t flag = exchange.begin(fabric);
    WaitStatus status = WaitStatus::ok;
    for (std::uint32_t step = 1; step < fabric.size(); ++step) {
      const Rank peer{(fabric.rank().value + step) % fabric.size()};
      status = worst(status, exchange.wait(fabric, flag, peer, tile));
    }
    return exchange.end(fabric, flag, status);
  }
};

// Waits that belong to no call have a deadline each.
struct Loose {
  Signals signals;
  template <class F>
  __device__ WaitStatus operator()(F& fabric) const {
    const WaitStatus first = fabric.wait(signals[0], Compare::ge, 1);
    return worst(first, fabric.wait(signals[1], Compare::ge, 1));
  }
};

template <class Call>
void expect_takes(const char* what, gpu::World& world, const Call& call, std::uint64_t step_ns,
                  double deadlines) {
  const auto outcomes = need(world.window<Outcome>({1}));
  need(world.launch(late_kernel<Call>, {.lanes = 1, .threads = 1}, call, step_ns, outcomes));
  const Result<void> end = world.synchronize();
  expect(!end && end.error().code == ErrorCode::expired, "%s: %s", what,
         end ? "no error" : to_string(end.error()).c_str());
  const Outcome first = fetch(world, outcomes, Rank{0})[0];
  expect(first.status == static_cast<std::uint32_t>(WaitStatus::expired), "%s: status %u", what,
         first.status);
  const double wanted = deadlines * std::chrono::duration<double>(deadline).count();
  const double took = static_cast<double>(first.nanoseconds) * 1e-9;
  expect(took >= wanted * 0.999 && took < wanted * 1.2, "%s: took %.3f s, not %.3f", what, took,
         wanted);
  std::printf("    %s: %.3f s\n", what, took);
  need(world.reset());
}

template <class Make>
void seven_absent(const char* what, Make make) {
  gpu::World world = make_world(8, retry);
  const auto call = make(world);
  expect_takes(what, world, call, 0, 1.0);
}

void absent_peers_cost_one_deadline() {
  seven_absent("epoch", [](auto& world) { return Sync<EpochBarrier>{EpochBarrier(world)}; });
  seven_absent("credit", [](auto& world) { return Sync<CreditBarrier>{CreditBarrier(world)}; });
  seven_absent("flip", [](auto& world) { return Sync<FlipBarrier>{FlipBarrier(world)}; });
  seven_absent("counter", [](auto& world) { return Sync<CounterBarrier>{CounterBarrier(world)}; });
  seven_absent("dissemination",
               [](auto& world) { return Sync<DisseminationBarrier>{DisseminationBarrier(world)}; });
  seven_absent("system", [](auto& world) { return Sync<SystemBarrier>{SystemBarrier(world)}; });
  seven_absent("epoch, scoped",
               [](auto& world) { return Scoped<EpochBarrier>{EpochBarrier(world)}; });
  seven_absent("packets", [](auto& world) { return Packets{PacketExchange<float, 1, 32>(world)}; });
}

// Each peer is in time for a deadline of its own, but not for the call's.
void late_peers_cost_one_deadline() {
  const auto step = static_cast<std::uint64_t>(std::chrono::nanoseconds(deadline).count()) * 2 / 5;
  gpu::World world = make_world(8, retry);
  expect_takes("peers one after another", world, Sync<EpochBarrier>{EpochBarrier(world)}, step,
               1.0);
}

void waits_outside_of_calls_have_their_own() {
  gpu::World world = make_world(2, retry);
  expect_takes("two waits", world, Loose{need(world.signals(2))}, 0, 2.0);
}

// ---- what an expired wait does to the team

// Rank 0 comes after rank 1 has given up.
__global__ void apart_kernel(const __grid_constant__ gpu::Handle handle, EpochBarrier barrier,
                             std::uint64_t late_ns, WindowRef<Outcome> outcomes) {
  gpu::Fabric<gpu::Warp> fabric(handle);
  if (fabric.rank().value == 0) spin(late_ns);
  const WaitStatus status = barrier.sync(fabric);
  const WaitStatus next = barrier.sync(fabric);
  if (fabric.thread() == 0)
    fabric.local(outcomes)[0] = {0, static_cast<std::uint32_t>(status),
                                 static_cast<std::uint32_t>(next)};
}

void run_apart(OnExpiry on_expiry, WaitStatus late, WaitStatus next) {
  gpu::World world = make_world(2, on_expiry);
  const EpochBarrier barrier(world);
  const auto outcomes = need(world.window<Outcome>({1}));
  const auto late_ns =
      static_cast<std::uint64_t>(std::chrono::nanoseconds(deadline).count()) * 3 / 2;
  need(world.launch(apart_kernel, {.lanes = 1, .threads = 32}, barrier, late_ns, outcomes));
  const Result<void> end = world.synchronize();
  expect(!end && end.error().code == ErrorCode::expired && end.error().rank == Rank{1}, "%s",
         end ? "no error" : to_string(end.error()).c_str());
  const Outcome of[2] = {fetch(world, outcomes, Rank{0})[0], fetch(world, outcomes, Rank{1})[0]};
  expect(of[1].status == static_cast<std::uint32_t>(WaitStatus::expired), "rank 1: %u",
         of[1].status);
  expect(of[0].status == static_cast<std::uint32_t>(late), "rank 0: %u", of[0].status);
  for (const Outcome& one : of)
    expect(one.next == static_cast<std::uint32_t>(next), "the next call: %u", one.next);
  need(world.reset());
  need(
      world.launch(apart_kernel, {.lanes = 1, .threads = 32}, barrier, std::uint64_t{0}, outcomes));
  need(world.synchronize());
}

// Rank 0 finds rank 1's deposit, so its first call is right; no call after it is.
void an_expired_wait_fails_the_team() {
  run_apart(OnExpiry::fail, WaitStatus::ok, WaitStatus::aborted);
}
void or_not_where_it_may_be_retried() {
  run_apart(retry, WaitStatus::ok, WaitStatus::ok);
}

// ---- a loop of tests

__global__ void test_kernel(const __grid_constant__ gpu::Handle handle, Signals signals,
                            WindowRef<Outcome> outcomes) {
  gpu::Fabric<gpu::Thread> fabric(handle);
  WaitStatus status = WaitStatus::pending;
  while (status == WaitStatus::pending) status = fabric.test(signals[0], Compare::ge, 1);
  fabric.local(outcomes)[0] = {0, static_cast<std::uint32_t>(status), 0};
}

void an_abort_ends_a_loop_of_tests() {
  gpu::World world = make_world(2, OnExpiry::fail);
  const Signals signals = need(world.signals(1));
  const auto outcomes = need(world.window<Outcome>({1}));
  need(world.launch(test_kernel, {.lanes = 1, .threads = 1}, signals, outcomes));
  std::this_thread::sleep_for(milliseconds(30));
  world.abort("the test wants it");
  const Result<void> end = world.synchronize();
  expect(!end && end.error().code == ErrorCode::aborted, "no error");
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const std::uint32_t status = fetch(world, outcomes, Rank{rank})[0].status;
    expect(status == static_cast<std::uint32_t>(WaitStatus::aborted), "rank %u: %u", rank, status);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run("deadlines", argc, argv,
             {{"absent_peers_cost_one_deadline", absent_peers_cost_one_deadline},
              {"late_peers_cost_one_deadline", late_peers_cost_one_deadline},
              {"waits_outside_of_calls_have_their_own", waits_outside_of_calls_have_their_own},
              {"an_expired_wait_fails_the_team", an_expired_wait_fails_the_team},
              {"or_not_where_it_may_be_retried", or_not_where_it_may_be_retried},
              {"an_abort_ends_a_loop_of_tests", an_abort_ends_a_loop_of_tests}});
}
