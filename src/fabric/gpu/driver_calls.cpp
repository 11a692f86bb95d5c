#include "fabric/gpu/driver_calls.hpp"

#include <fmt/format.h>

#include "fabric/gpu/cuda_calls.hpp"

namespace muster::gpu {

void* driver_entry(const char* name) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found{};
  must(cudaGetDriverEntryPointByVersion(name, &address, 12000, cudaEnableDefault, &found), name);
  if (found != cudaDriverEntryPointSuccess || address == nullptr)
    throw Failure(Error{ErrorCode::unavailable, fmt::format("the CUDA driver has no {}", name)});
  return address;
}

void must_driver(CUresult result, std::string_view doing) {
  if (result == CUDA_SUCCESS) return;
  const ErrorCode code = result == CUDA_ERROR_OUT_OF_MEMORY   ? ErrorCode::out_of_memory
                         : result == CUDA_ERROR_NOT_SUPPORTED ? ErrorCode::unavailable
                                                              : ErrorCode::system;
  throw Failure(Error{
      code, fmt::format("{}: the CUDA driver gives error {}", doing, static_cast<int>(result))});
}

}  // namespace muster::gpu
