#include "muster/team.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/call_words.hpp"
#include "base/extents.hpp"
#include "fabric/host/memory_info.hpp"
#include "team/control.hpp"
#include "team/shrink.hpp"

namespace muster {
namespace {

using Kind = host::Allocation::Kind;

Error invalid(std::string what) {
  return Error{ErrorCode::invalid_argument, std::move(what)};
}

// Is there memory for `bytes` on every rank of the team, all on this host?
std::optional<Error> lacking(const std::string& what, std::uint64_t bytes, std::uint32_t ranks) {
  const std::uint64_t available = host::available_memory();
  if (bytes <= available / ranks) return std::nullopt;
  return Error{
      ErrorCode::out_of_memory,
      fmt::format("{} asks for {} on each of {} ranks, and {} are available in all (extents "
                  "are elements, not bytes)",
                  what, host::format_bytes(bytes), ranks, host::format_bytes(available))};
}

std::optional<Error> taken(const host::TeamContext& team, const std::string& name) {
  if (name.empty() || team.find_named(name) == nullptr) return std::nullopt;
  return invalid(fmt::format(
      "window: the name \"{}\" is taken by a window of this team; each needs its own", name));
}

std::uint64_t whole_pages(std::uint64_t bytes) {
  return (bytes + host::page - 1) / host::page * host::page;
}

}  // namespace

Team::Team(std::shared_ptr<host::TeamControl> control) : control_(std::move(control)) {}

Rank Team::rank() const {
  return control_->team().rank();
}
std::uint32_t Team::size() const {
  return control_->team().size();
}
bool Team::has_core_each() const {
  return control_->team().has_core_each();
}
std::uint32_t Team::max_lanes() const {
  return control_->team().process().max_lanes;
}
std::uint32_t Team::number() const {
  return control_->team().number();
}

Result<Team::Shape> Team::make_window(const std::int64_t* extents, std::size_t count,
                                      std::uint64_t element, std::string_view name) {
  const std::span<const std::int64_t> all(extents, count);
  const std::string title(name);
  const std::string what =
      fmt::format("window{} of {{{}}} {}", title.empty() ? "" : " \"" + title + "\"",
                  fmt::join(all, ", "), name_of_element(element));
  const Result<Extents> folded = fold_extents("window", all, bytes_of_element(element));
  std::optional<Error> local;
  if (!folded) {
    local = folded.error();
  } else if (local = taken(control_->team(), title); !local) {
    local = lacking(what, folded->bytes, size());
  }
  const std::uint64_t bytes = folded ? whole_pages(folded->bytes) : 0;
  const auto offset = control_->allocate({Kind::memory, 0, bytes, 0, title, element}, what, local);
  if (!offset) return offset.error();
  return Shape{*offset, folded->rows, folded->cols};
}

Result<Allocation> Team::allocate(std::int64_t bytes, std::string_view name) {
  const std::string title(name);
  const std::string what = fmt::format("allocate of {} bytes", bytes);
  std::optional<Error> local = taken(control_->team(), title);
  if (bytes < 1) {
    local = invalid(fmt::format("allocate: bytes is {}; it must be at least 1", bytes));
  }
  const auto wanted = static_cast<std::uint64_t>(bytes < 1 ? 1 : bytes);
  if (!local) local = lacking(what, wanted, size());
  const auto offset =
      control_->allocate({Kind::memory, 0, whole_pages(wanted), 0, title}, what, local);
  if (!offset) return offset.error();
  return Allocation{*offset, wanted, 0, number()};
}

Result<Team::Shape> Team::shape_allocation(const Allocation& allocation,
                                           const std::int64_t* extents, std::size_t count,
                                           std::size_t element) const {
  const Result<Extents> folded = fold_extents("window", {extents, count}, element);
  if (!folded) return folded.error();
  const host::Allocation* const found = control_->team().find(Kind::memory, allocation.offset);
  if (found == nullptr || control_->team().is_system(*found)) {
    return invalid(
        fmt::format("window: the allocation at offset {} is not this team's (freed, "
                    "another team's, or never made)",
                    allocation.offset));
  }
  if (folded->bytes > allocation.bytes) {
    return invalid(fmt::format(
        "window: extents {{{}}} of {} bytes each need {} bytes and the "
        "allocation has {}; extents are elements, not bytes",
        fmt::join(std::span(extents, count), ", "), element, folded->bytes, allocation.bytes));
  }
  return Shape{allocation.offset, folded->rows, folded->cols};
}

Result<Rows> Team::rows() {
  return rows(max_lanes());
}

Result<Rows> Team::rows(std::uint32_t lanes) {
  std::optional<Error> local;
  if (lanes < 1 || lanes > max_lanes()) {
    local = invalid(
        fmt::format("rows: lanes is {}; it must be from 1 to {} (the option `lanes` of run)", lanes,
                    max_lanes()));
  }
  const std::uint64_t cells = std::uint64_t{lanes} * (size() + Rows::counters_of_lane);
  const auto cell =
      control_->allocate({Kind::cells, 0, cells, lanes, {}}, fmt::format("rows({})", lanes), local);
  if (!cell) return cell.error();
  const auto first = static_cast<std::uint32_t>(*cell);
  return Rows{Signal{0, first}, Counter{0, first + lanes * size()}, lanes, size()};
}

Result<Signals> Team::signals(std::uint32_t count) {
  std::optional<Error> local;
  if (count < 1) local = invalid("signals: count is 0; it must be at least 1");
  const auto cell =
      control_->allocate({Kind::cells, 0, count, 0, {}}, fmt::format("signals({})", count), local);
  if (!cell) return cell.error();
  return Signals{Signal{0, static_cast<std::uint32_t>(*cell)}, count};
}

Result<Team::Shape> Team::register_memory(void* memory, int fd, std::int64_t place,
                                          const std::int64_t* extents, std::size_t count,
                                          std::uint64_t element) {
  const std::span<const std::int64_t> all(extents, count);
  const std::uint64_t size_of_one = bytes_of_element(element);
  const Result<Extents> folded = fold_extents("window_on", all, size_of_one);
  std::optional<Error> local;
  if (!folded) local = folded.error();
  if (folded && place < 0) {
    local = invalid(fmt::format("window_on: place is {}; it must be 0 or more (bytes)", place));
  }
  const std::uint64_t aligned =
      reinterpret_cast<std::uint64_t>(memory) | static_cast<std::uint64_t>(place);
  if (!local && aligned % std::min<std::uint64_t>(size_of_one & (~size_of_one + 1), 16) != 0) {
    local = invalid(fmt::format("window_on: the memory is not aligned to its elements of {} bytes",
                                size_of_one));
  }
  const std::string what =
      fmt::format("window_on of {{{}}} {}", fmt::join(all, ", "), name_of_element(element));
  const host::Registration mine{memory, fd, static_cast<std::uint64_t>(place),
                                folded ? folded->bytes : 0, element};
  const auto segment = control_->register_memory(mine, what, local);
  if (!segment) return segment.error();
  return Shape{0, folded->rows, folded->cols, *segment};
}

Result<void> Team::free_segment(std::uint32_t segment) {
  return control_->release_segment(segment);
}

Result<void> Team::free_memory(std::uint64_t offset) {
  return control_->release(Kind::memory, offset);
}
Result<void> Team::free_cells(std::uint32_t cell) {
  return control_->release(Kind::cells, cell);
}

Result<void> Team::sync() {
  const auto agreed = control_->agree("sync()");
  return agreed ? Result<void>() : Result<void>(agreed.error());
}

void Team::abort(std::string_view reason) {
  if (control_->closed()) return;  // nobody is in it, and its number is another team's
  control_->team().fail(
      WaitStatus::aborted, control_->team().process().job_rank,
      fmt::format("{} called abort: {}", control_->team().called(rank()), reason));
}

Result<Team> Team::shrink() {
  if (control_->closed()) return *control_->refusal();
  if (const auto refused = control_->lanes_run("shrink()")) return *refused;
  Result<std::uint32_t> successor = host::agree_on_survivors(control_->team());
  if (!successor) return successor.error();
  control_->let_go_of_parent();
  auto survivors = std::make_shared<host::TeamControl>(control_->team().shared_process(),
                                                       *successor, control_->standing());
  // The job ends with a meeting of the team of all, or of those that took its place: what a team
  // that was split off does with its own failure is no business of the others.
  const std::shared_ptr<host::Standing> standing = control_->standing().lock();
  if (standing != nullptr && standing->team == control_) {
    standing->team = survivors;
    // Pairs with the acquire in survivors_stand. All survivors store the same number, and none
    // makes the next before all have.
    control_->team().header().standing.store(*successor, std::memory_order_release);
  }
  return Team(std::move(survivors));
}

}  // namespace muster
