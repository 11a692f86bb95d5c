// What the watcher's thread does: see cell_watch.hpp.
#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "fabric/host/cell_watch.hpp"
#include "fabric/host/futex.hpp"

namespace muster::host {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr auto attention = milliseconds(50);       // between two looks for failures and lost peers
constexpr auto shortest_round = milliseconds(10);  // between two looks for deadlines
constexpr auto blind_round = milliseconds(1);      // between two looks at all, where none tells

// What the calling thread watches, while it calls waits, and what it is to do afterwards.
struct OnDuty {
  CellWatch* watch = nullptr;
  std::function<void()> job = nullptr;
};
thread_local OnDuty on_duty;

}  // namespace

void CellWatch::run() {
  pthread_setname_np(pthread_self(), "muster watch");
  while (!ends_.load(std::memory_order_seq_cst)) {
    const bool told = look_at_hinted();
    if (on_duty.job) {
      hand_over();
      std::exchange(on_duty.job, nullptr)();
      at_job_.store(false, std::memory_order_release);
      continue;
    }
    if (told) continue;
    attend();
    if (!on_duty.job) sleep();
  }
}

bool CellWatch::is_on_duty() const {
  return on_duty.watch == this && !on_duty.job;
}

bool CellWatch::take_on(std::function<void()> job) {
  // Of the two threads the other is in its loop, then: it sleeps, or will look before it does.
  if (on_duty.watch != this || on_duty.job || at_job_.exchange(true, std::memory_order_acquire))
    return false;
  on_duty.job = std::move(job);
  return true;
}

// The other one watches from here on. Where it sleeps, the next deposit is to wake it, and where
// one has come that has woken nobody, this does.
void CellWatch::hand_over() {
  if (sleeping_.load(std::memory_order_seq_cst) == 0) return;
  bell_.sleep.fetch_or(CellBell::asleep, std::memory_order_seq_cst);
  if (is_told()) bell_.wake_one();
}

bool CellWatch::is_told() const {
  return std::ranges::any_of(bell_.hints, [](const std::atomic<std::uint64_t>& bits) {
    return bits.load(std::memory_order_seq_cst) != 0;
  });
}

bool CellWatch::look_at_hinted() {
  bool any = false;
  const std::unique_lock calls(calls_lock_);
  {
    const std::lock_guard work(work_lock_);
    for (std::uint32_t word = 0; word < bell_.hints.size(); ++word) {
      if (bell_.hints[word].load(std::memory_order_relaxed) == 0) continue;
      // Acquires the deposits that it tells of: see ring.
      std::uint64_t hints = bell_.hints[word].exchange(0, std::memory_order_acq_rel);
      any = any || hints != 0;
      for (; hints != 0; hints &= hints - 1)
        look_at(word * 64 + static_cast<std::uint32_t>(std::countr_zero(hints)));
    }
  }
  call_ended();
  return any;
}

void CellWatch::look_at(std::uint32_t group_number) {
  Group& group = groups_[group_number];
  std::vector<CellWait*> held;
  {
    const std::lock_guard guard(group.lock);
    if (group.entries == 0) {
      // Nobody waits there: its deposits need not tell. Who lists the next wait says so again.
      bell_.watched[group_number / 64].fetch_and(~(1ULL << (group_number % 64U)),
                                                 std::memory_order_relaxed);
    }
    for (Cell& cell : group.cells) {
      if (cell.entries.empty()) continue;
      // Pairs with the release of the deposit: what it carries is seen by what starts now.
      const std::uint32_t seen =
          std::atomic_ref<std::uint32_t>(*cell.word).load(std::memory_order_acquire);
      for (std::size_t at = cell.entries.size(); at-- > 0;) {
        const Entry& entry = cell.entries[at];
        if (!satisfies(seen, entry.compare, entry.value)) continue;
        held.push_back(entry.wait);
        unlist(group, cell, *entry.wait);
      }
    }
  }
  // In the order in which they came, as far as unlist has left them in it.
  std::ranges::reverse(held);
  go_on(held);
}

void CellWatch::go_on(std::vector<CellWait*>& held) {
  for (CellWait* const wait : held) {
    bool listed = false;
    while (!listed && wait->advance()) listed = list(*wait);
    if (!listed) ended_.push_back({wait, std::nullopt});
  }
}

// Without a lock that anybody needs to list or to take back a wait: what is called may do so.
void CellWatch::call_ended() {
  if (ended_.empty()) return;
  const std::vector<Ended> ended = std::exchange(ended_, {});
  on_duty.watch = this;
  pending_.fetch_sub(ended.size(), std::memory_order_relaxed);
  for (const Ended& one : ended) {
    if (one.error) {
      one.wait->failed(*one.error);
    } else {
      one.wait->held();
    }
  }
  on_duty.watch = nullptr;
}

