#include "launch/binding.hpp"

#include <sched.h>

#include <cerrno>
#include <memory>

namespace muster::launcher {
namespace {

struct FreeCpuSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};
using CpuSet = std::unique_ptr<cpu_set_t, FreeCpuSet>;

constexpr int most_cores = 1 << 16;

}  // namespace

std::vector<int> allowed_cores() {
  // The kernel refuses a set that is too small for the cores that it knows; grow until it fits.
  for (int count = 1024; count <= most_cores; count *= 2) {
    const CpuSet set(CPU_ALLOC(static_cast<std::size_t>(count)));
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(count));
    if (!set) return {};
    if (sched_getaffinity(0, bytes, set.get()) == 0) {
      std::vector<int> cores;
      for (int core = 0; core < count; ++core) {
        if (CPU_ISSET_S(static_cast<std::size_t>(core), bytes, set.get())) cores.push_back(core);
      }
      return cores;
    }
    if (errno != EINVAL) return {};
  }
  return {};
}

bool pin_to_core(const std::vector<int>& cores, std::uint32_t rank) {
  if (cores.empty()) return false;
  const auto core = static_cast<std::size_t>(cores[rank % cores.size()]);
  const CpuSet set(CPU_ALLOC(core + 1));
  const std::size_t bytes = CPU_ALLOC_SIZE(core + 1);
  if (!set) return false;
  CPU_ZERO_S(bytes, set.get());
  CPU_SET_S(core, bytes, set.get());
  return sched_setaffinity(0, bytes, set.get()) == 0;
}

}  // namespace muster::launcher
