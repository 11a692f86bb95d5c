// Tells the sanitizers which stack runs: they do not see Boost.Context switch it by themselves.
//
// All is told on the side that resumes, and the fiber's own code tells nothing: enter() right
// before a switch into a fiber, leave() right after the switch back. In between lie only the switch
// and resume_guarded(), which throw nothing on the stack that is left. So calls and returns, which
// ThreadSanitizer counts per fiber, stay paired also where a fiber ends or is unwound.
#pragma once

#include <boost/context/stack_context.hpp>

#if defined(__SANITIZE_ADDRESS__)
#define MUSTER_FIBERS_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define MUSTER_FIBERS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MUSTER_FIBERS_ASAN 1
#elif __has_feature(thread_sanitizer)
#define MUSTER_FIBERS_TSAN 1
#endif
#endif

#if defined(MUSTER_FIBERS_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

#include <cstddef>
#elif defined(MUSTER_FIBERS_TSAN)
#include <sanitizer/tsan_interface.h>

#include <cstdint>
#include <memory>
#endif

namespace muster::check::engine {

#if defined(MUSTER_FIBERS_ASAN)

class FiberSwitch {
 public:
  // A fiber is about to be made on this stack.
  void made(const boost::context::stack_context& stack) {
    size_ = stack.size;
    bottom_ = static_cast<char*>(stack.sp) - size_;
  }
  // Does nothing where there is no fiber, as leave() does.
  void enter() {
    if (bottom_ == nullptr) return;
    __sanitizer_start_switch_fiber(&from_fake_, bottom_, size_);
    __sanitizer_finish_switch_fiber(fake_, &from_bottom_, &from_size_);
  }
  // over: the fiber has ended, or what is left of it is lost.
  void leave(bool over) {
    if (bottom_ == nullptr) return;
    __sanitizer_start_switch_fiber(over ? nullptr : &fake_, from_bottom_, from_size_);
    __sanitizer_finish_switch_fiber(from_fake_, nullptr, nullptr);
    if (!over) return;
    ASAN_UNPOISON_MEMORY_REGION(bottom_, size_);  // frames that never returned are still marked
    bottom_ = nullptr;
    fake_ = nullptr;
  }

 private:
  const void* bottom_ = nullptr;
  std::size_t size_ = 0;
  void* fake_ = nullptr;  // the stack of locals that outlive their function, while not running
  const void* from_bottom_ = nullptr;
  std::size_t from_size_ = 0;
  void* from_fake_ = nullptr;
};

#elif defined(MUSTER_FIBERS_TSAN)

// Inlined always: a call that is counted on one fiber must not return on another.
class FiberSwitch {
 public:
  [[gnu::always_inline]] void made(const boost::context::stack_context& /*stack*/) {
    // Making one is slow, so it serves many fibers, one after another. Not for ever: of each are
    // left the few calls that never return when it ends, and there is room for 64 Ki calls.
    if (served_++ % 1000 == 0) fiber_.reset(__tsan_create_fiber(0));
    running_ = true;
  }
  [[gnu::always_inline]] void enter() {
    if (!running_) return;
    from_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(fiber_.get(), 0);
  }
  [[gnu::always_inline]] void leave(bool over) {
    if (!running_) return;
    __tsan_switch_to_fiber(from_, 0);
    running_ = !over;
  }

 private:
  struct Destroy {
    void operator()(void* fiber) const { __tsan_destroy_fiber(fiber); }
  };
  std::unique_ptr<void, Destroy> fiber_;
  std::uint64_t served_ = 0;
  bool running_ = false;  // a fiber is there that has not ended
  void* from_ = nullptr;
};

#else

class FiberSwitch {
 public:
  void made(const boost::context::stack_context& /*stack*/) {}
  void enter() {}
  void leave(bool /*over*/) {}
};

#endif

}  // namespace muster::check::engine
