// Tasks that give their worker back in the middle: C++20 coroutines. Included by muster/task.hpp.
#pragma once

// First: without C++20 it says so, and <coroutine> says something else.
// clang-format off
#include "muster/types.hpp"
// clang-format on

#include <coroutine>
#include <cstdint>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>

#include "muster/result.hpp"
#include "muster/task/node.hpp"
#include "muster/task/waiter.hpp"

namespace muster::task {

// What the body of such a task returns, body(fabric) -> Coroutine. In it
//
//   co_await id                                 suspends until that task of the graph has ended
//   co_await Condition{signal, Compare::ge, 3}  until the own cell satisfies that
//
// and no worker is held meanwhile; both give a Result<void> that says how it ended. It goes on on
// some worker: `fabric` stays the task's, but its lane() may be another one then. What was awaited
// is seen, as by a task that depends on it. The task has ended when the coroutine has; it fails by
// throwing, as value() of such a Result does.
//
// To await a task that waits for the awaiting one is an error that names the circle. A task that is
// cancelled while it is suspended is destroyed there, and does not go on.
class Coroutine {
 public:
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  explicit Coroutine(Handle handle) : handle_(handle) {}
  Coroutine(Coroutine&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Coroutine& operator=(Coroutine&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Coroutine() {
    if (handle_) handle_.destroy();
  }
  [[nodiscard]] Handle handle() const { return handle_; }

 private:
  Handle handle_;
};

struct Coroutine::promise_type {
  // What it has suspended for, and how that has ended.
  PendingNode::Next next = PendingNode::Next::ended;
  TaskId task{};
  Condition condition{};
  std::optional<Error> failure{};
  std::exception_ptr thrown{};

  struct Await {
    promise_type& promise;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(Handle) const noexcept {}
    Result<void> await_resume() const {
      promise.next = PendingNode::Next::ended;
      if (promise.failure) return *std::exchange(promise.failure, std::nullopt);
      return {};
    }
  };

  Coroutine get_return_object() { return Coroutine(Handle::from_promise(*this)); }
  std::suspend_always initial_suspend() noexcept { return {}; }
  std::suspend_always final_suspend() noexcept { return {}; }
  void unhandled_exception() { thrown = std::current_exception(); }
  void return_void() noexcept {}

  Await await_transform(TaskId id) {
    next = PendingNode::Next::task;
    task = id;
    return {*this};
  }
  Await await_transform(const Condition& awaited) {
    next = PendingNode::Next::signals;
    condition = awaited;
    return {*this};
  }
};

template <class Fabric, class Body>
class CoroutineNode final : public PendingNode {
 public:
  CoroutineNode(std::string_view name, Body body)
      : PendingNode(name, Kind::coroutine, 1), body_(std::move(body)) {}

  Outcome run(void* fabric, std::uint32_t /*block*/) override {
    // The lane that runs it this time; the reference that the body was given stays the same.
    if (fabric_) {
      *fabric_ = *static_cast<Fabric*>(fabric);
    } else {
      fabric_.emplace(*static_cast<Fabric*>(fabric));
    }
    if (!coroutine_) coroutine_.emplace((*body_)(*fabric_));
    coroutine_->handle().resume();
    Coroutine::promise_type& promise = coroutine_->handle().promise();
    if (!coroutine_->handle().done()) {
      conditions_.assign(1, promise.condition);
      awaited_task_ = promise.task;
      return {};
    }
    promise.next = Next::ended;
    if (!promise.thrown) return {};
    return call_body(*this, [&] { std::rethrow_exception(promise.thrown); });
  }
  void drop_body() override {
    coroutine_.reset();
    body_.reset();
  }

  [[nodiscard]] Next next() const override {
    return coroutine_ ? coroutine_->handle().promise().next : Next::ended;
  }
  void waited(const Error* failure) override {
    if (failure != nullptr) coroutine_->handle().promise().failure = *failure;
  }

 private:
  std::optional<Body> body_;
  std::optional<Fabric> fabric_;
  std::optional<Coroutine> coroutine_;
};

}  // namespace muster::task
