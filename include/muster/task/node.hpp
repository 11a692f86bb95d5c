// A task as its graph and the engine that runs it see it. Included by muster/task.hpp; programs
// name none of this.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "muster/result.hpp"
#include "muster/task/id.hpp"
#include "muster/types.hpp"

namespace muster::task {

class Node;
class Engine;

// Why a task has not ended well.
struct Trouble {
  Error error;
  std::exception_ptr thrown{};  // where its own body threw
  bool cancelled = false;       // it never ran to its end: cancelled, or a task before it failed
  bool asked = false;           // ... because the program called cancel()
};

// How a body has ended; nothing: well.
using Outcome = std::unique_ptr<Trouble>;

// `after` follows `before`: linked into the list of `before`.
struct Edge {
  Node* before = nullptr;
  Node* after = nullptr;
  Edge* next = nullptr;
  bool resumes = false;  // `after` is a coroutine that has suspended until `before` has ended

  // False where `before` has settled already; acquires what it did then.
  [[nodiscard]] bool link();
};

enum class Kind : std::uint8_t { single, spmd, waiter, coroutine };

class Node {
 public:
  // Where a task stands. It is claimed by whoever starts or cancels it.
  // One that awaits something has run, and is claimed again by whoever goes on with it.
  enum class State : std::uint8_t { waiting, claimed, awaits_signals, awaits_task };

  // `silent`: the body returns nothing, so that its lane must tell how it ended.
  Node(std::string_view name, Kind kind, std::uint32_t blocks, bool silent = true)
      : name_(name), kind_(kind), silent_(silent), blocks_(blocks), blocks_left_(blocks) {}
  virtual ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // Calls the body, or what is left of it, on a lane: `fabric` points to the Fabric that the graph
  // was made for. `block` is 0 but for SPMD tasks.
  [[nodiscard]] virtual Outcome run(void* fabric, std::uint32_t block) = 0;
  // The body and what it has captured are not needed any more.
  virtual void drop_body() = 0;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool is_silent() const { return silent_; }
  [[nodiscard]] std::uint32_t blocks() const { return blocks_; }
  [[nodiscard]] TaskId id() const { return id_; }
  // For messages: "consume" (task 3).
  [[nodiscard]] std::string called() const;
  [[nodiscard]] std::size_t dep_count() const { return dep_count_; }
  [[nodiscard]] const Node& dep(std::size_t at) const { return *edge(at).before; }

  // Has it ended, well or not? Acquires what it did.
  [[nodiscard]] bool settled() const;
  // Once it is settled; null: well.
  [[nodiscard]] const Trouble* trouble() const { return trouble_.get(); }

  // For the engine alone: whatever it keeps with a task.
  void* engine_data = nullptr;

 private:
  friend class Book;
  friend class NodeList;
  friend struct Edge;
  static constexpr std::size_t inline_edges = 2;

  [[nodiscard]] const Edge& edge(std::size_t at) const {
    return more_edges_ ? more_edges_[at] : edges_[at];
  }
  [[nodiscard]] Edge& edge(std::size_t at) { return more_edges_ ? more_edges_[at] : edges_[at]; }
  [[nodiscard]] static Edge* closed();
  // True: the caller alone goes on with it from here.
  [[nodiscard]] bool claim(State from = State::waiting);
  // One of those that it waits for has ended. True: it was the last.
  [[nodiscard]] bool unblock();

  friend Outcome outcome_of_exception(const Node& node);

  const Engine* engine_ = nullptr;
  std::string name_;
  TaskId id_{};
  Kind kind_;
  bool silent_;
  std::atomic<State> state_{State::waiting};
  std::atomic<bool> awaited_{false};  // somebody blocks until it has settled
  std::uint32_t blocks_;
  std::atomic<std::uint32_t> blocks_left_;
  std::atomic<std::uint32_t> blockers_{1};  // deps that have not ended, and the submission
  std::atomic<Edge*> successors_{nullptr};  // the latest first; closed() once it has settled
  std::array<Edge, inline_edges> edges_{};  // to its deps
  std::unique_ptr<Edge[]> more_edges_{};    // instead, where they are more
  std::size_t dep_count_ = 0;
  Node* next_ = nullptr;                          // in a list of the one who is at work on it
  std::atomic<Trouble*> first_trouble_{nullptr};  // of its blocks
  Outcome trouble_{};
};

// What the bodies of single and SPMD tasks return.
template <class Returned>
concept BodyResult = std::is_void_v<Returned> || std::is_same_v<Returned, WaitStatus> ||
    std::is_same_v<Returned, Result<void>>;

[[nodiscard]] Outcome outcome_of(const Result<void>& result);

// Calls a body and says how it ended. What it throws is kept for whoever waits.
template <class Call>
[[nodiscard]] Outcome call_body(const Node& node, Call&& call);
[[nodiscard]] Outcome outcome_of_exception(const Node& node);

template <class Call>
Outcome call_body(const Node& node, Call&& call) {
  using Returned = std::invoke_result_t<Call&>;
  static_assert(BodyResult<Returned>,
                "the body of a task returns void, WaitStatus or Result<void>");
  try {
    if constexpr (std::is_void_v<Returned>) {
      call();
      return {};
    } else if constexpr (std::is_same_v<Returned, WaitStatus>) {
      const WaitStatus status = call();
      return status == WaitStatus::ok ? Outcome{} : outcome_of(result_of(status));
    } else {
      return outcome_of(call());
    }
  } catch (...) {
    return outcome_of_exception(node);
  }
}

// Single tasks, body(fabric), and, with Block, SPMD tasks, body(fabric, block).
template <class Fabric, class Body, class... Block>
class BodyNode final : public Node {
 public:
  BodyNode(std::string_view name, Kind kind, std::uint32_t blocks, Body body)
      : Node(name, kind, blocks, std::is_void_v<std::invoke_result_t<Body&, Fabric&, Block...>>),
        body_(std::move(body)) {}

  Outcome run(void* fabric, std::uint32_t block) override {
    return call_body(*this, [&] {
      return (*body_)(*static_cast<Fabric*>(fabric), static_cast<Block>(block)...);
    });
  }
  void drop_body() override { body_.reset(); }

 private:
  std::optional<Body> body_;
};

}  // namespace muster::task
