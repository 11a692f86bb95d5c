// Calls of CUDA that must succeed. Inside this library a failure travels as muster::Failure, and
// attempt() turns it into the Result that the caller of World gets.
#pragma once

#include <cuda_runtime_api.h>

#include <string_view>
#include <utility>

#include "muster/result.hpp"

namespace muster::gpu {

// Throws Failure that says what was being done and why it failed.
void must(cudaError_t result, std::string_view doing);

template <class Body>
auto attempt(Body&& body) -> decltype(body()) {
  try {
    return std::forward<Body>(body)();
  } catch (const Failure& failure) {
    return failure.error();
  }
}

// Makes a GPU the current one, and the one before again at the end.
class OnDevice {
 public:
  explicit OnDevice(int device);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};

}  // namespace muster::gpu
