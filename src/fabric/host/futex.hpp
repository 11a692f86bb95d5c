// Sleeping on a word of shared memory. libstdc++'s atomic wait uses process-private futexes, which
// do not reach other processes.
#pragma once

#include <chrono>
#include <climits>
#include <cstdint>

namespace muster::host {

// Sleeps while the word is `seen`, until a wake, a signal or the time is over. Returns at once
// where the word has already changed.
void futex_wait(std::uint32_t& word, std::uint32_t seen, std::chrono::nanoseconds time);

// Wakes all that sleep on the word, in every process; or so many of them.
void futex_wake(std::uint32_t& word, int count = INT_MAX);

// Makes every running thread of every registered process pass a full memory barrier. False where
// the kernel does not offer it; then whoever relies on it must bound its sleep.
bool barrier_everywhere();

// Registers this process for the barriers of the others. Once, before it takes part.
bool register_for_barriers();

}  // namespace muster::host
