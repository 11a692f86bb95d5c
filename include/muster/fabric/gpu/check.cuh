// What is looked at before memory is touched, and what is left for the host when it is wrong.
#pragma once

#include <cstddef>
#include <cstdint>

#include "muster/fabric/gpu/access.cuh"
#include "muster/fabric/gpu/coordinates.cuh"
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
  Cause cause = Cause::none;
  std::uint32_t peer = unknown;
  std::uint32_t segment = unknown;
  std::uint32_t cell = unknown;
  std::uint32_t seen = unknown;
  std::uint32_t compare = unknown;
  std::uint32_t expected = unknown;
};

// Beside it, in the order that Cause says.
struct Numbers {
  std::int64_t number[6] = {};
};

// Of segment 0 of a world that has memory of its own, cells are the front and windows the rest.
[[nodiscard]] MUSTER_FN inline std::uint64_t windows_from(const Handle& handle,
                                                          std::uint32_t segment) {
  return segment == 0 ? handle.cells_end : 0;
}
[[nodiscard]] MUSTER_FN inline std::uint64_t cells_of(const Handle& handle, std::uint32_t segment) {
  const std::uint64_t end = windows_from(handle, segment);
  return (end > 0 ? end : handle.segments[segment].bytes) / cell_bytes;
}

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
MUSTER_FN inline void write(const Handle& handle, Place place, Trouble trouble,
                            const Numbers* numbers) {
  if (handle.records == nullptr || handle.claims == nullptr) return;
  // Relaxed: it only elects the writer. In device memory, for the bus may have no atomics.
  if (Relaxed::swap(&handle.claims[place.rank], 0, 1) != 0) return;
  ErrorRecord& record = handle.records[place.rank];
  record.status = static_cast<std::uint32_t>(trouble.status);
  record.operation = static_cast<std::uint32_t>(trouble.operation);
  record.cause = static_cast<std::uint32_t>(trouble.cause);
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
  if (numbers != nullptr)
    for (int i = 0; i < 6; ++i) record.number[i] = numbers->number[i];
  record.at = nanoseconds();
  // Pairs with the host's acquire load of `complete`.
  Access<Order::release, Scope::system>::store(&record.complete, 1);
}

// Ends every wait of the team. Relaxed: it carries nothing. Pairs with Watch::look.
MUSTER_FN inline void stop_all(const Handle& handle) {
  if (handle.stop != nullptr)
    Relaxed::store(handle.stop, static_cast<std::uint32_t>(WaitStatus::aborted));
}

// Records a wait that failed. An expired one fails the team, unless that was made to go
// on.
[[gnu::noinline]] MUSTER_FN inline void give_up(const Handle& handle, Place place,
                                                Trouble trouble) {
  write(handle, place, trouble, nullptr);
  if (trouble.status == WaitStatus::expired && handle.retries == 0) stop_all(handle);
}

// Records what this lane did wrong and ends every wait of the team: the peers will not get what
// they wait for.
[[gnu::noinline]] MUSTER_FN inline WaitStatus refuse(const Handle& handle, Place place,
                                                     Trouble trouble, Numbers numbers) {
  write(handle, place, trouble, &numbers);
  stop_all(handle);
  return trouble.status;
}

// The named barrier of a lane of whole warps; of another, any that is one.
template <class Coop>
[[nodiscard]] MUSTER_FN std::uint32_t named_barrier_of([[maybe_unused]] const Coop& coop) {
  if constexpr (requires { coop.barrier; }) return coop.barrier;
  return 1;
}

