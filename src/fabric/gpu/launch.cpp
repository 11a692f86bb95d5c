// Launches of a World: what fits, and how it starts.
#include <fmt/format.h>

#include <cstdio>

#include "fabric/gpu/cuda_calls.hpp"
#include "fabric/gpu/state.hpp"

namespace muster::gpu {

namespace {

struct Capacity {
  int processors = 0;
  int blocks_each = 0;
};

// Loads the kernel on the current GPU, which may wait for what runs there.
Capacity capacity(int device, const void* kernel, const Shape& shape) {
  if (shape.shared_bytes > 48U * 1024U)
    must(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              static_cast<int>(shape.shared_bytes)),
         fmt::format("asking for {} bytes of shared memory", shape.shared_bytes));
  Capacity found;
  must(cudaDeviceGetAttribute(&found.processors, cudaDevAttrMultiProcessorCount, device),
       "counting multiprocessors");
  must(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
           &found.blocks_each, kernel, static_cast<int>(shape.threads), shape.shared_bytes),
       "asking how many blocks fit");
  return found;
}

Result<void> check_fit(World::State& state, const Group& group, const void* kernel,
                       const Shape& shape) {
  const auto key = std::tuple(group.device, kernel, shape.threads, shape.shared_bytes);
  const std::lock_guard guard(state.lock);
  auto known = state.resident.find(key);
  if (known == state.resident.end()) {
    const OnDevice on(group.device);
    const Capacity found = capacity(group.device, kernel, shape);
    const auto blocks = static_cast<std::uint64_t>(found.processors) *
                        static_cast<std::uint64_t>(found.blocks_each);
    known = state.resident.emplace(key, blocks).first;
  }
  const std::uint64_t wanted = std::uint64_t{shape.lanes} * group.ranks;
  if (wanted <= known->second) return {};
  return Error{
      ErrorCode::invalid_argument,
      fmt::format("{} lanes of {} threads, for {} ranks on GPU {}, are {} blocks, of which "
                  "{} can be resident at once; the others would be waited for in vain",
                  shape.lanes, shape.threads, group.ranks, group.device, wanted, known->second)};
}

Result<void> check_shape(const World::State& state, const Shape& shape) {
  if (shape.lanes == 0 || shape.threads == 0)
    return Error{ErrorCode::invalid_argument,
                 fmt::format("a launch of {} lanes of {} threads", shape.lanes, shape.threads)};
  if (shape.threads > 1024)
    return Error{ErrorCode::invalid_argument,
                 fmt::format("{} threads in a block; at most 1024 are possible", shape.threads)};
  if (shape.lanes > state.lanes)
    return Error{ErrorCode::invalid_argument,
                 fmt::format("a launch of {} lanes: the world was made for at most {}", shape.lanes,
                             state.lanes)};
  return {};
}

// Kernels that may begin early: from compute capability 9.0 on.
bool may_overlap(int device) {
  int major = 0;
  must(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
       "asking for the compute capability");
  return major >= 9;
}

// Who asks for checks shall not believe that there are any.
void note_checks(World::State& state, bool compiled) {
  if (compiled || !state.verify || state.noted_checks.exchange(true)) return;
  fmt::print(stderr,
             "muster: arguments are to be checked in kernels, but a kernel of this program was "
             "compiled without checks: compile it without -DNDEBUG or with -DMUSTER_VERIFY=1\n");
}

}  // namespace

Result<void> World::prepare_kernel(const void* kernel, const Shape& shape, bool checks) {
  return attempt([&]() -> Result<void> {
    note_checks(*state_, checks);
    if (Result<void> good = check_shape(*state_, shape); !good) return good;
    for (const Group& group : state_->groups)
      if (Result<void> fits = check_fit(*state_, group, kernel, shape); !fits) return fits;
    return {};
  });
}

Result<void> World::launch_kernel(std::uint32_t number, Stream stream, const void* kernel,
                                  const Shape& shape, bool checks, void** arguments) {
  return attempt([&]() -> Result<void> {
    note_checks(*state_, checks);
    if (Result<void> good = check_shape(*state_, shape); !good) return good;
    if (number >= state_->groups.size())
      return Error{ErrorCode::invalid_argument, fmt::format("there is no group {}: there are {}",
                                                            number, state_->groups.size())};
    const Group& group = state_->groups[number];
    if (Result<void> fits = check_fit(*state_, group, kernel, shape); !fits) return fits;
    const OnDevice on(group.device);
    const std::uint32_t blocks = shape.lanes * group.ranks;
    cudaLaunchAttribute attributes[2]{};
    unsigned count = 0;
    if (shape.cooperative.value_or(blocks > 1 && !shape.overlaps)) {
      attributes[count].id = cudaLaunchAttributeCooperative;
      attributes[count++].val.cooperative = 1;
    }
    if (shape.overlaps && may_overlap(group.device)) {
      attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attributes[count++].val.programmaticStreamSerializationAllowed = 1;
    }
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(shape.threads);
    config.dynamicSmemBytes = shape.shared_bytes;
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = count;
    must(cudaLaunchKernelExC(&config, kernel, arguments),
         fmt::format("launching on GPU {}", group.device));
    return {};
  });
}

}  // namespace muster::gpu
