// World: the team of the GPU fabric, as the host sees it. It owns the symmetric memory, hands out
// addresses in it, and launches kernels that take part. Host side; needs no CUDA header.
//
//   auto world = gpu::World::create({.devices = {0, 1}}).value();    // rank 0 on GPU 0, 1 on GPU 1
//   EpochBarrier barrier(world);
//   world.launch(kernel, {.lanes = 4, .threads = 256}, barrier, n).value();
//   world.synchronize().value();  // names what failed, if it did
//
// with
//
//   __global__ void kernel(const __grid_constant__ gpu::Handle handle, EpochBarrier barrier, int
//   n);
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "muster/fabric/gpu/bootstrap.hpp"
#include "muster/fabric/gpu/handle.hpp"
#include "muster/fabric/set_up.hpp"
#include "muster/result.hpp"
#include "muster/types.hpp"

struct CUstream_st;  // CUDA's, so that this header does not need CUDA's own

namespace muster::gpu {

using Stream = CUstream_st*;

struct WorldOptions {
  // The GPU of each rank of this process. Ranks that share one share its launches, and must be next
  // to each other.
  std::vector<int> devices;
  std::uint32_t lanes = 8;            // the most lanes of a rank that will run
  std::uint64_t bytes = 64ULL << 20;  // of memory for windows, on each rank
  std::uint32_t cells = 1U << 16;     // signals and counters, on each rank
  // Of each call that waits in a kernel (a barrier, say), from when its first wait turns slow; 0:
  // none.
  std::chrono::nanoseconds deadline{0};
  // What an expired wait does to the team. Where it fails, reset() brings it back; what kernels
  // that were launched before say of barriers from then on is worth nothing: see check().
  OnExpiry on_expiry = OnExpiry::fail;
  // Whether kernels check their arguments; by default what MUSTER_VERIFY says, 1 or 0, and where it
  // is not set, whether muster was built for debugging. Kernels can if they are compiled without
  // NDEBUG or with -DMUSTER_VERIFY=1; of those that cannot, a note on stderr says so, once.
  std::optional<bool> verify{};
};

// Memory of the user's that every rank has alike: where this process maps each rank's, all of it on
// GPUs that reach each other. Cells in it must be zero before any kernel runs.
struct Adopted {
  std::vector<void*> bases;  // by rank
  std::uint64_t bytes = 0;   // on each
};

struct AttachOptions {
  Rank rank;  // the one rank of this process
  int device = 0;
  std::uint32_t lanes = 8;
  std::vector<Adopted> memory;  // becomes the segments 0, 1, ...: at most max_segments
  std::chrono::nanoseconds deadline{0};
  OnExpiry on_expiry = OnExpiry::fail;
  std::optional<bool> verify{};
};

// What a launch looks like.
struct Shape {
  std::uint32_t lanes = 1;     // blocks for each rank
  std::uint32_t threads = 32;  // in a block
  std::uint32_t shared_bytes = 0;
  // Cooperative: all blocks start together or none does. Needed where blocks wait for each other;
  // by default wherever there is more than one, and the kernel does not overlap another.
  std::optional<bool> cooperative{};
  // May begin before the kernel before it in the stream has ended (programmatic dependent launch),
  // once that one has called launch_done in every block: the kernel calls launch_wait
  // (LaunchFabric). A captured graph keeps it. From compute capability 9.0 on; nothing below.
  bool overlaps = false;
};

class World {
 public:
  // ---- making one

  // All ranks in this process. Errors: invalid_argument, out_of_memory, unavailable where two GPUs
  // cannot reach each other's memory or lack atomics towards each other.
  [[nodiscard]] static Result<World> create(const WorldOptions& options);

  // Ranks of several processes, numbered process by process. Collective: all call it at once, with
  // options that differ in `devices` alone. `bootstrap` stays open as long as the world is used.
  [[nodiscard]] static Result<World> join(const WorldOptions& options, const Bootstrap& bootstrap);

  // One rank, on memory that others have allocated and shared (PyTorch's symmetric memory, say: its
  // buffer_ptrs as one segment and its signal_pad_ptrs as another). rows() and signals() are taken
  // from memory that is named with use_for_cells().
  [[nodiscard]] static Result<World> attach(const AttachOptions& options);

  // ---- identity

  [[nodiscard]] std::uint32_t size() const;
  [[nodiscard]] std::uint32_t max_lanes() const;
  // The ranks of this process, in groups that share a GPU.
  [[nodiscard]] std::uint32_t groups() const;
  [[nodiscard]] int device(std::uint32_t group) const;
  [[nodiscard]] Rank first_rank(std::uint32_t group) const;
  [[nodiscard]] std::uint32_t ranks_of(std::uint32_t group) const;
  [[nodiscard]] Stream stream(std::uint32_t group) const;  // the world's own

  // ---- addresses. Collective where there are several processes, in the sense that all make the
  // same calls in the same order; nothing is exchanged. All memory is zero at first.

