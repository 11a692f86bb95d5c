// The order of all seq_cst operations (C++20, [atomics.order]): is there one?
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "check/clock.hpp"
#include "check/weak_memory.hpp"

namespace muster::check::engine {

// An access of an atomic object, or a fence.
struct ScEvent {
  MemoryAccess by;
  Stamp stamp;
  bool is_fence = false;
  Touched touched;  // of accesses
  Clock before;     // what happened before it when its thread came to it
  Clock after;      // and with what it has acquired itself
};

// The atomic accesses and fences of an execution. What it says only turns from true to false as an
// execution goes on, for of two that were made nothing changes any more.
class ScOrder {
 public:
  void clear() { events_.clear(); }
  void add(ScEvent event) { events_.push_back(std::move(event)); }
  [[nodiscard]] bool exists(const WeakMemory& memory) const;

 private:
  [[nodiscard]] bool strongly_before(const ScEvent& a, const ScEvent& b) const;
  // The seq_cst events that come no later than this access, and no earlier: itself, or fences that
  // happen before it, or after it.
  [[nodiscard]] std::vector<std::uint32_t> up_to(const ScEvent& access) const;
  [[nodiscard]] std::vector<std::uint32_t> from(const ScEvent& access) const;

  std::vector<ScEvent> events_;
};

}  // namespace muster::check::engine
