#include "check/one_order.hpp"

#include <cstddef>

namespace muster::check::engine {

// Program order, reads-from, and "a read that did not see a deposit comes before it"; of atomic
// objects also modification order.
bool OneOrder::precedes(const WeakMemory& memory, const Logged& a, const Logged& b) {
  if (b.cause.has(a.stamp)) return true;
  if (a.touched || b.touched)
    return a.touched && b.touched && memory.comes_before(*a.touched, *b.touched);
  return a.reads && !b.reads && a.cell == b.cell && !a.set.has(b.deposit);
}

// A cycle means that there is none.
bool OneOrder::exists(const WeakMemory& memory) const {
  const std::size_t n = log_.size();
  std::vector<std::uint32_t> before(n, 0);
  std::vector<std::vector<std::uint32_t>> after(n);
  for (std::uint32_t a = 0; a < n; ++a)
    for (std::uint32_t b = 0; b < n; ++b)
      if (a != b && precedes(memory, log_[a], log_[b])) {
        after[a].push_back(b);
        ++before[b];
      }
  std::vector<std::uint32_t> free;
  for (std::uint32_t a = 0; a < n; ++a)
    if (before[a] == 0) free.push_back(a);
  std::size_t ordered = 0;
  while (!free.empty()) {
    const std::uint32_t a = free.back();
    free.pop_back();
    ++ordered;
    for (const std::uint32_t b : after[a])
      if (--before[b] == 0) free.push_back(b);
  }
  return ordered == n;
}

}  // namespace muster::check::engine