  // `name` is what errors call it.
  template <class T>
  [[nodiscard]] Result<WindowRef<T>> window(std::initializer_list<std::int64_t> extents,
                                            std::string_view name = {}) {
    static_assert(std::is_trivially_copyable_v<T>, "peers see a window's bytes, nothing else");
    return shaped<T>(make_window(extents.begin(), extents.size(), sizeof(T), name));
  }
  // A window over adopted memory, `offset` bytes into the segment.
  template <class T>
  [[nodiscard]] Result<WindowRef<T>> window_in(std::uint32_t segment, std::uint64_t offset,
                                               std::initializer_list<std::int64_t> extents) const {
    static_assert(std::is_trivially_copyable_v<T>, "peers see a window's bytes, nothing else");
    return shaped<T>(place_window(segment, offset, extents.begin(), extents.size(), sizeof(T)));
  }
  [[nodiscard]] Result<Rows> rows();  // for max_lanes()
  [[nodiscard]] Result<Rows> rows(std::uint32_t lanes);
  [[nodiscard]] Result<Signals> signals(std::uint32_t count);

  // Rows at the begin of adopted memory, which must be zero: cell = lane * size() + writer, as in
  // PyTorch's signal pad. For FlipBarrier alone, which leaves them zero: there are no counters.
  [[nodiscard]] Result<Rows> pad_rows(std::uint32_t segment, std::uint32_t lanes) const;
  // From now on rows() and signals() are taken from this adopted memory.
  [[nodiscard]] Result<void> use_for_cells(std::uint32_t segment);

  // Gives a window, rows or signals back, in any order. Collective, like making them; with several
  // processes it waits for the others, and all must name the same. Waits for the kernels of this
  // process's GPUs, which must not need anything of other processes to end, then clears what is
  // freed, so that what is made of it later is zero. Captured graphs that still use it are the
  // caller's to destroy first. What is not freed goes with the world.
  //
  // Errors: invalid_argument where this world has none there (freed twice, another world's, or the
  // memory is adopted: windows in it and pad_rows() are its owner's); mismatch where processes name
  // different ones. In an attached world nothing is exchanged: the ranks meet before free() and
  // again after it.
  template <class T>
  [[nodiscard]] Result<void> free(WindowRef<T> window) {
    return free_window(window.segment, window.offset, window.team);
  }
  [[nodiscard]] Result<void> free(Rows rows);
  [[nodiscard]] Result<void> free(Signals signals);

  // Where this process maps the window of a rank: for cudaMemcpy, and for kernels of other kinds.
  template <class T>
  [[nodiscard]] T* address(WindowRef<T> window, Rank rank) const {
    return reinterpret_cast<T*>(base(window.segment, rank) + window.offset);
  }

  // ---- running

  // What a kernel of the group takes as its first argument.
  [[nodiscard]] Handle handle(std::uint32_t group) const;

  // Loads the kernel on every GPU and checks that the launch fits: all of its blocks can be
  // resident at once. Launches do it too, the first time; but loading may wait for kernels that
  // run, so what is to run at the same time is prepared before.
  template <class... Params>
  [[nodiscard]] Result<void> prepare(void (*kernel)(Handle, Params...), const Shape& shape) {
    return prepare_kernel(reinterpret_cast<const void*>(kernel), shape, checks_compiled);
  }

  // On every GPU of this process, in the world's own streams.
  template <class... Params, class... Args>
  [[nodiscard]] Result<void> launch(void (*kernel)(Handle, Params...), const Shape& shape,
                                    const Args&... args) {
    if (Result<void> fits = prepare(kernel, shape); !fits) return fits;
    for (std::uint32_t group = 0; group < groups(); ++group) {
      if (Result<void> done = launch_on(group, stream(group), kernel, shape, args...); !done)
        return done;
    }
    return {};
  }

  // On the GPU of one group, in a stream of its device; may be captured into a graph. Every group
  // of every process needs its launch before any of them can end.
  //
  // Windows, rows, signals and barriers among the arguments must be this world's, and not freed
  // (unless another Handle is among them); what lies within other types is not looked into.
  template <class... Params, class... Args>
  [[nodiscard]] Result<void> launch_on(std::uint32_t group, Stream stream,
                                       void (*kernel)(Handle, Params...), const Shape& shape,
                                       const Args&... args) {
    static_assert(sizeof...(Params) == sizeof...(Args), "one argument for each parameter");
    if (Result<void> good = check_arguments(args...); !good) return good;
    std::tuple<Handle, std::remove_cv_t<Params>...> values(handle(group), args...);
    std::get<0>(values).threads = shape.threads;
    return std::apply(
        [&](auto&... value) {
          void* pointers[] = {&value...};
          return launch_kernel(group, stream, reinterpret_cast<const void*>(kernel), shape,
                               checks_compiled, pointers);
        },
        values);
  }

