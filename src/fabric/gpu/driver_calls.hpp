// Calls of the CUDA driver, looked up at run time: programs start where there is no driver, and
// nothing is linked with libcuda.
#pragma once

#include <cuda.h>

#include <string_view>

namespace muster::gpu {

// The driver's function of that name, in the version that CUDA 12.0 has. Throws Failure with
// `unavailable` where the driver has none.
[[nodiscard]] void* driver_entry(const char* name);

template <class Function>
[[nodiscard]] Function* find_driver(const char* name) {
  return reinterpret_cast<Function*>(driver_entry(name));
}

// Throws Failure that says what was being done, and the driver's number for why it failed.
void must_driver(CUresult result, std::string_view doing);

}  // namespace muster::gpu
