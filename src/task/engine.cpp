#include "task/engine.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <system_error>
#include <thread>
#include <utility>

#include "base/process_limit.hpp"
#include "muster/task.hpp"
#include "muster/team.hpp"

namespace muster::task {
namespace {

// What the calling thread runs, of whichever graph.
struct Running {
  const HostEngine* engine = nullptr;
  const Node* node = nullptr;
  WorkerLane* lane = nullptr;
};
thread_local Running running_here;

constexpr auto notice_after = std::chrono::seconds(10);

}  // namespace

// What a waiter, or a coroutine, waits for, as the watch sees it.
class HostEngine::Wait final : public host::CellWait {
 public:
  Wait(HostEngine& engine, PendingNode& node) : engine_(engine), node_(node) {
    awaited = node.conditions().front();
    team = &engine.team_;
    timeout = node.timeout().value_or(engine.team_.process().timeout);
    fails_team = !node.timeout() && engine.team_.process().on_expiry == OnExpiry::fail;
    begin_ = std::chrono::steady_clock::now();
    deadline = begin_ + timeout;
  }

  // For the trace: it is pending no more.
  void ended(bool well) const {
    if (!engine_.trace_) return;
    engine_.trace_->waited(node_, begin_, awaited,
                           engine_.watch_->last_deposit(awaited.signal.cell), well);
  }

  void held() override { end(nullptr); }
  void failed(const Error& error) override { end(&error); }

 private:
  bool advance() override {
    if (++at_ == node_.conditions().size()) return false;
    awaited = node_.conditions()[at_];
    return true;
  }
  void end(const Error* error) {
    HostEngine& engine = engine_;
    PendingNode& node = node_;
    ended(error == nullptr);
    {
      const std::lock_guard guard(engine.waits_lock_);  // unwatch may have a look at it
      node.engine_data = nullptr;
      delete this;
    }
    engine.book_->waited(node, error);
  }

  HostEngine& engine_;
  PendingNode& node_;
  std::size_t at_ = 0;
  std::chrono::steady_clock::time_point begin_;
};

HostEngine::HostEngine(std::shared_ptr<host::TeamControl> control, std::uint32_t workers,
                       const std::string& trace)
    : control_(std::move(control)),
      team_(control_->team()),
      share_(workers),
      lanes_(workers),
      watch_(host::CellWatch::of(team_.shared_process())),
      arena_(static_cast<int>(workers), 0) {
  for (std::uint32_t lane = 0; lane < workers; ++lane)
    lanes_[lane].set_up(team_, Lane{lane}, workers);
  arena_.initialize();
  if (trace.empty()) return;
  trace_.emplace(trace, team_.header().nonce, team_.process().job_rank, workers);
  watch_->trace();
}

void HostEngine::attach(Book& book) {
  book_ = &book;
  watch_->add(team_);
}

void HostEngine::detach() {
  watch_->remove(team_);
  watch_->finish_calls();
  // Every task has ended; who ran the last ones is on the way back to oneTBB.
  const auto is_taken = [](const WorkerLane& lane) { return lane.is_taken(); };
  while (std::ranges::any_of(lanes_, is_taken)) std::this_thread::yield();
  if (trace_) trace_->write();
}

// ---- running ------------------------------------------------------------------------------------

void HostEngine::start(Node& node) {
  for (std::uint32_t block = 0; block < node.blocks(); ++block) spawn({&node, block});
}

void HostEngine::spawn(Call call) {
  // A thread of the watch, which has found out that this may start, is awake: a worker is not yet.
  if (watch_->is_on_duty()) {
    WorkerLane* const lane = take_lane();
    if (lane != nullptr && watch_->take_on([this, lane, call] { work_on(*lane, call); })) return;
    if (lane != nullptr) give_back(*lane);
  }
  arena_.enqueue([this, call] { work(call); });
}

// By a thread that must not run a task. What was put off meanwhile, for want of this lane, is the
// workers' again.
void HostEngine::give_back(WorkerLane& lane) {
  lane.give_back();
  if (put_off_count_.load(std::memory_order_seq_cst) == 0) return;
  const Call call = next_put_off();
  if (call.node != nullptr) arena_.enqueue([this, call] { work(call); });
}

// There are as many workers as lanes, but one may be with a thread of the watch, or with a task
// that waits within for something of oneTBB's, whose worker gets another task meanwhile.
WorkerLane* HostEngine::take_lane() {
  const int slot = oneapi::tbb::this_task_arena::current_thread_index();
  const std::size_t first = slot < 0 ? 0 : static_cast<std::size_t>(slot) % lanes_.size();
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    WorkerLane& lane = lanes_[(first + i) % lanes_.size()];
    if (lane.take()) return &lane;
  }
  return nullptr;
}

void HostEngine::work(Call call) {
  if (WorkerLane* const lane = take_lane()) {
    work_on(*lane, call);
  } else {
    put_off(call);
  }
}

void HostEngine::work_on(WorkerLane& lane, Call call) {
  do {
    for (; call.node != nullptr; call = next_put_off()) {
      while (call.node != nullptr) {
        const Running outer = std::exchange(running_here, {this, call.node, &lane});
        Outcome outcome = run_call(lane, call);
        running_here = outer;
        call = {book_->finished(*call.node, std::move(outcome)), 0};
      }
    }
    lane.give_back();
    // In one order with what put_off does: either that finds this lane, or this what was put off.
    if (put_off_count_.load(std::memory_order_seq_cst) == 0 || !lane.take()) return;
    call = next_put_off();
  } while (true);
}

