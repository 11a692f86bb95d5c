// What is the same of every graph, whatever runs its tasks: who waits for whom, what has ended and
// how. Included by muster/task.hpp; programs name none of this.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "muster/result.hpp"
#include "muster/task/id.hpp"
#include "muster/task/node.hpp"
#include "muster/task/waiter.hpp"

namespace muster::task {

class Book;

// Runs tasks and watches cells, for one graph. Made by make_engine(team, options), which is found
// beside the team's type.
//
// In the memory order: what a task did happens before Book::finished is called for it; that happens
// before the start() of each task that follows from it; and start() before Node::run. A condition
// that holds was read with acquire before Book::waited is called.
class Engine {
 public:
  virtual ~Engine() = default;

  // The first thing that it is told.
  virtual void attach(Book& book) = 0;
  // The last: no task is left, and when this returns no thread is in a call of the book.
  virtual void detach() = 0;

  // A task has come, and nobody knows of it yet.
  virtual void submitted(Node& node) { (void)node; }
  // Calls node.run(fabric, block) for each block, soon, each on a lane that nothing else has for
  // so long, and book.finished behind each. Called again for a coroutine that goes on.
  virtual void start(Node& node) = 0;

  // Watches the conditions of the node, in turn, and calls book.waited once: when the last has
  // held, or with the reason why that will not be. True: all have held by now, and nothing is
  // called.
  virtual bool watch(PendingNode& node) = 0;
  // Stops that. False: book.waited was called, or is about to be.
  virtual bool unwatch(PendingNode& node) = 0;

  // Blocks the calling thread, which runs no task of this graph, until the node has settled, or,
  // for null, until book.is_idle(). An error where it cannot.
  virtual Result<void> block(const Node* node) = 0;
  // The calling thread knows that the node, or, for null, every node has settled.
  virtual void joined(const Node* node) { (void)node; }
  // For those that block: a node that is awaited has settled, or the book is idle.
  virtual void wake() = 0;

  // The first task after none, and none any more: between the two the team's lanes are this
  // graph's. An error where they are somebody else's.
  virtual Result<void> begin() { return {}; }
  virtual void end() {}

  // Has the node come to an end? For those that keep something with it. Before what follows starts.
  virtual void settled(Node& node) { (void)node; }

  // Why the rank cannot wait for this cell, if so.
  [[nodiscard]] virtual std::optional<Error> objection(const Condition& condition) = 0;
  // The body that has this fabric must not use it any more.
  virtual void seal(void* fabric, const Node& node) = 0;
  // Is everything being ended where it stands? What a body throws then goes on its way.
  [[nodiscard]] virtual bool is_given_up() const { return false; }
  // Does the calling thread run a task of this graph? Then it must not block.
  [[nodiscard]] virtual const Node* running() const = 0;
};

template <class F>
class EngineOf : public Engine {
 public:
  using Fabric = F;
};

// Nodes that one thread is at work on, in order, without memory of their own.
class NodeList {
 public:
  void push(Node& node) {
    node.next_ = nullptr;
    (last_ == nullptr ? first_ : last_->next_) = &node;
    last_ = &node;
  }
  [[nodiscard]] Node* pop() {
    Node* const node = first_;
    if (node == nullptr) return nullptr;
    first_ = node->next_;
    if (first_ == nullptr) last_ = nullptr;
    return node;
  }

 private:
  Node* first_ = nullptr;
  Node* last_ = nullptr;
};

class Book {
 public:
  explicit Book(std::unique_ptr<Engine> engine);
  // Cancels what has not started, and waits for what has.
  ~Book();
  Book(const Book&) = delete;
  Book& operator=(const Book&) = delete;

  // ---- for the program; they may be called by several threads, and by tasks
  TaskId submit(std::unique_ptr<Node> node, const Deps& deps);
  Result<void> wait(TaskId id);
  Result<void> wait_all();
  Result<bool> cancel(TaskId id);
  [[nodiscard]] std::uint64_t unfinished() const {
    return unfinished_.load(std::memory_order_relaxed);
  }

  // ---- for the engine

  // A block of the node has returned from run(). Starts what that makes ready, but for one single
  // task, which the caller is to run at once: null where there is none.
  [[nodiscard]] Node* finished(Node& node, Outcome outcome);
  // What a pending node waited for has come; or it will not, for this reason.
  void waited(PendingNode& node, const Error* failure);
  // Has every task that was submitted ended, and are the lanes the team's again? Acquires what the
  // tasks did.
  [[nodiscard]] bool is_idle() const {
    return unfinished_.load(std::memory_order_acquire) == 0 &&
           !has_lanes_.load(std::memory_order_acquire);
  }
  [[nodiscard]] Engine& engine() { return *engine_; }
  // In the order of submission, for messages; null beyond the last.
  [[nodiscard]] Node* node_at(std::uint32_t index) const;

 private:
  [[nodiscard]] Node& find(const char* what, TaskId id) const;  // throws Failure
  void refuse(const Node& node, const Deps& deps) const;
  void enter(Node& node);
  void link(Node& node, const Deps& deps);
  void settle(Node& node, Outcome outcome, NodeList& ready);
  void settle_one(Node& node, NodeList& ready, NodeList& cancelled);
  void follow(Edge& edge, const Trouble* trouble, NodeList& ready, NodeList& cancelled);
  void suspend(PendingNode& node, NodeList& ready);
  void await_signals(PendingNode& node, NodeList& ready);
  void await_task(PendingNode& node, NodeList& ready);
  void resume(PendingNode& node, const Error* failure, NodeList& ready);
  bool cancel(Node& node);
  void start(NodeList& ready);
  void note(const Trouble& trouble);
  [[nodiscard]] std::optional<Error> circle(const PendingNode& from, const Node& to) const;
  void grow_by_one();
  void shrink_by_one();

  // Chunk k holds so many entries: found without a lock while others are added.
  static constexpr std::uint32_t first_chunk = 64;
  using Place = std::atomic<Node*>;
  [[nodiscard]] Place* place_of(std::uint32_t index) const;

  std::uint32_t number_;
  std::array<std::atomic<Place*>, 27> chunks_{};
  std::atomic<std::uint32_t> count_{0};
  std::atomic<std::uint64_t> unfinished_{0};
  std::mutex lanes_lock_;
  std::atomic<bool> has_lanes_{false};
  std::atomic<bool> closing_{false};
  mutable std::mutex trouble_lock_;
  std::optional<Trouble> first_trouble_;  // since the last wait_all
  std::mutex circle_lock_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace muster::task
