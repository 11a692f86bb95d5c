// Where each lane of an execution runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "check/thread.hpp"
#include "muster/check/placement.hpp"

namespace muster::check::engine {

class Places {
 public:
  Places(const Placement& placement, std::uint32_t ranks, std::uint32_t lanes);

  // Was anything placed? If not, all are in one domain.
  [[nodiscard]] bool any() const { return any_; }
  [[nodiscard]] bool same_device(const Thread& a, const Thread& b) const {
    return at(a).device == at(b).device;
  }
  [[nodiscard]] bool same_domain(const Thread& a, const Thread& b) const {
    return !any_ || at(a).domain == at(b).domain;
  }
  // "the host", "GPU 1", "a GPU of its own", "the network adapter"
  [[nodiscard]] std::string name_of(const Thread& thread) const;
  // Why operations of these two domains may be none towards each other, and where.
  [[nodiscard]] const char* not_atomic(const Thread& a, const Thread& b) const;

 private:
  struct Place {
    Domain domain{};
    std::uint64_t device = 0;
    bool numbered = false;
  };
  [[nodiscard]] const Place& at(const Thread& thread) const {
    return all_[std::size_t{thread.rank} * lanes_ + thread.lane];
  }

  std::uint32_t lanes_;
  bool any_;
  std::vector<Place> all_;  // by rank and lane
};

}  // namespace muster::check::engine