Outcome HostEngine::run_call(WorkerLane& lane, Call call) {
  if (!trace_) [[likely]]
    return lane.call(*call.node, call.block);
  const auto begin = Trace::Clock::now();
  Outcome outcome = lane.call(*call.node, call.block);
  trace_->ran(lane.number(), *call.node, call.block, begin, Trace::Clock::now());
  return outcome;
}

void HostEngine::put_off(Call call) {
  {
    const std::lock_guard guard(put_off_lock_);
    put_off_.push_back(call);
    put_off_count_.fetch_add(1, std::memory_order_seq_cst);
  }
  WorkerLane* const lane = take_lane();
  if (lane == nullptr) return;  // who has it looks when it gives it back
  work_on(*lane, next_put_off());
}

HostEngine::Call HostEngine::next_put_off() {
  if (put_off_count_.load(std::memory_order_relaxed) == 0) return {};
  const std::lock_guard guard(put_off_lock_);
  if (put_off_.empty()) return {};
  const Call call = put_off_.front();
  put_off_.pop_front();
  put_off_count_.fetch_sub(1, std::memory_order_relaxed);
  return call;
}

const Node* HostEngine::running() const {
  return running_here.engine == this ? running_here.node : nullptr;
}

void HostEngine::seal(void* /*fabric*/, const Node& node) {
  running_here.lane->seal(node);
}

// ---- watching -----------------------------------------------------------------------------------

bool HostEngine::watch(PendingNode& node) {
  auto* const wait = new Wait(*this, node);
  {
    const std::lock_guard guard(waits_lock_);
    node.engine_data = wait;
  }
  if (!watch_->add(*wait)) return false;  // it ends itself, and may have
  const std::lock_guard guard(waits_lock_);
  node.engine_data = nullptr;
  delete wait;
  return true;
}

bool HostEngine::unwatch(PendingNode& node) {
  const std::lock_guard guard(waits_lock_);
  auto* const wait = static_cast<Wait*>(node.engine_data);
  if (wait == nullptr || !watch_->remove(*wait)) return false;
  wait->ended(false);
  node.engine_data = nullptr;
  delete wait;
  return true;
}

std::optional<Error> HostEngine::objection(const Condition& condition) {
  const Signal signal = condition.signal;
  if (signal.segment == 0 &&
      team_.holding(host::Allocation::Kind::cells, signal.cell, 1) != nullptr)
    return std::nullopt;
  return Error{ErrorCode::invalid_argument,
               fmt::format("cell {} of segment {} belongs to no rows or signals of this team "
                           "(freed, out of bounds, or another team's)",
                           signal.cell, signal.segment),
               team_.rank()};
}

// ---- the program's threads ----------------------------------------------------------------------

Result<void> HostEngine::block(const Node* node) {
  const auto over = [&] { return node != nullptr ? node->settled() : book_->is_idle(); };
  std::unique_lock lock(block_lock_);
  ++blocked_;
  if (!unblocked_.wait_for(lock, notice_after, over)) {
    lock.unlock();
    notice(node);
    lock.lock();
    unblocked_.wait(lock, over);
  }
  --blocked_;
  return {};
}

// Once, in one line: what the caller waits for, and what keeps it.
void HostEngine::notice(const Node* node) const {
  const Node* oldest = nullptr;
  for (std::uint32_t index = 0; const Node* const one = book_->node_at(index); ++index) {
    if (one->settled()) continue;
    oldest = one;
    break;
  }
  if (oldest == nullptr) return;
  fmt::print(
      stderr,
      "muster: {} has waited 10 s for {}: {} tasks have not ended, the first of them is task "
      "{}; {} waits are pending\n",
      team_.called(team_.rank()), node == nullptr ? "its tasks" : "task " + node->called(),
      book_->unfinished(), oldest->called(), watch_->pending());
  std::fflush(stderr);
}

void HostEngine::wake() {
  const std::lock_guard lock(block_lock_);
  if (blocked_ != 0) unblocked_.notify_all();
}

Result<void> HostEngine::begin() {
  if (control_->closed()) return *control_->refusal();
  if (control_->begin_lanes()) return {};
  return Error{ErrorCode::invalid_argument,
               "submit: lanes of this team are running, by lane or lanes or for another graph; "
               "they are run by one at a time",
               team_.rank()};
}

void HostEngine::end() {
  control_->end_lanes();
}

}  // namespace muster::task

namespace muster {
namespace {

// The cores that this rank may have for itself, as far as that can be told.
std::uint32_t cores_of_rank(const Team& team) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  const bool known = sched_getaffinity(0, sizeof mask, &mask) == 0;
  const auto own = static_cast<std::uint32_t>(known ? CPU_COUNT(&mask) : 1);
  return std::max(1U, std::min(own, std::thread::hardware_concurrency() / team.size()));
}

}  // namespace

std::unique_ptr<task::EngineOf<host::Fabric>> make_engine(Team& team,
                                                          const task::Options& options) {
  const std::uint32_t workers =
      options.workers == 0 ? std::min(cores_of_rank(team), team.max_lanes()) : options.workers;
  if (workers > team.max_lanes()) {
    throw Failure(Error{
        ErrorCode::invalid_argument,
        fmt::format("Graph: workers is {}; it must be from 1 to {} (the option `lanes` of run), or "
                    "0 for as many as there are cores",
                    workers, team.max_lanes()),
        team.rank()});
  }
  try {
    return std::make_unique<task::HostEngine>(team.control_, workers, options.trace);
  } catch (const std::system_error& refused) {
    throw Failure(Error{ErrorCode::system,
                        fmt::format("Graph: no thread for its watch: {}{}", refused.what(),
                                    note_on_processes(refused.code().value())),
                        team.rank()});
  }
}

}  // namespace muster
