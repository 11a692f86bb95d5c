// Memory of ranks that live in one process: plain allocations and peer access.
#include <fmt/format.h>

#include <set>

#include "fabric/gpu/cuda_calls.hpp"
#include "fabric/gpu/memory.hpp"

namespace muster::gpu {

namespace {

bool has(cudaDeviceP2PAttr attribute, int from, int to) {
  int value = 0;
  must(cudaDeviceGetP2PAttribute(&value, attribute, from, to), "asking how GPUs are linked");
  return value != 0;
}

void require_reach(int from, int to) {
  const auto refuse = [&](const char* what) {
    throw Failure(Error{ErrorCode::unavailable, fmt::format("GPU {} {} GPU {}", from, what, to)});
  };
  if (!has(cudaDevP2PAttrAccessSupported, from, to)) refuse("cannot reach the memory of");
  if (!has(cudaDevP2PAttrNativeAtomicSupported, from, to))
    refuse("has no atomics in the memory of");
}

void enable_peer(int from, int to) {
  const OnDevice on(from);
  const cudaError_t result = cudaDeviceEnablePeerAccess(to, 0);
  if (result == cudaErrorPeerAccessAlreadyEnabled)
    (void)cudaGetLastError();
  else
    must(result, fmt::format("letting GPU {} reach GPU {}", from, to));
}

class LocalMemory : public Memory {
 public:
  LocalMemory(const std::vector<int>& devices, std::uint64_t bytes) {
    for (const int device : devices) allocate(device, bytes);
  }
  ~LocalMemory() override {
    for (std::byte* base : bases_) (void)cudaFree(base);
  }

 private:
  void allocate(int device, std::uint64_t bytes) {
    const OnDevice on(device);
    std::size_t free = 0;
    std::size_t total = 0;
    must(cudaMemGetInfo(&free, &total), fmt::format("asking for the memory of GPU {}", device));
    if (bytes > free)
      throw Failure(Error{ErrorCode::out_of_memory,
                          fmt::format("{} bytes were asked for on GPU {}, of which {} are free",
                                      bytes, device, free)});
    void* base = nullptr;
    must(cudaMalloc(&base, bytes), fmt::format("allocating {} bytes on GPU {}", bytes, device));
    bases_.push_back(static_cast<std::byte*>(base));
    // Zero before any peer learns the address.
    must(cudaMemset(base, 0, bytes), "clearing memory");
    must(cudaDeviceSynchronize(), "clearing memory");
  }
};

}  // namespace

void require_reach(const std::vector<int>& devices) {
  const std::set<int> distinct(devices.begin(), devices.end());
  for (const int from : distinct)
    for (const int to : distinct)
      if (from != to) require_reach(from, to);
}

std::unique_ptr<Memory> allocate_local(const std::vector<int>& devices, std::uint64_t bytes) {
  require_reach(devices);
  const std::set<int> distinct(devices.begin(), devices.end());
  for (const int from : distinct)
    for (const int to : distinct)
      if (from != to) enable_peer(from, to);
  return std::make_unique<LocalMemory>(devices, bytes);
}

}  // namespace muster::gpu
