// The steps of set-up calls, by name: between any two of them a rank may die, and the tests see to
// it that one does (tests/liveness/death_at_step_test.cpp). Nothing that is done often has
// steps.
#pragma once

#include <atomic>
#include <cstdint>

namespace muster {

// Told of each step that a rank is about to take; null but in tests. Relaxed: set before there are
// ranks.
inline constinit std::atomic<void (*)(std::uint32_t rank, const char* name)> on_step{nullptr};

// Named by what comes next: "allocate: commit" is before the pages are taken.
inline void step(std::uint32_t job_rank, const char* name) {
  if (auto* const told = on_step.load(std::memory_order_relaxed)) told(job_rank, name);
}

}  // namespace muster