// Says what is wrong with a launch that does not fit the team, the kernel or the lane.
template <class Coop>
[[gnu::noinline]] MUSTER_FN WaitStatus refuse_launch(const Handle& handle, LaneCoordinates at,
                                                     std::uint32_t most, Coop coop) {
  Place place{at.rank.value, at.lane.value, coop.thread()};
  if (at.lanes == uneven) {
    Numbers numbers{{0, handle.ranks_here}};
#if defined(__CUDA_ARCH__)
    numbers.number[0] = blocks_in_grid();
#endif
    return refuse(handle, place, {.operation = Operation::launch, .cause = Cause::grid}, numbers);
  }
  if (place.rank >= handle.ranks || place.lane >= at.lanes) {
    const Numbers numbers{{place.rank, place.lane, at.lanes}};
    place.rank = handle.first_rank;  // there is no other whose record it could be
    return refuse(handle, place, {.operation = Operation::launch, .cause = Cause::coordinates},
                  numbers);
  }
  if (at.lanes > handle.max_lanes)
    return refuse(handle, place, {.operation = Operation::launch, .cause = Cause::lanes},
                  {{at.lanes}});
  if (handle.ranks > most)
    return refuse(handle, place, {.operation = Operation::team, .cause = Cause::ranks}, {});
  return refuse(handle, place, {.operation = Operation::launch, .cause = Cause::threads},
                {{coop.first(), Coop::static_threads, threads_in_block(), thread_in_block(),
                  named_barrier_of(coop)}});
}

[[gnu::noinline]] MUSTER_FN inline WaitStatus refuse_tile(const Handle& handle, Place place,
                                                          std::uint32_t threads,
                                                          std::uint32_t least) {
  return refuse(handle, place, {.operation = Operation::tile, .cause = Cause::too_few},
                {{threads, least}});
}

// A transfer within a rank, of elements that are both read and written.
[[gnu::noinline]] MUSTER_FN inline WaitStatus refuse_overlap(const Handle& handle, Place place,
                                                             std::int64_t to_at,
                                                             std::int64_t from_at,
                                                             std::int64_t count) {
  return refuse(handle, place, {.operation = Operation::transfer, .cause = Cause::overlap},
                {{to_at, from_at, count}});
}

// The checks return ok or `invalid`. None of them is inlined: they run where the team was made with
// checks, or where something has already failed.

[[gnu::noinline]] MUSTER_FN inline WaitStatus check_cell(const Handle& handle, Place place,
                                                         Operation operation, Signal signal,
                                                         Rank peer) {
  if (handle.verify == 0) return WaitStatus::ok;
  const std::uint64_t cells = signal.segment < max_segments ? cells_of(handle, signal.segment) : 0;
  const bool exists = signal.cell < cells;
  if (exists && peer.value < handle.ranks) return WaitStatus::ok;
  return refuse(handle, place,
                {.operation = operation,
                 .cause = exists ? Cause::rank : Cause::cell,
                 .peer = peer.value,
                 .segment = signal.segment,
                 .cell = signal.cell},
                {{static_cast<std::int64_t>(cells)}});
}

// Box and window in elements, of `element` bytes.
[[gnu::noinline]] MUSTER_FN inline WaitStatus check_box(const Handle& handle, Place place,
                                                        Operation operation,
                                                        WindowRef<std::byte> window, Rank peer,
                                                        Box box, std::uint64_t element) {
  Trouble trouble{.operation = operation, .peer = peer.value, .segment = window.segment};
  const auto wrong = [&](Cause cause, Numbers numbers) {
    trouble.cause = cause;
    return refuse(handle, place, trouble, numbers);
  };
  if (peer.value >= handle.ranks) return wrong(Cause::rank, {});
  if (window.team != handle.team) return wrong(Cause::team, {{window.team}});
  const bool exists = window.segment < max_segments;
  const std::uint64_t end = exists ? handle.segments[window.segment].bytes : 0;
  const std::uint64_t begin = exists ? windows_from(handle, window.segment) : 0;
  const bool inside =
      window.rows >= 0 && window.cols >= 0 && window.offset >= begin && window.offset <= end;
  const auto room = static_cast<std::int64_t>(inside ? (end - window.offset) / element : 0);
  if (!inside || (window.cols > 0 && window.rows > room / window.cols))
    return wrong(Cause::segment,
                 {{static_cast<std::int64_t>(window.offset), window.size(),
                   static_cast<std::int64_t>(element), static_cast<std::int64_t>(begin),
                   static_cast<std::int64_t>(end)}});
  if (box.row >= 0 && box.col >= 0 && box.rows >= 0 && box.cols >= 0 &&
      box.rows <= window.rows - box.row && box.cols <= window.cols - box.col)
    return WaitStatus::ok;
  return wrong(Cause::box, {{box.row, box.col, box.rows, box.cols, window.rows, window.cols}});
}

}  // namespace muster::gpu::detail
