#include "fabric/host/segments.hpp"

#include <sys/mman.h>

namespace muster::host {

Segments::Segments(const Job& job, const std::vector<std::uint32_t>& members) {
  for (const std::uint32_t job_rank : members) {
    cells_.push_back(job.cells_of(job_rank));
    heaps_.push_back(job.heap_of(job_rank));
  }
  table_[0] = Segment{cells_.data(), heaps_.data(), job.header().heap_bytes};
}

Segments::~Segments() {
  drop_all();
}

void Segments::drop_all() {
  for (std::uint32_t segment = 1; segment < max_segments; ++segment) drop(segment);
}

void Segments::adopt(std::uint32_t segment, std::vector<Piece> pieces, std::uint64_t bytes,
                     std::uint64_t element) {
  Brought& brought = brought_[segment];
  brought.bytes = bytes;
  brought.element = element;
  for (const Piece& piece : pieces) brought.memory.push_back(piece.memory);
  brought.pieces = std::move(pieces);
  publish(segment);
}

void Segments::drop(std::uint32_t segment) {
  for (const Piece& piece : brought_[segment].pieces) {
    if (piece.mapping != nullptr) munmap(piece.mapping, piece.mapped);
  }
  brought_[segment] = {};
  table_[segment] = {};
}

void Segments::inherit(const Segments& other, const std::vector<std::uint32_t>& from) {
  for (std::uint32_t segment = 1; segment < max_segments; ++segment) {
    const Brought& theirs = other.brought_[segment];
    if (theirs.memory.empty()) continue;
    brought_[segment].bytes = theirs.bytes;
    brought_[segment].element = theirs.element;
    for (const std::uint32_t rank : from) {
      brought_[segment].memory.push_back(theirs.memory[rank]);
    }
    publish(segment);
  }
}

void Segments::publish(std::uint32_t segment) {
  const Brought& brought = brought_[segment];
  table_[segment] = Segment{nullptr, brought.memory.data(), brought.bytes};
}

bool Segments::is_own(std::uint32_t segment) const {
  return segment > 0 && segment < max_segments && !brought_[segment].pieces.empty();
}

bool Segments::holds(std::uint32_t segment, std::uint64_t offset, std::uint64_t bytes) const {
  if (segment == 0 || segment >= max_segments) return false;
  const Brought& brought = brought_[segment];
  return !brought.memory.empty() && bytes <= brought.bytes && offset <= brought.bytes - bytes;
}

}  // namespace muster::host
