#include "team/control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/digest.hpp"
#include "base/step.hpp"
#include "fabric/host/header_lock.hpp"
#include "fabric/host/memory_info.hpp"

namespace muster::host {
namespace {

constexpr std::uint64_t committed_at_once = 1ULL << 30U;

// Texts that differ behind what an announcement holds must not pass as equal: hence the digest.
Announcement announcement_of(const std::string& text, bool failed) {
  Announcement made;
  made.digest = digest_of(text);
  made.failed = failed ? 1 : 0;
  // Of a long text both ends: a name may be long, and what it is the name of stands behind it.
  const std::size_t room = made.text.size() - 1;
  const std::string shown = text.size() <= room ? text
                                                : text.substr(0, room / 2 - 5) + " ... " +
                                                      text.substr(text.size() - room / 2);
  std::memcpy(made.text.data(), shown.data(), shown.size());
  return made;
}

HeaderLock lock_header(const RankContext& rank) {
  return {rank.job->header(), rank.job_rank, rank.timeout};
}

}  // namespace

TeamControl::TeamControl(std::shared_ptr<RankContext> process, std::uint32_t team,
                         std::weak_ptr<Standing> standing,
                         std::shared_ptr<const TeamControl> parent)
    : standing_(std::move(standing)),
      parent_(std::move(parent)),
      team_(std::move(process), team, parent_ == nullptr ? nullptr : &parent_->team_),
      watch_(team_, Lane{0}, OnExpiry::retry) {  // meet() fails the team itself
  static_assert(sizeof(CallBoard) % page == 0);
  team_.add({Allocation::Kind::memory,
             team_.record().place_offset,
             MeetingPlace::bytes_with_boards(team_.size()),
             0,
             {}});
  if (parent_ != nullptr) ++parent_->children_;
  counted_ = true;
}

TeamControl::~TeamControl() {
  // Nobody here can use the failed team any more. Once the rank has left, its part is no matter.
  if (!closed_ && !team_.process().left && team_.status() != WaitStatus::ok)
    let_go(TeamRecord::LetGo::as_it_was);
  let_go_of_parent();
}

void TeamControl::let_go_of_parent() {
  if (parent_ != nullptr && std::exchange(counted_, false)) --parent_->children_;
}

std::optional<Error> TeamControl::refusal() {
  if (closed_) {
    return Error{ErrorCode::invalid_argument, "this team was closed; nothing can be set up on it",
                 team_.rank()};
  }
  if (team_.status() != WaitStatus::ok) return team_.failure();
  return std::nullopt;
}

std::optional<Error> TeamControl::lanes_run(std::string_view what) const {
  // Pairs with the release in end_lanes: what lanes did is done.
  if (!lanes_run_.load(std::memory_order_acquire)) return std::nullopt;
  return Error{ErrorCode::invalid_argument,
               fmt::format("{}: lanes of this team are running; set-up calls are made outside of "
                           "lanes, when all of them have ended",
                           what),
               team_.rank()};
}

// The n-th meeting of the team: waits until all have come. With an announcement, the last to come
// judges those of all.
Result<void> TeamControl::meet(bool announced) {
  MeetingPlace& place = team_.meeting_place();
  const std::uint32_t number = meetings_++;
  const std::uint32_t job_rank = team_.process().job_rank;
  step(job_rank, "meeting: arrive");
  if (place.arrive(team_.rank().value, number)) {
    step(job_rank, "meeting: end");
    place.end(number, announced ? place.judge(number) : Verdict{});
    return {};
  }
  step(job_rank, "meeting: wait");
  Awaited end{{}, Rank{0}, &place.ended(), Compare::ge, number + 1};
  end.meeting = &place;
  // Pairs with the release in MeetingPlace::end.
  const WaitStatus status = watch_.wait(end, std::memory_order_acquire, call_);
  step(job_rank, "meeting: go on");
  if (status == WaitStatus::ok) return {};
  Error error = watch_.error().value_or(Error{ErrorCode::aborted, "the team has failed"});
  // This rank has left a call that a late one is still to make: from now on they would be one call
  // apart, and agree on things that they do not mean.
  if (status == WaitStatus::expired)
    team_.fail(
        WaitStatus::aborted, team_.process().job_rank,
        fmt::format("{}: a set-up call expired: {}", team_.called(team_.rank()), error.what));
  return error;
}

Result<void> TeamControl::sync() {
  // A failure is sticky: without this look a rank whose peers have all arrived would pass.
  if (auto refused = refusal()) return *refused;
  return meet(false);
}

// Where one rank has failed, or two are about to do different things: what this rank says of it.
std::optional<Error> TeamControl::objection(const std::string& what, std::uint32_t number) const {
  const MeetingPlace& place = team_.meeting_place();
  const Verdict verdict = place.verdict(number);
  Error error{ErrorCode::mismatch, {}, team_.rank()};
  if (verdict.failed != 0) {
    const std::uint32_t peer = verdict.failed - 1;
    error.peer = Rank{peer};
    error.what = fmt::format("{}: {} failed: {}", what, team_.called(Rank{peer}),
                             place.announcement(peer, number).text.data());
    return error;
  }
  if (verdict.differs == 0) return std::nullopt;
  const bool as_rank_0 = digest_of(what) == place.announcement(0, number).digest;
  const std::uint32_t peer = as_rank_0 ? verdict.differs - 1 : 0;
  error.peer = Rank{peer};
  error.what = fmt::format(
      "{} called {}, {} called {}; every rank must make the same calls in the same order",
      team_.called(team_.rank()), place.announcement(team_.rank().value, number).text.data(),
      team_.called(Rank{peer}), place.announcement(peer, number).text.data());
  return error;
}

Result<std::vector<std::uint64_t>> TeamControl::agree(const std::string& what, std::uint64_t value,
                                                      const std::optional<Error>& local) {
  if (auto refused = lanes_run(what)) return *refused;
  // Nobody waits any more once the team has failed: a word written now could meet a slow rank that
  // still reads the one before the last. And what a closed team talked through is another's.
  if (const auto refused = refusal()) return local ? *local : *refused;
  if (team_.process().verify)
    watch_.compare(CallSignature{what.c_str(), {CallSignature::no_cell, set_up_call}});
  MeetingPlace& place = team_.meeting_place();
  const std::uint32_t number = meetings_;
  step(team_.process().job_rank, "agree: announce");
  place.announce(team_.rank().value, number, value,
                 announcement_of(local ? local->what : what, local.has_value()));
  const Result<void> met = meet(true);
  if (local) return *local;
  if (!met) return met.error();
  if (auto error = objection(what, number)) return *error;
  std::vector<std::uint64_t> values;
  values.reserve(team_.size());
  for (std::uint32_t peer = 0; peer < team_.size(); ++peer)
    values.push_back(place.value(peer, number));
  return values;
}

// What the first rank of the team reserves for all: the place plus 1, or 0 where there is none.
Result<std::uint64_t> TeamControl::reserve(const Allocation& allocation) {
  const HeaderLock lock = lock_header(team_.process());
  if (!lock.is_held()) return lock.refusal();
  step(team_.process().job_rank, "allocate: take addresses");
  const auto place = allocation.kind == Allocation::Kind::memory
                         ? team_.header().heap_space.allocate(allocation.length, page)
                         : team_.header().cell_space.allocate(allocation.length, 1);
  return place ? *place + 1 : 0;
}

void TeamControl::release(const Allocation& allocation, std::uint64_t offset) {
  const HeaderLock lock = lock_header(team_.process());
  if (!lock.is_held()) return;  // lost for the rest of the run, which is better than to wait on
  step(team_.process().job_rank, "free: give addresses back");
  RangeAllocator& space = allocation.kind == Allocation::Kind::memory ? team_.header().heap_space
                                                                      : team_.header().cell_space;
  space.release(offset, allocation.length);
}

std::optional<Error> TeamControl::commit(const Allocation& allocation, std::uint64_t offset) {
  if (allocation.kind == Allocation::Kind::cells) return std::nullopt;
  if (allocation.length > committed_at_once) return std::nullopt;
  const Result<void> done =
      team_.job().commit_heap(team_.process().job_rank, offset, allocation.length);
  return done ? std::nullopt : std::optional<Error>(done.error());
}

Result<std::uint64_t> TeamControl::allocate(Allocation allocation, const std::string& what,
                                            const std::optional<Error>& local) {
  if (auto refused = lanes_run(what)) return *refused;
  const auto call = one_call();
  const bool leads = team_.rank() == Rank{0};
  std::uint64_t reserved = 0;
  std::optional<Error> mine = local;
  if (leads && !local) {
    const auto place = reserve(allocation);
    if (place)
      reserved = *place;
    else
      mine = place.error();
  }
  const auto give_up = [&](Error error) {
    if (reserved == 0) return error;
    // Where the team has failed, others may have got further and count it among what the team has.
    allocation.offset = reserved - 1;
    if (team_.status() == WaitStatus::ok)
      release(allocation, allocation.offset);
    else
      team_.add({allocation.kind, allocation.offset, allocation.length, 0, {}});
    return error;
  };
  const auto agreed = agree(what, reserved, mine);
  if (!agreed) return give_up(agreed.error());
  if (agreed->front() == 0) {
    return Error{
        ErrorCode::out_of_memory,
        fmt::format("{}: no room left among the symmetric addresses, of which each rank has "
                    "{} (fewer under ulimit -v or -f)",
                    what, format_bytes(team_.header().heap_bytes)),
        team_.rank()};
  }
  allocation.offset = agreed->front() - 1;
  step(team_.process().job_rank, "allocate: commit");
  std::optional<Error> failed = commit(allocation, allocation.offset);
  if (failed) failed->what = fmt::format("{}: {}", what, failed->what);
  const auto committed = agree(what, 0, failed);
  if (!committed) {
    if (allocation.kind == Allocation::Kind::memory) {
      team_.job().discard_heap(team_.process().job_rank, allocation.offset, allocation.length);
    }
    return give_up(committed.error());
  }
  step(team_.process().job_rank, "allocate: keep");
  const std::uint64_t offset = allocation.offset;
  team_.add(std::move(allocation));
  return offset;
}

Result<void> TeamControl::release(Allocation::Kind kind, std::uint64_t offset) {
  const bool memory = kind == Allocation::Kind::memory;
  const std::string what =
      fmt::format("free of the {} {}", memory ? "window at offset" : "signals at cell", offset);
  if (auto refused = lanes_run(what)) return *refused;
  const auto call = one_call();
  const Allocation* found = team_.find(kind, offset);
  std::optional<Error> local;
  if (found == nullptr || team_.is_system(*found)) {
    local = Error{
        ErrorCode::invalid_argument,
        fmt::format("{}: this team has none there (freed twice, another team's, or never made)",
                    what),
        team_.rank()};
  }
  // Everybody has come: no lane runs any more, so no deposit or transfer is in flight.
  if (const auto agreed = agree(what, 0, local); !agreed) return agreed.error();
  step(team_.process().job_rank, "free: clear");
  const Allocation allocation = *found;
  clear(allocation, team_.process().job_rank);
  team_.remove(kind, offset);
  if (Result<void> zeroed = sync(); !zeroed) return zeroed;
  if (team_.rank() == Rank{0}) release(allocation, offset);
  return {};
}

Result<void> TeamControl::close() {
  if (auto refused = lanes_run("close()")) return *refused;
  const auto call = one_call();
  std::optional<Error> local;
  if (const std::uint32_t open = children_; open > 0) {
    local = Error{ErrorCode::invalid_argument,
                  fmt::format("close(): of the teams that were split off this one, {} still open "
                              "here; close or shrink those first",
                              open),
                  team_.rank()};
  }
  if (!closed_ && team_.status() != WaitStatus::ok) {
    if (local) return *local;
    let_go(TeamRecord::LetGo::as_it_was);
    return {};
  }
  if (const auto agreed = agree("close()", 0, local); !agreed) return agreed.error();
  // Everybody has come, so no lane runs any more. What the team itself talks through stays until
  // the last member has passed the barrier below.
  for (const Allocation& allocation : team_.allocations()) {
    if (!team_.is_system(allocation)) clear(allocation, team_.process().job_rank);
  }
  if (Result<void> cleared = sync(); !cleared) return cleared;
  let_go(TeamRecord::LetGo::cleared);
  return {};
}

// This rank is done with the team. Of the members that live the last one gives back what it had.
void TeamControl::let_go(TeamRecord::LetGo how) {
  step(team_.process().job_rank, "close: let go");
  closed_ = true;
  let_go_of_parent();
  note_let_go(how);
  team_.segments().drop_all();  // no lane of this rank runs on the team any more
}

void TeamControl::note_let_go(TeamRecord::LetGo how) {
  const HeaderLock lock = lock_header(team_.process());
  if (!lock.is_held()) return;
  JobHeader& header = team_.header();
  TeamRecord& record = team_.record();
  record.let_go[team_.rank().value] = how;
  for (std::uint32_t member = 0; member < team_.size(); ++member) {
    if (record.let_go[member] != TeamRecord::LetGo::no) continue;
    const std::uint32_t job_rank = team_.job_rank_of(Rank{member});
    const RankState state = header.rank_records[job_rank].state.load(std::memory_order_acquire);
    if (state != RankState::left && !is_lost(header, job_rank)) return;
  }
  step(team_.process().job_rank, "close: give back");
  for (const Allocation& allocation : team_.allocations()) {
    for (std::uint32_t member = 0; member < team_.size(); ++member) {
      if (record.let_go[member] != TeamRecord::LetGo::cleared || team_.is_system(allocation))
        clear(allocation, team_.job_rank_of(Rank{member}));
    }
    const bool memory = allocation.kind == Allocation::Kind::memory;
    (memory ? header.heap_space : header.cell_space).release(allocation.offset, allocation.length);
  }
  for (std::uint32_t segment = 1; segment < max_segments; ++segment)
    if (team_.segments().is_own(segment)) header.segment_taken[segment] = false;
  header.team_taken[team_.number()] = false;
}

// Makes a rank's part of it zero again, as whoever gets it next expects, and gives its pages back.
void TeamControl::clear(const Allocation& allocation, std::uint32_t job_rank) const {
  if (allocation.kind == Allocation::Kind::memory) {
    team_.job().discard_heap(job_rank, allocation.offset, allocation.length);
  } else {
    team_.job().clear_cells(job_rank, allocation.offset, allocation.length);
  }
}

Result<std::uint32_t> found_team(const RankContext& founder,
                                 const std::vector<std::uint32_t>& members) {
  const Job& job = *founder.job;
  JobHeader& header = job.header();
  const auto size = static_cast<std::uint32_t>(members.size());
  const std::uint64_t bytes = MeetingPlace::bytes_with_boards(size);
  std::optional<std::uint64_t> place;
  std::uint32_t number = 0;
  {
    const HeaderLock lock = lock_header(founder);
    if (!lock.is_held()) return lock.refusal();
    step(founder.job_rank, "team: take a number");
    const auto unused = std::ranges::find(header.team_taken, false);
    if (unused == header.team_taken.end()) {
      return Error{
          ErrorCode::out_of_memory,
          fmt::format("a job has at most {} teams at a time; close those that are done with",
                      max_teams)};
    }
    place = header.heap_space.allocate(bytes, page);
    if (!place) return Error{ErrorCode::out_of_memory, "no room left for another team's meetings"};
    *unused = true;
    number = static_cast<std::uint32_t>(unused - header.team_taken.begin());
  }
  TeamRecord& record = header.teams[number];
  step(founder.job_rank, "team: write the record");
  record.status.store(0, std::memory_order_relaxed);  // published with the number, by the caller
  record.failing.store(0, std::memory_order_relaxed);
  record.decider.store(0, std::memory_order_relaxed);
  record.successor.store(0, std::memory_order_relaxed);
  std::fill_n(record.let_go.begin(), size, TeamRecord::LetGo::no);
  record.lost = no_rank;
  record.size = size;
  record.place_offset = *place;
  for (std::uint32_t member = 0; member < size; ++member) {
    record.members[member] = static_cast<std::uint16_t>(members[member]);
  }
  reinterpret_cast<MeetingPlace*>(job.heap_of(members[0]) + *place)->begin(size);
  return number;
}

void unfound_team(const RankContext& founder, std::uint32_t number) {
  JobHeader& header = founder.job->header();
  const TeamRecord& record = header.teams[number];
  const HeaderLock lock = lock_header(founder);
  if (!lock.is_held()) return;
  header.heap_space.release(record.place_offset, MeetingPlace::bytes_with_boards(record.size));
  header.team_taken[number] = false;
}

}  // namespace muster::host
