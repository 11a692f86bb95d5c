// Small messages exchanged in packets, a float beside its flag: lanes of 256 threads, each of which
// moves one. In a kernel that goes round, and in kernels of a graph that each exchange once; there
// beside slots whose data is its own flag, 16 bytes a thread, in kernels that overlap and that do
// not.
#include "bench/gpu/graphs.hpp"
#include "muster/packet.hpp"
#include "muster/sentinel.hpp"

namespace muster::bench_gpu {

namespace {

constexpr std::uint32_t threads = 256;
constexpr std::uint32_t lane_bytes = threads * sizeof(float);
using Exchange = PacketExchange<float, 1, threads>;
using Packet = cuda::atomic_ref<std::uint64_t, cuda::thread_scope_system>;

// ---- by hand: two alternating sets of slots

struct Slots {
  std::uint64_t* theirs;
  std::uint64_t* mine;
  std::uint32_t* count;  // of the calls made, by block
  const float* from;
  float* to;
};

__device__ void exchange_once(const Slots& slots, std::uint32_t flag) {
  const std::uint32_t at = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t set = (flag & 1) * gridDim.x * blockDim.x;
  const std::uint64_t word = __float_as_uint(slots.from[at]);
  Packet(slots.theirs[set + at])
      .store(std::uint64_t{flag} << 32 | word, cuda::memory_order_relaxed);
  std::uint64_t found = 0;
  do {
    found = Packet(slots.mine[set + at]).load(cuda::memory_order_relaxed);
  } while (found >> 32 != flag);
  slots.to[at] = __uint_as_float(static_cast<std::uint32_t>(found));
}

// The count is kept in memory, as the real one has it, and read by each thread.
__device__ void call_by_hand(const Slots& slots) {
  const std::uint32_t flag = slots.count[blockIdx.x] + 1;
  exchange_once(slots, flag);
  __syncthreads();
  if (threadIdx.x == 0) slots.count[blockIdx.x] = flag;
  __syncthreads();
}

__global__ void bare_kernel(Slots slots) {
  call_by_hand(slots);
}

__global__ void bare_loop(Slots slots, Timing timing) {
  time_calls(timing, [&] { call_by_hand(slots); });
}

// The count in a register between the calls: the least.
__global__ void floor_loop(Slots slots, Timing timing) {
  std::uint32_t flag = slots.count[blockIdx.x];
  time_calls(timing, [&] { exchange_once(slots, ++flag); });
  __syncthreads();
  if (threadIdx.x == 0) slots.count[blockIdx.x] = flag;
}

// ---- muster

struct Floats {
  WindowRef<float> from;
  WindowRef<float> to;
};

template <class F>
__device__ WaitStatus call(F& fabric, const Exchange& exchange, const Floats& floats) {
  const Rank peer{1 - fabric.rank().value};
  const Box box{0, std::int64_t{fabric.lane().value} * threads, 1, threads};
  auto mine = fabric.template tile<float, 1, threads>();
  auto theirs = fabric.template tile<float, 1, threads>();
  fabric.load(mine, floats.from, box);  // under way together with the count
  const std::uint32_t flag = exchange.begin(fabric);
  exchange.put(fabric, flag, peer, mine);
  const WaitStatus status = exchange.wait(fabric, flag, peer, theirs);
  fabric.store(theirs, floats.to, box);
  return exchange.end(fabric, flag, status);
}

__global__ void muster_kernel(const __grid_constant__ gpu::Handle handle, Exchange exchange,
                              Floats floats) {
  gpu::Fabric<gpu::Block<threads>> fabric(handle);
  (void)call(fabric, exchange, floats);
}

__global__ void muster_loop(const __grid_constant__ gpu::Handle handle, Exchange exchange,
                            Floats floats, WindowRef<std::uint64_t> nanoseconds,
                            std::uint32_t calls) {
  gpu::Fabric<gpu::Block<threads>> fabric(handle);
  WaitStatus status = WaitStatus::ok;
  time_calls(timing_of(fabric, nanoseconds, calls),
             [&] { status = worst(status, call(fabric, exchange, floats)); });
  if (status != WaitStatus::ok) fabric.local(nanoseconds)[0] = 0;
}

// ---- slots whose data is its own flag, by hand: two sets, cleared in place; all blocks count in
// one cell, each by its share of 65,536

struct Words16 {
  std::uint64_t low;
  std::uint64_t high;
};
__device__ Words16 load16(const Words16* from) {
  Words16 words;
  asm volatile("{\n\t.reg .b128 q;\n\tld.relaxed.sys.b128 q, [%2];\n\tmov.b128 {%0, %1}, q;\n\t}"
               : "=l"(words.low), "=l"(words.high)
               : "l"(from)
               : "memory");
  return words;
}
__device__ void store16(Words16* to, Words16 words) {
  asm volatile(
      "{\n\t.reg .b128 q;\n\tmov.b128 q, {%1, %2};\n\tst.relaxed.sys.b128 [%0], q;\n\t}" ::"l"(to),
      "l"(words.low), "l"(words.high)
      : "memory");
}

struct BareSentinels {
  Words16* theirs;
  Words16* mine;
  std::uint32_t* count;
  const Words16* from;
  Words16* to;
};

// Zero is the sentinel here: the data are turned over.
__global__ void bare_sentinel_kernel(BareSentinels slots) {
  const std::uint32_t at = blockIdx.x * blockDim.x + threadIdx.x;
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  Words16 words = slots.from[at];
  const std::uint32_t set = (*slots.count >> 16U & 1U) * gridDim.x * blockDim.x;
  store16(slots.theirs + set + at, {~words.low, ~words.high});
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
  __syncthreads();
  if (threadIdx.x == 0) {
    const std::uint32_t share = 65536U / gridDim.x;
    atomicAdd(slots.count, blockIdx.x == 0 ? 65536U - share * (gridDim.x - 1) : share);
  }
  Words16 found{};
  do {
    found = load16(slots.mine + set + at);
  } while (static_cast<std::uint32_t>(found.low) == 0);
  store16(slots.mine + set + at, {0, 0});
  slots.to[at] = {~found.low, ~found.high};
}

// ---- and muster's

constexpr std::uint32_t vector_threads = 64;  // of 16 bytes: as many bytes as a lane of packets
using Vectors = SentinelExchange<float, 1, 4 * vector_threads>;

__global__ void sentinel_kernel(const __grid_constant__ gpu::Handle handle, Vectors exchange,
                                Floats floats) {
  gpu::Fabric<gpu::Block<vector_threads>> fabric(handle);
  const Rank peer{1 - fabric.rank().value};
  const Box box{0, std::int64_t{fabric.lane().value} * 4 * vector_threads, 1, 4 * vector_threads};
  auto mine = fabric.tile<float, 1, 4 * vector_threads>();
  auto theirs = fabric.tile<float, 1, 4 * vector_threads>();
  fabric.launch_wait();
  fabric.load(mine, floats.from, box);
  const std::uint32_t call = exchange.begin(fabric);
  fabric.replace_sentinel(mine);
  exchange.put(fabric, call, peer, mine);
  exchange.sent(fabric, call);
  fabric.launch_done();
  const WaitStatus status = exchange.wait(fabric, call, peer, theirs);
  fabric.store(theirs, floats.to, box);
  (void)exchange.end(fabric, call, status);
}

// ---- what is measured

struct Run {
  Kept site;
  Floats floats;
  gpu::Shape shape;

