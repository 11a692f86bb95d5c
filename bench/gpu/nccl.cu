// NCCL's barrier between GPUs whose memory is reached by load and store (NCCL 2.28 and later).
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <nccl_device.h>

#include <thread>

#include "bench/gpu/pair.hpp"

namespace muster::bench_gpu {

namespace {

void must(ncclResult_t result, const char* doing) {
  if (result != ncclSuccess)
    throw Failure(Error{ErrorCode::system, std::string(doing) + ": " + ncclGetErrorString(result)});
}

void must(cudaError_t result, const char* doing) {
  if (result != cudaSuccess)
    throw Failure(Error{ErrorCode::system, std::string(doing) + ": " + cudaGetErrorString(result)});
}

template <bool ordered>
__global__ void nccl_loop(const __grid_constant__ ncclDevComm comm, std::uint64_t* nanoseconds) {
  constexpr auto order = ordered ? cuda::memory_order_acq_rel : cuda::memory_order_relaxed;
  ncclLsaBarrierSession<ncclCoopCta> barrier(ncclCoopCta(), comm, ncclTeamTagLsa(), blockIdx.x);
  time_calls(nanoseconds, [&] { barrier.sync(ncclCoopCta(), order); });
}

// Two communicators of one process, with a barrier for one block each.
struct Communicators {
  ncclComm_t comm[2] = {};
  ncclDevComm device[2] = {};

  Communicators() {
    const int devices[2] = {0, 1};
    must(ncclCommInitAll(comm, 2, devices), "making NCCL communicators");
    ncclResult_t results[2] = {};
    std::thread other([&] { results[1] = create(1); });
    results[0] = create(0);
    other.join();
    for (const ncclResult_t result : results) must(result, "making NCCL's device communicators");
  }

  ncclResult_t create(int rank) {
    if (cudaSetDevice(rank) != cudaSuccess) return ncclUnhandledCudaError;
    ncclDevCommRequirements wanted{};
    wanted.lsaMultimem = false;
    wanted.lsaBarrierCount = 1;
    return ncclDevCommCreate(comm[rank], &wanted, &device[rank]);
  }
};

template <bool ordered>
Contender nccl_barrier(const std::shared_ptr<Pair>& pair,
                       const std::shared_ptr<Communicators>& communicators,
                       const std::string& group, std::uint32_t threads) {
  return {"NCCL device LSA barrier", group, "bare exchange", [=] {
            for (int rank = 0; rank < 2; ++rank) {
              must(cudaSetDevice(rank), "turning to a GPU");
              nccl_loop<ordered><<<1, threads, 0, pair->world.stream(rank)>>>(
                  communicators->device[rank],
                  pair->world.address(pair->nanoseconds, Rank{static_cast<std::uint32_t>(rank)}));
              must(cudaGetLastError(), "launching");
            }
            return pair->timed_call();
          }};
}

}  // namespace

void add_nccl(std::vector<Contender>& contenders) {
  int version = 0;
  must(ncclGetVersion(&version), "asking for NCCL's version");
  std::printf("NCCL %d\n", version);
  const auto pair = std::make_shared<Pair>(*make_pair());
  const auto communicators = std::make_shared<Communicators>();
  for (const std::uint32_t threads : {32U, 256U, 1024U}) {
    const std::string tail = ", " + std::to_string(threads) + " threads";
    contenders.push_back(nccl_barrier<false>(pair, communicators, "relaxed" + tail, threads));
    contenders.push_back(nccl_barrier<true>(pair, communicators, "acq_rel" + tail, threads));
  }
}

}  // namespace muster::bench_gpu
