// Barriers between two GPUs, in kernels: muster's against the bare exchange of the same order, the
// compare-and-swap barrier and, where it is built in, NCCL's.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <exception>

#include "bench/gpu/pair.hpp"

namespace {

using namespace muster;
using namespace muster::bench_gpu;
using Kept = std::shared_ptr<Pair>;

const char* const floor_name = "bare exchange";

void must(cudaError_t result, const char* doing) {
  if (result == cudaSuccess) return;
  throw Failure(Error{ErrorCode::system, std::string(doing) + ": " + cudaGetErrorString(result)});
}

// A kernel that is not muster's, on both GPUs: launch(rank) starts it in the rank's stream.
template <class Launch>
void on_both(const Kept& pair, Launch launch) {
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    must(cudaSetDevice(pair->world.device(rank)), "turning to a GPU");
    launch(Rank{rank}, pair->world.stream(rank));
    must(cudaGetLastError(), "launching");
  }
}

template <bool ordered>
Contender bare_exchange(const Kept& pair, const std::string& group, std::uint32_t threads) {
  const std::uint32_t word = pair->take_word();
  const auto value = std::make_shared<std::uint32_t>(0);
  return {floor_name, group, "", [=] {
            on_both(pair, [&](Rank rank, gpu::Stream stream) {
              exchange_loop<ordered><<<1, threads, 0, stream>>>(
                  pair->wires(rank, word), *value, pair->world.address(pair->nanoseconds, rank));
            });
            *value += warm_calls + calls;
            return pair->timed_call();
          }};
}

template <bool ordered>
Contender swap_barrier(const Kept& pair, const std::string& group, std::uint32_t threads) {
  const std::uint32_t word = pair->take_word();
  return {"compare-and-swap barrier", group, floor_name, [=] {
            on_both(pair, [&](Rank rank, gpu::Stream stream) {
              swap_loop<ordered><<<1, threads, 0, stream>>>(
                  pair->wires(rank, word), pair->world.address(pair->nanoseconds, rank));
            });
            return pair->timed_call();
          }};
}

template <class Barrier, class Kernel>
Contender muster_barrier(const Kept& pair, const std::string& group, const std::string& name,
                         std::uint32_t threads, Kernel kernel) {
  const Barrier barrier(need(pair->world.rows(1)));
  const gpu::Shape shape{.lanes = 1, .threads = threads};
  need(pair->world.prepare(kernel, shape));
  return {"muster " + name, group, floor_name, [=] {
            need(pair->world.launch(kernel, shape, barrier, pair->nanoseconds));
            return pair->timed_call();
          }};
}

template <class Coop, bool ordered>
void add_threads(std::vector<Contender>& all, const Kept& pair, const std::string& group,
                 std::uint32_t threads) {
  all.push_back(bare_exchange<ordered>(pair, group, threads));
  all.push_back(muster_barrier<EpochBarrier>(pair, group, "epoch, scoped", threads,
                                             scoped_loop<Coop, EpochBarrier, ordered>));
  all.push_back(muster_barrier<EpochBarrier>(pair, group, "epoch", threads,
                                             single_loop<Coop, EpochBarrier, ordered>));
  all.push_back(swap_barrier<ordered>(pair, group, threads));
}

template <bool ordered>
void add_order(std::vector<Contender>& all, const Kept& pair, const std::string& order) {
  using gpu::Block;
  using gpu::Warp;
  const std::string group = order + ", 32 threads";
  add_threads<Warp, ordered>(all, pair, group, 32);
  all.push_back(muster_barrier<EpochBarrier>(pair, group, "epoch, scoped, as Block<>", 32,
                                             scoped_loop<Block<>, EpochBarrier, ordered>));
  all.push_back(muster_barrier<DisseminationBarrier>(
      pair, group, "dissemination, scoped", 32, scoped_loop<Warp, DisseminationBarrier, ordered>));
  all.push_back(muster_barrier<FlipBarrier>(pair, group, "flip", 32,
                                            single_loop<Warp, FlipBarrier, ordered>));
  all.push_back(muster_barrier<CreditBarrier>(pair, group, "credit", 32,
                                              single_loop<Warp, CreditBarrier, ordered>));
  all.push_back(muster_barrier<CounterBarrier>(pair, group, "counter", 32,
                                               single_loop<Warp, CounterBarrier, ordered>));
  add_threads<Block<256>, ordered>(all, pair, order + ", 256 threads", 256);
  add_threads<Block<1024>, ordered>(all, pair, order + ", 1024 threads", 1024);
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  if (gpu_count() < 2) {
    std::printf("SKIPPED: this benchmark needs 2 GPUs, this machine shows %d\n", gpu_count());
    return 0;
  }
  try {
    const Kept pair = make_pair();
    std::vector<Contender> contenders;
    add_order<false>(contenders, pair, "relaxed");
    add_order<true>(contenders, pair, "acq_rel");
    try {
      add_nccl(contenders);
    } catch (const std::exception& failure) {
      std::printf("NCCL's device barrier is left out: %s\n", failure.what());
    }
    return report("barriers between two GPUs, in a kernel", contenders, options);
  } catch (const std::exception& failure) {
    std::printf("FAILED: %s\n", failure.what());
    return 1;
  }
}