  [[nodiscard]] std::int64_t elements() const { return std::int64_t{shape.lanes} * threads; }
};

Run make_run(std::uint64_t bytes) {
  const Kept site = make_site(2, 64U << 20U);
  const auto lanes = static_cast<std::uint32_t>(bytes / lane_bytes);
  const std::int64_t elements = std::int64_t{lanes} * threads;
  const Floats floats{need(site->world.window<float>({elements})),
                      need(site->world.window<float>({elements}))};
  return {site, floats, {.lanes = lanes, .threads = threads, .cooperative = false}};
}

// Slots of its own for one contender.
class MadeSlots {
 public:
  explicit MadeSlots(const Run& run)
      : run_(run),
        slots_(need(run.site->world.window<std::uint64_t>({2 * run.elements()}))),
        counts_(need(run.site->world.window<std::uint32_t>({run.shape.lanes}))) {}

  [[nodiscard]] Slots of(Rank rank) const {
    const gpu::World& world = run_.site->world;
    return {world.address(slots_, Rank{1 - rank.value}), world.address(slots_, rank),
            world.address(counts_, rank), world.address(run_.floats.from, rank),
            world.address(run_.floats.to, rank)};
  }

 private:
  Run run_;
  WindowRef<std::uint64_t> slots_;
  WindowRef<std::uint32_t> counts_;
};

template <class Kernel>
Contender loop_by_hand(const Run& run, const std::string& role, const std::string& name,
                       Kernel kernel) {
  return {role, "", name, [=, slots = MadeSlots(run)](std::uint32_t calls) {
            run.site->on_each([&](Rank rank, gpu::Stream stream) {
              kernel<<<run.shape.lanes, threads, 0, stream>>>(slots.of(rank),
                                                              run.site->timing(rank, calls));
            });
            return run.site->timed_call(calls);
          }};
}

std::vector<Contender> in_a_kernel(const Run& run) {
  const Exchange exchange(run.site->world);
  need(run.site->world.prepare(muster_loop, run.shape));
  return {loop_by_hand(run, "floor", "bare packets, count in a register", floor_loop),
          loop_by_hand(run, "bare", "bare packets", bare_loop),
          {"muster", "", "PacketExchange", [=](std::uint32_t calls) {
             need(run.site->world.launch(muster_loop, run.shape, exchange, run.floats,
                                         run.site->nanoseconds, calls));
             return run.site->timed_call(calls);
           }}};
}

// Slots by hand, and the launches of kernels that may overlap or not.
class MadeSentinels {
 public:
  explicit MadeSentinels(const Run& run)
      : run_(run),
        slots_(need(run.site->world.window<Words16>({run.elements() / 2}))),
        count_(need(run.site->world.window<std::uint32_t>({1}))) {}

