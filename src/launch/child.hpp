// What happens in a forked process before it is a rank, and at its end.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "base/fd.hpp"
#include "launch/relay.hpp"

namespace muster::launcher {

// Opens /dev/null for each of descriptors 0 to 2 that is closed, so that no pipe takes its place.
void fill_standard_descriptors();

struct ChildSetup {
  std::uint32_t rank = 0;        // among those of this launcher
  std::uint32_t first_rank = 0;  // the job's number of this launcher's first
  pid_t launcher = 0;
  const OutputPipes* output = nullptr;      // null: the launcher's own
  const std::vector<int>* cores = nullptr;  // null: not bound
  const Fd* tether = nullptr;               // null: none
};

// Ties the process's life to the launcher's, gives it its input, output and core. False, with a
// line on stderr, where that is not possible.
[[nodiscard]] bool set_up_child(const ChildSetup& setup);

// Runs child(rank), writes out what is buffered, and ends the process. No exception gets out: it
// would unwind into the launcher's caller, and there would be two of it.
[[noreturn]] void run_child(const std::function<int(std::uint32_t)>& child,
                            std::uint32_t rank) noexcept;

}  // namespace muster::launcher
