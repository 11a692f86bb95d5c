// The profile sc: is there one order of everything that explains what was read?
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "check/bits.hpp"
#include "check/clock.hpp"
#include "check/weak_memory.hpp"

namespace muster::check::engine {

// The reads and deposits of an execution, each with its event and its causal past. An event is in
// the past of a later one only; a read's set holds deposits that were added before it.
class OneOrder {
 public:
  void clear() { log_.clear(); }
  void add_deposit(std::uint32_t cell, std::uint32_t deposit, Stamp stamp, const Clock& cause) {
    log_.push_back({false, cell, deposit, {}, {}, stamp, cause});
  }
  void add_read(std::uint32_t cell, const Bits& set, Stamp stamp, const Clock& cause) {
    log_.push_back({true, cell, 0, set, {}, stamp, cause});
  }
  // Of an atomic object.
  void add_access(const Touched& touched, Stamp stamp, const Clock& cause) {
    log_.push_back({false, 0, 0, {}, touched, stamp, cause});
  }
  // False where no single order explains what was read.
  [[nodiscard]] bool exists(const WeakMemory& memory) const;

 private:
  struct Logged {
    bool reads = false;
    std::uint32_t cell = 0;
    std::uint32_t deposit = 0;
    Bits set;
    std::optional<Touched> touched;
    Stamp stamp;
    Clock cause;
  };
  static bool precedes(const WeakMemory& memory, const Logged& a, const Logged& b);

  std::vector<Logged> log_;
};

}  // namespace muster::check::engine
