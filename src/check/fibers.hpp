// The fibers of an execution's threads.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "check/overflow_guard.hpp"
#include "check/stack_pool.hpp"
#include "check/threads.hpp"

namespace muster::check::engine {

// Runs the threads that are ready, one at a time, in the order in which they became so, each until
// it blocks or ends. Once it has stopped, no thread is resumed but to be unwound.
class Fibers {
 public:
  // Told of a thread that has ended otherwise than by returning: what it threw, in words, empty
  // where there are none; nothing where its stack has overflowed.
  using Broken = std::function<void(Thread& thread, const std::optional<std::string>& threw)>;

  Fibers(Threads& threads, Broken broken) : threads_(threads), broken_(std::move(broken)) {}
  ~Fibers() = default;
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  // Before an execution: nothing runs, nothing is ready.
  void reset();
  // While one lives, a stack overflow of a fiber ends its thread alone.
  class Guarded {
   public:
    explicit Guarded(Fibers& fibers) : fibers_(fibers), guard_(fibers.stacks_) {
      fibers_.guard_ = &guard_;
    }
    ~Guarded() { fibers_.guard_ = nullptr; }
    Guarded(const Guarded&) = delete;
    Guarded& operator=(const Guarded&) = delete;

   private:
    Fibers& fibers_;
    OverflowGuard guard_;
  };

  // Makes a fiber that runs `body`; it is ready.
  void start(Thread& thread, std::function<void(Thread&)> body);
  void ready(Thread& thread);
  // Until nothing is ready, or all has stopped.
  void run_ready();

  // ---- from within a fiber
  // Returns when the thread is resumed. Not where fibers are unwound: then it returns at once.
  void block(Thread& self, ThreadState state);
  // Goes on when all that is ready has had its turn.
  void make_way(Thread& self);
  [[nodiscard]] Thread* running() { return running_; }

  void stop() { stopped_ = true; }
  [[nodiscard]] bool stopped() const { return stopped_; }
  // Ends every fiber where it stands: destructors run, and `unwinding` says so meanwhile.
  void unwind();
  [[nodiscard]] bool unwinding() const { return unwinding_; }

 private:
  void resume(Thread& thread);
  bool resume_guarded(Thread& thread);

  Threads& threads_;
  Broken broken_;
  StackPool stacks_;
  std::deque<std::uint32_t> ready_;
  boost::context::fiber main_;
  Thread* running_ = nullptr;
  OverflowGuard* guard_ = nullptr;
  bool unwinding_ = false;
  bool stopped_ = false;
};

}  // namespace muster::check::engine
