// muster's barriers on PyTorch's symmetric memory, as a small library with a C interface that
// Python loads with ctypes: no extension is built, torch's headers are not needed. flip_barrier.py
// uses it; docs/pytorch.md explains it.
//
// Functions that return int give 0, or -1 where something went wrong: muster_torch_error() says
// what.
#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "muster/barrier.hpp"
#include "muster/fabric/gpu.cuh"
#include "muster/fabric/gpu/world.hpp"

namespace {

using namespace muster;

constexpr std::uint32_t threads = 256;
constexpr std::int64_t chunk = 1024;  // elements that a lane moves at a time
using Lanes = gpu::Fabric<gpu::Block<threads>>;

// visit(first, count) for the chunks whose turn it is to be this lane's: the same on every rank.
template <class Visit>
__device__ void each_chunk(const Lanes& fabric, std::int64_t elements, Visit visit) {
  for (std::int64_t at = fabric.lane().value * chunk; at < elements; at += fabric.lanes() * chunk)
    visit(at, elements - at < chunk ? elements - at : chunk);
}

// out = the sum of what EARLIER kernels have written to `shared` on each rank. `entry` makes that
// visible, `exit` says that it has been read: the next kernel may write it again.
__global__ void pull_kernel(const __grid_constant__ gpu::Handle handle, FlipBarrier barrier,
                            WindowRef<float> shared, float* out) {
  Lanes fabric(handle);
  if (barrier.sync(fabric, use::entry) == WaitStatus::ok)
    each_chunk(fabric, shared.size(), [&](std::int64_t at, std::int64_t count) {
      for (std::uint32_t rank = 0; rank < fabric.size(); ++rank) {
        auto tile = fabric.tile<float, 1, chunk>();
        // What has failed, World::check() tells.
        (void)fabric.remote_load(tile, shared, Rank{rank}, Box{0, at, 1, count});
        tile.each([&](std::int64_t, std::int64_t i, float& element) {
          if (i < count) out[at + i] = rank == 0 ? element : out[at + i] + element;
        });
      }
    });
  (void)barrier.sync(fabric, use::exit);
}

// The same sum the other way round: every rank writes its `in` to a row of its own of everybody's
// inbox. `full` carries what this kernel itself has written.
__global__ void push_kernel(const __grid_constant__ gpu::Handle handle, FlipBarrier barrier,
                            WindowRef<float> inbox, const float* in, float* out) {
  Lanes fabric(handle);
  each_chunk(fabric, inbox.cols, [&](std::int64_t at, std::int64_t count) {
    auto tile = fabric.tile<float, 1, chunk>();
    tile.each([&](std::int64_t, std::int64_t i, float& element) {
      if (i < count) element = in[at + i];
    });
    for (std::uint32_t rank = 0; rank < fabric.size(); ++rank)
      fabric.remote_store(tile, inbox, Rank{rank}, Box{fabric.rank().value, at, 1, count});
  });
  if (barrier.sync(fabric, use::full) == WaitStatus::ok)
    each_chunk(fabric, inbox.cols, [&](std::int64_t at, std::int64_t count) {
      for (std::uint32_t rank = 0; rank < fabric.size(); ++rank) {
        auto tile = fabric.tile<float, 1, chunk>();
        fabric.load(tile, inbox, Box{rank, at, 1, count});
        tile.each([&](std::int64_t, std::int64_t i, float& element) {
          if (i < count) out[at + i] = rank == 0 ? element : out[at + i] + element;
        });
      }
    });
  (void)barrier.sync(fabric, use::exit);
}

template <class Barrier>
__global__ void barrier_kernel(const __grid_constant__ gpu::Handle handle, Barrier barrier) {
  gpu::Fabric<gpu::Warp> fabric(handle);
  (void)barrier.sync(fabric);
}

// One rank on PyTorch's memory. The buffer holds, one after the other: `elements` floats that the
// program fills, an inbox of ranks x elements floats, and 64 KiB of zeros for the cells of barriers
// that count epochs.
struct Attached {
  gpu::World world;
  FlipBarrier flip;    // on PyTorch's signal pad
  EpochBarrier epoch;  // on cells in the buffer
  WindowRef<float> shared;
  WindowRef<float> inbox;
  std::uint32_t lanes = 1;
};

constexpr std::uint64_t cell_bytes = 64U << 10U;

std::string& last_error() {
  thread_local std::string text;
  return text;
}

template <class Body>
int guarded(Body body) {
  try {
    body();
    return 0;
  } catch (const std::exception& failure) {
    last_error() = failure.what();
    return -1;
  }
}

std::uint64_t align(std::uint64_t bytes) {
  return (bytes + 255) / 256 * 256;
}

std::uint64_t bytes_for(std::uint64_t ranks, std::uint64_t elements) {
  return align(elements * sizeof(float)) + align(ranks * elements * sizeof(float)) + cell_bytes;
}

gpu::Shape shape_of(const Attached& attached) {
  return {.lanes = attached.lanes, .threads = threads};
}
constexpr gpu::Shape one_warp{.lanes = 1, .threads = 32};

gpu::Stream stream_of(void* stream) {
  return static_cast<gpu::Stream>(stream);
}

// Loads every kernel, so that none is loaded while a graph is captured.
void prepare(Attached& attached) {
  attached.world.prepare(pull_kernel, shape_of(attached)).value();
  attached.world.prepare(push_kernel, shape_of(attached)).value();
  attached.world.prepare(barrier_kernel<FlipBarrier>, one_warp).value();
  attached.world.prepare(barrier_kernel<EpochBarrier>, one_warp).value();
}

gpu::AttachOptions options_of(std::uint32_t rank, std::uint32_t ranks, int device,
                              std::uint32_t lanes, std::uint64_t elements, void* const* buffers,
                              void* const* pads, std::uint64_t pad_bytes, double deadline) {
  const std::uint64_t data = bytes_for(ranks, elements) - cell_bytes;
  gpu::AttachOptions options;
  options.rank = Rank{rank};
  options.device = device;
  options.lanes = lanes;
  gpu::Adopted buffer{{}, data};
  gpu::Adopted pad{{}, pad_bytes};
  gpu::Adopted cells{{}, cell_bytes};
  for (std::uint32_t i = 0; i < ranks; ++i) {
    buffer.bases.push_back(buffers[i]);
    pad.bases.push_back(pads[i]);
    cells.bases.push_back(static_cast<std::byte*>(buffers[i]) + data);
  }
  options.memory = {buffer, pad, cells};
  options.deadline = std::chrono::nanoseconds(static_cast<std::int64_t>(deadline * 1e9));
  return options;
}

}  // namespace

