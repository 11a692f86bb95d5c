// The base addresses that a team's symmetric addresses count from: segment 0 is the job's own
// memory, the others are memory that the ranks have registered.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fabric/host/job.hpp"
#include "muster/fabric/host.hpp"

namespace muster::host {

// A rank's piece of registered memory as this process sees it.
struct Piece {
  std::byte* memory = nullptr;
  void* mapping = nullptr;  // what this process has mapped for it; null: it was there already
  std::size_t mapped = 0;   // bytes
};

class Segments {
 public:
  // `members` are job ranks, by team rank.
  Segments(const Job& job, const std::vector<std::uint32_t>& members);
  ~Segments();
  Segments(const Segments&) = delete;
  Segments& operator=(const Segments&) = delete;

  // For lanes: stays where it is, and holds every segment that a WindowRef can name.
  [[nodiscard]] const Segment* table() const { return table_.data(); }

  // `pieces` by team rank, `bytes` each, of such elements (element_code). Owns their mappings.
  void adopt(std::uint32_t segment, std::vector<Piece> pieces, std::uint64_t bytes,
             std::uint64_t element);
  void drop(std::uint32_t segment);
  void drop_all();
  // All that `other` has registered, for the ranks that `from` names by their rank there. `other`
  // keeps the mappings, and must outlive this.
  void inherit(const Segments& other, const std::vector<std::uint32_t>& from);

  [[nodiscard]] bool is_own(std::uint32_t segment) const;
  [[nodiscard]] bool holds(std::uint32_t segment, std::uint64_t offset, std::uint64_t bytes) const;
  [[nodiscard]] std::uint64_t element_of(std::uint32_t segment) const {
    return registered_[segment].element;
  }

 private:
  struct Registered {
    std::vector<std::byte*> memory;
    std::vector<Piece> pieces;  // empty where inherited
    std::uint64_t bytes = 0;
    std::uint64_t element = 0;
  };

  void publish(std::uint32_t segment);

  std::vector<std::byte*> cells_;
  std::vector<std::byte*> heaps_;
  std::array<Registered, max_segments> registered_;
  std::array<Segment, max_segments> table_;
};

}  // namespace muster::host
