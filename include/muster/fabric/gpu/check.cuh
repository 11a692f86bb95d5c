// What is looked at before memory is touched, and what is left for the host when it is wrong.
#pragma once

#include <cstddef>
#include <cstdint>

#include "muster/fabric/gpu/access.cuh"
#include "muster/fabric/gpu/handle.hpp"
#include "muster/types.hpp"

namespace muster::gpu::detail {

// Who is speaking, for the record.
struct Place {
  std::uint32_t rank;
  std::uint32_t lane;
  std::uint32_t thread;

  [[nodiscard]] MUSTER_FN std::uint32_t block() const {
#if defined(__CUDA_ARCH__)
    return block_in_grid();
#else
    return lane;
#endif
  }
};

// What failed.
struct Trouble {
  Operation operation = Operation::none;
  WaitStatus status = WaitStatus::invalid;
  std::uint32_t peer = unknown;
  std::uint32_t segment = unknown;
  std::uint32_t cell = unknown;
  std::uint32_t seen = unknown;
  std::uint32_t compare = unknown;
  std::uint32_t expected = unknown;
};

// Of which rank's memory, and where, a cell is: looked up, so that a wait need not keep it.
[[nodiscard]] MUSTER_FN inline Trouble about(const Handle& handle, std::uint32_t rank,
                                             Operation operation, const std::uint32_t* word) {
  const auto* const byte = reinterpret_cast<const std::byte*>(word);
  for (std::uint32_t segment = 0; segment < max_segments; ++segment) {
    const Segment& memory = handle.segments[segment];
    for (std::uint32_t owner = 0; owner < handle.ranks && memory.bytes > 0; ++owner) {
      const std::byte* const base = memory.base(owner, handle.ranks);
      if (byte < base || byte >= base + memory.bytes) continue;
      return {.operation = operation,
              .peer = owner == rank ? unknown : owner,
              .segment = segment,
              .cell = static_cast<std::uint32_t>((byte - base) / cell_bytes)};
    }
  }
  return {.operation = operation};
}

// Writes the rank's record, unless an earlier failure has.
[[gnu::noinline]] MUSTER_FN inline void record(const Handle& handle, Place place, Trouble trouble) {
  if (handle.records == nullptr || handle.claims == nullptr) return;
  // Relaxed: it only elects the writer. In device memory, for the bus may have no atomics.
  if (Relaxed::swap(&handle.claims[place.rank], 0, 1) != 0) return;
  ErrorRecord& record = handle.records[place.rank];
  record.status = static_cast<std::uint32_t>(trouble.status);
  record.operation = static_cast<std::uint32_t>(trouble.operation);
  record.rank = place.rank;
  record.lane = place.lane;
  record.block = place.block();
  record.thread = place.thread;
  record.peer = trouble.peer;
  record.segment = trouble.segment;
  record.cell = trouble.cell;
  record.seen = trouble.seen;
  record.compare = trouble.compare;
  record.expected = trouble.expected;
  record.at = nanoseconds();
  // Pairs with the host's acquire load of `complete`.
  Access<Order::release, Scope::system>::store(&record.complete, 1);
}

// Records what this lane did wrong and ends every wait of the team: the peers will not get what
// they wait for.
[[gnu::noinline]] MUSTER_FN inline WaitStatus refuse(const Handle& handle, Place place,
                                                     Trouble trouble) {
  record(handle, place, trouble);
  // Relaxed: it carries nothing. Pairs with Watch::look.
  if (handle.stop != nullptr)
    Relaxed::store(handle.stop, static_cast<std::uint32_t>(WaitStatus::aborted));
  return trouble.status;
}

// The checks return ok or `invalid`. None of them is inlined: they run where the team was made with
// checks, or where something has already failed.

[[gnu::noinline]] MUSTER_FN inline WaitStatus check_cell(const Handle& handle, Place place,
                                                         Operation operation, Signal signal,
                                                         Rank peer) {
  if (handle.verify == 0) return WaitStatus::ok;
  const bool exists = signal.segment < max_segments && std::uint64_t{signal.cell} * cell_bytes <
                                                           handle.segments[signal.segment].bytes;
  if (exists && peer.value < handle.ranks) return WaitStatus::ok;
  return refuse(
      handle, place,
      {.operation = operation, .peer = peer.value, .segment = signal.segment, .cell = signal.cell});
}

// `window` and `box` in bytes.
[[gnu::noinline]] MUSTER_FN inline WaitStatus check_box(const Handle& handle, Place place,
                                                        Operation operation,
                                                        WindowRef<std::byte> window, Rank peer,
                                                        Box box) {
  if (handle.verify == 0) return WaitStatus::ok;
  const bool known = window.team == handle.team && window.segment < max_segments &&
                     peer.value < handle.ranks &&
                     window.offset + static_cast<std::uint64_t>(window.size()) <=
                         handle.segments[window.segment].bytes;
  const bool within = box.row >= 0 && box.col >= 0 && box.rows >= 0 && box.cols >= 0 &&
                      box.rows <= window.rows - box.row && box.cols <= window.cols - box.col;
  if (known && within) return WaitStatus::ok;
  return refuse(handle, place,
                {.operation = operation, .peer = peer.value, .segment = window.segment});
}

}  // namespace muster::gpu::detail
