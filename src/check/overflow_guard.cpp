#include "check/overflow_guard.hpp"

#include <signal.h>

#include <memory>

#include "check/stack_pool.hpp"

namespace muster::check::engine {

struct OverflowSignal {
  static inline OverflowGuard* innermost = nullptr;
  static inline struct sigaction before {};
  static inline std::unique_ptr<char[]> stack;

  static void on_fault(int number, siginfo_t* info, void*) {
    for (OverflowGuard* guard = innermost; guard != nullptr; guard = guard->outer_) {
      if (!guard->pool_.guards(info->si_addr)) continue;
      sigset_t fault;
      sigemptyset(&fault);
      sigaddset(&fault, number);
      sigprocmask(SIG_UNBLOCK, &fault, nullptr);  // the jump does not return from the handler
      siglongjmp(guard->landing, 1);
    }
    sigaction(number, &before, nullptr);  // the fault comes again, and is somebody else's
  }

  static void install() {
    constexpr std::size_t bytes = 64 * 1024;
    if (!stack) stack = std::make_unique<char[]>(bytes);
    stack_t alternative{};
    alternative.ss_sp = stack.get();
    alternative.ss_size = bytes;
    sigaltstack(&alternative, nullptr);
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &before);
  }
};

OverflowGuard::OverflowGuard(const StackPool& pool)
    : landing{}, outer_(OverflowSignal::innermost), pool_(pool) {
  if (outer_ == nullptr) OverflowSignal::install();
  OverflowSignal::innermost = this;
}

OverflowGuard::~OverflowGuard() {
  OverflowSignal::innermost = outer_;
  if (outer_ == nullptr) sigaction(SIGSEGV, &OverflowSignal::before, nullptr);
}

}  // namespace muster::check::engine
