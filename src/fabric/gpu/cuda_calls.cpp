#include "fabric/gpu/cuda_calls.hpp"

#include <fmt/format.h>

namespace muster::gpu {

void must(cudaError_t result, std::string_view doing) {
  if (result == cudaSuccess) return;
  (void)cudaGetLastError();  // or the next call, which has nothing to do with it, would report it
  const ErrorCode code = result == cudaErrorMemoryAllocation ? ErrorCode::out_of_memory
                         : result == cudaErrorNoDevice || result == cudaErrorInsufficientDriver
                             ? ErrorCode::unavailable
                             : ErrorCode::system;
  throw Failure(Error{code, fmt::format("{}: {} ({})", doing, cudaGetErrorString(result),
                                        cudaGetErrorName(result))});
}

OnDevice::OnDevice(int device) {
  must(cudaGetDevice(&before_), "asking for the current GPU");
  must(cudaSetDevice(device), fmt::format("turning to GPU {}", device));
}

OnDevice::~OnDevice() {
  (void)cudaSetDevice(before_);
}

}  // namespace muster::gpu