  // ---- signals as operations of a stream: no kernel, no multiprocessor. See stream.hpp for what
  // they order, where they may be used, and StreamLane, which protocols are written with.

  // Work of the stream before it, then the peer's cell is set to `value`. `rank` is one of this
  // process's; the stream one of its GPU's, or null: the legacy default stream of that GPU.
  [[nodiscard]] Result<void> notify_on(Rank rank, Stream stream, Signal signal, Rank peer,
                                       std::uint32_t value);
  // The own cell of `rank` satisfies the condition, then work of the stream after it. `compare` is
  // eq, ge or gt: the hardware has no other.
  [[nodiscard]] Result<void> wait_on(Rank rank, Stream stream, Signal signal, Compare compare,
                                     std::uint32_t value);

  // ---- the end of a launch, good or bad

  // Waits for the world's own streams, then check().
  [[nodiscard]] Result<void> synchronize();
  // A barrier of the team: synchronize() in every process, which wait for each other. Errors:
  // unavailable in an attached world of several ranks, which has no means to exchange anything.
  [[nodiscard]] Result<void> sync();
  // The team's first failure, if any: which rank, lane, block, peer and cell, what it saw and
  // expected. Sees what kernels that have ended have left, and what running ones have already.
  [[nodiscard]] Result<void> check() const;

  // Ends the waits of all kernels, of all processes, with `aborted`.
  void abort(std::string_view reason);

  // After a failure: all signals and counters are zero and the failure is forgotten, so that every
  // barrier starts anew. Nothing of the team may be running. Collective; windows keep what they
  // hold. Not for adopted memory, which its owner clears.
  [[nodiscard]] Result<void> reset();

  void set_deadline(std::chrono::nanoseconds deadline);  // for later launches

  struct State;

 private:
  explicit World(std::shared_ptr<State> state);

  struct Place {
    std::uint64_t offset;
    std::int64_t rows;
    std::int64_t cols;
    std::uint32_t segment;
  };
  template <class T>
  Result<WindowRef<T>> shaped(Result<Place> place) const {
    if (!place) return place.error();
    return WindowRef<T>{place->offset, place->rows, place->cols, place->segment, number()};
  }

  [[nodiscard]] std::uint32_t number() const;
  [[nodiscard]] std::byte* base(std::uint32_t segment, Rank rank) const;
  Result<Place> make_window(const std::int64_t* extents, std::size_t count, std::size_t element,
                            std::string_view name);
  Result<Place> place_window(std::uint32_t segment, std::uint64_t offset,
                             const std::int64_t* extents, std::size_t count,
                             std::size_t element) const;
  Result<void> free_window(std::uint32_t segment, std::uint64_t offset, std::uint32_t team);

  template <class... Args>
  [[nodiscard]] Result<void> check_arguments(const Args&... args) const {
    if constexpr ((std::same_as<Args, Handle> || ...)) return {};  // of two worlds
    std::optional<Error> wrong;
    std::size_t number = 1;  // the handle is the first
    const auto look = [&](const auto& arg) {
      const Result<void> good = check_argument(++number, arg);
      if (!good && !wrong) wrong = good.error();
    };
    (look(args), ...);
    if (wrong) return *wrong;
    return {};
  }
  template <class T>
  [[nodiscard]] Result<void> check_argument(std::size_t number, const WindowRef<T>& window) const {
    const WindowRef<std::byte> bytes{window.offset, window.rows, window.cols, window.segment,
                                     window.team};
    return check_window(number, bytes, sizeof(T));
  }
  [[nodiscard]] Result<void> check_argument(std::size_t number, const Signals& signals) const {
    return check_cells(number, signals.first, signals.count);
  }
  [[nodiscard]] Result<void> check_argument(std::size_t number, const Rows& rows) const {
    return check_cells(number, rows.first, std::uint64_t{rows.lanes} * rows.ranks);
  }
  template <class T>
  [[nodiscard]] Result<void> check_argument(std::size_t number, const T& value) const {
    if constexpr (requires {
                    { value.rows() } -> std::convertible_to<Rows>;
                  })
      return check_argument(number, Rows(value.rows()));
    else
      return {};
  }
  // Of the kernel's parameter of that number; the window's extents are in elements.
  [[nodiscard]] Result<void> check_window(std::size_t number, WindowRef<std::byte> window,
                                          std::size_t element) const;
  [[nodiscard]] Result<void> check_cells(std::size_t number, Signal first,
                                         std::uint64_t count) const;
  // `checks`: the kernel can check its arguments.
  Result<void> prepare_kernel(const void* kernel, const Shape& shape, bool checks);
  Result<void> launch_kernel(std::uint32_t group, Stream stream, const void* kernel,
                             const Shape& shape, bool checks, void** arguments);

  std::shared_ptr<State> state_;
};

static_assert(SetUpAll<World>);

}  // namespace muster::gpu
