// Checks what a transfer is to move, on the host, so that no lane has to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "muster/result.hpp"
#include "muster/transfer/shape.hpp"

namespace muster {

// An extent of a Region that is known only when the transfer runs.
inline constexpr std::int64_t dynamic = INT64_MIN;

namespace detail {

struct Extents {
  std::int64_t rows;
  std::int64_t cols;
};

[[nodiscard]] inline Error transfer_error(const std::string& what) {
  return {ErrorCode::invalid_argument, "transfer: " + what};
}

[[nodiscard]] inline std::optional<Error> check_chunks(const Chunks& chunks) {
  const std::string rows = std::to_string(chunks.chunk_rows);
  const std::string cols = std::to_string(chunks.chunk_cols);
  if (chunks.chunk_rows < 0)
    return transfer_error("chunk_rows is " + rows + "; it must not be negative (0 means all)");
  if (chunks.chunk_cols < 0)
    return transfer_error("chunk_cols is " + cols + "; it must not be negative (0 means all)");
  if (chunks.pipeline && (chunks.chunk_rows == 0 || chunks.chunk_cols == 0))
    return transfer_error("pipeline needs both chunk_rows and chunk_cols (they are " + rows +
                          " and " + cols + "): it alternates between two buffers of a chunk");
  return std::nullopt;
}

// One extent of a region against one of the ends.
[[nodiscard]] inline std::optional<Error> check_end(const char* end, const char* extent,
                                                    std::int64_t at, std::int64_t count,
                                                    std::int64_t size) {
  const std::string what = std::string(extent) + " of the " + end;
  if (at < 0)
    return transfer_error("the " + what + " begin at " + std::to_string(at) +
                          "; offsets must not be negative");
  const std::int64_t needed = count == dynamic ? 0 : count;
  if (at > size - needed)
    return transfer_error("the " + what + " are " + std::to_string(needed) + " from " +
                          std::to_string(at) + ", but there are " + std::to_string(size) +
                          " (elements, not bytes)");
  return std::nullopt;
}

[[nodiscard]] inline std::optional<Error> check_extent(const char* extent, std::int64_t count,
                                                       std::int64_t chunk, bool may_vary) {
  const std::string name = extent;
  if (count == dynamic) {
    if (!may_vary)
      return transfer_error("the number of " + name + " is dynamic: use make_dynamic_transfer");
    if (chunk == 0)
      return transfer_error("a dynamic number of " + name + " needs chunk_" + name +
                            " to bound what is in flight");
    return std::nullopt;
  }
  if (count <= 0)
    return transfer_error("the number of " + name + " is " + std::to_string(count) +
                          "; it must be positive");
  return std::nullopt;
}

[[nodiscard]] inline std::optional<Error> check_transfer(Extents to, Extents from,
                                                         const Region& region, const Chunks& chunks,
                                                         bool may_vary) {
  if (auto wrong = check_chunks(chunks)) return wrong;
  if (auto wrong = check_extent("rows", region.rows, chunks.chunk_rows, may_vary)) return wrong;
  if (auto wrong = check_extent("cols", region.cols, chunks.chunk_cols, may_vary)) return wrong;
  if (auto wrong = check_end("target", "rows", region.to.row, region.rows, to.rows)) return wrong;
  if (auto wrong = check_end("target", "cols", region.to.col, region.cols, to.cols)) return wrong;
  if (auto wrong = check_end("source", "rows", region.from.row, region.rows, from.rows))
    return wrong;
  return check_end("source", "cols", region.from.col, region.cols, from.cols);
}

template <class To, class From>
concept MatchingEnds = TransferEnd<To> && TransferEnd<From> &&
    (is_window<To> ||
     is_window<From>)&&std::is_same_v<typename To::value_type, typename From::value_type>;

}  // namespace detail

// A transfer of `region` from one end to the other; at least one end is a window, and it is the
// peer's: put writes the peer's `to`, get reads the peer's `from`. Errors (invalid_argument):
//   - an extent that is not positive, or `dynamic`
//   - an offset that is negative, a region that does not lie inside both ends
//   - a negative chunk; pipeline without both chunks
// A chunk larger than the region is clamped to it.
template <class To, class From>
requires detail::MatchingEnds<To, From>
[[nodiscard]] Result<Transfer<To, From>> make_transfer(To to, From from, Region region,
                                                       Chunks chunks = {}) {
  const detail::Extents to_size{to.rows, to.cols};
  const detail::Extents from_size{from.rows, from.cols};
  if (const auto wrong = detail::check_transfer(to_size, from_size, region, chunks, false))
    return *wrong;
  chunks.chunk_rows = detail::clamped_chunk(chunks.chunk_rows, region.rows);
  chunks.chunk_cols = detail::clamped_chunk(chunks.chunk_cols, region.cols);
  return Transfer<To, From>{to, from, region, chunks};
}

// All of one end to all of the other; they must have the same shape.
template <class To, class From>
requires detail::MatchingEnds<To, From>
[[nodiscard]] Result<Transfer<To, From>> make_transfer(To to, From from, Chunks chunks = {}) {
  if (to.rows != from.rows || to.cols != from.cols)
    return detail::transfer_error("the target is " + std::to_string(to.rows) + " x " +
                                  std::to_string(to.cols) + ", the source " +
                                  std::to_string(from.rows) + " x " + std::to_string(from.cols) +
                                  "; without a region both must have the same shape");
  return make_transfer(to, from, Region{{}, {}, to.rows, to.cols}, chunks);
}

// One whose extents are partly `dynamic`: see DynamicTransfer::sized. Errors as above, and a
// dynamic extent without a chunk.
template <class To, class From>
requires detail::MatchingEnds<To, From>
[[nodiscard]] Result<DynamicTransfer<To, From>> make_dynamic_transfer(To to, From from,
                                                                      Region region,
                                                                      Chunks chunks) {
  const detail::Extents to_size{to.rows, to.cols};
  const detail::Extents from_size{from.rows, from.cols};
  if (const auto wrong = detail::check_transfer(to_size, from_size, region, chunks, true))
    return *wrong;
  DynamicTransfer<To, From> made;
  made.rows_vary = region.rows == dynamic;
  made.cols_vary = region.cols == dynamic;
  if (made.rows_vary)
    region.rows = detail::least(to.rows - region.to.row, from.rows - region.from.row);
  if (made.cols_vary)
    region.cols = detail::least(to.cols - region.to.col, from.cols - region.from.col);
  made.most = {to, from, region, chunks};
  return made;
}

}  // namespace muster
