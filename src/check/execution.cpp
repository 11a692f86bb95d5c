#include "check/execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/context/preallocated.hpp>
#include <exception>
#include <new>
#include <numeric>

#include "check/overflow_guard.hpp"
#include "check/sites.hpp"

namespace muster::check::engine {

namespace {
thread_local Execution* current_execution = nullptr;
}

Execution* Execution::current() {
  return current_execution;
}

Execution::Execution(const Options& options, const std::function<void(model::Team&)>& body)
    : options_(options), body_(body) {
  per_rank_ = 1 + options_.lanes * options_.threads;
  threads_.resize(static_cast<std::size_t>(options_.ranks) * per_rank_);
  static_components_ = 2 * static_cast<std::uint32_t>(threads_.size());  // and their loads
  groups_.reset(threads_.size());
  find_converge_after();
  if (options_.lanes == 1 || options_.expire > 0) groups_.merge_all();
  if (options_.profile == Profile::rdma)
    static_components_ += static_cast<std::uint32_t>(threads_.size()) * options_.ranks;
}

Execution::~Execution() {
  unwind();
}

void Execution::reset() {
  for (std::uint32_t id = 0; id < threads_.size(); ++id) {
    Thread& thread = threads_[id];
    const std::uint32_t within = id % per_rank_;
    thread.run = this;
    thread.id = id;
    thread.rank = id / per_rank_;
    thread.is_setup = within == 0;
    thread.lane = within == 0 ? 0 : (within - 1) / options_.threads;
    thread.index = within == 0 ? 0 : (within - 1) % options_.threads;
    thread.state = ThreadState::absent;
    for (Clock* clock : {&thread.hb, &thread.cause, &thread.ended, &thread.looked, &thread.issued,
                         &thread.fence, &thread.pending})
      clock->clear();
    for (Clock* clock : {&thread.hb, &thread.cause, &thread.ended}) clock->raise({id, 1});
    thread.loading = false;
    thread.setup_calls = 0;
    thread.launches = 0;
    thread.call = {};
    thread.called = {};
    thread.calls_made.clear();
    thread.described = 0;
    thread.outcomes.clear();
    thread.lane_results.clear();
    thread.lanes_left = 0;
    thread.depth = 0;
    thread.behind = false;
    thread.polls.clear();
    thread.glances.fill({});
    thread.spins = 0;
    thread.repeats = 0;
  }
  ready_.clear();
  stop_ = aborted_ = unwinding_ = unexplained_ = false;
  halted_ = given_up_ = polled_ = spun_ = inexact_ = has_substance_ = false;
  polling_.clear();
  poll_rounds_ = changes_here_ = 0;
  if (recording_) record_.begin(threads_.size());
  for (Cell& cell : cells_) cell.reset();
  cell_numbers_ = segment_count_ = counter_numbers_ = 0;
  blocks_.clear();
  setup_calls_.clear();
  agents_.clear();
  entries_.clear();
  described_.clear();
  launches_.assign(options_.ranks, {});
  taken_.clear();
  findings_.clear();
  finding_past_.clear();
  trace_.clear();
  log_.clear();
  history_.clear();
  costs_.assign(options_.ranks, Cost{});
  expired_ = 0;
  steps_here_ = 0;
}

void Execution::start(Thread& thread, std::function<void(Thread&)> body) {
  const boost::context::stack_context stack = stacks_.take();
  thread.sanitizers.made(stack);
  thread.sanitizers.enter();  // making a fiber runs its first few instructions
  thread.fiber = boost::context::fiber(
      std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack),
      StackPool::Allocator{&stacks_},
      [this, &thread, body = std::move(body)](boost::context::fiber&& main) {
        main_ = std::move(main);
        try {
          body(thread);
        } catch (const boost::context::detail::forced_unwind&) {
          throw;  // the execution is being given up
        } catch (const std::exception& error) {
          found(thread, Kind::body,
                fmt::format("{} threw: {}", name_of_thread(thread), error.what()), "", "");
          stop_ = true;
        } catch (...) {
          found(thread, Kind::body, fmt::format("{} threw", name_of_thread(thread)), "", "");
          stop_ = true;
        }
        thread.state = thread.is_setup ? ThreadState::done : ThreadState::absent;
        return std::move(main_);
      });
  thread.sanitizers.leave(false);
  ready(thread);
}

void Execution::ready(Thread& thread) {
  thread.state = ThreadState::runnable;
  ready_.push_back(thread.id);
}

// Never inlined, and without locals, so that the jump out of a fiber leaves nothing behind.
[[gnu::noinline]] bool Execution::resume_guarded(Thread& thread) {
  if (sigsetjmp(guard_->landing, 0) != 0) return false;
  thread.fiber = std::move(thread.fiber).resume();
  return true;
}

void Execution::resume(Thread& thread) {
  running_ = &thread;
  thread.sanitizers.enter();
  const bool whole = resume_guarded(thread);
  thread.sanitizers.leave(!thread.fiber);
  if (!whole) {
    // What is left of the fiber is lost, and main_ names a place that has been jumped to.
    new (&main_) boost::context::fiber();
    running_ = nullptr;
    found(thread, Kind::body,
          fmt::format(
              "the stack of {} overflowed ({} KiB); tiles and large arrays belong on the heap",
              name_of_thread(thread), StackPool::stack_bytes / 1024),
          "", "");
    stop_ = true;
  }
  running_ = nullptr;
}

