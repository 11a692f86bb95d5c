// Parts of a block: warps that bring tiles and warps that add them up, a turn that goes round parts
// of one, two and five warps, parts that meet their like on other ranks, parts that do not exist.
// On 2, 3, 4 and 8 ranks, on one GPU and on two.
#include "../../examples/kernels/peer_sums.hpp"
#include "gpu/device_checks.cuh"
#include "gpu/exchange.cuh"
#include "muster/barrier.hpp"

namespace {

using namespace muster;
using namespace muster::gpu_test;

constexpr std::uint32_t threads = 256;
using Coop = gpu::Block<threads>;
using Half = muster::Warps<4>;

// ---- producers and consumers

constexpr std::int64_t columns = 512;
constexpr std::uint32_t calls = 5;
using Sums = example::PeerSums<columns, Half, Half>;

[[nodiscard]] __device__ float addend(std::uint32_t rank, std::uint32_t call, std::int64_t at) {
  return static_cast<float>((at * 7 + rank * 3 + call * 5) % 11);  // sums are exact
}

// The elements of the tiles that the lane sums: each lane fills and checks its own.
template <class F, class Visit>
__device__ void each_own(F& fabric, std::int64_t count, Visit visit) {
  for (std::int64_t at = fabric.thread(); at < count; at += fabric.threads())
    if (at / columns % fabric.lanes() == fabric.lane().value) visit(at);
}

__global__ void sums_kernel(const __grid_constant__ gpu::Handle handle, Board board, Sums sums,
                            WindowRef<float> from, WindowRef<float> to, std::uint32_t first_call) {
  gpu::Fabric<Coop> fabric(handle);
  DeviceChecks checks(fabric, board);
  for (std::uint32_t call = first_call; call < first_call + calls; ++call) {
    const std::uint32_t draw = mix(fabric.rank().value * 64 + fabric.lane().value, call);
    if (draw % 4 == 0) spin(draw / 4 % 5'000);
    each_own(fabric, from.cols, [&](std::int64_t at) {
      fabric.local(from)[at] = addend(fabric.rank().value, call, at);
    });
    if (!checks.ok(sums.sum(fabric, from, to))) return;
    each_own(fabric, to.cols, [&](std::int64_t at) {
      float sum = 0;
      for (std::uint32_t rank = 0; rank < fabric.size(); ++rank) sum += addend(rank, call, at);
      checks.equal(static_cast<std::uint32_t>(fabric.local(to)[at]),
                   static_cast<std::uint32_t>(sum));
    });
  }
  if (fabric.thread() == 0) checks.end();
}

// On three lanes, on one, on four: each lane's count of tiles goes on from where it was.
void producers_and_consumers(std::int64_t count) {
  on_every_placement(3 + 1 + 4, [&](gpu::World& world, const Board& board) {
    const Sums sums(world, 3);
    const auto from = need(world.window<float>({count}));
    const auto to = need(world.window<float>({count}));
    std::uint32_t first_call = 0;
    for (const std::uint32_t lanes : {3U, 1U, 4U}) {
      need(world.launch(sums_kernel, {.lanes = lanes, .threads = threads}, board, sums, from, to,
                        first_call));
      first_call += calls;
    }
  });
}

// ---- a turn that goes round

constexpr std::uint32_t rounds = 500;

struct Ring {
  Signals turn;                      // a cell for each part
  WindowRef<std::uint32_t> written;  // a row of `threads` for each part

  [[nodiscard]] __device__ static std::uint32_t value(std::uint32_t round, std::uint32_t part,
                                                      std::uint32_t thread) {
    return mix(round, part * 1024 + thread);
  }
};

// The part awaits its turn, checks what the part before it has written in its last turn, writes,
// and gives the turn on.
template <class F>
__device__ WaitStatus take_turns(F& part, DeviceChecks& checks, const Ring& ring, std::uint32_t own,
                                 std::uint32_t before, std::uint32_t before_threads) {
  WaitStatus status = WaitStatus::ok;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::uint32_t turns = round + (own > 0 ? 1 : 0);
    if (part.thread() == 0)
      status = part.wait(ring.turn[own], Compare::ge, turns, Order::acquire, Scope::block);
    status = part.converge(status);
    if (!checks.ok(status)) return status;
    const auto written = part.local(ring.written);
    const std::uint32_t other = (part.thread() + round) % before_threads;
    if (turns > 0)
      checks.equal(written[std::int64_t{before} * threads + other],
                   Ring::value(turns - 1, before, other));
    written[std::int64_t{own} * threads + part.thread()] = Ring::value(round, own, part.thread());
    part.converge();
    if (part.thread() == 0)
      part.notify(ring.turn[(own + 1) % 3], part.rank(), round + 1, NotifyOp::set, Order::release,
                  Scope::block);
  }
  return status;
}

template <class Block>
__global__ void ring_kernel(const __grid_constant__ gpu::Handle handle, Board board, Ring ring) {
  gpu::Fabric<Block> fabric(handle);
  DeviceChecks checks(fabric, board);
  WaitStatus status = WaitStatus::ok;
  if (fabric.template in_part<muster::Warps<1>>(0)) {
    auto part = fabric.template part<muster::Warps<1>>(0);
    status = take_turns(part, checks, ring, 0, 2, 160);
  } else if (fabric.template in_part<muster::Warps<2>>(1)) {
    auto part = fabric.template part<muster::Warps<2>>(1);
    status = take_turns(part, checks, ring, 1, 0, 32);
  } else {
    auto part = fabric.template part<muster::Threads<160>>(96);
    status = take_turns(part, checks, ring, 2, 1, 64);
  }
  checks.ok(fabric.converge(status));
  if (fabric.thread() == 0) checks.end();
}

template <class Block>
void turns_go_round() {
  on_every_placement(1, [](gpu::World& world, const Board& board) {
    const Ring ring{need(world.signals(3)), need(world.window<std::uint32_t>({3, threads}))};
    need(world.launch(ring_kernel<Block>, {.lanes = 1, .threads = threads}, board, ring));
  });
}

// ---- between ranks

// Each half of the block meets its like on the other ranks by a barrier of its own.
template <class F>
__device__ WaitStatus meet_peers(F& part, DeviceChecks& checks, const EpochBarrier& barrier,
                                 WindowRef<std::uint32_t> inbox, std::uint32_t half) {
  const std::int64_t at = std::int64_t{half} * part.threads() + part.thread();
  for (std::uint32_t round = 0; round < rounds; ++round) {
    part.address(inbox, right_of(part))[at] =
        mix(round, part.rank().value * 4096 + static_cast<std::uint32_t>(at));
    WaitStatus status = barrier.sync(part);
    if (!checks.ok(status)) return status;
    checks.equal(part.local(inbox)[at],
                 mix(round, left_of(part).value * 4096 + static_cast<std::uint32_t>(at)));
    status = barrier.sync(part);
    if (!checks.ok(status)) return status;
  }
  return WaitStatus::ok;
}

__global__ void halves_kernel(const __grid_constant__ gpu::Handle handle, Board board,
                              EpochBarrier first, EpochBarrier second,
                              WindowRef<std::uint32_t> inbox) {
  gpu::Fabric<Coop> fabric(handle);
  DeviceChecks checks(fabric, board);
  WaitStatus status = WaitStatus::ok;
  if (fabric.in_part<Half>(0)) {
    auto part = fabric.part<Half>(0);
    status = meet_peers(part, checks, first, inbox, 0);
  } else {
    auto part = fabric.part<Half>(Half::count);
    status = meet_peers(part, checks, second, inbox, 1);
  }
  checks.ok(fabric.converge(status));
  if (fabric.thread() == 0) checks.end();
}

void halves_meet_their_like() {
  on_every_placement(1, [](gpu::World& world, const Board& board) {
    const EpochBarrier first(world);
    const EpochBarrier second(world);
    const auto inbox = need(world.window<std::uint32_t>({threads}));
    need(
        world.launch(halves_kernel, {.lanes = 1, .threads = threads}, board, first, second, inbox));
  });
}

// ---- no such part

template <class P>
__global__ void part_kernel(const __grid_constant__ gpu::Handle handle, std::uint32_t first,
                            WindowRef<std::uint32_t> came) {
  gpu::Fabric<Coop> fabric(handle);
  auto part = fabric.template part<P>(first);
  if (part.thread() == 0) ++part.local(came)[0];
}

template <class P>
void refused(std::uint32_t first, std::uint32_t parts, const char* words) {
  gpu::World world = need(gpu::World::create(
      {.devices = {0}, .lanes = 1, .bytes = 1U << 20U, .deadline = patience(), .verify = true}));
  const auto came = need(world.window<std::uint32_t>({1}));
  need(world.launch(part_kernel<P>, {.lanes = 1, .threads = threads}, first, came));
  const Result<void> end = world.synchronize();
  const std::string said = end ? "" : to_string(end.error());
  expect(said.find(words) != std::string::npos, "'%s' does not say '%s'", said.c_str(), words);
  const std::uint32_t found = fetch(world, came, Rank{0})[0];
  expect(found == parts, "%u parts went on, not %u", found, parts);
}

void parts_that_do_not_exist() {
  refused<muster::Warps<8>>(4, 0, "the threads 128 to 383");
  refused<muster::Warps<4>>(0, 1, "the threads 0 to 127");  // the other warps call it, too
  refused<muster::Threads<64>>(16, 0, "named barrier 16");
}

}  // namespace

int main(int argc, char** argv) {
  return muster::gpu_test::run(
      "parts", argc, argv,
      {{"sums_of_1", [] { producers_and_consumers(1); }},
       {"sums_of_5000", [] { producers_and_consumers(5'000); }},
       {"sums_of_100001", [] { producers_and_consumers(100'001); }},
       {"turns", [] { turns_go_round<gpu::Block<threads>>(); }},
       {"turns_in_a_block_of_any_size", [] { turns_go_round<gpu::Block<>>(); }},
       {"halves", [] { halves_meet_their_like(); }},
       {"no_such_part", [] { parts_that_do_not_exist(); }}});
}
