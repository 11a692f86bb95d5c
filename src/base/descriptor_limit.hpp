// How many descriptors this process may have open.
#pragma once

#include <sys/resource.h>

#include <cstdint>

namespace muster {

// Room for `wanted` more open descriptors in this process, as far as its hard limit goes. What was
// set comes back when this goes, and in a child with restore().
class DescriptorLimit {
 public:
  explicit DescriptorLimit(std::uint64_t wanted);
  // How many this process may have open now: ulimit -Sn.
  [[nodiscard]] static std::uint64_t current();
  ~DescriptorLimit() { restore(); }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;

  void restore();

 private:
  rlimit old_{};
  bool raised_ = false;
};

}  // namespace muster
