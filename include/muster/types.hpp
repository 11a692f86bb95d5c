// The plain values that protocols are written with: identities, symmetric addresses, operations,
// orders. Everything here is trivially copyable, compiles for host and device, and means the same
// on every fabric.
#pragma once

#if __cplusplus < 202002L
// clang-format off
#error muster needs C++20: compile with -std=c++20. For CUDA add -std=c++20 to CMAKE_CUDA_FLAGS \
       (CMake 3.25 drops CMAKE_CUDA_STANDARD 20 without a word).
// clang-format on
// There is none: the compiler stops here, not after a hundred errors that follow from this one.
#include <needs_cxx20_see_the_error_above>
#endif

#include <cstdint>
#include <type_traits>

// The one annotation: a function that may run in a kernel as well as on a host.
#if defined(__CUDACC__)
#define MUSTER_FN __host__ __device__
#else
#define MUSTER_FN
#endif

namespace muster {

// ---- identity -----------------------------------------------------------------------------------

// A participant of a team, numbered 0 .. P-1 without gaps.
struct Rank {
  std::uint32_t value = 0;
  friend constexpr bool operator==(Rank, Rank) = default;
};

// One of several independent strands of a rank. Lane k talks to lane k of the peers.
struct Lane {
  std::uint32_t value = 0;
  friend constexpr bool operator==(Lane, Lane) = default;
};

// A generation number that only grows. It is compared by the sign of the difference, so it may
// wrap.
struct Epoch {
  std::uint32_t value = 0;
  [[nodiscard]] MUSTER_FN constexpr Epoch next() const { return Epoch{value + 1}; }
  friend constexpr bool operator==(Epoch, Epoch) = default;
};

// ---- operations, comparisons, orders ------------------------------------------------------------

enum class NotifyOp : std::uint8_t { set, add };
enum class Compare : std::uint8_t { eq, ne, ge, gt, le, lt };
enum class ReduceOp : std::uint8_t { sum, prod, max, min };

// What an access orders besides itself. A notify takes relaxed or release, a wait relaxed or
// acquire, a fetched operation any.
enum class Order : std::uint8_t { relaxed, acquire, release, acq_rel };

// Who must agree on an access: the threads of one lane, in parts of it; the lanes of one device; or
// everyone. Two accesses to one cell that nothing else orders name scopes that reach each other.
enum class Scope : std::uint8_t { block, device, system };

// How much of a lane a part of it is (PartFabric): so many warps, or so many threads. On a GPU a
// part is whole warps; where a lane has no warps, in the checker's model, a thread counts as one.
template <std::uint32_t n>
struct Warps {
  static constexpr std::uint32_t count = n;
};
template <std::uint32_t n>
struct Threads {
  static constexpr std::uint32_t count = n;
};

// The promises that a protocol may rely on, weakest first (docs/ordering.md). `noncoherent` stands
// aside: transfers as on `direct`, and caches that only an acquire invalidates and only a release
// writes back.
enum class Profile : std::uint8_t { rdma, direct, sc, noncoherent };

[[nodiscard]] MUSTER_FN constexpr Order release_part(Order order) {
  return order == Order::release || order == Order::acq_rel ? Order::release : Order::relaxed;
}

[[nodiscard]] MUSTER_FN constexpr Order acquire_part(Order order) {
  return order == Order::acquire || order == Order::acq_rel ? Order::acquire : Order::relaxed;
}

// Does a signal that reads `seen` satisfy the condition? Greater and less are wrap-safe: they look
// at the difference as a signed number, so they are right while the two are less than 2^31 apart.
[[nodiscard]] MUSTER_FN constexpr bool satisfies(std::uint32_t seen, Compare compare,
                                                 std::uint32_t expected) {
  const auto difference = static_cast<std::int32_t>(seen - expected);
  switch (compare) {
    case Compare::eq: return difference == 0;
    case Compare::ne: return difference != 0;
    case Compare::ge: return difference >= 0;
    case Compare::gt: return difference > 0;
    case Compare::le: return difference <= 0;
    case Compare::lt: return difference < 0;
  }
  return false;
}

// ---- how a wait ended ---------------------------------------------------------------------------

// Ordered by severity. Only `ok` is success; `pending` comes from test() alone, `refused` from
// barriers and exchanges alone.
enum class [[nodiscard]] WaitStatus : std::uint32_t{
    ok = 0,
    pending = 1,    // test(): the condition does not hold yet
    refused = 2,    // a call of this object has failed on this lane before: it deposited nothing
    expired = 3,    // the deadline passed; nothing was acquired
    aborted = 4,    // a rank called abort, or failed; sticky for the team
    peer_lost = 5,  // a rank died; sticky for the team
    invalid = 6,    // this lane broke the contract (a rank, cell or window that does not exist)
};

[[nodiscard]] MUSTER_FN constexpr WaitStatus worst(WaitStatus a, WaitStatus b) {
  return static_cast<std::uint32_t>(a) < static_cast<std::uint32_t>(b) ? b : a;
}

// What becomes of the team when a wait of one of its lanes has expired. Who gives up is from then
// on a call apart from who does not: where it comes again, the others may take that for the call
// that it has not made.
enum class OnExpiry : std::uint8_t {
  fail,   // it fails: all later waits, of all ranks, end with `aborted`
  retry,  // nothing. The program sees to it that all ranks agree on what they do next
};
inline constexpr OnExpiry retry = OnExpiry::retry;

// ---- symmetric addresses ------------------------------------------------------------------------
//
// A symmetric address names the same place in the memory of every rank of the team; a rank turns it
// into a pointer with its own table of base addresses. `segment` picks the table (memory of
// muster's own is segment 0, memory that the user registers has others).

// An unsigned 32-bit word that only notify, wait, test, read, hand and take touch.
struct Signal {
  std::uint32_t segment = 0;
  std::uint32_t cell =
      0;  // in cells; the distance between two cells in bytes belongs to the fabric
  friend constexpr bool operator==(Signal, Signal) = default;
};

// A 32-bit word of one lane of the own rank, in window memory. No peer touches it.
struct Counter {
  std::uint32_t segment = 0;
  std::uint32_t cell = 0;
  friend constexpr bool operator==(Counter, Counter) = default;
};

// A run of `count` signals.
struct Signals {
  Signal first;
  std::uint32_t count = 0;
  [[nodiscard]] MUSTER_FN constexpr Signal operator[](std::uint32_t index) const {
    return Signal{first.segment, first.cell + index};
  }
};

// A block of lanes x ranks signals, one cell for each lane and each writer, with two counters for
// each lane. Cell = first + lane * ranks + writer, which is also the layout of PyTorch's signal
// pad.
struct Rows {
  Signal first;
  Counter first_epoch;
  std::uint32_t lanes = 0;
  std::uint32_t ranks = 0;

