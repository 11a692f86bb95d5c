// Two semaphores as they are written with std::atomic: one atomic number holds the permits. The
// template argument is all that a check changes.
#pragma once

#include <atomic>

// Takes a permit first and looks afterwards whether there was one: the number counts those who
// wait, below zero. With two threads it works. With three, two wait, and the one that leaves brings
// the number from -2 to -1: nobody goes on.
template <template <class> class Atomic>
class CountsFirst {
 public:
  explicit CountsFirst(int permits) : permits_(permits) {}

  void acquire() {
    if (permits_.fetch_sub(1, std::memory_order_acquire) > 0) return;
    while (permits_.load(std::memory_order_acquire) < 0) {
    }
  }
  void release() { permits_.fetch_add(1, std::memory_order_release); }

 private:
  Atomic<int> permits_;
};

// Takes one where there is one, as counting semaphores of standard libraries do.
template <template <class> class Atomic>
class LooksFirst {
 public:
  explicit LooksFirst(int permits) : permits_(permits) {}

  void acquire() {
    for (;;) {
      int there = permits_.load(std::memory_order_relaxed);
      if (there > 0 && permits_.compare_exchange_strong(there, there - 1, std::memory_order_acquire,
                                                        std::memory_order_relaxed))
        return;
    }
  }
  void release() { permits_.fetch_add(1, std::memory_order_release); }

 private:
  Atomic<int> permits_;
};
