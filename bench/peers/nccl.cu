// muster-peer-nccl: NCCL's barrier between GPUs whose memory is reached by load and store (from
// NCCL 2.28 on), in kernels like muster-bench-gpu's. `muster bench --fabric gpu` starts it.
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <nccl_device.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <thread>

#include "bench/gpu/serve.hpp"
#include "bench/gpu/timing.cuh"

namespace {

using namespace muster::bench_gpu;

void must(ncclResult_t result, const char* doing) {
  if (result != ncclSuccess)
    throw std::runtime_error(std::string(doing) + ": " + ncclGetErrorString(result));
}
void must(cudaError_t result, const char* doing) {
  if (result != cudaSuccess)
    throw std::runtime_error(std::string(doing) + ": " + cudaGetErrorString(result));
}

template <bool ordered>
__global__ void __launch_bounds__(1024)
    nccl_loop(const __grid_constant__ ncclDevComm comm, Timing timing) {
  constexpr auto order = ordered ? cuda::memory_order_acq_rel : cuda::memory_order_relaxed;
  ncclLsaBarrierSession<ncclCoopCta> barrier(ncclCoopCta(), comm, ncclTeamTagLsa(), blockIdx.x);
  time_calls(timing, [&] { barrier.sync(ncclCoopCta(), order); });
}

// Two communicators of one process, with a barrier for one block each, as long as the program runs.
struct Communicators {
  std::array<ncclComm_t, 2> comm{};
  std::array<ncclDevComm, 2> device{};
  std::array<cudaStream_t, 2> stream{};
  std::uint64_t* nanoseconds = nullptr;  // on each GPU

  Communicators() {
    const int devices[2] = {0, 1};
    must(ncclCommInitAll(comm.data(), 2, devices), "making NCCL communicators");
    std::array<ncclResult_t, 2> results{};
    std::thread other([&] { results[1] = create(1); });
    results[0] = create(0);
    other.join();
    for (const ncclResult_t result : results) must(result, "making NCCL's device communicators");
    for (const int rank : devices) {
      must(cudaSetDevice(rank), "turning to a GPU");
      must(cudaStreamCreateWithFlags(&stream[rank], cudaStreamNonBlocking), "making a stream");
    }
    must(cudaMallocHost(&nanoseconds, 2 * sizeof(*nanoseconds), cudaHostAllocPortable), "memory");
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
double measure(Communicators& all, std::uint32_t threads, std::uint32_t calls) {
  for (int rank = 1; rank >= 0; --rank) {
    must(cudaSetDevice(rank), "turning to a GPU");
    nccl_loop<ordered>
        <<<1, threads, 0, all.stream[rank]>>>(all.device[rank], {&all.nanoseconds[rank], calls});
    must(cudaGetLastError(), "launching");
  }
  for (int rank = 0; rank < 2; ++rank)
    must(cudaStreamSynchronize(all.stream[rank]), "waiting for a kernel");
  return static_cast<double>(all.nanoseconds[0]) / calls;
}

std::string text_of(int version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

// The kernels hold NCCL's device code as it was when they were built; what they are given comes
// from the library that is loaded. Of two versions nothing fits: an illegal access, or wrong times.
int same_version() {
  int loaded = 0;
  must(ncclGetVersion(&loaded), "asking for NCCL's version");
  if (loaded != NCCL_VERSION_CODE)
    throw Unavailable("it was built with NCCL " + text_of(NCCL_VERSION_CODE) + ", and NCCL " +
                      text_of(loaded) +
                      " is loaded: build it with that one, or put the directory of " +
                      "the other first in LD_LIBRARY_PATH");
  return loaded;
}

std::string devices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count < 2) throw Unavailable("it needs 2 GPUs");
  return std::to_string(count) + " GPUs";
}

std::vector<Contender> list(const Wanted& wanted) {
  const std::string name = "NCCL " + text_of(same_version()) + ", LSA barrier";
  (void)devices();
  static Communicators communicators;
  for (const std::uint32_t threads : {32U, 256U, 1024U}) {
    const std::string tail = ", " + std::to_string(threads) + " threads";
    if (wanted.variant == "relaxed" + tail)
      return {{"peer", "nccl", name,
               [=](std::uint32_t calls) { return measure<false>(communicators, threads, calls); }}};
    if (wanted.variant == "acq_rel" + tail)
      return {{"peer", "nccl", name,
               [=](std::uint32_t calls) { return measure<true>(communicators, threads, calls); }}};
  }
  return {};  // it has no such barrier
}

}  // namespace

int main() {
  // Through NVLink alone, without its multicast, as everything that is compared here.
  setenv("NCCL_NVLS_ENABLE", "0", 0);
  return serve({devices, list});
}
