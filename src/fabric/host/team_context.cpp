#include "fabric/host/team_context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/call_words.hpp"
#include "base/step.hpp"

namespace muster::host {
namespace {

// How many cores the ranks of the job may use between them, however each of them is pinned.
std::uint32_t count_cores(const JobHeader& header) {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (std::uint32_t rank = 0; rank < header.ranks; ++rank) {
    CPU_OR(&all, &all, &header.rank_records[rank].cores);
  }
  return static_cast<std::uint32_t>(CPU_COUNT(&all));
}

std::vector<std::uint32_t> members_of(const TeamRecord& record) {
  return {record.members.begin(), record.members.begin() + record.size};
}

}  // namespace

TeamContext::TeamContext(std::shared_ptr<RankContext> rank, std::uint32_t number,
                         const TeamContext* parent)
    : process_(std::move(rank)),
      parent_(parent),
      number_(number),
      record_(process_->job->header().teams[number]),
      segments_(*process_->job, members_of(record_)) {
  for (std::uint32_t member = 0; member < record_.size; ++member) {
    const std::uint32_t job_rank = record_.members[member];
    if (job_rank == process_->job_rank) rank_ = Rank{member};
    sleepers_.push_back(&header().rank_records[job_rank].sleepers);
  }
  cores_ = count_cores(header());
  for (const TeamContext* team = this; team != nullptr; team = team->parent_)
    usable_[team->number_] = true;
  if (parent_ == nullptr) return;
  std::vector<std::uint32_t> ranks_there;
  for (const std::uint32_t job_rank : members_of(record_)) {
    const auto everybody = members_of(parent_->record_);
    ranks_there.push_back(
        static_cast<std::uint32_t>(std::ranges::find(everybody, job_rank) - everybody.begin()));
  }
  segments_.inherit(parent_->segments_, ranks_there);
}

LaneContext TeamContext::lane_context(Lane lane, std::uint32_t lanes) const {
  LaneContext context;
  context.rank = rank_;
  context.size = size();
  context.lane = lane;
  context.lanes = lanes;
  context.verify = process_->verify;
  context.segments = segments_.table();
  context.cells = header().cells;
  context.teams = usable_.data();
  context.sleepers = sleepers_.data();
  // Polling helps only while the lane that would answer has a core of its own.
  context.spins = header().ranks * lanes <= cores_ ? 320 : 1;
  return context;
}

CallBoard& TeamContext::board_of(Rank rank) const {
  // Behind the meeting place; zero like all memory, which is a board without calls.
  std::byte* const boards =
      reinterpret_cast<std::byte*>(&meeting_place()) + MeetingPlace::bytes(size());
  return reinterpret_cast<CallBoard*>(boards)[rank.value];
}

MeetingPlace& TeamContext::meeting_place() const {
  std::byte* const place = job().heap_of(record_.members[0]) + record_.place_offset;
  return *reinterpret_cast<MeetingPlace*>(place);
}

const TeamContext* TeamContext::failed() const {
  for (const TeamContext* team = this; team != nullptr; team = team->parent_) {
    // Pairs with the release in fail.
    if (team->record_.status.load(std::memory_order_acquire) != 0) return team;
  }
  return nullptr;
}

WaitStatus TeamContext::status() const {
  const TeamContext* team = failed();
  if (team == nullptr) return WaitStatus::ok;
  return static_cast<WaitStatus>(team->record_.status.load(std::memory_order_relaxed));
}

Error TeamContext::failure() const {
  const TeamContext& team = failed() == nullptr ? *this : *failed();
  Error error;
  error.code = code_of(team.status());
  error.rank = rank_;
  for (std::uint32_t member = 0; member < size(); ++member) {
    if (record_.members[member] == team.record_.lost) error.peer = Rank{member};
  }
  error.what = team.record_.reason.data();
  return error;
}

namespace {
// At most so many bytes, with "..." where something was cut, and no character cut in two.
std::string shortened(const std::string& text, std::size_t most) {
  constexpr const char* cut = "...";
  if (text.size() <= most) return text;
  std::size_t end = most - std::strlen(cut);
  const auto goes_on = [&](std::size_t at) {  // within a character of UTF-8
    return (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U;
  };
  while (end > 0 && goes_on(end)) --end;
  return text.substr(0, end) + cut;
}
}  // namespace

void TeamContext::fail(WaitStatus status, std::uint32_t job_rank, const std::string& reason) {
  if (!may_report_failure()) return;
  step(process_->job_rank, "failure: begun");
  record_.lost = job_rank;
  const std::string kept = shortened(reason, record_.reason.size() - 1);
  std::memcpy(record_.reason.data(), kept.c_str(), kept.size() + 1);
  step(process_->job_rank, "failure: written");
  // Pairs with the acquire in status.
  record_.status.store(static_cast<std::uint32_t>(status), std::memory_order_release);
}

// The first to get here writes the reason; whoever comes later has nothing to add, unless the first
// died over it.
bool TeamContext::may_report_failure() {
  const std::uint32_t me = process_->job_rank + 1;
  std::uint32_t writer = 0;
  // Relaxed where it is the first; acquire, so that what a dead one wrote is overwritten.
  if (record_.failing.compare_exchange_strong(writer, me, std::memory_order_acquire)) return true;
  if (writer == me || !is_lost(header(), writer - 1)) return false;
  return record_.status.load(std::memory_order_acquire) == 0 &&
         record_.failing.compare_exchange_strong(writer, me, std::memory_order_acquire);
}

std::string TeamContext::called(Rank rank) const {
  const std::uint32_t job_rank = job_rank_of(rank);
  return job_rank == rank.value ? fmt::format("rank {}", rank.value)
                                : fmt::format("rank {} (rank {} of the job)", rank.value, job_rank);
}

void TeamContext::look_for_lost_peers() {
  end_if_launcher_is_lost(header(), process_->job_rank);
  for (std::uint32_t member = 0; member < size(); ++member) {
    const std::uint32_t job_rank = record_.members[member];
    if (!is_lost(header(), job_rank)) continue;
    fail(WaitStatus::peer_lost, job_rank,
         fmt::format("{}{} died", called(Rank{member}), job().pid_note(job_rank)));
    return;
  }
}

void TeamContext::add(Allocation allocation) {
  allocations_.push_back(std::move(allocation));
}

void TeamContext::remove(Allocation::Kind kind, std::uint64_t offset) {
  std::erase_if(allocations_, [&](const Allocation& allocation) {
    return allocation.kind == kind && allocation.offset == offset;
  });
}

const Allocation* TeamContext::find(Allocation::Kind kind, std::uint64_t offset) const {
  const auto found = std::ranges::find_if(allocations_, [&](const Allocation& allocation) {
    return allocation.kind == kind && allocation.offset == offset;
  });
  return found == allocations_.end() ? nullptr : &*found;
}

const Allocation* TeamContext::find_named(const std::string& name) const {
  const auto found = std::ranges::find(allocations_, name, &Allocation::name);
  return found == allocations_.end() ? nullptr : &*found;
}

const Allocation* TeamContext::holding(Allocation::Kind kind, std::uint64_t offset,
                                       std::uint64_t length) const {
  const auto found = std::ranges::find_if(allocations_, [&](const Allocation& allocation) {
    return allocation.kind == kind && offset >= allocation.offset && length <= allocation.length &&
           offset - allocation.offset <= allocation.length - length && !is_system(allocation);
  });
  if (found != allocations_.end()) return &*found;
  // Cells belong to one team alone; a parent's windows are a split team's as well.
  const bool passed_on = kind == Allocation::Kind::memory && parent_ != nullptr;
  return passed_on ? parent_->holding(kind, offset, length) : nullptr;
}

bool TeamContext::is_system(const Allocation& allocation) const {
  return allocation.kind == Allocation::Kind::memory && allocation.offset == record_.place_offset;
}

std::string TeamContext::objection_to(const UntypedWindow& window) const {
  if (window.team >= max_teams || !usable_[window.team])
    return fmt::format("is another team's: of team {}, and this is team {}", window.team, number_);
  std::int64_t size = 0;
  std::uint64_t bytes = 0;
  const bool counted = window.rows >= 0 && window.cols >= 0 &&
                       !__builtin_mul_overflow(window.rows, window.cols, &size) &&
                       !__builtin_mul_overflow(static_cast<std::uint64_t>(size),
                                               bytes_of_element(window.element), &bytes);
  if (counted && bytes == 0 && window.segment == 0) return {};  // none, of which nothing is moved
  std::optional<std::uint64_t> element;                         // of what it lies in
  if (counted && window.segment == 0) {
    const Allocation* const found = holding(Allocation::Kind::memory, window.offset, bytes);
    if (found != nullptr) element = found->element;
  } else if (counted && segments_.holds(window.segment, window.offset, bytes)) {
    element = segments_.element_of(window.segment);
  }
  if (!element)
    return "lies in none that this team has allocated (freed, out of bounds, or another team's)";
  if (*element != 0 && *element != window.element)
    return fmt::format("was made for {}", name_of_element(*element));
  return {};
}

std::optional<Rank> TeamContext::writer_of(std::uint32_t cell) const {
  const Allocation* rows = holding(Allocation::Kind::cells, cell, 1);
  if (rows == nullptr || rows->row_lanes == 0) return std::nullopt;
  return Rank{static_cast<std::uint32_t>((cell - rows->offset) % size())};
}

}  // namespace muster::host
