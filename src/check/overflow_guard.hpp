// Catches a stack overflow in a fiber: the guard page's SIGSEGV, on a signal stack of its own.
#pragma once

#include <csetjmp>

namespace muster::check::engine {

class StackPool;

// While one lives, a fault in a guard page of `pool` jumps to `landing`, which the holder has set
// with sigsetjmp before it resumes a fiber. Any other fault goes where it went before.
class OverflowGuard {
 public:
  explicit OverflowGuard(const StackPool& pool);
  ~OverflowGuard();
  OverflowGuard(const OverflowGuard&) = delete;
  OverflowGuard& operator=(const OverflowGuard&) = delete;

  sigjmp_buf landing;

 private:
  OverflowGuard* outer_;
  friend struct OverflowSignal;
  const StackPool& pool_;
};

}  // namespace muster::check::engine
