// Where and under what conditions a measurement was taken.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace muster::bench {

struct Machine {
  std::string cpu;           // "Intel(R) Xeon(R) Processor"
  std::string kernel;        // "Linux 6.1.0"
  std::string compiler;      // of this program: "g++ 12.2.0, -O3 -DNDEBUG"
  std::string commit;        // of this program; "-changed" is appended where files differed from it
  std::vector<int> cores{};  // those that the bench may use
  std::string devices{};     // "2 x NVIDIA H200", where the ranks run on those
};

[[nodiscard]] Machine this_machine();

// "2026-11-29T17:48:00Z"
[[nodiscard]] std::string utc_now();

// This process's command line, one space between words.
[[nodiscard]] std::string command_line();

// The number of runnable threads, averaged by the kernel over the last minute.
[[nodiscard]] double load_average();

// How much of the allowed cores other work takes, from 0 to 1, by the kernel's own account. Call it
// while this process and its children rest; takes 300 ms.
[[nodiscard]] double busy_share(const std::vector<int>& cores);

// The full path of a program, or an empty string.
[[nodiscard]] std::string on_path(const std::string& program);              // on $PATH
[[nodiscard]] std::string beside_this_program(const std::string& program);  // in this program's
                                                                            // directory, or in
                                                                            // ../libexec/muster

}  // namespace muster::bench