bool CellWatch::is_due(Clock::time_point now) const {
  return nanoseconds(now.time_since_epoch()).count() >=
         next_deadline_.load(std::memory_order_relaxed);
}

void CellWatch::attend() {
  const Clock::time_point now = Clock::now();
  {
    const std::lock_guard guard(arm_lock_);
    if (now < next_attention_ && !is_due(now)) return;
    next_attention_ = now + attention;
  }
  if (pending_.load(std::memory_order_relaxed) == 0) return disarm(now);
  bool failed = false;
  {
    const std::lock_guard guard(arm_lock_);
    idle_since_ = now;
  }
  {
    const std::lock_guard guard(teams_lock_);
    for (TeamContext* const team : teams_) {
      team->look_for_lost_peers();
      failed = failed || team->status() != WaitStatus::ok;
    }
  }
  if (failed || is_due(now)) end_waits(now);
}

// Those of teams that have failed, and those that have taken too long.
void CellWatch::end_waits(Clock::time_point now) {
  const std::unique_lock calls(calls_lock_);
  next_deadline_.store(INT64_MAX, std::memory_order_relaxed);
  std::int64_t next = INT64_MAX;
  {
    const std::lock_guard work(work_lock_);
    for (Group& group : groups_) {
      const std::lock_guard guard(group.lock);
      for (Cell& cell : group.cells) {
        for (std::size_t at = cell.entries.size(); at-- > 0;) {
          CellWait& wait = *cell.entries[at].wait;
          if (std::optional<Error> error = reason(wait, cell, now)) {
            unlist(group, cell, wait);
            ended_.push_back({&wait, std::move(error)});
          } else {
            next = std::min(next, nanoseconds(wait.deadline.time_since_epoch()).count());
          }
        }
      }
    }
  }
  std::int64_t before = next_deadline_.load(std::memory_order_relaxed);
  while (next < before &&
         !next_deadline_.compare_exchange_weak(before, next, std::memory_order_relaxed)) {
  }
  for (const Ended& one : ended_) {
    if (one.wait->fails_team && one.error->code == ErrorCode::expired)
      one.wait->team->fail(WaitStatus::aborted, process_->job_rank, one.error->what);
  }
  call_ended();
}

// Why the wait ends, if so.
std::optional<Error> CellWatch::reason(const CellWait& wait, const Cell& cell,
                                       Clock::time_point now) const {
  Error error;
  if (wait.team->status() != WaitStatus::ok) {
    error = wait.team->failure();
  } else if (now >= wait.deadline) {
    error.code = ErrorCode::expired;
    error.rank = wait.team->rank();
    error.peer = wait.team->writer_of(cell.number);
    error.what =
        fmt::format("waited {} ms for {}, in vain", wait.timeout.count(),
                    error.peer ? wait.team->called(*error.peer) : std::string("a deposit"));
  } else {
    return std::nullopt;
  }
  error.cell = cell.number;
  error.seen = std::atomic_ref<std::uint32_t>(*cell.word).load(std::memory_order_relaxed);
  error.expected = wait.awaited.value;
  return error;
}

void CellWatch::look_at_all() {
  const std::unique_lock calls(calls_lock_);
  {
    const std::lock_guard work(work_lock_);
    for (std::uint32_t group = 0; group < groups_.size(); ++group) look_at(group);
  }
  call_ended();
}

// How long a watcher may sleep; none: until it is woken.
std::optional<nanoseconds> CellWatch::time_to_sleep() {
  const std::lock_guard guard(arm_lock_);
  if (!armed_.load(std::memory_order_relaxed)) return std::nullopt;
  if (blind_) return blind_round;
  const Clock::time_point now = Clock::now();
  const nanoseconds due(next_deadline_.load(std::memory_order_relaxed) -
                        nanoseconds(now.time_since_epoch()).count());
  return std::max<nanoseconds>(shortest_round, std::min<nanoseconds>(due, next_attention_ - now));
}

// Until a deposit tells, or somebody arms or ends it, or it is time to attend.
void CellWatch::sleep() {
  sleeping_.fetch_add(1, std::memory_order_seq_cst);
  // Before it is seen whether it is armed, or ends: who changes that afterwards changes the word.
  const std::uint32_t word =
      bell_.sleep.fetch_or(CellBell::asleep, std::memory_order_seq_cst) | CellBell::asleep;
  const std::optional<nanoseconds> time = time_to_sleep();
  if (time == blind_round) look_at_all();
  if (!ends_.load(std::memory_order_seq_cst) && !is_told()) {
    futex_wait(reinterpret_cast<std::uint32_t&>(bell_.sleep), word,
               time.value_or(std::chrono::hours(1)));
  }
  sleeping_.fetch_sub(1, std::memory_order_seq_cst);
}

}  // namespace muster::host
