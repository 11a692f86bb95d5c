// What a bulk transfer moves: from which rectangle to which, and in which chunks. Plain bytes,
// checked once on the host (make.hpp), then passed into bodies and kernels.
#pragma once

#include <cstdint>
#include <type_traits>

#include "muster/types.hpp"

namespace muster {

// Where a rectangle begins, in elements.
struct Place {
  std::int64_t row = 0;
  std::int64_t col = 0;
};

// rows x cols elements, from one place to another.
struct Region {
  Place to{};
  Place from{};
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};

// The pieces that a transfer is cut into, row-major, ragged at the ends. They bound what is in
// flight, and the staging where a fabric stages.
struct Chunks {
  std::int64_t chunk_rows = 0;  // 0: as many as the region has; more than that: the same
  std::int64_t chunk_cols = 0;
  bool pipeline = false;  // two chunks under way at a time, through two buffers; needs both extents
};

namespace detail {

template <class T>
inline constexpr bool is_window = false;
template <class T>
inline constexpr bool is_window<WindowRef<T>> = true;
template <class T>
inline constexpr bool is_memory = false;
template <class T>
inline constexpr bool is_memory<MemoryRef<T>> = true;

[[nodiscard]] MUSTER_FN constexpr std::int64_t least(std::int64_t a, std::int64_t b) {
  return a < b ? a : b;
}

// `chunk` within an extent: 0 and what is too large mean all of it.
[[nodiscard]] MUSTER_FN constexpr std::int64_t clamped_chunk(std::int64_t chunk,
                                                             std::int64_t extent) {
  return chunk == 0 || chunk > extent ? extent : chunk;
}

}  // namespace detail

// One end of a transfer: a window, or plain memory.
template <class T>
concept TransferEnd = detail::is_window<T> || detail::is_memory<T>;

// A transfer that make_transfer has checked: its region lies inside both ends. Its chunks are
// clamped to its region.
template <TransferEnd To, TransferEnd From>
struct Transfer {
  using value_type = typename To::value_type;

  To to{};
  From from{};
  Region region{};
  Chunks chunks{};
};

// One whose extents are partly known only when it runs; make_dynamic_transfer has checked the rest,
// and that a chunk bounds each such extent.
template <TransferEnd To, TransferEnd From>
struct DynamicTransfer {
  Transfer<To, From> most{};  // as large as the ends allow
  bool rows_vary = false;
  bool cols_vary = false;

  // The transfer of rows x cols elements. An extent that was fixed stays as it is; one that varies
  // is clamped: below 0 to 0, beyond the end of a window to what lies before it.
  [[nodiscard]] MUSTER_FN constexpr Transfer<To, From> sized(std::int64_t rows,
                                                             std::int64_t cols) const {
    Transfer<To, From> one = most;
    if (rows_vary) one.region.rows = clamped(rows, most.region.rows);
    if (cols_vary) one.region.cols = clamped(cols, most.region.cols);
    one.chunks.chunk_rows = detail::clamped_chunk(one.chunks.chunk_rows, one.region.rows);
    one.chunks.chunk_cols = detail::clamped_chunk(one.chunks.chunk_cols, one.region.cols);
    return one;
  }

 private:
  [[nodiscard]] MUSTER_FN static constexpr std::int64_t clamped(std::int64_t extent,
                                                                std::int64_t room) {
    return extent < 0 ? 0 : detail::least(extent, room);
  }
};

}  // namespace muster