extern "C" {

const char* muster_torch_error() {
  return last_error().c_str();
}

// Of the buffer, on each rank.
std::uint64_t muster_torch_bytes(std::uint32_t ranks, std::uint64_t elements) {
  return bytes_for(ranks, elements);
}

// `buffers` and `pads`: the ranks' addresses as this process maps them (buffer_ptrs and
// signal_pad_ptrs of the handle). Zero on every rank before any rank's first launch. `deadline`, in
// seconds, is of each wait in a kernel; 0: none. Null where something is wrong.
void* muster_torch_attach(std::uint32_t rank, std::uint32_t ranks, int device, std::uint32_t lanes,
                          std::uint64_t elements, void* const* buffers, void* const* pads,
                          std::uint64_t pad_bytes, double deadline) {
  std::unique_ptr<Attached> made;
  const int status = guarded([&] {
    gpu::World world = gpu::World::attach(options_of(rank, ranks, device, lanes, elements, buffers,
                                                     pads, pad_bytes, deadline))
                           .value();
    const auto count = static_cast<std::int64_t>(elements);
    const FlipBarrier flip(world.pad_rows(1, lanes).value());
    world.use_for_cells(2).value();
    const EpochBarrier epoch(world);
    made = std::make_unique<Attached>(Attached{
        world, flip, epoch, world.window_in<float>(0, 0, {count}).value(),
        world.window_in<float>(0, align(elements * sizeof(float)), {ranks, count}).value(), lanes});
    prepare(*made);
  });
  return status == 0 ? made.release() : nullptr;
}

int muster_torch_pull(void* attached, void* stream, float* out) {
  return guarded([&] {
    auto& one = *static_cast<Attached*>(attached);
    one.world.launch_on(0, stream_of(stream), pull_kernel, shape_of(one), one.flip, one.shared, out)
        .value();
  });
}

int muster_torch_push(void* attached, void* stream, const float* in, float* out) {
  return guarded([&] {
    auto& one = *static_cast<Attached*>(attached);
    one.world
        .launch_on(0, stream_of(stream), push_kernel, shape_of(one), one.flip, one.inbox, in, out)
        .value();
  });
}

// A launch that is one barrier of one lane and nothing else.
int muster_torch_flip_barrier(void* attached, void* stream) {
  return guarded([&] {
    auto& one = *static_cast<Attached*>(attached);
    one.world.launch_on(0, stream_of(stream), barrier_kernel<FlipBarrier>, one_warp, one.flip)
        .value();
  });
}
int muster_torch_epoch_barrier(void* attached, void* stream) {
  return guarded([&] {
    auto& one = *static_cast<Attached*>(attached);
    one.world.launch_on(0, stream_of(stream), barrier_kernel<EpochBarrier>, one_warp, one.epoch)
        .value();
  });
}

// -1 where a wait in a kernel reached its deadline, or arguments were wrong: what, and who waits
// for whom.
int muster_torch_check(const void* attached) {
  return guarded([&] { static_cast<const Attached*>(attached)->world.check().value(); });
}

void muster_torch_detach(void* attached) {
  delete static_cast<Attached*>(attached);
}

}  // extern "C"