void Execution::block(Thread& self, ThreadState state) {
  if (unwinding_) return;
  self.state = state;
  main_ = std::move(main_).resume();
}

void Execution::run_ready() {
  while (!ready_.empty() && !stop_) {
    Thread& thread = threads_[ready_.front()];
    ready_.pop_front();
    resume(thread);
  }
}

Ending Execution::run(Scheduler& strategy) {
  reset();
  OverflowGuard guard(stacks_);
  guard_ = &guard;
  strategy_ = &strategy;
  Execution* const outer = current_execution;
  current_execution = this;
  strategy.begin();
  for (const std::uint32_t rank : in_order(options_.ranks))
    start(threads_[rank * per_rank_], [this](Thread& self) {
      model::Team team(self);
      body_(team);
    });
  const Ending ending = loop(strategy);
  if (ending == Ending::done) judge_end();
  unwind();
  strategy_ = nullptr;
  current_execution = outer;
  guard_ = nullptr;
  return ending;
}

Ending Execution::loop(Scheduler& strategy) {
  for (;;) {
    run_ready();
    if (halted_) return Ending::halted;
    if (!polling_.empty()) return Ending::polls;
    if (stop_) return Ending::stopped;
    if (given_up_) return Ending::dropped;
    bool all_done = true;
    for (std::uint32_t rank = 0; rank < options_.ranks; ++rank)
      all_done = all_done && threads_[rank * per_rank_].state == ThreadState::done;
    if (all_done) return Ending::done;
    const Decision decision = strategy.pick(*this);
    if (decision.action != Decision::Action::none) {
      if (decision.action == Decision::Action::leave) return Ending::lost;
      poll_rounds_ = 0;
      apply(decision);
      continue;
    }
    if (poll_round()) continue;
    if (!polling_.empty()) return Ending::polls;
    if (expired_ > 0 && expire_lowest()) continue;
    return judge_stuck();
  }
}

// Once a wait has expired, one that is stuck would expire as well.
bool Execution::expire_lowest() {
  for (Thread& thread : threads_)
    if (thread.state == ThreadState::reading && !satisfied_in_full(thread)) {
      apply({Decision::Action::expire, thread.id, 0, nullptr});
      return true;
    }
  return false;
}

void Execution::unwind() {
  unwinding_ = true;
  Execution* const outer = current_execution;
  current_execution = this;
  for (Thread& thread : threads_) {
    thread.sanitizers.enter();
    thread.fiber = boost::context::fiber();
    thread.sanitizers.leave(true);
  }
  current_execution = outer;
  unwinding_ = false;
}

void Execution::step(Thread& self, const char* operation, Where where) {
  self.where = where;
  did(self, operation, where);
  count_step(self, operation);
}

constexpr std::uint64_t steps_between_looks = 1024;  // at whether to halt

void Execution::count_step(Thread& self, const char* operation) {
  ++steps_;
  ++steps_here_;
  if (stop_ || unwinding_) {
  } else if (steps_here_ > options_.steps) {
    if (self.repeats > 0)
      polling_ = fmt::format("{} polls at {}", name_of_thread(self), short_place(self.where));
    else
      found(self, Kind::body,
            fmt::format("{} loops without a wait: {} operations, the last one {}",
                        name_of_thread(self), options_.steps, operation),
            "", "");
    stop_ = true;
  } else if (++steps_unasked_ % steps_between_looks == 0 && options_.halt && options_.halt()) {
    if (self.repeats > 0)
      polling_ = fmt::format("{} polls at {}", name_of_thread(self), short_place(self.where));
    halted_ = stop_ = true;
  }
  if (stop_) block(self, ThreadState::reading);  // for good
  if (converge_line_ > 0) come_behind(self);
}

// Ranks, lanes and threads run one after another, or the other way round.
std::vector<std::uint32_t> Execution::in_order(std::uint32_t count) const {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  if (reversed_) std::reverse(order.begin(), order.end());
  return order;
}

void Execution::did(Thread& self, const char* operation, Where where) {
  if (recording_ && !unwinding_) record_.did(self.id, operation, where);
}

void Execution::with(Thread& self, std::initializer_list<std::uint64_t> values) {
  if (recording_ && !unwinding_) record_.with(self.id, values);
}

bool Execution::awaits_decision(const Thread& thread) const {
  if (thread.state != ThreadState::reading) return false;
  if (!thread.read.put_off) return true;
  for (const Look& look : thread.read.looks)
    if (cells_[look.cell].count > look.seen_count) return true;
  return false;
}

bool Execution::satisfied_in_full(const Thread& thread) const {
  if (thread.read.kind == ReadKind::test || thread.read.kind == ReadKind::read) return true;
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

std::vector<Site> Execution::sites() const {
  std::vector<Site> all;
  for (const auto& [key, site] : sites_) all.push_back(site);
  return all;
}

}  // namespace muster::check::engine
