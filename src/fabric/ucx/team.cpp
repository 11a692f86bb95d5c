#include "muster/fabric/ucx/team.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <tuple>

#include "base/call_words.hpp"
#include "base/extents.hpp"
#include "fabric/ucx/team_core.hpp"

namespace muster::ucx {
namespace {

Error invalid(std::string what) {
  return Error{ErrorCode::invalid_argument, std::move(what)};
}

std::optional<Error> taken(const TeamCore& core, std::string_view name) {
  if (!core.is_taken(name)) return std::nullopt;
  return invalid(fmt::format(
      "window: the name \"{}\" is taken by a window of this team; each needs its own", name));
}

std::uint32_t cell_at(const Range& range) {
  return static_cast<std::uint32_t>(range.offset / cell_stride);
}

}  // namespace

Result<Team> join(muster::detail::net::Bootstrap& bootstrap, const Settings& settings) {
  auto network = Network::join(bootstrap, settings);
  if (!network) return network.error();
  std::vector<std::uint32_t> all((*network)->size());
  for (std::uint32_t rank = 0; rank < all.size(); ++rank) all[rank] = rank;
  return Team(std::make_shared<TeamCore>(*network, mixed(1, all.size()), std::move(all), nullptr));
}

Team::Team(std::shared_ptr<TeamCore> core) : core_(std::move(core)) {}

Rank Team::rank() const {
  return core_->state()->rank();
}
std::uint32_t Team::size() const {
  return core_->state()->size();
}
std::uint32_t Team::max_lanes() const {
  return core_->network().settings().max_lanes;
}
bool Team::has_core_each() const {
  return core_->network().has_core_each();
}
std::uint32_t Team::number() const {
  return core_->number();
}
void Team::progress() {
  core_->network().progress();
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
  if (!folded)
    local = folded.error();
  else
    local = taken(*core_, name);
  const auto range =
      core_->allocate(folded ? folded->bytes : 0, false, 0, title, what, std::move(local));
  if (!range) return range.error();
  return Shape{range->offset, folded->rows, folded->cols, range->segment};
}

Result<Allocation> Team::allocate(std::int64_t bytes, std::string_view name) {
  std::optional<Error> local = taken(*core_, name);
  if (bytes < 1)
    local = invalid(fmt::format("allocate: bytes is {}; it must be at least 1", bytes));
  const auto wanted = static_cast<std::uint64_t>(bytes < 1 ? 1 : bytes);
  const auto range = core_->allocate(wanted, false, 0, std::string(name),
                                     fmt::format("allocate of {} bytes", bytes), std::move(local));
  if (!range) return range.error();
  return Allocation{range->offset, wanted, range->segment, number()};
}

Result<Team::Shape> Team::shape_allocation(const Allocation& allocation,
                                           const std::int64_t* extents, std::size_t count,
                                           std::size_t element) const {
  const Result<Extents> folded = fold_extents("window", {extents, count}, element);
  if (!folded) return folded.error();
  if (core_->find(allocation.segment, allocation.offset) == nullptr)
    return invalid(
        fmt::format("window: the allocation at offset {} is not this team's (freed, "
                    "another team's, or never made)",
                    allocation.offset));
  if (folded->bytes > allocation.bytes)
    return invalid(fmt::format(
        "window: extents {{{}}} of {} bytes each need {} bytes and the "
        "allocation has {}; extents are elements, not bytes",
        fmt::join(std::span(extents, count), ", "), element, folded->bytes, allocation.bytes));
  return Shape{allocation.offset, folded->rows, folded->cols, allocation.segment};
}

Result<Rows> Team::rows() {
  return rows(max_lanes());
}

Result<Rows> Team::rows(std::uint32_t lanes) {
  std::optional<Error> local;
  if (lanes < 1 || lanes > max_lanes())
    local = invalid(
        fmt::format("rows: lanes is {}; it must be from 1 to {} (the option `lanes` of run)", lanes,
                    max_lanes()));
  const std::uint64_t cells = std::uint64_t{lanes} * (size() + Rows::counters_of_lane);
  const auto range = core_->allocate(cells * cell_stride, true, lanes, {},
                                     fmt::format("rows({})", lanes), std::move(local));
  if (!range) return range.error();
  const std::uint32_t first = cell_at(*range);
  return Rows{Signal{range->segment, first}, Counter{range->segment, first + lanes * size()}, lanes,
              size()};
}

Result<Signals> Team::signals(std::uint32_t count) {
  std::optional<Error> local;
  if (count < 1) local = invalid("signals: count is 0; it must be at least 1");
  const auto range = core_->allocate(std::uint64_t{count} * cell_stride, true, 0, {},
                                     fmt::format("signals({})", count), std::move(local));
  if (!range) return range.error();
  return Signals{Signal{range->segment, cell_at(*range)}, count};
}

Result<void> Team::free_memory(std::uint32_t segment, std::uint64_t offset) {
  return core_->release(segment, offset, false);
}
Result<void> Team::free_cells(Signal first) {
  return core_->release(first.segment, std::uint64_t{first.cell} * cell_stride, true);
}

Result<void> Team::sync() {
  const auto agreed = core_->agree("sync()");
  return agreed ? Result<void>() : Result<void>(agreed.error());
}

void Team::abort(std::string_view reason) {
  if (core_->closed()) return;
  TeamState& state = *core_->state();
  core_->network().fail(
      state, WaitStatus::aborted,
      {ErrorCode::aborted, fmt::format("{} called abort: {}", state.called(rank()), reason)});
}

Result<void> Team::close() {
  return core_->close();
}

// Who chose `colour`, in the order of their new ranks, by key and then by their rank here.
Result<Team> Team::split(std::int32_t colour, std::int32_t key) {
  std::optional<Error> local;
  if (colour < 0) local = invalid(fmt::format("split: colour is {}; it must be 0 or more", colour));
  const std::int32_t choice[] = {colour, key};
  const auto choices =
      core_->agree("split", {reinterpret_cast<const char*>(choice), sizeof choice}, local);
  if (!choices) return choices.error();
  std::vector<std::tuple<std::int32_t, std::uint32_t>> chosen;  // key, job rank, in their order
  for (std::uint32_t rank = 0; rank < choices->size(); ++rank) {
    std::int32_t theirs[2] = {};
    std::copy_n((*choices)[rank].data(), sizeof theirs, reinterpret_cast<char*>(theirs));
    if (theirs[0] == colour) chosen.emplace_back(theirs[1], rank);
  }
  std::ranges::sort(chosen);
  std::vector<std::uint32_t> members;
  for (const auto& [order, rank] : chosen)
    members.push_back(core_->state()->job_rank_of(Rank{rank}));
  const std::uint64_t id =
      mixed(mixed(core_->state()->id(), core_->state()->calls), static_cast<std::uint64_t>(colour));
  return Team(std::make_shared<TeamCore>(core_->shared_network(), id, std::move(members), core_));
}

Result<Team> Team::shrink() {
  if (core_->closed()) return *core_->refusal();
  if (const auto refused = core_->lanes_run("shrink()")) return *refused;
  const auto survivors = agree_on_survivors(*core_);
  if (!survivors) return survivors.error();
  std::vector<std::uint32_t> members;
  std::uint64_t id = mixed(core_->state()->id(), 0x5e11);
  for (const Rank rank : *survivors) {
    members.push_back(core_->state()->job_rank_of(rank));
    id = mixed(id, members.back());
  }
  core_->let_go_of_parent();
  return Team(std::make_shared<TeamCore>(core_->shared_network(), id, std::move(members), nullptr));
}

}  // namespace muster::ucx
