#include "check/fibers.hpp"

#include <boost/context/preallocated.hpp>
#include <exception>
#include <memory>
#include <new>

namespace muster::check::engine {

void Fibers::reset() {
  ready_.clear();
  stopped_ = unwinding_ = false;
}

void Fibers::start(Thread& thread, std::function<void(Thread&)> body) {
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
          broken_(thread, error.what());
          stop();
        } catch (...) {
          broken_(thread, "");
          stop();
        }
        thread.state = thread.is_setup ? ThreadState::done : ThreadState::absent;
        return std::move(main_);
      });
  thread.sanitizers.leave(false);
  ready(thread);
}

void Fibers::ready(Thread& thread) {
  thread.state = ThreadState::runnable;
  ready_.push_back(thread.id);
}

// Never inlined, and without locals, so that the jump out of a fiber leaves nothing behind.
[[gnu::noinline]] bool Fibers::resume_guarded(Thread& thread) {
  if (sigsetjmp(guard_->landing, 0) != 0) return false;
  thread.fiber = std::move(thread.fiber).resume();
  return true;
}

void Fibers::resume(Thread& thread) {
  running_ = &thread;
  thread.sanitizers.enter();
  const bool whole = resume_guarded(thread);
  thread.sanitizers.leave(!thread.fiber);
  if (!whole) {
    // What is left of the fiber is lost, and main_ names a place that has been jumped to.
    new (&main_) boost::context::fiber();
    running_ = nullptr;
    broken_(thread, std::nullopt);
    stop();
  }
  running_ = nullptr;
}

void Fibers::block(Thread& self, ThreadState state) {
  if (unwinding_) return;
  self.state = state;
  main_ = std::move(main_).resume();
}

void Fibers::make_way(Thread& self) {
  ready_.push_back(self.id);
  block(self, ThreadState::runnable);
}

void Fibers::run_ready() {
  while (!ready_.empty() && !stopped_) {
    Thread& thread = threads_[ready_.front()];
    ready_.pop_front();
    resume(thread);
  }
}

void Fibers::unwind() {
  unwinding_ = true;
  // Set-ups last: what their lanes and tasks run belongs to them.
  for (std::uint32_t id = threads_.size(); id-- > 0;) {
    Thread& thread = threads_[id];
    thread.sanitizers.enter();
    thread.fiber = boost::context::fiber();
    thread.sanitizers.leave(true);
  }
  unwinding_ = false;
}

}  // namespace muster::check::engine
