#include "check/memory.hpp"

#include "check/mutant.hpp"

namespace muster::check::engine {

using model::Access;

void Segment::make(std::uint32_t ranks, std::uint64_t size, std::uint32_t element) {
  bytes = size;
  grain = element;
  freed = false;
  freed_at.assign(ranks, Stamp{});
  data.resize(ranks);
  shadows.resize(ranks);
  const std::uint64_t grains = (size + element - 1) / element;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    data[rank].assign(size, std::byte{0});
    if (shadows[rank].size() != grains) shadows[rank].resize(grains);
    for (Shadow& shadow : shadows[rank]) {
      shadow.write = {};
      shadow.toucher = 0;
      shadow.reads.clear();
      shadow.adds.clear();
    }
  }
}

namespace {

std::optional<Stamp> unordered(const std::vector<Stamp>& stamps, const Clock& clock) {
  for (const Stamp& stamp : stamps)
    if (!clock.has(stamp)) return stamp;
  return std::nullopt;
}

std::optional<Conflict> conflict(const Shadow& shadow, std::uint64_t element, Access access,
                                 Viewpoint from) {
  if (!from.hb.has(shadow.write) && !mutant("race-with-a-write-unseen"))
    return Conflict{shadow.write, Access::write, element};
  if (access != Access::remote_add && !mutant("race-with-an-add-unseen"))
    if (const auto add = unordered(shadow.adds, from.hb))
      return Conflict{*add, Access::remote_add, element};
  // A read comes before a later write by causality alone: nothing need be made visible.
  if (access != Access::read && !mutant("race-with-a-read-unseen"))
    if (const auto read =
            unordered(shadow.reads, mutant("reads-by-happens-before") ? from.hb : from.cause))
      return Conflict{*read, Access::read, element};
  return std::nullopt;
}

// Adds a stamp, in the place of one that it is ordered after.
void put_stamp(std::vector<Stamp>& stamps, Stamp stamp, const Clock& clock) {
  for (Stamp& old : stamps)
    if (clock.has(old)) {
      old = stamp;
      return;
    }
  stamps.push_back(stamp);
}

void apply(Shadow& shadow, Access access, Stamp stamp, Viewpoint from) {
  switch (access) {
    case Access::read: put_stamp(shadow.reads, stamp, from.cause); break;
    case Access::remote_add: put_stamp(shadow.adds, stamp, from.hb); break;
    case Access::write:
      shadow.write = stamp;
      shadow.reads.clear();
      shadow.adds.clear();
      break;
  }
}

}  // namespace

std::optional<Conflict> record(std::vector<Shadow>& shadows, std::uint64_t first,
                               std::uint64_t last, Access access, Stamp stamp, Viewpoint from) {
  std::optional<Conflict> found;
  for (std::uint64_t at = first; at < last; ++at) {
    if (!found) found = conflict(shadows[at], at, access, from);
    apply(shadows[at], access, stamp, from);
  }
  return found;
}

}  // namespace muster::check::engine
