// What is wrong with an execution: findings, and the judgement of its end.
#include <fmt/format.h>

#include <algorithm>

#include "base/compare.hpp"
#include "check/execution.hpp"
#include "check/mutant.hpp"
#include "check/sites.hpp"

namespace muster::check::engine {

namespace {
constexpr std::size_t most_findings = 24;

// What is told first: causes before their consequences.
int rank_of(Kind kind) {
  switch (kind) {
    case Kind::race: return 1;
    case Kind::clobber: return 2;
    case Kind::stale_pass: return 3;
    case Kind::credits: return 4;
    case Kind::divergence:
    case Kind::deadlock: return 5;
    case Kind::expect: return 6;
    default: return 0;
  }
}
}  // namespace

// Where ranks that miss each other run different numbers of lanes: which.
std::string Execution::other_lanes(Kind kind) const {
  if (kind != Kind::deadlock && kind != Kind::divergence && kind != Kind::stale_pass) return "";
  for (std::uint32_t rank = 1; rank < options_.ranks; ++rank) {
    const auto& first = launches_[0];
    const auto& other = launches_[rank];
    for (std::size_t at = 0; at < std::min(first.size(), other.size()); ++at)
      if (first[at].lanes != other[at].lanes)
        return fmt::format("; rank 0 runs {} lanes ({}) where rank {} runs {} ({})",
                           first[at].lanes, short_place(first[at].where), rank, other[at].lanes,
                           short_place(other[at].where));
  }
  return "";
}

void Execution::found(Thread& self, Kind kind, std::string what, std::string missing,
                      std::string location, const Clock* also) {
  const bool full = findings_.size() >= most_findings;
  if (unwinding_ || (full && rank_of(findings_.back().kind) <= rank_of(kind))) return;
  // On sc, errors that only a weaker memory explains are none.
  if (options_.profile == Profile::sc && !explained_by_one_order()) {
    unexplained_ = true;
    return;
  }
  for (const Finding& finding : findings_)
    if (finding.kind == kind && finding.location == location && finding.rank == self.rank) return;
  if (full) findings_.pop_back();
  const auto place = std::find_if(findings_.begin(), findings_.end(), [&](const Finding& other) {
    return rank_of(other.kind) > rank_of(kind);
  });
  if (place == findings_.begin()) {
    finding_past_ = self.cause;
    if (also != nullptr) finding_past_.join(*also);
  }
  if (tracing_) note(self, self.where, fmt::format("** {} **", name_of(kind)));
  Finding finding;
  finding.kind = kind;
  finding.what = std::move(what) + other_lanes(kind);
  finding.missing = std::move(missing);
  finding.location = std::move(location);
  finding.rank = self.rank;
  finding.lane = self.lane;
  findings_.insert(place, std::move(finding));
}

const Thread& Execution::thread_of(Stamp stamp) const {
  const auto threads = static_cast<std::uint32_t>(threads_.size());
  if (stamp.component < 2 * threads) return threads_[stamp.component % threads];
  if (stamp.component < static_components_)
    return threads_[(stamp.component - 2 * threads) / options_.ranks];
  return threads_[agents_[stamp.component - static_components_].thread];
}

Stamp Execution::event_of(Stamp stamp) const {
  const auto threads = static_cast<std::uint32_t>(threads_.size());
  if (stamp.component < 2 * threads) stamp.component %= threads;
  return stamp;
}

std::string Execution::location(const Segment& segment, std::uint64_t element,
                                std::uint32_t rank) const {
  return fmt::format("{}[{}] of rank {}", segment.name, element, rank);
}

std::string Execution::name_of_cell(const Cell& cell) const {
  for (const Block& block : blocks_) {
    if (cell.number < block.first || cell.number >= block.first + block.count) continue;
    const std::uint32_t at = cell.number - block.first;
    if (block.ranks == 0) return fmt::format("{}[{}] of rank {}", block.name, at, cell.rank);
    return fmt::format("{}[lane {}, from rank {}] of rank {}", block.name, at / block.ranks,
                       at % block.ranks, cell.rank);
  }
  return fmt::format("cell {} of rank {}", cell.number, cell.rank);
}

std::string Execution::name_of_thread(const Thread& thread) const {
  std::string name = fmt::format("rank {}", thread.rank);
  if (thread.is_setup) return name + " (set-up)";
  if (options_.lanes > 1) name += fmt::format(" lane {}", thread.lane);
  if (options_.threads > 1) name += fmt::format(" thread {}", thread.index);
  return name;
}

std::string Execution::describe_read(const Thread& thread) const {
  const PendingRead& read = thread.read;
  std::string text;
  for (const Look& look : read.looks) {
    const Cell& cell = cells_[look.cell];
    const auto full = static_cast<std::int32_t>(cell.value(cell.all()));
    if (!text.empty()) text += " or ";
    text += fmt::format("{} {} {} (it is {})", name_of_cell(cell), symbol_of(look.compare),
                        static_cast<std::int32_t>(look.value), full);
    std::set<std::uint32_t> writers;
    for (std::uint32_t at = 0; at < cell.count; ++at)
      if (cell.deposits[at].thread != thread.id) writers.insert(cell.deposits[at].thread);
    if (writers.empty()) {
      text += ", nobody has written it";
    } else {
      text += ", written so far by";
      for (const std::uint32_t writer : writers) {
        const Thread& other = threads_[writer];
        text += fmt::format(" {}", name_of_thread(other));
        if (other.state == ThreadState::reading) text += " (blocked itself)";
        if (other.state == ThreadState::absent || other.state == ThreadState::done)
          text += " (has ended)";
      }
    }
  }
  return text;
}

// Nothing can go on: why?
Ending Execution::judge_stuck() {
  for (const Thread& thread : threads_)
    if (thread.state == ThreadState::reading && satisfied_in_full(thread) &&
        !mutant("dropped-as-deadlock"))
      return Ending::dropped;
  if (mutant("deadlock-as-done")) return Ending::done;
  if (options_.profile == Profile::sc && !explained_by_one_order()) {
    unexplained_ = true;
    return Ending::dropped;
  }
  judge_take_backs();
  report_divergence_or_deadlock();
  return Ending::stuck;
}

// Did a cell hold, between two of its deposits, what the blocked thread waits for?
bool Execution::was_there(const Thread& thread) const {
  for (const Look& look : thread.read.looks) {
    const Cell& cell = cells_[look.cell];
    Bits prefix;
    for (std::uint32_t at = 0; at < cell.count; ++at) {
      if (at >= 1 && satisfies(cell.value(prefix), look.compare, look.value)) return true;
      prefix.add(at);
    }
  }
  return false;
}

void Execution::report_divergence_or_deadlock() {
  for (Thread& thread : threads_) {
    if (thread.state == ThreadState::meeting) {
      for (const Thread& other : threads_)
        if (!mutant("divergence-unseen") && other.rank == thread.rank &&
            other.lane == thread.lane && !other.is_setup && other.state == ThreadState::absent)
          found(thread, Kind::divergence,
                fmt::format("{} is at a {} ({}) that {} never reaches: it has returned",
                            name_of_thread(thread), thread.meeting_kind, short_place(thread.where),
                            name_of_thread(other)),
                "every thread of a lane must reach every converge", name_of_thread(thread));
    }
    if (thread.state == ThreadState::setup) {
      for (const Thread& other : threads_)
        if (other.is_setup && other.state == ThreadState::done)
          found(thread, Kind::divergence,
                fmt::format("rank {} is at {} that rank {} never calls: it has returned",
                            thread.rank, setup_calls_[thread.setup_calls - 1].what, other.rank),
                "every rank makes the same set-up calls in the same order",
                fmt::format("rank {}", thread.rank));
    }
  }
  std::string all;
  Thread* first = nullptr;
  bool missed = false;
  Clock past;
  for (Thread& thread : threads_)
    if (thread.state == ThreadState::reading) {
      if (first == nullptr) first = &thread;
      missed = missed || was_there(thread);
      past.join(thread.cause);
      all += fmt::format("{}{} waits ({}) for {}", all.empty() ? "" : "; ", name_of_thread(thread),
                         short_place(thread.read.where), describe_read(thread));
    }
  if (first != nullptr)
    found(*first, Kind::deadlock, "every thread that is left is blocked: " + all,
          missed
              ? "what one of these waits wants was there, and has passed: a value that comes and "
                "goes may be missed"
              : "the deposits that these waits want are never made",
          "", &past);
}

// The promises that hold at the end of a whole execution.
void Execution::judge_end() {
  for (std::uint32_t number = 0; number < cell_numbers_; ++number)
    for (std::uint32_t rank = 0; rank < options_.ranks; ++rank) {
      Cell& cell = cells_[cell_index(rank, number)];
      Thread& setup = threads_[rank * per_rank_];
      const std::uint32_t value = cell.value(cell.all());
      if (cell.promised_zero && value != 0 && !mutant("left-over-unseen"))
        found(setup, Kind::credits,
              fmt::format("{} is {} at the end, where the protocol promises zero",
                          name_of_cell(cell), static_cast<std::int32_t>(value)),
              "what was deposited is not taken back, or more than that", name_of_cell(cell));
    }
  judge_take_backs();
}

// sc: orders everything by program order, reads-from, and "a read that did not see a deposit comes
// before it". A cycle means that no single order explains what was read.
bool Execution::explained_by_one_order() const {
  const std::size_t n = log_.size();
  std::vector<std::uint32_t> before(n, 0);
  std::vector<std::vector<std::uint32_t>> after(n);
  const auto precedes = [&](const Logged& a, const Logged& b) {
    if (b.cause.has(a.stamp)) return true;
    return a.reads && !b.reads && a.cell == b.cell && !a.set.has(b.deposit);
  };
  for (std::uint32_t a = 0; a < n; ++a)
    for (std::uint32_t b = 0; b < n; ++b)
      if (a != b && precedes(log_[a], log_[b])) {
        after[a].push_back(b);
        ++before[b];
      }
  std::vector<std::uint32_t> free;
  for (std::uint32_t a = 0; a < n; ++a)
    if (before[a] == 0) free.push_back(a);
  std::size_t ordered = 0;
  while (!free.empty()) {
    const std::uint32_t a = free.back();
    free.pop_back();
    ++ordered;
    for (const std::uint32_t b : after[a])
      if (--before[b] == 0) free.push_back(b);
  }
  return ordered == n;
}

}  // namespace muster::check::engine
