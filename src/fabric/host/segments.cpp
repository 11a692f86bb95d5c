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
  Registered& registered = registered_[segment];
  registered.bytes = bytes;
  registered.element = element;
  for (const Piece& piece : pieces) registered.memory.push_back(piece.memory);
  registered.pieces = std::move(pieces);
  publish(segment);
}

void Segments::drop(std::uint32_t segment) {
  for (const Piece& piece : registered_[segment].pieces) {
    if (piece.mapping != nullptr) munmap(piece.mapping, piece.mapped);
  }
  registered_[segment] = {};
  table_[segment] = {};
}

void Segments::inherit(const Segments& other, const std::vector<std::uint32_t>& from) {
  for (std::uint32_t segment = 1; segment < max_segments; ++segment) {
    const Registered& theirs = other.registered_[segment];
    if (theirs.memory.empty()) continue;
    registered_[segment].bytes = theirs.bytes;
    registered_[segment].element = theirs.element;
    for (const std::uint32_t rank : from) {
      registered_[segment].memory.push_back(theirs.memory[rank]);
    }
    publish(segment);
  }
}

void Segments::publish(std::uint32_t segment) {
  const Registered& registered = registered_[segment];
  table_[segment] = Segment{nullptr, registered.memory.data(), registered.bytes};
}

bool Segments::is_own(std::uint32_t segment) const {
  return segment > 0 && segment < max_segments && !registered_[segment].pieces.empty();
}

bool Segments::holds(std::uint32_t segment, std::uint64_t offset, std::uint64_t bytes) const {
  if (segment == 0 || segment >= max_segments) return false;
  const Registered& registered = registered_[segment];
  return !registered.memory.empty() && bytes <= registered.bytes &&
         offset <= registered.bytes - bytes;
}

}  // namespace muster::host
