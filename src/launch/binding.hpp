// Which cores a process may use, and pinning to one of them.
#pragma once

#include <cstdint>
#include <vector>

namespace muster::launcher {

// The numbers of the cores that this process may run on, rising. Empty where the kernel won't say.
[[nodiscard]] std::vector<int> allowed_cores();

// Pins the calling process to cores[rank mod their number]. False where the kernel refuses.
bool pin_to_core(const std::vector<int>& cores, std::uint32_t rank);

}  // namespace muster::launcher
