// Stands in for the CUDA runtime, and for what a World takes from the driver, where its host side
// is tried without a GPU: device memory is the host's, streams do at once what they are given,
// kernels are counted. A test that links fake_cuda.cpp gets these functions in place of CUDA's.
#pragma once

#include <cstdint>
#include <vector>

namespace muster::gpu_test {

// What was put into a stream.
struct StreamOperation {
  bool is_write;
  int device;  // the current one at the time of the call
  const void* stream;
  const void* address;
  std::uint32_t value;
  unsigned flags;
};

struct FakeMachine {
  int devices = 2;
  bool peer_access = true;
  bool can_flush = false;
  bool has_stream_entries = true;  // the driver has cuStreamWriteValue32 and cuStreamWaitValue32
  int stream_status = 0;           // a CUresult: what these return
  int current = 0;                 // device
  bool capturing = false;          // every stream: then it must not be asked for its device
  bool capture_ended = false;      // it was
  std::vector<StreamOperation> operations;
  int launches = 0;          // of kernels, which do not run
  int capability = 9;        // the major number
  bool overlaps = false;     // the last launch was one of a kernel that may begin early
  bool cooperative = false;  // ... or of one whose blocks begin together
};

// Of this process.
[[nodiscard]] FakeMachine& fake_machine();

}  // namespace muster::gpu_test
