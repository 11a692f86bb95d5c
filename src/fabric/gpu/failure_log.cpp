#include "fabric/gpu/failure_log.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "fabric/gpu/bootstrap_calls.hpp"
#include "fabric/gpu/cuda_calls.hpp"

namespace muster::gpu {

struct FailureLog::Layout {
  alignas(64) std::uint32_t stop;
  alignas(64) ErrorRecord records[1];  // one for each rank
};

std::size_t FailureLog::bytes_for(std::uint32_t ranks) {
  const std::size_t bytes = sizeof(Layout) + ranks * sizeof(ErrorRecord);
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

FailureLog::FailureLog(std::uint32_t ranks) : ranks_(ranks) {
  void* memory = nullptr;
  must(cudaHostAlloc(&memory, bytes_for(ranks), cudaHostAllocPortable | cudaHostAllocMapped),
       "allocating host memory for reports");
  layout_ = static_cast<Layout*>(memory);
  std::memset(memory, 0, bytes_for(ranks));
  void* seen = nullptr;
  must(cudaHostGetDevicePointer(&seen, memory, 0), "finding the reports from a GPU");
  in_kernels_ = static_cast<std::byte*>(seen);
}

namespace {

[[noreturn]] void fail(const char* doing) {
  throw Failure(Error{ErrorCode::system, fmt::format("{}: {}", doing, std::strerror(errno))});
}

// Anonymous memory that process 0 makes and the others get through the bootstrap.
void* map_common(std::size_t bytes, const Bootstrap& bootstrap) {
  int descriptor = -1;
  if (bootstrap.process == 0) {
    descriptor = memfd_create("muster-reports", MFD_CLOEXEC);
    if (descriptor < 0 || ftruncate(descriptor, static_cast<off_t>(bytes)) != 0)
      fail("making memory for reports");
    for (std::uint32_t other = 1; other < bootstrap.processes(); ++other)
      send_descriptor(bootstrap, other, descriptor);
  } else {
    descriptor = receive_descriptor(bootstrap, 0);
  }
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (memory == MAP_FAILED) fail("mapping memory for reports");
  madvise(memory, bytes, MADV_DONTDUMP);  // shared memory has no place in the dump of one process
  return memory;
}

}  // namespace

FailureLog::FailureLog(std::uint32_t ranks, const Bootstrap& bootstrap)
    : ranks_(ranks), mapped_(true) {
  void* const memory = map_common(bytes_for(ranks), bootstrap);
  layout_ = static_cast<Layout*>(memory);
  must(
      cudaHostRegister(memory, bytes_for(ranks), cudaHostRegisterPortable | cudaHostRegisterMapped),
      "showing the reports to the GPUs");
  void* seen = nullptr;
  must(cudaHostGetDevicePointer(&seen, memory, 0), "finding the reports from a GPU");
  in_kernels_ = static_cast<std::byte*>(seen);
}

FailureLog::~FailureLog() {
  if (mapped_) {
    (void)cudaHostUnregister(layout_);
    munmap(layout_, bytes_for(ranks_));
  } else {
    (void)cudaFreeHost(layout_);
  }
}

std::uint32_t* FailureLog::stop_in_kernels() const {
  return reinterpret_cast<std::uint32_t*>(in_kernels_ + offsetof(Layout, stop));
}

ErrorRecord* FailureLog::records_in_kernels() const {
  return reinterpret_cast<ErrorRecord*>(in_kernels_ + offsetof(Layout, records));
}

// Relaxed: nothing but itself is learned from the word. Kernels poll it in Watch::look.
WaitStatus FailureLog::stop() const {
  return WaitStatus{std::atomic_ref(layout_->stop).load(std::memory_order_relaxed)};
}

void FailureLog::set_stop(WaitStatus status) {
  std::atomic_ref(layout_->stop)
      .store(static_cast<std::uint32_t>(status), std::memory_order_relaxed);
}

std::optional<ErrorRecord> FailureLog::first_failure() const {
  std::optional<ErrorRecord> first;
  const auto rank_of = [](const ErrorRecord& record) {
    return record.status == static_cast<std::uint32_t>(WaitStatus::aborted) ? 1 : 0;
  };
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    ErrorRecord& record = layout_->records[rank];
    // Pairs with the release store of a kernel's record().
    if (std::atomic_ref(record.complete).load(std::memory_order_acquire) == 0) continue;
    const bool earlier = !first || rank_of(record) < rank_of(*first) ||
                         (rank_of(record) == rank_of(*first) && record.at < first->at);
    if (earlier) first = record;
  }
  return first;
}

void FailureLog::clear() {
  std::memset(layout_->records, 0, ranks_ * sizeof(ErrorRecord));
  set_stop(WaitStatus::ok);
}

}  // namespace muster::gpu
