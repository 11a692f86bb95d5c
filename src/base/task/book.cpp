// The program's side of a graph: tasks come, are waited for and cancelled.
#include "muster/task/book.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "base/task/follow.hpp"

namespace muster::task {
namespace {

std::atomic<std::uint32_t> graphs{0};

Error invalid(std::string what) {
  return Error{ErrorCode::invalid_argument, std::move(what)};
}

}  // namespace

Book::Book(std::unique_ptr<Engine> engine)
    : number_(graphs.fetch_add(1, std::memory_order_relaxed) + 1), engine_(std::move(engine)) {
  engine_->attach(*this);
}

Book::~Book() {
  // Pairs with the load in suspend: a node that is not pending yet when this comes to it sees that.
  closing_.store(true, std::memory_order_seq_cst);
  const std::uint32_t count = count_.load(std::memory_order_acquire);
  for (std::uint32_t index = 0; index < count; ++index) {
    if (Node* const node = node_at(index)) (void)cancel(*node);
  }
  if (!is_idle()) (void)engine_->block(nullptr);
  engine_->detach();
  // Of those that tasks have submitted meanwhile, too.
  const std::uint32_t all = count_.load(std::memory_order_acquire);
  for (std::uint32_t index = 0; index < all; ++index) delete node_at(index);
  for (std::atomic<Place*>& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
}

// ---- the table ----------------------------------------------------------------------------------

namespace {
// Chunk k begins at first * (2^k - 1).
struct Position {
  std::uint32_t chunk;
  std::uint32_t at;
};
constexpr Position position_of(std::uint32_t index, std::uint32_t first) {
  const std::uint32_t chunk = static_cast<std::uint32_t>(std::bit_width(index / first + 1)) - 1;
  return {chunk, index - first * ((1U << chunk) - 1)};
}
}  // namespace

Node* Book::node_at(std::uint32_t index) const {
  const auto [chunk, at] = position_of(index, first_chunk);
  // Acquire, both: the places are null or filled in, and so is the node.
  Place* const places =
      chunk < chunks_.size() ? chunks_[chunk].load(std::memory_order_acquire) : nullptr;
  return places == nullptr ? nullptr : places[at].load(std::memory_order_acquire);
}

void Book::enter(Node& node) {
  const std::uint32_t index = count_.fetch_add(1, std::memory_order_relaxed);
  const auto [chunk, at] = position_of(index, first_chunk);
  Place* places = chunks_[chunk].load(std::memory_order_acquire);
  if (places == nullptr) {
    auto* const fresh = new Place[std::size_t{first_chunk} << chunk]();
    if (chunks_[chunk].compare_exchange_strong(places, fresh, std::memory_order_acq_rel)) {
      places = fresh;
    } else {
      delete[] fresh;
    }
  }
  node.id_ = {number_, index};
  places[at].store(&node, std::memory_order_release);  // pairs with the acquire in node_at
}

Node& Book::find(const char* what, TaskId id) const {
  if (id.graph != 0 && id.graph != number_) {
    throw Failure(
        invalid(fmt::format("{}: task {} of graph {} is another graph's; this is graph {}", what,
                            id.index, id.graph, number_)));
  }
  Node* const node = id.graph == 0 ? nullptr : node_at(id.index);
  if (node == nullptr) {
    throw Failure(invalid(fmt::format("{}: there is no task {} in this graph", what, id.index)));
  }
  return *node;
}

// ---- coming -------------------------------------------------------------------------------------

// What is wrong with a task is said before anybody knows of it.
void Book::refuse(const Node& node, const Deps& deps) const {
  const auto what = [&] { return fmt::format("submit of \"{}\"", node.name()); };
  if (node.blocks() < 1) {
    throw Failure(invalid(fmt::format("{}: blocks is 0; it must be at least 1", what())));
  }
  for (const TaskId id : deps) {
    const Node* dep = id.graph == number_ ? node_at(id.index) : nullptr;
    if (dep == nullptr) dep = &find(what().c_str(), id);
    if (dep->settled() && dep->trouble() != nullptr && dep->trouble()->asked) {
      throw Failure(
          invalid(fmt::format("{}: its dep, task {}, was cancelled", what(), dep->called())));
    }
  }
}

TaskId Book::submit(std::unique_ptr<Node> made, const Deps& deps) {
  if (made->blocks_ < 1 || deps.size() != 0) refuse(*made, deps);
  grow_by_one();
  Node& node = *made.release();
  node.engine_ = engine_.get();
  engine_->submitted(node);
  enter(node);
  const TaskId id = node.id_;
  NodeList ready;
  if (deps.size() != 0) link(node, deps);
  // The submission itself is over: acquires what deps did that have ended meanwhile.
  if (node.blockers_.fetch_sub(1, std::memory_order_acq_rel) == 1 && node.claim()) {
    ready.push(node);
  }
  start(ready);
  return id;
}

void Book::link(Node& node, const Deps& deps) {
  if (deps.size() > Node::inline_edges) node.more_edges_.reset(new Edge[deps.size()]);
  node.blockers_.store(static_cast<std::uint32_t>(deps.size()) + 1, std::memory_order_relaxed);
  std::size_t at = 0;
  for (const TaskId id : deps) node.edge(at++) = {node_at(id.index), &node};
  // From the first link on others may unblock or cancel it, and read its deps.
  node.dep_count_ = deps.size();
  for (at = 0; at < deps.size(); ++at) {
    Edge& edge = node.edge(at);
    if (edge.link()) continue;
    (void)node.unblock();
    if (edge.before->trouble() == nullptr || !node.claim()) continue;
    NodeList ready;
    settle(node, cancelled_with(node, *edge.before), ready);
    start(ready);
  }
}

// ---- waiting and cancelling ---------------------------------------------------------------------

Result<void> Book::wait(TaskId id) {
  Node& node = find("wait", id);
  if (!node.settled()) {
    if (const Node* const running = engine_->running()) {
      return invalid(fmt::format(
          "wait: task {} waits for task {} and would keep its worker; name it among the deps, or "
          "co_await it",
          running->called(), node.called()));
    }
    // Before the look in block(); settle_one closes the list first and then looks at this. Both are
    // seq_cst: one of the two sees the other.
    node.awaited_.store(true, std::memory_order_seq_cst);
    if (const Result<void> blocked = engine_->block(&node); !blocked) return blocked;
  }
  engine_->joined(&node);
  const Trouble* const trouble = node.trouble();
  if (trouble == nullptr) return {};
  if (trouble->thrown) std::rethrow_exception(trouble->thrown);
  return trouble->error;
}

Result<void> Book::wait_all() {
  if (const Node* const running = engine_->running()) {
    return invalid(fmt::format("wait_all: task {} would wait for itself", running->called()));
  }
  if (!is_idle()) {
    if (const Result<void> blocked = engine_->block(nullptr); !blocked) return blocked;
  }
  engine_->joined(nullptr);
  const std::lock_guard guard(trouble_lock_);
  const std::optional<Trouble> trouble = std::exchange(first_trouble_, std::nullopt);
  if (!trouble) return {};
  if (trouble->thrown) std::rethrow_exception(trouble->thrown);
  return trouble->error;
}

Result<bool> Book::cancel(TaskId id) {
  return cancel(find("cancel", id));
}

bool Book::cancel(Node& node) {
  using State = Node::State;
  // One that awaits a task stays in that one's list, which finds it claimed.
  bool mine = node.claim() || node.claim(State::awaits_task);
  // Only what is watched can be taken from the watch, and by one alone.
  if (!mine && node.state_.load(std::memory_order_acquire) == State::awaits_signals)
    mine = engine_->unwatch(static_cast<PendingNode&>(node)) && node.claim(State::awaits_signals);
  if (!mine) return false;
  NodeList ready;
  Error error{ErrorCode::aborted, fmt::format("task {} was cancelled", node.called())};
  settle(node, std::make_unique<Trouble>(Trouble{std::move(error), nullptr, true, true}), ready);
  start(ready);
  return true;
}

void Book::grow_by_one() {
  if (unfinished_.fetch_add(1, std::memory_order_acq_rel) != 0) return;
  const std::lock_guard guard(lanes_lock_);
  if (has_lanes_.load(std::memory_order_relaxed)) return;
  if (const Result<void> begun = engine_->begin(); !begun) {
    unfinished_.fetch_sub(1, std::memory_order_acq_rel);
    throw Failure(begun.error());
  }
  has_lanes_.store(true, std::memory_order_relaxed);
}

void Book::shrink_by_one() {
  // Release: what the task did is seen by who finds the graph idle.
  if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  {
    const std::lock_guard guard(lanes_lock_);
    if (unfinished_.load(std::memory_order_acquire) != 0) return;
    if (has_lanes_.load(std::memory_order_relaxed)) engine_->end();
    has_lanes_.store(false, std::memory_order_release);
  }
  engine_->wake();
}

}  // namespace muster::task
