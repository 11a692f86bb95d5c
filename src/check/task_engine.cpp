#include "check/task_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "check/mutant.hpp"
#include "muster/task.hpp"

namespace muster::check::engine {

// ---- what threads know --------------------------------------------------------------------------

void Knowledge::join(const Knowledge& other) {
  hb.join(other.hb);
  cause.join(other.cause);
  ended.join(other.ended);
  issued.join(other.issued);
  pending.join(other.pending);
  back.join(other.back);
  depth = std::max(depth, other.depth);
}

void Knowledge::join(const Thread& thread) {
  Knowledge other{thread.hb,      thread.cause,       thread.ended, thread.issued,
                  thread.pending, thread.caches.back, thread.depth};
  other.back.join(thread.caches.pending);  // what it leaves is acquired
  join(other);
}

void Knowledge::tell(Thread& thread) const {
  thread.hb.join(hb);
  thread.cause.join(cause);
  thread.ended.join(ended);
  thread.issued.join(issued);
  thread.pending.join(pending);
  thread.caches.back.join(back);
  thread.depth = std::max(thread.depth, depth);
}

// ---- all graphs ---------------------------------------------------------------------------------

bool Tasks::start_some() {
  bool any = false;
  for (std::size_t i = 0; i < runners_.size(); ++i) any = runners_[i]->start_some() || any;
  return any;
}

std::string Tasks::starved() const {
  std::string all;
  for (const TaskRunner* runner : runners_)
    if (const std::string one = runner->starved(); !one.empty())
      all += (all.empty() ? "" : "; ") + one;
  return all;
}

bool Tasks::busy(std::uint32_t rank) const {
  return std::any_of(runners_.begin(), runners_.end(),
                     [&](const TaskRunner* runner) { return runner->busy(rank); });
}

// ---- one graph ----------------------------------------------------------------------------------

TaskEngine::TaskEngine(Thread& setup, std::uint32_t workers)
    : setup_(setup), run_(*setup.run), workers_(workers) {}

void TaskEngine::attach(task::Book& book) {
  book_ = &book;
  run_.tasks().add(*this);
}

// What was cancelled while it waited has still to return.
void TaskEngine::detach() {
  leaving_ = true;
  while (running_ > 0 && !run_.unwinding()) run_.suspend(setup_);
  run_.tasks().remove(*this);
}

void TaskEngine::leave() {
  if (--running_ == 0 && std::exchange(leaving_, false)) run_.resume(setup_);
}

void TaskEngine::submitted(task::Node& node) {
  Task& task = tasks_.emplace_back();
  task.node = &node;
  task.first = std::exchange(blocks_, blocks_ + node.blocks());
  task.submitted.join(*run_.running());
  run_.running()->tick();
  node.engine_data = &task;
  run_.contract(
      *run_.running(), blocks_ <= run_.options().tasks,
      fmt::format("the graphs of rank {} have {} blocks of tasks, and room for {}: give the check "
                  "more by .tasks",
                  setup_.rank, blocks_, run_.options().tasks),
      run_.running()->where);
  if (blocks_ > workers_.size()) run_.tasks().outnumber();
}

void TaskEngine::start(task::Node& node) {
  Task& task = of(node);
  for (std::uint32_t block = 0; block < node.blocks(); ++block) ready_.push_back({&task, block});
}

bool TaskEngine::start_some() {
  if (ready_.empty()) return false;
  const auto free = static_cast<std::size_t>(std::count(workers_.begin(), workers_.end(), false));
  if (free == 0) return false;
  std::sort(ready_.begin(), ready_.end(),
            [](const Ready& a, const Ready& b) { return a.number() < b.number(); });
  if (ready_.size() <= free) {
    while (!ready_.empty()) launch(run_.is_reversed() ? ready_.size() - 1 : 0);
    return true;
  }
  std::vector<std::uint32_t> among;
  bool other = false;
  for (std::uint32_t at = 0; at < ready_.size(); ++at) {
    const Thread* thread = run_.threads().task(setup_.rank, ready_[at].number());
    const bool waits = thread != nullptr && run_.tasks().may_wait(thread->id);
    if (waits || !std::exchange(other, other || !waits)) among.push_back(at);
  }
  launch(run_.choose(among, static_cast<std::uint32_t>(ready_.size())));
  return true;
}

void TaskEngine::collect(Knowledge& into, const Task& task) const {
  into.join(task.submitted);
  for (std::size_t at = 0; at < task.node->dep_count(); ++at)
    into.join(of(task.node->dep(at)).ended);
  if (task.node->kind() != task::Kind::coroutine) return;
  // It goes on where it suspended, after what it awaited.
  into.join(task.ended);
  const task::TaskId awaited = static_cast<const task::PendingNode*>(task.node)->awaited_task();
  const task::Node* const node = awaited.graph == 0 ? nullptr : book_->node_at(awaited.index);
  if (node != nullptr && node->settled()) into.join(of(*node).ended);
}

void TaskEngine::launch(std::size_t at) {
  const Ready ready = ready_[at];
  ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(at));
  Thread* const thread = run_.threads().task(setup_.rank, ready.number());
  if (thread == nullptr) return;  // told where it was submitted
  const auto worker = std::find(workers_.begin(), workers_.end(), false);
  *worker = true;
  Knowledge known;
  collect(known, *ready.task);
  ready.task->thread = thread;
  ++running_;
  run_.start_task(*thread,
                  {Lane{static_cast<std::uint32_t>(worker - workers_.begin())},
                   static_cast<std::uint32_t>(workers_.size()), ready.task->node->name()},
                  known, [this, ready](Thread& self) { run(self, *ready.task, ready.block); });
}

