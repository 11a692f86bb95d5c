#include "launch/rendezvous.hpp"

#include <unistd.h>

#include <atomic>

#include "launch/rendezvous_wire.hpp"

namespace muster::launcher {

Result<int> rendezvous(const LaunchedBy& self, const std::function<Result<int>()>& create_fd,
                       std::chrono::milliseconds deadline, const Settle& settle) {
  // Relaxed: it only counts. Every rank of a job comes to the same meetings in the same order.
  static std::atomic<std::uint32_t> meetings{0};
  const std::uint32_t meeting = meetings.fetch_add(1, std::memory_order_relaxed);
  const Settle settles = settle ? settle : [](int) { return Result<void>(); };
  if (self.ranks == 1) {
    auto memory = create_fd();
    if (!memory) return memory;
    if (const auto settled = settles(*memory); !settled) return close(*memory), settled.error();
    return memory;
  }
  const Address address = address_of(self, meeting);
  return self.rank == 0 ? host_rendezvous(self, address, create_fd, deadline, settles)
                        : join_rendezvous(self, address, deadline, settles);
}

}  // namespace muster::launcher
