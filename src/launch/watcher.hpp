// A thread that waits for one thing for as long as the process lives.
#pragma once

#include <functional>

namespace muster::launcher {

// Runs wait(armed, alone) in a thread of its own, and returns when that has called armed() or
// returned; at once where no thread can be had. The thread gets no signals. It has a table of
// descriptors of its own, with stderr and `keep` (-1: none) alone: what the program closes stays
// open there, and what it opens is not held. `alone` is false where the system refuses that; then
// the table is the program's.
void watch_by_thread(int keep,
                     std::function<void(const std::function<void()>& armed, bool alone)> wait);

}  // namespace muster::launcher
