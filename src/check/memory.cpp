#include "check/memory.hpp"

#include <algorithm>

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

template <class Before>
std::optional<Stamp> unordered(const std::vector<Stamp>& stamps, Before&& before) {
  for (const Stamp& stamp : stamps)
    if (!before(stamp)) return stamp;
  return std::nullopt;
}

std::optional<Conflict> conflict(const Shadow& shadow, std::uint64_t element, Access access,
                                 Viewpoint from) {
  if (!from.hb.has(shadow.write) && !mutant("race-with-a-write-unseen"))
    return Conflict{shadow.write, Access::write, element};
  if (access != Access::remote_add && !mutant("race-with-an-add-unseen"))
    if (const auto add = unordered(shadow.adds, [&](Stamp stamp) { return from.hb.has(stamp); }))
      return Conflict{*add, Access::remote_add, element};
  // A read need only be done before a later write: nothing need be made visible.
  if (access != Access::read && !mutant("race-with-a-read-unseen"))
    if (const auto read = unordered(shadow.reads, [&](Stamp stamp) {
          return mutant("reads-by-happens-before") ? from.hb.has(stamp) : from.has_read(stamp);
        }))
      return Conflict{*read, Access::read, element};
  return std::nullopt;
}

// Adds a stamp, in the place of one that it is ordered after.
template <class Before>
void put_stamp(std::vector<Stamp>& stamps, Stamp stamp, Before&& before) {
  for (Stamp& old : stamps)
    if (before(old)) {
      old = stamp;
      return;
    }
  stamps.push_back(stamp);
}

void apply(Shadow& shadow, Access access, Stamp stamp, Viewpoint from) {
  switch (access) {
    case Access::read:
      // Two loads of one thread are told of together; a load and a transfer need not be.
      put_stamp(shadow.reads, stamp, [&](Stamp old) {
        return stamp.component == from.own ? from.has_read(old) : from.ended.has(old);
      });
      break;
    case Access::remote_add:
      put_stamp(shadow.adds, stamp, [&](Stamp old) {
        return from.hb.has(old) &&
               (!from.keep_adds || old.component == stamp.component || mutant("hidden-adds"));
      });
      break;
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
