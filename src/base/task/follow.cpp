// The engine's side of a graph: tasks end, and what follows them starts.
#include "base/task/follow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "muster/task/book.hpp"

namespace muster::task {

Outcome cancelled_with(const Node& node, const Node& cause) {
  const Trouble& before = *cause.trouble();
  Error error = before.error;
  // The first cause stands at the end of the sentence, and the tasks that led here before it.
  error.what = fmt::format("task {} was cancelled{} task {}{}: {}", node.called(),
                           before.cancelled ? " with" : ", for", cause.called(),
                           before.cancelled ? "" : " failed", before.error.what);
  return std::make_unique<Trouble>(Trouble{std::move(error), nullptr, true, before.asked});
}

bool Edge::link() {
  std::atomic<Edge*>& list = before->successors_;
  next = list.load(std::memory_order_acquire);  // pairs with the exchange in settle_one
  do {
    if (next == Node::closed()) return false;
    // Release: settle_one acquires the edge, and the node behind it.
  } while (!list.compare_exchange_weak(next, this, std::memory_order_acq_rel,
                                       std::memory_order_acquire));
  return true;
}

bool Node::claim(State from) {
  // Acquires what was written before it came to `from`: a coroutine goes on where it suspended.
  return state_.compare_exchange_strong(from, State::claimed, std::memory_order_acq_rel,
                                        std::memory_order_relaxed);
}

// Each dep releases what it did; the last, whose claim starts the task, acquires all of it (the
// subtractions are one release sequence). So the edge orders as the end and the start of a launch.
bool Node::unblock() {
  return blockers_.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

// ---- a task's end -------------------------------------------------------------------------------

Node* Book::finished(Node& node, Outcome outcome) {
  if (node.blocks_ > 1) {
    Trouble* none = nullptr;
    if (outcome &&
        node.first_trouble_.compare_exchange_strong(none, outcome.get(), std::memory_order_relaxed))
      (void)outcome.release();
    // The last block's end comes behind what all have done: see unblock.
    if (node.blocks_left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return nullptr;
    outcome.reset(node.first_trouble_.exchange(nullptr, std::memory_order_relaxed));
  }
  NodeList ready;
  const bool may_wait = node.kind_ == Kind::waiter || node.kind_ == Kind::coroutine;
  if (!outcome && may_wait && static_cast<PendingNode&>(node).next() != PendingNode::Next::ended) {
    suspend(static_cast<PendingNode&>(node), ready);
  } else {
    settle(node, std::move(outcome), ready);
  }
  // One that the caller can run at once: not one of several blocks, which are for several workers.
  Node* const first = ready.pop();
  start(ready);
  if (first == nullptr || first->blocks_ == 1) return first;
  engine_->start(*first);
  return nullptr;
}

void Book::start(NodeList& ready) {
  while (Node* const node = ready.pop()) engine_->start(*node);
}

// The node, and those that are cancelled with it.
void Book::settle(Node& node, Outcome outcome, NodeList& ready) {
  node.trouble_ = std::move(outcome);
  NodeList cancelled;
  cancelled.push(node);
  while (Node* const next = cancelled.pop()) settle_one(*next, ready, cancelled);
}

void Book::settle_one(Node& node, NodeList& ready, NodeList& cancelled) {
  const Trouble* const trouble = node.trouble_.get();
  if (trouble != nullptr) note(*trouble);
  engine_->settled(node);
  node.drop_body();
  // Before anybody can know that it has settled: who waits for the last task has the lanes back.
  shrink_by_one();
  // Release: who finds it closed sees what the task did. Acquire: the edges. seq_cst: see wait().
  Edge* edge = node.successors_.exchange(Node::closed(), std::memory_order_seq_cst);
  const bool awaited = node.awaited_.load(std::memory_order_seq_cst);
  Edge* oldest = nullptr;  // in the order in which they came
  while (edge != nullptr) {
    Edge* const next = std::exchange(edge->next, oldest);
    oldest = std::exchange(edge, next);
  }
  while (oldest != nullptr) {
    Edge* const next = oldest->next;
    follow(*oldest, trouble, ready, cancelled);
    oldest = next;
  }
  if (awaited) engine_->wake();
}

void Book::follow(Edge& edge, const Trouble* trouble, NodeList& ready, NodeList& cancelled) {
  Node& after = *edge.after;
  if (edge.resumes) {
    if (after.claim(Node::State::awaits_task))
      resume(static_cast<PendingNode&>(after), trouble == nullptr ? nullptr : &trouble->error,
             ready);
    return;
  }
  if (trouble != nullptr && after.claim()) {
    after.trouble_ = cancelled_with(after, *edge.before);
    cancelled.push(after);
  }
  if (after.unblock() && after.claim()) ready.push(after);
}

void Book::note(const Trouble& trouble) {
  if (trouble.cancelled) return;  // told by its cause, or asked for
  const std::lock_guard guard(trouble_lock_);
  if (!first_trouble_) first_trouble_ = trouble;
}

// ---- what a task waits for ----------------------------------------------------------------------

void Book::suspend(PendingNode& node, NodeList& ready) {
  if (node.next() == PendingNode::Next::signals) {
    await_signals(node, ready);
  } else {
    await_task(node, ready);
  }
  // Pairs with the store in ~Book, which cancels what is pending before it waits.
  if (closing_.load(std::memory_order_seq_cst)) (void)cancel(node);
}

void Book::await_signals(PendingNode& node, NodeList& ready) {
  if (node.kind_ == Kind::coroutine) {
    std::optional<Error> wrong = engine_->objection(node.conditions().front());
    if (wrong) {
      wrong->what = fmt::format("co_await in task {}: {}", node.called(), wrong->what);
      return resume(node, &*wrong, ready);
    }
  }
  // Release, before the watch has it: whoever goes on with it acquires what the body wrote.
  node.state_.store(Node::State::awaits_signals, std::memory_order_release);
  if (engine_->watch(node) && node.claim(Node::State::awaits_signals)) resume(node, nullptr, ready);
}

void Book::await_task(PendingNode& node, NodeList& ready) {
  const TaskId id = node.awaited_task();
  Node* const awaited = id.graph == number_ ? node_at(id.index) : nullptr;
  if (awaited == nullptr) {
    const Error unknown{ErrorCode::invalid_argument,
                        fmt::format("co_await in task {}: there is no task {} in this graph",
                                    node.called(), id.index)};
    return resume(node, &unknown, ready);
  }
  node.await_edge_ = {awaited, &node, nullptr, true};
  if (!awaited->settled()) {
    // One at a time: of two that await each other the second sees the first.
    const std::lock_guard guard(circle_lock_);
    if (const std::optional<Error> wrong = circle(node, *awaited))
      return resume(node, &*wrong, ready);
    node.awaiting_.store(awaited, std::memory_order_relaxed);
    node.state_.store(Node::State::awaits_task, std::memory_order_release);
    if (node.await_edge_.link()) return;
  } else {
    node.state_.store(Node::State::awaits_task, std::memory_order_release);
  }
  const Trouble* const trouble = awaited->trouble();
  if (node.claim(Node::State::awaits_task))
    resume(node, trouble == nullptr ? nullptr : &trouble->error, ready);
}

void Book::resume(PendingNode& node, const Error* failure, NodeList& ready) {
  node.awaiting_.store(nullptr, std::memory_order_relaxed);
  node.waited(failure);
  if (node.kind_ == Kind::coroutine) {
    ready.push(node);
  } else {
    settle(node, failure == nullptr ? Outcome{} : std::make_unique<Trouble>(Trouble{*failure}),
           ready);
  }
}

void Book::waited(PendingNode& node, const Error* failure) {
  if (!node.claim(Node::State::awaits_signals)) return;
  NodeList ready;
  resume(node, failure, ready);
  start(ready);
}

// Does `to` wait for `from`, over deps and what coroutines await? A dep is always older than what
// follows it, so deps alone lead to younger tasks never.
std::optional<Error> Book::circle(const PendingNode& from, const Node& to) const {
  std::vector<const Node*> open{&to};
  std::unordered_set<const Node*> seen{&to};
  while (!open.empty()) {
    const Node& node = *open.back();
    open.pop_back();
    if (&node == &from) {
      return Error{ErrorCode::invalid_argument,
                   fmt::format("co_await in task {}: task {} waits for it, so neither can go on",
                               from.called(), to.called())};
    }
    const auto go = [&](const Node* next) {
      if (next != nullptr && !next->settled() && seen.insert(next).second) open.push_back(next);
    };
    for (std::size_t at = 0; at < node.dep_count(); ++at) go(&node.dep(at));
    if (node.kind() == Kind::coroutine)
      go(static_cast<const PendingNode&>(node).awaiting_.load(std::memory_order_relaxed));
  }
  return std::nullopt;
}

}  // namespace muster::task
