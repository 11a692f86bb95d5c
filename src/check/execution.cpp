#include "check/execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "check/sites.hpp"

namespace muster::check::engine {

namespace {
thread_local Execution* current_execution = nullptr;
}

Execution* Execution::current() {
  return current_execution;
}

Execution::Execution(const Options& options, const std::function<void(model::Team&)>& body)
    : ExecutionState(options, [this](Thread& thread, const auto& threw) { broke(thread, threw); }),
      body_(body) {
  seat_threads();
  if (options_.lanes == 1 || options_.expire > 0) groups_.merge_all();
}

// Who is where, for the memory of atomic objects.
void Execution::seat_threads() {
  threads_.reset(*this);
  seats_.resize(threads_.size());
  for (const Thread& thread : threads_) seats_[thread.id] = {thread.lane, thread.rank};
}

Execution::~Execution() {
  unwind();
}

void Execution::reset() {
  threads_.reset(*this);
  fibers_.reset();
  cells_.reset();
  windows_.reset();
  counters_.reset();
  weak_.clear();
  objects_.clear();
  sc_order_.clear();
  sc_fences_.clear();
  clocks_.clear();
  described_.clear();
  setup_calls_.clear();
  launches_.reset(options_.ranks);
  kernels_.assign(options_.ranks, Kernels{});
  entries_.clear();
  polls_.reset();
  tasks_.reset();
  patience_.reset();
  steps_.reset();
  findings_.clear();
  history_.clear();
  trace_.clear();
  record_.begin(threads_.size());
  one_order_.clear();
  taken_.clear();
  costs_.assign(options_.ranks, Cost{});
  expired_ = sc_operations_ = 0;
  impossible_ = has_atomics_ = sharing_ = false;
  aborted_ = halted_ = unexplained_ = inexact_ = has_substance_ = has_parts_ = false;
}

void Execution::broke(Thread& thread, const std::optional<std::string>& threw) {
  const std::string who = name_of_thread(thread);
  const std::string what =
      !threw ? fmt::format(
                   "the stack of {} overflowed ({} KiB); tiles and large arrays belong on "
                   "the heap",
                   who, StackPool::stack_bytes / 1024)
      : threw->empty() ? fmt::format("{} threw", who)
                       : fmt::format("{} threw: {}", who, *threw);
  found(thread, Kind::body, what, "", "");
}

Ending Execution::run(Scheduler& strategy) {
  const Ending ending = run_once(strategy);
  if (!wants_overlap_) return ending;
  wants_overlap_ = false;  // it was given up where its kernels first overlap
  threads_.let_kernels_overlap();
  seat_threads();
  weak_ = WeakMemory(seats_, options_.rules);
  clocks_ = TransferClocks(options_, threads_.size());
  groups_.reset(threads_.size());
  groups_.merge_all();
  return run_once(strategy);
}

Ending Execution::run_once(Scheduler& strategy) {
  reset();
  const Fibers::Guarded guarded(fibers_);
  strategy_ = &strategy;
  Execution* const outer = current_execution;
  current_execution = this;
  strategy.begin();
  for (const std::uint32_t rank : in_order(options_.ranks))
    fibers_.start(threads_.setup(rank), [this](Thread& self) {
      model::Team team(self);
      body_(team);
    });
  const Ending ending = loop(strategy);
  for (Thread& thread : threads_)
    if (thread.state == ThreadState::absent || thread.state == ThreadState::done)
      polls_.ended(thread);
  if (ending == Ending::done) judge_end();
  record_.ordered(weak_, sc_fences_);
  unwind();
  shared_.clear();
  strategy_ = nullptr;
  current_execution = outer;
  return ending;
}

Ending Execution::loop(Scheduler& strategy) {
  for (;;) {
    fibers_.run_ready();
    halted_ = halted_ || patience_.is_over();
    if (halted_) return Ending::halted;
    if (!polls_.endless().empty()) return Ending::polls;
    if (impossible_) return Ending::dropped;
    if (fibers_.stopped()) return Ending::stopped;
    if (polls_.given_up()) return Ending::dropped;
    bool all_done = true;
    for (std::uint32_t rank = 0; rank < options_.ranks; ++rank)
      all_done = all_done && threads_.setup(rank).state == ThreadState::done;
    if (all_done) return Ending::done;
    if (tasks_.start_some()) continue;
    const Decision decision = strategy.pick(*this);
    if (decision.action != Decision::Action::none) {
      if (decision.action == Decision::Action::leave) return Ending::lost;
      polls_.end_rounds();
      apply(decision);
      continue;
    }
    if (poll_round()) continue;
    if (!polls_.endless().empty()) return Ending::polls;
    if (expired_ > 0 && expire_lowest()) continue;
    return judge_stuck();
  }
}

// Nothing but polls is left: each sees once more what it saw. False where there is none, or where
// it was so too often.
bool Execution::poll_round() {
  bool any = false;
  bool only_atomics = true;  // then nobody can go on: a deadlock
  bool put_off = false;      // a read that the search put off: the branch has been seen
  for (const Thread& thread : threads_) {
    const bool again = sees_nothing_new(thread);
    only_atomics = only_atomics && (thread.read.kind == ReadKind::atomic || !again) &&
                   thread.state != ThreadState::polling;
    any = any || again || thread.state == ThreadState::polling;
    put_off =
        put_off || (thread.state == ThreadState::reading && !again && satisfied_in_full(thread));
  }
  if (!any) return false;
  if (!polls_.begin_round(put_off)) {
    if (!put_off && !only_atomics) polls_.has_no_end(describe_poll());
    return false;
  }
  for (const std::uint32_t at : in_order(threads_.size())) {
    Thread& thread = threads_[at];
    if (sees_nothing_new(thread)) {
      answer_again(thread);
    } else if (thread.state == ThreadState::polling) {
      polls_.answer_again();
      fibers_.ready(thread);
    }
  }
  return true;
}

std::string Execution::describe_poll() const {
  for (const Thread& thread : threads_)
    if (thread.state == ThreadState::polling || sees_nothing_new(thread))
      return fmt::format("{} polls at {}", name_of_thread(thread), short_place(thread.where));
  return "";
}

// Once a wait has expired, one that is stuck would expire as well.
bool Execution::expire_lowest() {
  for (const Thread& thread : threads_)
    if (thread.state == ThreadState::reading && thread.read.kind != ReadKind::atomic &&
        !satisfied_in_full(thread)) {
      apply({Decision::Action::expire, thread.id, 0, nullptr});
      return true;
    }
  return false;
}

void Execution::unwind() {
  Execution* const outer = current_execution;
  current_execution = this;
  fibers_.unwind();
  current_execution = outer;
}

void Execution::step(Thread& self, const char* operation, Where where) {
  self.where = where;
  if (std::strstr(operation, "counter") == nullptr) check_sealed(self, where);
  did(self, operation, where);
  count_step(self, operation);
}

void Execution::count_step(Thread& self, const char* operation) {
  steps_.count();
  const bool ends = fibers_.stopped() || fibers_.unwinding();
  const auto verdict = ends ? StepCount::Verdict::goes_on : steps_.judge();
  if (verdict != StepCount::Verdict::goes_on) {
    if (Polls::polls(self))
      polls_.has_no_end(
          fmt::format("{} polls at {}", name_of_thread(self), short_place(self.where)));
    else if (verdict == StepCount::Verdict::too_many)
      found(self, Kind::body,
            fmt::format("{} loops without a wait: {} operations, the last one {}",
                        name_of_thread(self), options_.steps, operation),
            "", "");
    halted_ = verdict == StepCount::Verdict::halted;
    fibers_.stop();
  }
  if (fibers_.stopped()) fibers_.block(self, ThreadState::reading);  // for good
  if (sites_.converges_behind()) come_behind(self);
}

// Ranks, lanes and threads run one after another, or the other way round.
std::vector<std::uint32_t> Execution::in_order(std::uint32_t count) const {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  if (reversed_) std::reverse(order.begin(), order.end());
  return order;
}

void Execution::did(Thread& self, const char* operation, Where where) {
  if (record_.is_kept() && !fibers_.unwinding()) record_.did(self.id, operation, where);
}

void Execution::with(Thread& self, std::initializer_list<std::uint64_t> values) {
  if (record_.is_kept() && !fibers_.unwinding()) record_.with(self.id, values);
}

bool Execution::awaits_decision(const Thread& thread) const {
  if (thread.state != ThreadState::reading) return false;
  if (!thread.read.put_off) return true;
  if (thread.read.kind == ReadKind::atomic)
    return came_to_atomic(thread) > thread.read.atomic.seen_count;
  for (const Look& look : thread.read.looks)
    if (cells_[look.cell].count > look.seen_count) return true;
  return false;
}

bool Execution::satisfied_in_full(const Thread& thread) const {
  if (thread.read.kind == ReadKind::atomic) return !sees_nothing_new(thread);
  if (!waits(thread.read.kind)) return true;
  for (const Look& look : thread.read.looks) {
    const Cell& cell = cells_[look.cell];
    if (satisfies(cell.value(cell.all()), look.compare, look.value)) return true;
  }
  return false;
}

std::vector<std::uint64_t> Execution::outcome() const {
  std::vector<std::uint64_t> all;
  for (const Thread& thread : threads_)
    all.insert(all.end(), thread.outcomes.begin(), thread.outcomes.end());
  return all;
}

std::string Execution::difference_from(const Memory& then) const {
  return inexact_ ? "" : first_difference(windows_, counters_, then);
}

}  // namespace muster::check::engine
