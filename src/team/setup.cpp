#include "team/setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/step.hpp"
#include "fabric/host/header_lock.hpp"
#include "fabric/host/memory_info.hpp"

namespace muster::host {
namespace {

constexpr std::uint64_t committed_at_once = 1ULL << 30U;

Message make_message(const std::string& text, std::uint64_t value, bool failed) {
  Message message;
  message.value = value;
  message.failed = failed ? 1 : 0;
  std::memcpy(message.text.data(), text.data(), std::min(text.size(), message.text.size() - 1));
  return message;
}

LaneContext watched(LaneContext context, LaneWatch& watch) {
  context.watch = &watch;
  return context;
}

HeaderLock lock_header(const RankContext& rank) {
  return {rank.job->header(), rank.job_rank, rank.timeout};
}

Rows system_rows(const TeamContext& team) {
  const std::uint32_t first = team.record().system_cell;
  return Rows{Signal{0, first}, Counter{0, first + team.size()}, 1, team.size()};
}

}  // namespace

Setup::Setup(std::shared_ptr<RankContext> process, std::uint32_t team,
             std::shared_ptr<const Setup> parent)
    : parent_(std::move(parent)),
      team_(std::move(process), team, parent_ == nullptr ? nullptr : &parent_->team_),
      watch_(team_, Lane{0}),
      fabric_(watched(team_.lane_context(Lane{0}, 1), watch_)),
      barrier_(system_rows(team_)),
      mailbox_{team_.record().mailbox_offset, 1, 2, 0, team} {
  static_assert(2 * sizeof(Message) <= page && sizeof(CallBoard) % page == 0);
  team_.add(
      {Allocation::Kind::cells, team_.record().system_cell, system_cells(team_.size()), 1, {}});
  team_.add({Allocation::Kind::memory, team_.record().mailbox_offset, mailbox_bytes, 0, {}});
  if (parent_ != nullptr) ++parent_->children_;
  counted_ = true;
}

Setup::~Setup() {
  let_go_of_parent();
}

void Setup::let_go_of_parent() {
  if (parent_ != nullptr && std::exchange(counted_, false)) --parent_->children_;
}

std::optional<Error> Setup::refusal() {
  if (closed_) {
    return Error{ErrorCode::invalid_argument, "this team was closed; nothing can be set up on it",
                 team_.rank()};
  }
  if (team_.status() != WaitStatus::ok) return team_.failure();
  return std::nullopt;
}

Result<void> Setup::sync() {
  // A failure is sticky: without this look a rank whose peers have all arrived would pass.
  if (auto refused = refusal()) return *refused;
  const WaitStatus status = barrier_.sync(fabric_);
  if (status == WaitStatus::ok) return {};
  Error error = watch_.error().value_or(Error{ErrorCode::aborted, "the team has failed"});
  // This rank has left a call that a late one is still to make: from now on they would be one call
  // apart, and agree on things that they do not mean.
  if (status == WaitStatus::expired)
    team_.fail(WaitStatus::aborted, team_.process().job_rank,
               fmt::format("rank {}: a set-up call expired: {}", team_.rank().value, error.what));
  return error;
}

Result<std::vector<Message>> Setup::exchange(const Message& mine) {
  // Two places that alternate: a rank that writes one again has passed the barrier of the exchange
  // in between, which each reader entered after it had read.
  const auto place = static_cast<std::int64_t>(exchanges_++ % 2);
  step(team_.process().job_rank, "exchange: write");
  fabric_.local(mailbox_)[place] = mine;
  step(team_.process().job_rank, "exchange: meet");
  if (Result<void> met = sync(); !met) return met.error();
  step(team_.process().job_rank, "exchange: read");
  std::vector<Message> messages;
  messages.reserve(team_.size());
  for (std::uint32_t peer = 0; peer < team_.size(); ++peer) {
    messages.push_back(fabric_.address(mailbox_, Rank{peer})[place]);
  }
  return messages;
}

Result<std::vector<Message>> Setup::agree(const std::string& what, std::uint64_t value,
                                          const std::optional<Error>& local) {
  // Nobody waits any more once the team has failed: a word written now could meet a slow rank that
  // still reads the one before the last. And what a closed team talked through is another's.
  if (const auto refused = refusal()) return local ? *local : *refused;
  fabric_.describe(Call{what.c_str(), {0, set_up_call}});
  Result<std::vector<Message>> messages =
      exchange(make_message(local ? local->what : what, value, local.has_value()));
  if (local) return *local;
  if (!messages) return messages;
  const std::string mine = make_message(what, 0, false).text.data();
  for (std::uint32_t peer = 0; peer < team_.size(); ++peer) {
    const Message& theirs = (*messages)[peer];
    Error error{ErrorCode::mismatch, {}, team_.rank(), {}, Rank{peer}};
    if (theirs.failed != 0) {
      error.what = fmt::format("{}: rank {} failed: {}", what, peer, theirs.text.data());
      return error;
    }
    if (mine != theirs.text.data()) {
      error.what = fmt::format(
          "rank {} called {}, rank {} called {}; every rank must make the same "
          "calls in the same order",
          team_.rank().value, mine, peer, theirs.text.data());
      return error;
    }
  }
  return messages;
}

// What the first rank of the team reserves for all: the place plus 1, or 0 where there is none.
Result<std::uint64_t> Setup::reserve(const Allocation& allocation) {
  const HeaderLock lock = lock_header(team_.process());
  if (!lock.is_held()) return lock.refusal();
  step(team_.process().job_rank, "allocate: take addresses");
  const auto place = allocation.kind == Allocation::Kind::memory
                         ? team_.header().heap_space.allocate(allocation.length, page)
                         : team_.header().cell_space.allocate(allocation.length, 1);
  return place ? *place + 1 : 0;
}

void Setup::give_back(const Allocation& allocation, std::uint64_t offset) {
  const HeaderLock lock = lock_header(team_.process());
  if (!lock.is_held()) return;  // lost for the rest of the run, which is better than to wait on
  step(team_.process().job_rank, "free: give addresses back");
  RangeAllocator& space = allocation.kind == Allocation::Kind::memory ? team_.header().heap_space
                                                                      : team_.header().cell_space;
  space.release(offset, allocation.length);
}

std::optional<Error> Setup::commit(const Allocation& allocation, std::uint64_t offset) {
  if (allocation.kind == Allocation::Kind::cells) return std::nullopt;
  if (allocation.length > committed_at_once) return std::nullopt;
  const Result<void> done =
      team_.job().commit_heap(team_.process().job_rank, offset, allocation.length);
  return done ? std::nullopt : std::optional<Error>(done.error());
}

Result<std::uint64_t> Setup::allocate(Allocation allocation, const std::string& what,
                                      const std::optional<Error>& local) {
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
    if (reserved != 0) give_back(allocation, reserved - 1);
    return error;
  };
  const auto agreed = agree(what, reserved, mine);
  if (!agreed) return give_up(agreed.error());
  if (agreed->front().value == 0) {
    return Error{ErrorCode::out_of_memory,
                 fmt::format("{}: no room left among the symmetric addresses", what), team_.rank()};
  }
  allocation.offset = agreed->front().value - 1;
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

Result<void> Setup::release(Allocation::Kind kind, std::uint64_t offset) {
  const bool memory = kind == Allocation::Kind::memory;
  const std::string what =
      fmt::format("free of the {} {}", memory ? "window at offset" : "signals at cell", offset);
  const Allocation* found = team_.find(kind, offset);
  std::optional<Error> local;
  if (found == nullptr || is_system(*found)) {
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
  if (team_.rank() == Rank{0}) give_back(allocation, offset);
  return {};
}

Result<void> Setup::close() {
  std::optional<Error> local;
  if (const std::uint32_t open = children_; open > 0) {
    local = Error{ErrorCode::invalid_argument,
                  fmt::format("close(): of the teams that were split off this one, {} still open "
                              "here; close or shrink those first",
                              open),
                  team_.rank()};
  }
  if (const auto agreed = agree("close()", 0, local); !agreed) {
    if (team_.status() != WaitStatus::ok) let_go_of_parent();  // it will never look there again
    return agreed.error();
  }
  // Everybody has come, so no lane runs any more. What the team itself talks through stays until
  // the last member has passed the barrier below.
  for (const Allocation& allocation : team_.allocations()) {
    if (!is_system(allocation)) clear(allocation, team_.process().job_rank);
  }
  if (Result<void> cleared = sync(); !cleared) return cleared;
  step(team_.process().job_rank, "close: count");
  closed_ = true;
  let_go_of_parent();
  // Pairs with itself: the last to come sees that all others have passed.
  if (team_.record().done.fetch_add(1, std::memory_order_acq_rel) + 1 != team_.size()) return {};
  step(team_.process().job_rank, "close: give back");
  for (const Allocation& allocation : team_.allocations()) {
    for (std::uint32_t member = 0; is_system(allocation) && member < team_.size(); ++member) {
      clear(allocation, team_.job_rank_of(Rank{member}));
    }
    give_back(allocation, allocation.offset);
  }
  const HeaderLock lock = lock_header(team_.process());
  if (lock.is_held()) team_.header().team_taken[team_.number()] = false;
  return {};
}

bool Setup::is_system(const Allocation& allocation) const {
  const bool memory = allocation.kind == Allocation::Kind::memory;
  return allocation.offset ==
         (memory ? team_.record().mailbox_offset : std::uint64_t{team_.record().system_cell});
}

// Makes a rank's part of it zero again, as whoever gets it next expects, and gives its pages back.
void Setup::clear(const Allocation& allocation, std::uint32_t job_rank) const {
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
  std::optional<std::uint64_t> cells;
  std::optional<std::uint64_t> mailbox;
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
    cells = header.cell_space.allocate(Setup::system_cells(size), 1);
    mailbox = header.heap_space.allocate(Setup::mailbox_bytes, page);
    if (!cells || !mailbox) {
      if (cells) header.cell_space.release(*cells, Setup::system_cells(size));
      if (mailbox) header.heap_space.release(*mailbox, Setup::mailbox_bytes);
      return Error{ErrorCode::out_of_memory, "no room left for another team's signals"};
    }
    *unused = true;
    number = static_cast<std::uint32_t>(unused - header.team_taken.begin());
  }
  TeamRecord& record = header.teams[number];
  step(founder.job_rank, "team: write the record");
  record.status.store(0, std::memory_order_relaxed);  // published with the number, by the caller
  record.failing.store(0, std::memory_order_relaxed);
  record.decider.store(0, std::memory_order_relaxed);
  record.successor.store(0, std::memory_order_relaxed);
  record.done.store(0, std::memory_order_relaxed);
  record.lost = no_rank;
  record.size = size;
  record.system_cell = static_cast<std::uint32_t>(*cells);
  record.mailbox_offset = *mailbox;
  for (std::uint32_t member = 0; member < size; ++member) {
    record.members[member] = static_cast<std::uint16_t>(members[member]);
    job.clear_cells(members[member], *cells, Setup::system_cells(size));
  }
  return number;
}

void unfound_team(const RankContext& founder, std::uint32_t number) {
  JobHeader& header = founder.job->header();
  const TeamRecord& record = header.teams[number];
  const HeaderLock lock = lock_header(founder);
  if (!lock.is_held()) return;
  header.cell_space.release(record.system_cell, Setup::system_cells(record.size));
  header.heap_space.release(record.mailbox_offset, Setup::mailbox_bytes);
  header.team_taken[number] = false;
}

}  // namespace muster::host
