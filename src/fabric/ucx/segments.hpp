// Registered memory of a rank, and the keys to that of its peers.
#pragma once

#include <ucp/api/ucp.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "fabric/ucx/registered.hpp"
#include "muster/fabric/ucx/context.hpp"

namespace muster::ucx {

// A segment in the memory of one rank.
struct RemotePart {
  std::uint64_t address = 0;
  std::string packed_key;    // as its owner has packed it
  ucp_rkey_h key = nullptr;  // unpacked by the first transfer: most ranks never talk to most
};

struct SegmentMemory {
  Registered own;
  std::vector<RemotePart> parts;  // by job rank; empty where a rank is not of the team
};

// Of one process. Numbers are reused once a team has closed.
class Segments {
 public:
  explicit Segments(ucp_context_h context);
  ~Segments();
  Segments(const Segments&) = delete;
  Segments& operator=(const Segments&) = delete;

  // What lanes look at: max_segments of them. An entry changes only where no lane knows its number.
  [[nodiscard]] const Segment* table() const { return table_.data(); }
  [[nodiscard]] const Segment& at(std::uint32_t number) const { return table_[number]; }
  [[nodiscard]] SegmentMemory& memory(std::uint32_t number) { return memory_[number]; }

  // Zeroed memory; max_segments where there is no room, or no memory.
  [[nodiscard]] std::uint32_t add(std::uint64_t bytes, std::uint32_t team, bool cells,
                                  std::uint32_t job_size);
  // What a peer needs to reach it.
  [[nodiscard]] std::string packed_key(std::uint32_t number) const;
  void remove(std::uint32_t number);

  // Does [address, address + bytes) lie in a segment? So that a message writes nowhere else.
  [[nodiscard]] bool holds(std::uint64_t address, std::uint64_t bytes) const;

 private:
  ucp_context_h context_;
  mutable std::mutex lock_;  // over add, remove and holds
  std::vector<Segment> table_;
  std::vector<SegmentMemory> memory_;
};

}  // namespace muster::ucx
