#include "launch/watcher.hpp"

#include <linux/close_range.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <memory>
#include <semaphore>
#include <utility>

namespace muster::launcher {
namespace {

struct Watch {
  int keep = -1;
  std::function<void(const std::function<void()>&, bool)> wait;
  // Held by both threads.
  std::shared_ptr<std::binary_semaphore> armed = std::make_shared<std::binary_semaphore>(0);
};

bool have_own_table(int keep) {
  // The first call makes the copy. Should it fail, nothing has been closed.
  if (close_range(0, STDERR_FILENO - 1, CLOSE_RANGE_UNSHARE) != 0) return false;
  const unsigned first = STDERR_FILENO + 1;
  if (keep < static_cast<int>(first)) return close_range(first, ~0U, 0) == 0;
  const auto kept = static_cast<unsigned>(keep);
  if (kept > first) close_range(first, kept - 1, 0);
  return close_range(kept + 1, ~0U, 0) == 0;
}

void* run(void* argument) {
  const std::unique_ptr<Watch> watch(static_cast<Watch*>(argument));
  pthread_setname_np(pthread_self(), "muster-watch");
  watch->wait([&] { watch->armed->release(); }, have_own_table(watch->keep));
  watch->armed->release();
  return nullptr;
}

}  // namespace

void watch_by_thread(int keep,
                     std::function<void(const std::function<void()>& armed, bool alone)> wait) {
  constexpr std::size_t stack_bytes = 256 * 1024;
  auto watch = std::make_unique<Watch>();
  watch->keep = keep;
  watch->wait = std::move(wait);
  const auto armed = watch->armed;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the thread inherits it
  pthread_t thread{};
  const bool started = pthread_create(&thread, &attributes, run, watch.get()) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (!started) return;
  static_cast<void>(watch.release());  // the thread's
  armed->acquire();
}

}  // namespace muster::launcher