// On a fiber of its own.
void TaskEngine::run(Thread& self, Task& task, std::uint32_t block) {
  model::Fabric fabric(self);
  task.in_body = true;
  task::Outcome outcome = task.node->run(&fabric, block);
  task.in_body = false;
  self.sealed.clear();
  if (!outcome && task.node->is_silent() && self.status != WaitStatus::ok)
    outcome = task::outcome_of(result_of(self.status));
  task.ended.join(run_.end_task(self));
  workers_[self.lane] = false;
  if (task::Node* const next = book_->finished(*task.node, std::move(outcome))) start(*next);
  if (task.watched) await(self, task);
  leave();
}

// As if the body had waited for one after the other, but without a worker.
void TaskEngine::await(Thread& self, Task& task) {
  auto& node = static_cast<task::PendingNode&>(*task.node);
  const std::vector<Condition> conditions = node.conditions();
  const Where where = std::source_location::current();  // registered elsewhere
  self.deferred = true;
  for (const Condition& condition : conditions) {
    const WaitStatus status = run_.read_signal(self, ReadKind::wait, &condition, 1, Rank{self.rank},
                                               Order::acquire, where);
    if (!task.watched || run_.unwinding()) return;  // cancelled
    if (status == WaitStatus::ok) continue;
    task.watched = false;
    const Error why = result_of(status).error();
    return book_->waited(node, &why);
  }
  task.watched = false;
  task.ended.join(run_.end_task(self));
  book_->waited(node, nullptr);
}

bool TaskEngine::watch(task::PendingNode& node) {
  of(node).watched = true;  // run() goes on with it
  return false;
}

bool TaskEngine::unwatch(task::PendingNode& node) {
  Task& task = of(node);
  if (!task.watched || task.thread->state != ThreadState::reading) return false;
  task.watched = false;
  task.thread->read.status = WaitStatus::aborted;
  run_.resume(*task.thread);
  return true;
}

Result<void> TaskEngine::block(const task::Node* node) {
  while (!(node != nullptr ? node->settled() : book_->is_idle())) {
    if (run_.unwinding()) return {};
    blocked_ = true;
    run_.suspend(setup_);
  }
  return {};
}

void TaskEngine::wake() {
  if (std::exchange(blocked_, false)) run_.resume(setup_);
}

