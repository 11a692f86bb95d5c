#include "launch/rendezvous.hpp"

#include <atomic>

#include "launch/rendezvous_wire.hpp"

namespace muster::launcher {

Result<int> rendezvous(const LaunchedBy& self, const std::function<Result<int>()>& create_fd,
                       std::chrono::milliseconds deadline) {
  // Relaxed: it only counts. Every rank of a job comes to the same meetings in the same order.
  static std::atomic<std::uint32_t> meetings{0};
  const std::uint32_t meeting = meetings.fetch_add(1, std::memory_order_relaxed);
  if (self.ranks == 1) return create_fd();
  const Address address = address_of(self, meeting);
  return self.rank == 0 ? host_rendezvous(self, address, create_fd, deadline)
                        : join_rendezvous(self, address, deadline);
}

}  // namespace muster::launcher