  static constexpr std::uint32_t counters_of_lane = 2;
  // In first_epoch.cell: there are none, as beside PyTorch's pad.
  static constexpr std::uint32_t no_counters = ~0U;

  // The cell of `lane` that only `writer` deposits into.
  [[nodiscard]] MUSTER_FN constexpr Signal from(Lane lane, Rank writer) const {
    return Signal{first.segment, first.cell + lane.value * ranks + writer.value};
  }
  // Where the epoch of `lane` lives between calls.
  [[nodiscard]] MUSTER_FN constexpr Counter epoch(Lane lane) const {
    return Counter{first_epoch.segment, first_epoch.cell + lane.value};
  }
  [[nodiscard]] MUSTER_FN constexpr bool has_counters() const {
    return first_epoch.cell != no_counters;
  }
  // Where a barrier notes that `lane` must not use it any more.
  [[nodiscard]] MUSTER_FN constexpr Counter refusal(Lane lane) const {
    return Counter{first_epoch.segment, first_epoch.cell + lanes + lane.value};
  }
};

// Which row of a pad: PyTorch's `channel`.
struct PadChannel {
  std::uint32_t value = 0;
  friend constexpr bool operator==(PadChannel, PadChannel) = default;
};

// Signals as a pad in the layout of PyTorch's: a row of `ranks` cells for each channel, cell =
// channel * ranks + writer. There are no counters beside it: it is for FlipBarrier alone.
[[nodiscard]] MUSTER_FN constexpr Rows pad_rows(Signals pad, std::uint32_t ranks) {
  return {pad.first, {pad.first.segment, Rows::no_counters}, pad.count / ranks, ranks};
}

// Memory that every rank of a team has allocated alike: rows x cols elements of T on each rank,
// row-major.
template <class T>
struct WindowRef {
  using value_type = T;

