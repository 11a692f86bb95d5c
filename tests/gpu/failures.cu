// What goes wrong, and what the host is told: deadlines, aborts, wrong arguments, launches that
// cannot fit. The GPUs stay usable after each.
#include <cuda_runtime_api.h>

#include <chrono>
#include <thread>

#include "gpu/exchange_host.hpp"

namespace {

using namespace muster;
using namespace muster::gpu_test;
using std::chrono::milliseconds;

gpu::World make_world(const std::vector<int>& devices, std::chrono::nanoseconds deadline) {
  return need(
      gpu::World::create({.devices = devices, .lanes = 4, .deadline = deadline, .verify = true}));
}

void expect_works(gpu::World& world, const std::string& what) {
  const EpochBarrier barrier(world);
  Exchange exchange = make_exchange(world, 2, 64, 20);
  need(world.launch(exchange_kernel<gpu::Block<64>, EpochBarrier>, {.lanes = 2, .threads = 64},
                    barrier, exchange));
  need(world.synchronize());
  check_verdict(world, exchange, 40, what + ", afterwards");
}

// All but one rank call the barrier; the statuses of the lane's threads agree.
template <class Barrier>
__global__ void one_missing_kernel(const __grid_constant__ gpu::Handle handle, Barrier barrier,
                                   std::uint32_t missing, WindowRef<std::uint32_t> statuses) {
  gpu::Fabric<gpu::Block<64>> fabric(handle);
  WaitStatus status = WaitStatus::ok;
  if (fabric.rank().value != missing) status = barrier.sync(fabric);
  fabric.local(statuses)[fabric.lane().value * 64 + fabric.thread()] =
      static_cast<std::uint32_t>(status);
}

template <class Barrier>
void deadline_of(std::uint32_t cell_writer_is_known) {
  for (const auto& devices : placements({2, 3, 8})) {
    gpu::World world = make_world(devices, milliseconds(50));
    const Barrier barrier(world);
    const auto statuses = need(world.window<std::uint32_t>({4 * 64}));
    const std::uint32_t missing = world.size() - 1;
    const auto begin = std::chrono::steady_clock::now();
    need(world.launch(one_missing_kernel<Barrier>, {.lanes = 2, .threads = 64}, barrier, missing,
                      statuses));
    const Result<void> end = world.synchronize();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    const std::string what = text_of(devices);
    expect(took.count() < 5, "%s: a deadline of 50 ms took %g s", what.c_str(), took.count());
    expect(!end.has_value(), "%s: no error", what.c_str());
    if (end) continue;
    const Error error = end.error();
    std::printf("    %s: %s\n", what.c_str(), to_string(error).c_str());
    expect(error.code == ErrorCode::expired, "%s: %s", what.c_str(), to_string(error).c_str());
    expect(error.rank && error.rank->value != missing && error.lane && error.cell && error.seen &&
               error.expected,
           "%s: rank, lane, cell, seen or expected is missing", what.c_str());
    if (cell_writer_is_known != 0)
      expect(error.peer && error.peer->value == missing, "%s: peer is %d, not %u", what.c_str(),
             error.peer ? static_cast<int>(error.peer->value) : -1, missing);
    for (std::uint32_t r = 0; r < world.size(); ++r)
      for (const std::uint32_t status : fetch(world, statuses, Rank{r})) {
        // The lanes 2 and 3 do not run: their words stay 0.
        const bool good =
            status == static_cast<std::uint32_t>(WaitStatus::ok) ||
            (r != missing && (status == static_cast<std::uint32_t>(WaitStatus::expired) ||
                              status == static_cast<std::uint32_t>(WaitStatus::aborted)));
        expect(good, "%s: a thread of rank %u has status %u", what.c_str(), r, status);
      }
    need(world.reset());
    world.set_deadline(patience());
    expect_works(world, what);
  }
}

// No deadline: the host ends the wait.
void abort_from_the_host() {
  for (const auto& devices : placements({2, 4})) {
    gpu::World world = make_world(devices, std::chrono::nanoseconds(0));
    const EpochBarrier barrier(world);
    const auto statuses = need(world.window<std::uint32_t>({4 * 64}));
    need(world.launch(one_missing_kernel<EpochBarrier>, {.lanes = 1, .threads = 64}, barrier, 0U,
                      statuses));
    std::this_thread::sleep_for(milliseconds(30));
    expect(cudaStreamQuery(world.stream(world.groups() - 1)) == cudaErrorNotReady,
           "%s: the wait ended by itself", text_of(devices).c_str());
    const auto begin = std::chrono::steady_clock::now();
    world.abort("the test wants it");
    const Result<void> end = world.synchronize();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    expect(took.count() < 0.1, "%s: the abort took %g s", text_of(devices).c_str(), took.count());
    expect(!end && end.error().code == ErrorCode::aborted &&
               end.error().what.find("the test wants it") != std::string::npos,
           "%s: %s", text_of(devices).c_str(), end ? "no error" : to_string(end.error()).c_str());
    if (!end) std::printf("    %s\n", to_string(end.error()).c_str());
    need(world.reset());
    expect_works(world, text_of(devices));
  }
}

// ---- wrong arguments in a kernel

enum class Mistake { rank, cell, foreign_window, box, run, few_threads, none };

__global__ void mistake_kernel(const __grid_constant__ gpu::Handle handle, Mistake mistake,
                               EpochBarrier barrier, WindowRef<float> window,
                               WindowRef<std::uint32_t> statuses) {
  gpu::Fabric<gpu::Block<>> fabric(handle);
  if (fabric.rank().value == 0) {
    switch (mistake) {
      case Mistake::rank:
        if (fabric.thread() == 0)
          fabric.notify(barrier.rows().first, Rank{fabric.size()}, 1, NotifyOp::set);
        break;
      case Mistake::cell:
        if (fabric.thread() == 0) (void)fabric.wait(Signal{0, 0x40000000U}, Compare::ge, 1);
        break;
      case Mistake::foreign_window: {
        WindowRef<float> foreign = window;
        ++foreign.team;
        (void)fabric.local(foreign);
        break;
      }
      case Mistake::box: {
        auto tile = fabric.tile<float, 4, 4>();
        fabric.load(tile, window, Box{window.rows - 1, 0, 4, 4});
        break;
      }
      case Mistake::run: fabric.put(window, Rank{1}, 0, window, 1, window.size()); break;
      case Mistake::few_threads: (void)fabric.tile<float, 4, 4>(); break;
      case Mistake::none: break;
    }
  }
  const WaitStatus status = barrier.sync(fabric);
  if (fabric.thread() == 0) fabric.local(statuses)[0] = static_cast<std::uint32_t>(status);
}

void mistakes() {
  gpu::World world = make_world({0, 0}, patience());
  for (int number = 0; number <= static_cast<int>(Mistake::none); ++number) {
    const Mistake mistake{number};
    const EpochBarrier barrier(world);
    const auto window = need(world.window<float>({8, 8}));
    const auto statuses = need(world.window<std::uint32_t>({1}));
    const std::uint32_t threads = mistake == Mistake::few_threads ? 16 : 64;
    need(world.launch(mistake_kernel, {.lanes = 1, .threads = threads}, mistake, barrier, window,
                      statuses));
    const Result<void> end = world.synchronize();
    if (mistake == Mistake::none) {
      expect(end.has_value(), "no mistake, but %s", end ? "" : to_string(end.error()).c_str());
      break;
    }
    expect(!end && end.error().code == ErrorCode::invalid_argument && end.error().rank == Rank{0},
           "mistake %d: %s", number, end ? "no error" : to_string(end.error()).c_str());
    if (!end) std::printf("    %s\n", to_string(end.error()).c_str());
    expect(fetch(world, statuses, Rank{0})[0] == static_cast<std::uint32_t>(WaitStatus::invalid),
           "mistake %d: rank 0 has status %u", number, fetch(world, statuses, Rank{0})[0]);
    expect(fetch(world, statuses, Rank{1})[0] >= static_cast<std::uint32_t>(WaitStatus::aborted),
           "mistake %d: rank 1 has status %u", number, fetch(world, statuses, Rank{1})[0]);
    need(world.reset());
    expect_works(world, "mistake " + std::to_string(number));
  }
}

// ---- kernels that do not fit the world end at once, however they were launched

template <gpu::Ranks team>
__global__ void meet_kernel(const __grid_constant__ gpu::Handle handle, EpochBarrier barrier,
                            WindowRef<std::uint32_t> met) {
  gpu::Fabric<gpu::Block<64>, team> fabric(handle);
  const WaitStatus status = barrier.sync(fabric);
  if (status == WaitStatus::ok && fabric.thread() == 0) ++fabric.local(met)[0];
}

void more_lanes_than_the_world_has() {
  gpu::World world =
      need(gpu::World::create({.devices = {0, 0}, .lanes = 2, .deadline = patience()}));
  const EpochBarrier barrier(need(world.rows()));
  const auto met = need(world.window<std::uint32_t>({1}));
  meet_kernel<gpu::Ranks::few><<<6, 64>>>(world.handle(0), barrier, met);
  expect(cudaDeviceSynchronize() == cudaSuccess, "the context is unusable");
  const Result<void> end = world.synchronize();
  expect(!end && end.error().code == ErrorCode::invalid_argument &&
             end.error().what.find("more lanes") != std::string::npos,
         "3 lanes of 2: %s", end ? "no error" : to_string(end.error()).c_str());
  expect(fetch(world, met, Rank{0})[0] == 0, "a lane went on");
  need(world.reset());
  expect_works(world, "after too many lanes");
}

void more_ranks_than_the_kernel_is_for() {
  gpu::World world = need(gpu::World::create({.devices = std::vector<int>(gpu::near_ranks + 1, 0),
                                              .lanes = 1,
                                              .bytes = 1U << 20U,
                                              .deadline = patience()}));
  const EpochBarrier barrier(need(world.rows()));
  const auto met = need(world.window<std::uint32_t>({1}));
  const gpu::Shape shape{.lanes = 1, .threads = 64};
  need(world.launch(meet_kernel<gpu::Ranks::few>, shape, barrier, met));
  const Result<void> end = world.synchronize();
  expect(!end && end.error().code == ErrorCode::invalid_argument &&
             end.error().what.find("Ranks::many") != std::string::npos,
         "9 ranks: %s", end ? "no error" : to_string(end.error()).c_str());
  need(world.reset());
  need(world.launch(meet_kernel<gpu::Ranks::many>, shape, barrier, met));
  need(world.synchronize());
  for (std::uint32_t rank = 0; rank < world.size(); ++rank)
    expect(fetch(world, met, Rank{rank})[0] == 1, "rank %u did not meet the others", rank);
}

// ---- wrong arguments on the host

template <class T>
void expect_error(const Result<T>& result, ErrorCode code, const char* what) {
  expect(!result && result.error().code == code, "%s: %s", what,
         result ? "no error" : to_string(result.error()).c_str());
  if (!result) std::printf("    %s\n", to_string(result.error()).c_str());
}

void refused_by_the_host() {
  gpu::World world = need(gpu::World::create(
      {.devices = {0, 0}, .lanes = 100'000, .bytes = 1U << 20U, .cells = 1U << 20U}));
  const EpochBarrier barrier(need(world.rows(4)));
  Exchange exchange = make_exchange(world, 1, 32, 1);
  const auto kernel = exchange_kernel<gpu::Block<>, EpochBarrier>;
  expect_error(world.launch(kernel, {.lanes = 50'000, .threads = 1024}, barrier, exchange),
               ErrorCode::invalid_argument, "too many lanes");
  expect_error(world.launch(kernel, {.lanes = 200'000, .threads = 32}, barrier, exchange),
               ErrorCode::invalid_argument, "more lanes than the world has");
  expect_error(world.launch(kernel, {.lanes = 0, .threads = 32}, barrier, exchange),
               ErrorCode::invalid_argument, "no lanes");
  expect_error(world.launch(kernel, {.lanes = 1, .threads = 4096}, barrier, exchange),
               ErrorCode::invalid_argument, "too many threads");
  expect_error(world.window<double>({1 << 20}), ErrorCode::out_of_memory, "too large a window");
  expect_error(world.window<double>({-1}), ErrorCode::invalid_argument, "a negative extent");
  expect_error(world.window<double>({INT64_MAX, 3}), ErrorCode::out_of_memory, "overflow");
  expect_error(world.signals(1U << 21U), ErrorCode::out_of_memory, "too many signals");
  expect_error(gpu::World::create({.devices = {}}), ErrorCode::invalid_argument, "no ranks");
  expect_error(gpu::World::create({.devices = {0, 4711}}), ErrorCode::invalid_argument, "GPU 4711");
  expect_error(gpu::World::create({.devices = {0}, .bytes = 1ULL << 50U}), ErrorCode::out_of_memory,
               "a petabyte");
  if (gpu_count() >= 2)
    expect_error(gpu::World::create({.devices = {0, 1, 0}}), ErrorCode::invalid_argument,
                 "ranks of one GPU apart");
  expect_works(world, "after refusals");
}

}  // namespace

int main(int argc, char** argv) {
  return run("failures", argc, argv,
             {{"deadline_of_epoch", [] { deadline_of<EpochBarrier>(1); }},
              {"deadline_of_credit", [] { deadline_of<CreditBarrier>(1); }},
              {"deadline_of_flip", [] { deadline_of<FlipBarrier>(1); }},
              {"deadline_of_counter", [] { deadline_of<CounterBarrier>(0); }},
              {"abort_from_the_host", abort_from_the_host},
              {"mistakes", mistakes},
              {"more_lanes_than_the_world_has", more_lanes_than_the_world_has},
              {"more_ranks_than_the_kernel_is_for", more_ranks_than_the_kernel_is_for},
              {"refused_by_the_host", refused_by_the_host}});
}
