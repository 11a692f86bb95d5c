// Deferred waits: what a waiter's body is given. Included by muster/task.hpp.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "muster/task/node.hpp"
#include "muster/types.hpp"

namespace muster::task {

class Engine;

// A task that stays incomplete after its body has returned, until what it waits for has come.
class PendingNode : public Node {
 public:
  using Node::Node;

  // What it does when run() has returned.
  enum class Next : std::uint8_t { ended, signals, task };
  [[nodiscard]] virtual Next next() const = 0;

  // The conditions of Next::signals, each awaited once the one before it has held.
  [[nodiscard]] const std::vector<Condition>& conditions() const { return conditions_; }
  // How long they may take in all, from when the body has returned; none: as a wait of the team.
  [[nodiscard]] const std::optional<std::chrono::milliseconds>& timeout() const { return timeout_; }
  // The task of Next::task.
  [[nodiscard]] TaskId awaited_task() const { return awaited_task_; }

  // How what it waited for has ended: null: well. The task goes on with it, or ends.
  virtual void waited(const Error* failure) = 0;

 protected:
  std::vector<Condition> conditions_;
  std::optional<std::chrono::milliseconds> timeout_;
  TaskId awaited_task_{};

 private:
  friend class Book;
  Edge await_edge_{};  // into the list of the awaited task
  std::atomic<const Node*> awaiting_{nullptr};
};

// What the body of a waiter registers its waits with. The body looks at what it needs (counters,
// epochs), registers any number of waits, and returns; it never blocks. The task is complete when
// each of them, in the order of registration, has been seen to hold after the one before it: as if
// the body had waited for one after the other, without a worker. So a wait for `eq`, or for
// anything that may cease to hold, misses what was gone before it was looked at.
//
// Own cells alone can be named: cells of rows and of signals, and no peer's. A body that also takes
// the fabric, body(fabric, waiter), uses it before it registers: afterwards each of its operations
// but counters and identity is an error that names the task.
class Waiter {
 public:
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  // The task is not complete before the own cell satisfies the comparison. As a wait with
  // Order::acquire, it sees what the deposits carried, and so does whatever depends on the task.
  //
  // Greater and less compare as `satisfies` does: by the difference as a signed 32-bit number. So a
  // negative number that was converted to unsigned is one that lies before 0: `ge` 0xffffffff holds
  // for a cell that is 0. Passed as it is, as 64 bits, it does not fit, and is an error.
  // Errors, which the task ends with (invalid_argument): a value that 32 bits do not hold, a cell
  // that the team has not.
  void defer_wait(Signal signal, Compare compare, std::uint64_t value);

  // How long all of this task's waits may take, from when its body has returned. Once they have
  // taken longer the task fails with `expired`. Without this, as long as a wait of the team may,
  // which then fails the team, too, where it is made so.
  void deadline(std::chrono::milliseconds time);

 private:
  template <class Fabric, class Body>
  friend class WaiterNode;
  Waiter(const Node& node, Engine& engine, void* fabric, std::vector<Condition>& conditions,
         std::optional<std::chrono::milliseconds>& timeout)
      : node_(node), engine_(engine), fabric_(fabric), conditions_(conditions), timeout_(timeout) {}

  const Node& node_;
  Engine& engine_;
  void* fabric_;  // where the body has it
  std::vector<Condition>& conditions_;
  std::optional<std::chrono::milliseconds>& timeout_;
  Outcome wrong_{};
};

// body(waiter) or body(fabric, waiter).
template <class Fabric, class Body>
class WaiterNode final : public PendingNode {
 public:
  WaiterNode(std::string_view name, Engine& engine, Body body)
      : PendingNode(name, Kind::waiter, 1), engine_(engine), body_(std::move(body)) {}

  Outcome run(void* fabric, std::uint32_t /*block*/) override {
    constexpr bool takes_fabric = std::is_invocable_v<Body&, Fabric&, Waiter&>;
    Waiter waiter(*this, engine_, takes_fabric ? fabric : nullptr, conditions_, timeout_);
    Outcome outcome = call_body(*this, [&] {
      if constexpr (takes_fabric) {
        return (*body_)(*static_cast<Fabric*>(fabric), waiter);
      } else {
        return (*body_)(waiter);
      }
    });
    if (!outcome) outcome = std::move(waiter.wrong_);
    return outcome;
  }
  void drop_body() override { body_.reset(); }

  [[nodiscard]] Next next() const override {
    return conditions_.empty() || waited_ ? Next::ended : Next::signals;
  }
  void waited(const Error* /*failure*/) override { waited_ = true; }

 private:
  Engine& engine_;
  std::optional<Body> body_;
  bool waited_ = false;
};

}  // namespace muster::task
