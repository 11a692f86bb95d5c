// The set-up side of the model.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/extents.hpp"
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

// Of each element the checker keeps who has touched it; all ranks live in this process.
constexpr std::uint64_t most_elements = 1ULL << 24U;

std::optional<Error> lacking(const std::string& what, std::uint64_t elements, std::uint32_t ranks) {
  if (elements <= most_elements / ranks) return std::nullopt;
  return Error{ErrorCode::out_of_memory,
               fmt::format("{} asks for {} elements on each of {} ranks; the model has room for {} "
                           "in all",
                           what, elements, ranks, most_elements)};
}
}  // namespace

Result<Team::Made> Team::make_window(const std::vector<std::int64_t>& extents, std::size_t element,
                                     Slotted slots, std::string_view name, Where where) {
  const Result<Extents> shape = fold_extents("window", extents, element);
  if (!shape) return shape.error();
  const std::string what =
      fmt::format("window of {} elements of {} bytes{}{}", fmt::join(extents, " x "), element,
                  name.empty() ? "" : ", named ", name);
  if (const auto lacks = lacking(what, shape->bytes / element, size_)) return *lacks;
  auto& run = *self_->run;
  bool taken = false;
  const std::uint32_t segment = run.meet(
      *self_, what,
      [&]() -> std::uint32_t {
        taken = !name.empty() && run.windows().has(std::string(name));
        if (taken) return ~0U;
        // Slots have no elements yet: this is as fine as any of theirs.
        const auto grain = slots == Slotted::packets     ? 4
                           : slots == Slotted::sentinels ? 2
                                                         : static_cast<std::uint32_t>(element);
        const std::uint32_t made = run.windows().make(shape->bytes, grain, std::string(name));
        if (slots != Slotted::none) run.make_slots(made);
        return made;
      },
      where);
  if (segment == ~0U) return invalid(fmt::format("there is a window named {} already", name));
  return Made{segment, 0, shape->rows, shape->cols};
}

Result<Allocation> Team::allocate(std::int64_t bytes, Where where) {
  if (bytes <= 0) return invalid(fmt::format("{} bytes cannot be allocated", bytes));
  auto& run = *self_->run;
  const auto size = static_cast<std::uint64_t>(bytes);
  const std::string what = fmt::format("allocation of {} bytes", bytes);
  if (const auto lacks = lacking(what, size, size_)) return *lacks;
  const std::uint32_t segment = run.meet(
      *self_, what, [&] { return run.windows().make(size, 1, ""); }, where);
  return Allocation{segment, size};
}

Result<Team::Made> Team::place_window(Allocation allocation,
                                      const std::vector<std::int64_t>& extents, std::size_t element,
                                      Where /*where*/) {
  const Result<Extents> shape = fold_extents("window", extents, element);
  if (!shape) return shape.error();
  if (shape->bytes > allocation.bytes)
    return invalid(fmt::format("a window of {} bytes does not fit an allocation of {}",
                               shape->bytes, allocation.bytes));
  return Made{allocation.segment, 0, shape->rows, shape->cols};
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
        const std::uint32_t first = run.counters().make(lanes * Rows::counters_of_lane);
        return run.cells().make(lanes * size_, "rows", size_, first);
      },
      where);
  rows.first_epoch.cell = run.cells().counters_of(rows.first.cell);
  return rows;
}

Result<Signals> Team::signals(std::uint32_t count, Where where) {
  if (count == 0) return invalid("no signals");
  auto& run = *self_->run;
  Signals signals;
  signals.count = count;
  signals.first.cell = run.meet(
      *self_, fmt::format("{} signals", count),
      [&] { return run.cells().make(count, "signals", 0, 0); }, where);
  return signals;
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