  void launch(Rank rank, gpu::Stream stream, bool overlaps) const {
    const gpu::World& world = run_.site->world;
    BareSentinels slots{world.address(slots_, Rank{1 - rank.value}), world.address(slots_, rank),
                        world.address(count_, rank),
                        reinterpret_cast<const Words16*>(world.address(run_.floats.from, rank)),
                        reinterpret_cast<Words16*>(world.address(run_.floats.to, rank))};
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(run_.shape.lanes);
    config.blockDim = dim3(vector_threads);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = overlaps ? 1 : 0;
    must(cudaLaunchKernelEx(&config, bare_sentinel_kernel, slots), "launching");
  }

 private:
  Run run_;
  WindowRef<Words16> slots_;
  WindowRef<std::uint32_t> count_;
};

Contender sentinels(const Run& run, bool overlaps) {
  const Vectors exchange(run.site->world);
  gpu::Shape shape = run.shape;
  shape.threads = vector_threads;
  shape.overlaps = overlaps;
  need(run.site->world.prepare(sentinel_kernel, shape));
  return in_graph(run.site, "muster", "",
                  overlaps ? "SentinelExchange, kernels overlap" : "SentinelExchange", {},
                  [=](Rank rank, gpu::Stream stream) {
                    need(run.site->world.launch_on(rank.value, stream, sentinel_kernel, shape,
                                                   exchange, run.floats));
                  });
}

Contender bare_sentinels(const Run& run, bool overlaps) {
  return in_graph(run.site, "bare", "",
                  overlaps ? "bare sentinels, kernels overlap" : "bare sentinels", {},
                  [=, slots = MadeSentinels(run)](Rank rank, gpu::Stream stream) {
                    slots.launch(rank, stream, overlaps);
                  });
}

std::vector<Contender> in_kernels_of_a_graph(const Run& run) {
  const Exchange exchange(run.site->world);
  need(run.site->world.prepare(muster_kernel, run.shape));
  return {in_graph(run.site, "bare", "", "bare packets", {},
                   [=, slots = MadeSlots(run)](Rank rank, gpu::Stream stream) {
                     bare_kernel<<<run.shape.lanes, threads, 0, stream>>>(slots.of(rank));
                   }),
          in_graph(run.site, "muster", "", "PacketExchange", {},
                   [=](Rank rank, gpu::Stream stream) {
                     need(run.site->world.launch_on(rank.value, stream, muster_kernel, run.shape,
                                                    exchange, run.floats));
                   }),
          bare_sentinels(run, false),
          bare_sentinels(run, true),
          sentinels(run, false),
          sentinels(run, true)};
}

}  // namespace

std::vector<Contender> packets(std::uint64_t bytes, const std::string& variant) {
  if (bytes == 0 || bytes % lane_bytes != 0 || bytes / lane_bytes > 132)
    throw Unavailable("packets are exchanged in lanes of 1 KiB, at most 132 of them");
  const Run run = make_run(bytes);
  if (variant == "in a kernel") return in_a_kernel(run);
  if (variant == "a kernel each, in a graph") return in_kernels_of_a_graph(run);
  throw Unavailable("there is no table of packets '" + variant + "'");
}

}  // namespace muster::bench_gpu
