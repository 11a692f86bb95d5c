// Windows, rows and signals of a World.
#include <fmt/format.h>

#include <algorithm>

#include "base/extents.hpp"
#include "fabric/gpu/state.hpp"

namespace muster::gpu {

namespace {

constexpr std::uint64_t window_align = 256;
constexpr std::uint64_t line_cells = 32;  // what is handed out together shares no cache line

Error refuse(std::string what) {
  return {ErrorCode::invalid_argument, std::move(what)};
}

Error refuse_argument(std::size_t number, std::string what) {
  return refuse(fmt::format("parameter {} of the kernel is {}", number, what));
}

}  // namespace

Result<void> World::check_window(std::size_t number, WindowRef<std::byte> window,
                                 std::size_t element) const {
  if (window.team == 0 && window.size() == 0) return {};  // none
  if (window.team != state_->team)
    return refuse_argument(
        number, fmt::format("a window of team {:08x}, and this world is team {:08x}", window.team,
                            state_->team));
  const bool whole = window.rows >= 0 && window.cols >= 0;
  std::int64_t bytes = 0;
  const bool fits =
      whole && !__builtin_mul_overflow(window.rows, window.cols, &bytes) &&
      !__builtin_mul_overflow(bytes, static_cast<std::int64_t>(element), &bytes) &&
      state_->has_memory(window.segment, window.offset, static_cast<std::uint64_t>(bytes));
  if (fits) return {};
  return refuse_argument(
      number,
      fmt::format("a window of {} x {} elements of {} bytes at offset {} of segment {}: this "
                  "world has none there (freed, or not made by it)",
                  window.rows, window.cols, element, window.offset, window.segment));
}

Result<void> World::check_cells(std::size_t number, Signal first, std::uint64_t count) const {
  if (count == 0 || state_->has_cells_at(first, count)) return {};
  return refuse_argument(number,
                         fmt::format("{} cells from {} of segment {} on: this world has none there "
                                     "(freed, or not made by it)",
                                     count, first.cell, first.segment));
}

bool World::State::has_memory(std::uint32_t segment, std::uint64_t offset,
                              std::uint64_t bytes) const {
  if (segment >= segments.size()) return false;
  if (segment == 0 && memory != nullptr) return windows.has(offset, bytes);
  return offset <= segments[segment].bytes && bytes <= segments[segment].bytes - offset;
}

bool World::State::has_cells_at(Signal first, std::uint64_t count) const {
  if (first.segment >= segments.size()) return false;
  if (has_cells && first.segment == cell_segment) return cells.has(first.cell, count);
  // A pad: rows in memory that somebody else deals out.
  return (first.cell + count) * cell_bytes <= segments[first.segment].bytes;
}

bool World::State::has_signal(Signal signal) const {
  const auto within = [&](Signal first, std::uint64_t count) {
    return signal.segment == first.segment && signal.cell >= first.cell &&
           signal.cell - first.cell < count;
  };
  return std::any_of(known_signals.begin(), known_signals.end(),
                     [&](const Signals& some) { return within(some.first, some.count); }) ||
         std::any_of(known_rows.begin(), known_rows.end(), [&](const Rows& rows) {
           return within(rows.first, std::uint64_t{rows.lanes} * rows.ranks);
         });
}

Result<World::Place> World::make_window(const std::int64_t* extents, std::size_t count,
                                        std::size_t element, std::string_view name) {
  const std::string what = name.empty() ? "window" : fmt::format("window '{}'", name);
  const Result<Extents> folded = fold_extents(what.c_str(), {extents, count}, element);
  if (!folded) return folded.error();
  if (state_->memory == nullptr)
    return refuse("this world has no memory of its own: use window_in() on an adopted segment");
  const auto offset = state_->windows.take(folded->bytes, window_align);
  if (!offset)
    return Error{ErrorCode::out_of_memory,
                 fmt::format("a {} of {} bytes was asked for; of the {} bytes on each rank "
                             "(WorldOptions::bytes) {} are left, {} of them in one piece",
                             what, folded->bytes, state_->windows.size(), state_->windows.left(),
                             state_->windows.longest())};
  return Place{*offset, folded->rows, folded->cols, 0};
}

Result<World::Place> World::place_window(std::uint32_t segment, std::uint64_t offset,
                                         const std::int64_t* extents, std::size_t count,
                                         std::size_t element) const {
  const Result<Extents> folded = fold_extents("window", {extents, count}, element);
  if (!folded) return folded.error();
  if (segment >= state_->segments.size())
    return refuse(
        fmt::format("there is no segment {}: there are {}", segment, state_->segments.size()));
  const std::uint64_t bytes = state_->segments[segment].bytes;
  if (offset > bytes || folded->bytes > bytes - offset)
    return refuse(fmt::format("{} bytes at offset {} do not fit into segment {} of {} bytes",
                              folded->bytes, offset, segment, bytes));
  if (offset % element != 0)
    return refuse(
        fmt::format("offset {} is no multiple of the {} bytes of an element", offset, element));
  return Place{offset, folded->rows, folded->cols, segment};
}

Result<std::uint32_t> World::State::take_cells(std::uint32_t count, const char* what) {
  if (!has_cells) return refuse("name the memory for cells first, with use_for_cells()");
  const auto first = cells.take(count, line_cells);
  if (!first)
    return Error{
        ErrorCode::out_of_memory,
        fmt::format("{} cells were asked for, for {}; of {} on each rank {} are left, {} of "
                    "them in one piece",
                    count, what, cells.size(), cells.left(), cells.longest())};
  return static_cast<std::uint32_t>(*first);
}

Result<Rows> World::rows() {
  return rows(state_->lanes);
}

Result<Rows> World::rows(std::uint32_t lanes) {
  if (lanes == 0) return refuse("rows of 0 lanes");
  const std::uint64_t count = std::uint64_t{lanes} * state_->ranks;
  if (count > state_->cells.size())
    return Error{ErrorCode::out_of_memory,
                 fmt::format("rows of {} lanes and {} ranks are {} cells; each rank has {}", lanes,
                             state_->ranks, count, state_->cells.size())};
  const Result<std::uint32_t> signals =
      state_->take_cells(static_cast<std::uint32_t>(count), "rows");
  if (!signals) return signals.error();
  const Result<std::uint32_t> counters =
      state_->take_cells(lanes * Rows::counters_of_lane, "the counters of rows");
  if (!counters) {
    state_->cells.release(*signals);
    return counters.error();
  }
  const std::uint32_t segment = state_->cell_segment;
  const Rows made{{segment, *signals}, {segment, *counters}, lanes, state_->ranks};
  state_->known_rows.push_back(made);
  return made;
}

Result<Signals> World::signals(std::uint32_t count) {
  const Result<std::uint32_t> first = state_->take_cells(count, "signals");
  if (!first) return first.error();
  const Signals made{{state_->cell_segment, *first}, count};
  state_->known_signals.push_back(made);
  return made;
}

Result<Rows> World::pad_rows(std::uint32_t segment, std::uint32_t lanes) const {
  if (segment >= state_->segments.size())
    return refuse(
        fmt::format("there is no segment {}: there are {}", segment, state_->segments.size()));
  const std::uint64_t needed = std::uint64_t{lanes} * state_->ranks * cell_bytes;
  if (lanes == 0 || needed > state_->segments[segment].bytes)
    return refuse(fmt::format("{} lanes of {} ranks need {} bytes; segment {} has {}", lanes,
                              state_->ranks, needed, segment, state_->segments[segment].bytes));
  const Rows made{{segment, 0}, {segment, Rows::no_counters}, lanes, state_->ranks};
  state_->known_rows.push_back(made);
  return made;
}

Result<void> World::use_for_cells(std::uint32_t segment) {
  if (segment >= state_->segments.size())
    return refuse(
        fmt::format("there is no segment {}: there are {}", segment, state_->segments.size()));
  state_->cell_segment = segment;
  state_->cells = Range(0, state_->segments[segment].bytes / cell_bytes);
  state_->has_cells = true;
  return {};
}

}  // namespace muster::gpu