  std::uint64_t offset = 0;  // bytes from the base of the segment
  std::int64_t rows = 0;     // elements; a window of one extent {n} is 1 x n
  std::int64_t cols = 0;
  std::uint32_t segment = 0;
  std::uint32_t team = 0;  // which team made it

  [[nodiscard]] MUSTER_FN constexpr std::int64_t size() const { return rows * cols; }
  [[nodiscard]] MUSTER_FN constexpr std::int64_t at(std::int64_t row, std::int64_t col) const {
    return row * cols + col;
  }
};

// rows x cols elements of plain memory of the own rank, row-major. Peers cannot reach it.
template <class T>
struct MemoryRef {
  using value_type = std::remove_const_t<T>;

  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;

  [[nodiscard]] MUSTER_FN constexpr std::int64_t size() const { return rows * cols; }
  [[nodiscard]] MUSTER_FN constexpr std::int64_t at(std::int64_t row, std::int64_t col) const {
    return row * cols + col;
  }
};

// A rectangle of a window or of plain memory, in elements.
struct Box {
  std::int64_t row = 0;
  std::int64_t col = 0;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};

// The part of a tile_rows x tile_cols tile at (row, col) that lies inside the window: the tail is
// ragged where the window's extents are no multiples of the tile's.
template <class T>
[[nodiscard]] MUSTER_FN constexpr Box clip(WindowRef<T> window, std::int64_t row, std::int64_t col,
                                           std::int64_t tile_rows, std::int64_t tile_cols) {
  const std::int64_t rows = window.rows - row < tile_rows ? window.rows - row : tile_rows;
  const std::int64_t cols = window.cols - col < tile_cols ? window.cols - col : tile_cols;
  return Box{row, col, rows < 0 ? 0 : rows, cols < 0 ? 0 : cols};
}

// ---- packets ------------------------------------------------------------------------------------

// 64 bytes of the memory that packets travel in. What lies where in it belongs to the fabric.
struct alignas(64) PacketLine {
  std::uint32_t word[16] = {};
};

// A window of lines: `team.window<PacketLine>({lines})`. It is zero at first, and only put_packets,
// wait_packets and clear_packets touch it.
using Slots = WindowRef<PacketLine>;

// How many lines a tile of so many elements of T takes on any fabric: at most 8 bytes for each 4
// bytes of an element, or for a smaller element.
template <class T>
[[nodiscard]] MUSTER_FN constexpr std::int64_t packet_lines(std::int64_t elements) {
  const auto words = static_cast<std::int64_t>((sizeof(T) + 3) / 4);
  return (elements * words + 7) / 8;
}

// One alternative of wait_any.
struct Condition {
  Signal signal;
  Compare compare = Compare::ge;
  std::uint32_t value = 0;
};

// Which condition of wait_any held; `index` means something only where status is ok.
struct [[nodiscard]] AnyStatus {
  WaitStatus status = WaitStatus::ok;
  std::uint32_t index = 0;
};

// What a fetched operation (muster::AtomicFabric) found: the cell's value before it, which means
// something only where status is ok.
struct [[nodiscard]] Fetched {
  WaitStatus status = WaitStatus::ok;
  std::uint32_t value = 0;
};

}  // namespace muster
