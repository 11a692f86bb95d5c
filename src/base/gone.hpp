// How a rank ends whose launcher has ended before it.
#pragma once

#include <string>

namespace muster {

// 128 + SIGHUP, as of a process whose terminal is gone.
inline constexpr int launcher_gone_status = 129;

// Writes one line to stderr, that `launcher` is gone and `rank` ends, and ends the process at once:
// nothing that would wait for others is run. It does not block, and a stderr that nobody reads any
// more changes nothing. From any thread.
[[noreturn]] void end_without_launcher(const std::string& launcher, const std::string& rank);

}  // namespace muster