void TaskEngine::joined(const task::Node* node) {
  Knowledge known;
  if (node != nullptr) known.join(of(*node).ended);
  for (const Task& task : tasks_)
    if (node == nullptr && task.node->settled()) known.join(task.ended);
  known.tell(*run_.running());
  run_.running()->tick();
}

std::optional<Error> TaskEngine::objection(const Condition& condition) {
  const Signal signal = condition.signal;
  if (signal.segment == 0 && signal.cell < run_.cells().numbers() &&
      run_.cells().at(setup_.rank, signal.cell).live)
    return std::nullopt;
  return Error{ErrorCode::invalid_argument,
               fmt::format("cell {} of segment {} belongs to no rows or signals of this team",
                           signal.cell, signal.segment),
               Rank{setup_.rank}};
}

void TaskEngine::seal(void* /*fabric*/, const task::Node& node) {
  of(node).thread->sealed = fmt::format(
      "task {} uses its fabric after its first defer_wait: do so before, or in a task "
      "that depends on it",
      node.called());
}

const task::Node* TaskEngine::running() const {
  const Thread* const here = run_.running();
  if (here == nullptr || !here->is_task || here->rank != setup_.rank) return nullptr;
  for (const Task& task : tasks_)
    if (task.thread == here && task.in_body) return task.node;
  return nullptr;
}

bool TaskEngine::is_given_up() const {
  return run_.unwinding();
}

std::string TaskEngine::starved() const {
  if (ready_.empty()) return "";
  std::string names;
  for (const Ready& ready : ready_)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", ready.task->node->called());
  return fmt::format("rank {} has no worker for {}: all {} are held by tasks that wait",
                     setup_.rank, names, workers_.size());
}

bool TaskEngine::busy(std::uint32_t rank) const {
  return rank == setup_.rank && book_->unfinished() > 0;
}

// ---- the execution's part -----------------------------------------------------------------------

void Execution::start_task(Thread& thread, const TaskSeat& seat, const Knowledge& known,
                           std::function<void(Thread&)> body) {
  known.tell(thread);
  thread.learn(thread.pending);  // the start acquires, as that of a kernel
  thread.fence = thread.hb;
  begin_caches(thread);
  thread.tick();
  thread.lane = seat.lane.value;
  thread.lanes = seat.workers;
  thread.task = seat.name;
  thread.sealed.clear();
  thread.deferred = false;
  thread.status = aborted_ ? WaitStatus::aborted : WaitStatus::ok;
  thread.call = {};
  thread.part = {};
  thread.called = {};
  groups_.merge_all();
  fibers_.start(thread, std::move(body));
}

// The end releases and flushes, as that of a kernel.
Knowledge Execution::end_task(Thread& thread) {
  clocks_.complete_loads(thread);
  if (!mutant("launch-without-flush")) finish_transfers(thread);
  end_caches(thread);
  Knowledge known;
  known.join(thread);
  thread.tick();
  return known;
}

std::uint32_t Execution::choose(const std::vector<std::uint32_t>& among, std::uint32_t count) {
  if (among.size() > 1) tasks_.chose();
  return strategy_->choose(*this, among, count);
}

void Execution::check_sealed(Thread& self, Where where) {
  if (!self.sealed.empty()) contract(self, false, std::exchange(self.sealed, {}), where);
}

}  // namespace muster::check::engine

namespace muster::model {

std::unique_ptr<task::EngineOf<Fabric>> make_engine(Team& team, const task::Options& options) {
  const auto wrong = [&](std::string what) {
    return Failure(Error{ErrorCode::invalid_argument, std::move(what), team.rank()});
  };
  const check::Options& all = team.self_->run->options();
  const std::uint32_t workers = options.workers == 0 ? team.max_lanes() : options.workers;
  if (workers > team.max_lanes())
    throw wrong(fmt::format("Graph: workers is {}; it must be from 1 to {} (--lanes), or 0 for all",
                            workers, team.max_lanes()));
  if (all.threads != 1)
    throw wrong(
        fmt::format("Graph: a lane has {} threads; tasks run on lanes of one", all.threads));
  return std::make_unique<check::engine::TaskEngine>(*team.self_, workers);
}

}  // namespace muster::model
