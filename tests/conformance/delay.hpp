// Random delays between the steps of a body, so that the ranks meet in ever new orders.
#pragma once

#include <chrono>
#include <random>
#include <thread>

#include "conformance/cases.hpp"

namespace muster::conformance {

// Mostly nothing; at times a yield, a few microseconds of work, or a sleep.
inline void random_delay(Random& random) {
  const auto draw = random() % 64;
  if (draw < 8) {
    std::this_thread::yield();
  } else if (draw < 12) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(random() % 20);
    while (std::chrono::steady_clock::now() < until) {
    }
  } else if (draw == 63) {
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
  }
}

}  // namespace muster::conformance
