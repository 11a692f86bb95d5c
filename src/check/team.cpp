// The set-up side of the model.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "check/execution.hpp"
#include "muster/fabric/model.hpp"

namespace muster::model {

Team::Team(check::engine::Thread& setup)
    : self_(&setup),
      rank_{setup.rank},
      size_(setup.run->options().ranks),
      max_lanes_(setup.run->options().lanes),
      calls_(setup.run->options().calls),
      profile_(setup.run->options().profile) {}

namespace {
Error invalid(std::string what) {
  Error error;
  error.code = ErrorCode::invalid_argument;
  error.what = std::move(what);
  return error;
}

// The extents as rows x cols: more than two fold into the rows, one is a single row.
Result<std::pair<std::int64_t, std::int64_t>> fold(const std::vector<std::int64_t>& extents) {
  if (extents.empty()) return invalid("a window needs at least one extent");
  std::int64_t rows = 1;
  for (const std::int64_t extent : extents)
    if (extent <= 0) return invalid(fmt::format("extents must be positive, one is {}", extent));
  for (std::size_t i = 0; i + 1 < extents.size(); ++i)
    if (__builtin_mul_overflow(rows, extents[i], &rows))
      return invalid("a window has more elements than can be counted");
  return std::pair{rows, extents.back()};
}
}  // namespace

Result<Team::Made> Team::make_window(const std::vector<std::int64_t>& extents, std::size_t element,
                                     bool slots, std::string_view name, Where where) {
  const auto shape = fold(extents);
  if (!shape) return shape.error();
  auto& run = *self_->run;
  bool taken = false;
  const auto bytes = static_cast<std::uint64_t>(shape->first * shape->second) * element;
  const std::uint32_t segment = run.meet(
      *self_,
      fmt::format("window of {} elements of {} bytes{}{}", fmt::join(extents, " x "), element,
                  name.empty() ? "" : ", named ", name),
      [&]() -> std::uint32_t {
        taken = !name.empty() && run.has_window(std::string(name));
        if (taken) return ~0U;
        // Packets have no elements yet: a word is as fine as any of theirs.
        const auto grain = slots ? 4 : static_cast<std::uint32_t>(element);
        const std::uint32_t made = run.new_segment(bytes, grain, std::string(name));
        if (slots) run.make_slots(made);
        return made;
      },
      where);
  if (segment == ~0U) return invalid(fmt::format("there is a window named {} already", name));
  return Made{segment, 0, shape->first, shape->second};
}

Result<Allocation> Team::allocate(std::int64_t bytes, Where where) {
  if (bytes <= 0) return invalid(fmt::format("{} bytes cannot be allocated", bytes));
  auto& run = *self_->run;
  const auto size = static_cast<std::uint64_t>(bytes);
  const std::uint32_t segment = run.meet(
      *self_, fmt::format("allocation of {} bytes", bytes),
      [&] { return run.new_segment(size, 1, ""); }, where);
  return Allocation{segment, size};
}

Result<Team::Made> Team::place_window(Allocation allocation,
                                      const std::vector<std::int64_t>& extents, std::size_t element,
                                      Where /*where*/) {
  const auto shape = fold(extents);
  if (!shape) return shape.error();
  const auto bytes = static_cast<std::uint64_t>(shape->first * shape->second) * element;
  if (bytes > allocation.bytes)
    return invalid(fmt::format("a window of {} bytes does not fit an allocation of {}", bytes,
                               allocation.bytes));
  return Made{allocation.segment, 0, shape->first, shape->second};
}

Result<Rows> Team::rows(std::uint32_t lanes, Where where) {
  if (lanes < 1 || lanes > max_lanes_)
    return invalid(fmt::format("rows for {} lanes: from 1 to {} can run", lanes, max_lanes_));
  auto& run = *self_->run;
  Rows rows;
  rows.lanes = lanes;
  rows.ranks = size_;
  rows.first.cell = run.meet(
      *self_, fmt::format("rows for {} lanes", lanes),
      [&] {
        run.new_counters(lanes * Rows::counters_of_lane);
        return run.new_cells(lanes * size_, "rows", size_);
      },
      where);
  rows.first_epoch.cell = run.counters_of(rows.first.cell);
  return rows;
}

Result<Signals> Team::signals(std::uint32_t count, Where where) {
  if (count == 0) return invalid("no signals");
  auto& run = *self_->run;
  Signals signals;
  signals.count = count;
  signals.first.cell = run.meet(
      *self_, fmt::format("{} signals", count), [&] { return run.new_cells(count, "signals", 0); },
      where);
  return signals;
}

Result<void> Team::launch(std::uint32_t count, const std::function<Result<void>(Fabric&)>& body,
                          Where where) {
  return self_->run->launch(*self_, count, body, where);
}

Result<void> Team::sync(Where where) {
  self_->run->meet(*self_, "sync", {}, where);
  return {};
}

void Team::abort(std::string_view reason, Where where) {
  self_->run->abort(*self_, reason, where);
}

// The rank gives its memory back as it arrives: what may still reach it then is a race.
Result<void> Team::free_segment(std::uint32_t segment, Where where) {
  self_->run->free_segment(*self_, segment, where);
  self_->run->meet(*self_, fmt::format("free of window {}", segment), {}, where);
  return {};
}

Result<void> Team::free_cells(Signal first, std::uint32_t count, Where where) {
  self_->run->free_cells(*self_, first.cell, count, where);
  self_->run->meet(*self_, fmt::format("free of {} signals from {}", count, first.cell), {}, where);
  return {};
}

void Team::promise_cells(Signal first, std::uint32_t count) {
  self_->run->promise_zero(*self_, first.cell, count);
}

void Team::expect(bool holds, std::string_view what, Where where) {
  self_->run->expect(*self_, holds, what, where);
}

void Team::outcome(std::uint64_t value) {
  self_->run->record_outcome(*self_, value);
}

}  // namespace muster::model
