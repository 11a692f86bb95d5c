// A ticket lock, as it is written with std::atomic: who wants it draws a number, and waits until it
// is called. The template argument is all that a check changes.
#pragma once

#include <atomic>

template <template <class> class Atomic>
class TicketLock {
 public:
  void lock() {
    // Relaxed: the number orders nothing, the wait does.
    const unsigned number = next_.fetch_add(1, std::memory_order_relaxed);
    while (called_.load(std::memory_order_acquire) != number) {
    }
  }
  // By who holds it: nobody else writes the number that is called.
  void unlock() {
    called_.store(called_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

 private:
  Atomic<unsigned> next_{0};
  Atomic<unsigned> called_{0};
};
