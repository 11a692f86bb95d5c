// Signals as operations of streams.
#include "muster/fabric/gpu/stream.hpp"

#include <fmt/format.h>

#include "fabric/gpu/cuda_calls.hpp"
#include "fabric/gpu/driver_calls.hpp"
#include "fabric/gpu/state.hpp"

namespace muster::gpu {

namespace {

[[noreturn]] void refuse(std::string what) {
  throw Failure(Error{ErrorCode::invalid_argument, std::move(what)});
}

const Group& group_of(const World::State& state, Rank rank) {
  for (const Group& group : state.groups)
    if (rank.value >= group.first_rank && rank.value - group.first_rank < group.ranks) return group;
  refuse(fmt::format("rank {} is not one of this process's, which begin at {}", rank.value,
                     state.groups.front().first_rank));
}

void check_signal(const World::State& state, Signal signal) {
  if (!state.has_signal(signal))
    refuse(fmt::format(
        "cell {} of segment {} belongs to no rows or signals of this world (freed, out of range, "
        "or another world's)",
        signal.cell, signal.segment));
}

// Null is a stream of whichever GPU is the current one. A stream that is being captured cannot be
// asked: the question would end the capture.
void check_stream(const Group& group, Stream stream) {
  if (stream == nullptr) return;
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &capture) != cudaSuccess) (void)cudaGetLastError();
  if (capture != cudaStreamCaptureStatusNone) return;
  int device = group.device;
  // What is no stream at all is reported by the operation itself.
  if (cudaStreamGetDevice(stream, &device) != cudaSuccess) (void)cudaGetLastError();
  if (device != group.device)
    refuse(fmt::format("the stream is one of GPU {}, but the rank is on GPU {}", device,
                       group.device));
}

CUdeviceptr word(const World::State& state, Signal signal, Rank owner) {
  return reinterpret_cast<CUdeviceptr>(state.segments[signal.segment].bases[owner.value] +
                                       std::uint64_t{signal.cell} * cell_bytes);
}

using Enqueue = decltype(cuStreamWriteValue32);  // cuStreamWaitValue32 has the same type

Enqueue* found(World::State& state, void*& place, const char* name) {
  const std::lock_guard guard(state.lock);
  if (place == nullptr) place = driver_entry(name);
  return reinterpret_cast<Enqueue*>(place);
}

bool can_flush(World::State& state, int device) {
  const std::lock_guard guard(state.lock);
  auto known = state.can_flush.find(device);
  if (known == state.can_flush.end()) {
    int value = 0;
    must(cudaDeviceGetAttribute(&value, cudaDevAttrCanFlushRemoteWrites, device),
         "asking whether waits can flush");
    known = state.can_flush.emplace(device, value != 0).first;
  }
  return known->second;
}

void must_enqueue(CUresult result, const char* what, int device) {
  if (result == CUDA_ERROR_NOT_SUPPORTED)
    throw Failure(Error{ErrorCode::unavailable,
                        fmt::format("GPU {} has no memory operations of streams", device)});
  must_driver(result, fmt::format("putting a {} into a stream of GPU {}", what, device));
}

// The hardware's condition, and the value that it takes.
struct Condition32 {
  unsigned flags;
  std::uint32_t value;
};

Condition32 condition_of(Compare compare, std::uint32_t value) {
  switch (compare) {
    case Compare::eq: return {CU_STREAM_WAIT_VALUE_EQ, value};
    case Compare::ge: return {CU_STREAM_WAIT_VALUE_GEQ, value};
    case Compare::gt: return {CU_STREAM_WAIT_VALUE_GEQ, value + 1};
    case Compare::ne: refuse("compare is ne: a stream can wait for eq, ge and gt only");
    case Compare::le: refuse("compare is le: a stream can wait for eq, ge and gt only");
    case Compare::lt: refuse("compare is lt: a stream can wait for eq, ge and gt only");
  }
  refuse(fmt::format("compare is {}: there is none such", static_cast<int>(compare)));
}

}  // namespace

Result<void> World::notify_on(Rank rank, Stream stream, Signal signal, Rank peer,
                              std::uint32_t value) {
  return attempt([&]() -> Result<void> {
    const Group& group = group_of(*state_, rank);
    if (peer.value >= state_->ranks)
      refuse(fmt::format("peer is rank {}; the world has {}", peer.value, state_->ranks));
    check_signal(*state_, signal);
    check_stream(group, stream);
    Enqueue* const write = found(*state_, state_->stream_write, "cuStreamWriteValue32");
    const OnDevice on(group.device);
    must_enqueue(write(stream, word(*state_, signal, peer), value, CU_STREAM_WRITE_VALUE_DEFAULT),
                 "notify", group.device);
    return {};
  });
}

Result<void> World::wait_on(Rank rank, Stream stream, Signal signal, Compare compare,
                            std::uint32_t value) {
  return attempt([&]() -> Result<void> {
    const Group& group = group_of(*state_, rank);
    check_signal(*state_, signal);
    check_stream(group, stream);
    const Condition32 condition = condition_of(compare, value);
    Enqueue* const wait = found(*state_, state_->stream_wait, "cuStreamWaitValue32");
    const unsigned flush =
        can_flush(*state_, group.device) ? unsigned{CU_STREAM_WAIT_VALUE_FLUSH} : 0U;
    const OnDevice on(group.device);
    must_enqueue(
        wait(stream, word(*state_, signal, rank), condition.value, condition.flags | flush), "wait",
        group.device);
    return {};
  });
}

StreamLane::StreamLane(World world, Rank rank, Stream stream)
    : world_(std::move(world)), rank_(rank), stream_(stream) {}

void StreamLane::notify(Signal signal, Rank peer, std::uint32_t value, NotifyOp op,
                        Order /*order*/) {
  if (error_) return;
  if (op != NotifyOp::set) {
    error_ = Error{ErrorCode::invalid_argument, "op is add: a stream can only set a signal"};
    return;
  }
  if (const Result<void> done = world_.notify_on(rank_, stream_, signal, peer, value); !done)
    error_ = done.error();
}

WaitStatus StreamLane::wait(Signal signal, Compare compare, std::uint32_t value, Order /*order*/) {
  if (!error_)
    if (const Result<void> done = world_.wait_on(rank_, stream_, signal, compare, value); !done)
      error_ = done.error();
  return error_ ? WaitStatus::invalid : WaitStatus::ok;
}

Result<void> StreamLane::result() const {
  if (error_) return *error_;
  return {};
}

}  // namespace muster::gpu
