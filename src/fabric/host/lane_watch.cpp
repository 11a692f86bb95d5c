#include "fabric/host/lane_watch.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>

#include "base/call_words.hpp"
#include "base/compare.hpp"
#include "fabric/host/futex.hpp"

namespace muster::host {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr auto yielding = milliseconds(1);  // how long a wait yields before it sleeps
// Then it takes naps that nobody ends, each twice as long as the one before: a sleep from which it
// is woken begins with a membarrier, of which the machine does one at a time and which disturbs
// every core that runs ranks. So only what takes longer than some 6 ms pays for one.
constexpr auto longest_nap = milliseconds(4);
constexpr auto look_interval = milliseconds(100);  // between two looks for lost peers
constexpr auto notice_after = seconds(10);

std::uint32_t load(const Awaited& awaited, std::memory_order order) {
  return std::atomic_ref<std::uint32_t>(*awaited.word).load(order);
}

bool holds(const Awaited& awaited, std::memory_order order) {
  return satisfies(load(awaited, order), awaited.compare, awaited.value);
}

std::string whom(const TeamContext& team, const Error& state, const Awaited& awaited) {
  if (state.peer) return team.called(*state.peer);
  return awaited.packets ? "packets" : "a deposit";
}

}  // namespace

LaneWatch::Progress LaneWatch::begin(CallClock& call) {
  Progress progress;
  const nanoseconds now(progress.begin.time_since_epoch());
  progress.slow_since = Clock::time_point(nanoseconds(call.turn_slow(now.count())));
  return progress;
}

LaneWatch::Clock::time_point LaneWatch::deadline(const Progress& progress) const {
  return progress.slow_since + team_.process().timeout;
}

WaitStatus LaneWatch::wait(const Awaited& awaited, std::memory_order order, CallClock& call) {
  if (ended_ != WaitStatus::ok) return record(ended_, nullptr);
  // Where lanes share a core, most waits end after a yield or two: reading the clock first would
  // cost a noticeable part of that.
  for (int i = 0; i < 8; ++i) {
    if (holds(awaited, order)) return WaitStatus::ok;
    sched_yield();
  }
  Progress progress = begin(call);
  // Where ranks share cores, those that yield keep the one from its core that all wait for.
  const auto yields =
      awaited.meeting != nullptr && !team_.has_core_each() ? nanoseconds(0) : yielding;
  const auto yields_until = std::min(progress.begin + yields, deadline(progress));
  while (Clock::now() < yields_until) {
    for (int i = 0; i < 16; ++i) {
      if (holds(awaited, order)) return WaitStatus::ok;
      sched_yield();
    }
    if (team_.status() != WaitStatus::ok) break;
  }
  while (true) {
    if (holds(awaited, order)) return WaitStatus::ok;
    const WaitStatus status = attend(progress, awaited);
    if (status != WaitStatus::ok) return record(status, &awaited);
    sleep(awaited, progress);
  }
}

