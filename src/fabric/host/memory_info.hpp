// What this machine says about memory.
#pragma once

#include <cstdint>
#include <string>

namespace muster::host {

[[nodiscard]] std::uint64_t total_memory();
// What this process may still take: what the machine has free, or what its control groups leave,
// whichever is less.
[[nodiscard]] std::uint64_t available_memory();

// "3.2 GiB", "512 B"
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);
}  // namespace muster::host
