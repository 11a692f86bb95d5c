// A rank does not outlive its launcher, whoever that is.
#pragma once

#include "launch/environment.hpp"

namespace muster::launcher {

// Called once, when this process becomes the rank `self`. Under `muster run`: hold_tether(). Under
// another launcher a thread waits for the end of the process that has started the rank
// (launching_ancestor), and ends this one by end_without_launcher() then; at once where it has
// ended already. The rank is not watched where that process cannot be seen, or where there is no
// thread.
void hold_on_to_launcher(const LaunchedBy& self);

// Before main, in every program that may become a rank. Without a thread: under another launcher
// who that is is written down, so that hold_on_to_launcher() knows whether it has ended meanwhile.
void hold_on_early();

}  // namespace muster::launcher