AnyStatus LaneWatch::wait_any(const Awaited* awaited, std::uint32_t count, std::memory_order order,
                              CallClock& call) {
  if (ended_ != WaitStatus::ok) return {record(ended_, nullptr), 0};
  Progress progress = begin(call);
  while (true) {
    for (std::uint32_t index = 0; index < count; ++index) {
      if (holds(awaited[index], order)) return {WaitStatus::ok, index};
    }
    const auto waited = Clock::now() - progress.begin;
    if (waited < yielding) {
      sched_yield();
      continue;
    }
    const WaitStatus status = attend(progress, awaited[0]);
    if (status != WaitStatus::ok) return {record(status, &awaited[0]), 0};
    // No futex spans several cells: look again soon, and less often the longer it takes.
    futex_wait(*awaited[0].word, load(awaited[0], order),
               waited < seconds(1) ? nanoseconds(500'000) : nanoseconds(2'000'000));
  }
}

WaitStatus LaneWatch::attend(Progress& progress, const Awaited& awaited) {
  if (team_.status() != WaitStatus::ok) return team_.status();
  const auto now = Clock::now();
  if (now >= progress.next_look) {
    progress.next_look = now + look_interval;
    team_.look_for_lost_peers();
    if (team_.status() != WaitStatus::ok) return team_.status();
  }
  if (now >= deadline(progress)) return WaitStatus::expired;
  if (noticed_ != progress.slow_since && now - progress.slow_since >= notice_after) {
    noticed_ = progress.slow_since;
    notice(awaited);
  }
  return WaitStatus::ok;
}

void LaneWatch::sleep(const Awaited& awaited, Progress& progress) const {
  std::atomic<std::uint32_t>& sleepers =
      team_.header().rank_records[team_.job_rank_of(awaited.owner)].sleepers;
  const auto until = std::min(progress.next_look, deadline(progress));
  nanoseconds time = std::max(nanoseconds(1000), nanoseconds(until - Clock::now()));
  if (awaited.meeting != nullptr) {
    futex_wait(*awaited.word, load(awaited, std::memory_order_relaxed), time);
    return;
  }
  if (progress.nap <= longest_nap) {
    // Relaxed: the kernel compares the word again, and wait() acquires it afterwards.
    futex_wait(*awaited.word, load(awaited, std::memory_order_relaxed),
               std::min(time, progress.nap));
    progress.nap *= 2;
    return;
  }
  sleepers.fetch_add(1, std::memory_order_relaxed);
  // Pairs with the signal fence in Fabric::wake: from here on every depositor sees the count, or
  // its deposit is seen below. Without that barrier the sleep must be short.
  if (!barrier_everywhere()) time = std::min(time, nanoseconds(1'000'000));
  const std::uint32_t seen = load(awaited, std::memory_order_relaxed);
  if (!satisfies(seen, awaited.compare, awaited.value)) futex_wait(*awaited.word, seen, time);
  sleepers.fetch_sub(1, std::memory_order_relaxed);
}

Error LaneWatch::describe(const Awaited& awaited) const {
  Error error;
  error.rank = team_.rank();
  if (awaited.meeting != nullptr) {
    if (const auto absent = awaited.meeting->first_absent()) error.peer = Rank{*absent};
    return error;
  }
  error.lane = lane_;
  error.cell = awaited.signal.cell;
  error.seen = load(awaited, std::memory_order_relaxed);
  error.expected = awaited.value;
  if (awaited.packets) return error;  // whoever writes the slots is not known
  error.peer = awaited.owner == team_.rank() ? team_.writer_of(awaited.signal.cell)
                                             : std::optional<Rank>(awaited.owner);
  return error;
}

void LaneWatch::notice(const Awaited& awaited) const {
  const Error state = describe(awaited);
  if (awaited.meeting != nullptr) {
    fmt::print(stderr, "muster: {} has waited 10 s for {} to come to a set-up call\n",
               team_.called(team_.rank()), whom(team_, state, awaited));
    std::fflush(stderr);
    return;
  }
  fmt::print(stderr, "muster: {} lane {} has waited 10 s for {}: {} {} is {}, expected {} {}\n",
             team_.called(team_.rank()), lane_.value, whom(team_, state, awaited),
             awaited.packets ? "line" : "cell", awaited.signal.cell, *state.seen,
             symbol_of(awaited.compare), awaited.value);
  std::fflush(stderr);
}

WaitStatus LaneWatch::record(WaitStatus status, const Awaited* awaited) {
  if (!error_) keep_error(status, awaited);
  if (status > WaitStatus::expired) ended_ = status;
  if (status == WaitStatus::expired && on_expiry_ == OnExpiry::fail) {
    ended_ = WaitStatus::aborted;
    team_.fail(
        WaitStatus::aborted, team_.process().job_rank,
        fmt::format("{} lane {}: {}", team_.called(team_.rank()), lane_.value, error_->what));
  }
  return status;
}

// In a verifying run alone is it known.
std::string LaneWatch::last_call() const {
  if (calls_ == 0) return {};
  CallSignature call = called_;
  call.name = called_name_.c_str();
  return fmt::format("; the last call on lane {} was {}, as call {}", lane_.value, to_string(call),
                     calls_);
}

void LaneWatch::keep_error(WaitStatus status, const Awaited* awaited) {
  if (status == WaitStatus::expired) {
    error_ = describe(*awaited);
    error_->code = ErrorCode::expired;
    error_->what = fmt::format("waited {} ms for {}, in vain{}", team_.process().timeout.count(),
                               whom(team_, *error_, *awaited), last_call());
    return;
  }
  error_ = team_.failure();
  if (awaited != nullptr && awaited->meeting != nullptr) return;
  error_->lane = lane_;
  if (awaited != nullptr) {
    error_->cell = awaited->signal.cell;
    error_->seen = load(*awaited, std::memory_order_relaxed);
    error_->expected = awaited->value;
  }
}

WaitStatus LaneWatch::poll() {
  if (ended_ != WaitStatus::ok) return record(ended_, nullptr);
  if (team_.status() != WaitStatus::ok) return record(team_.status(), nullptr);
  if (++polls_ % 1024 != 0) return WaitStatus::pending;
  const auto now = Clock::now();
  if (now < next_poll_look_) return WaitStatus::pending;
  next_poll_look_ = now + look_interval;
  team_.look_for_lost_peers();
  return team_.status() == WaitStatus::ok ? WaitStatus::pending : record(team_.status(), nullptr);
}

void LaneWatch::compare(const CallSignature& call) {
  if (lane_.value >= CallBoard::lanes || ended_ != WaitStatus::ok) return;
  const std::uint64_t number = team_.next_call(lane_);
  team_.board_of(team_.rank()).write(lane_.value, number, call);
  called_ = call;
  called_name_ = call.name;
  calls_ = number;
  for (std::uint32_t member = 0; member < team_.size(); ++member) {
    const std::string theirs = team_.board_of(Rank{member}).differs(lane_.value, number, call);
    if (theirs.empty()) continue;
    Error error{ErrorCode::mismatch, {}, team_.rank(), lane_, Rank{member}};
    error.what = fmt::format("{} called {}, {} called {}, each as call {} on lane {}",
                             team_.called(team_.rank()), to_string(call),
                             team_.called(Rank{member}), theirs, number, lane_.value);
    return reject(std::move(error));
  }
}

void LaneWatch::reject(Error error) {
  ended_ = WaitStatus::invalid;
  error.rank = team_.rank();
  error.lane = lane_;
  team_.fail(WaitStatus::aborted, team_.job_rank_of(team_.rank()),
             fmt::format("{}: {}", team_.called(team_.rank()), error.what));
  if (!error_) error_ = std::move(error);
}

}  // namespace muster::host
