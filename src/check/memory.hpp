// Window memory and its shadow: who touched each element last, and in what order that must be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "check/clock.hpp"
#include "muster/fabric/model.hpp"

namespace muster::check::engine {

// An access that came before another one without being ordered before it.
struct Conflict {
  Stamp earlier;
  model::Access earlier_access = model::Access::read;
  std::uint64_t element = 0;
};

// What is known about one element (or byte) of one rank.
struct Shadow {
  Stamp write;                // the last one; all earlier ones are ordered before it
  bool cached = false;        // ... went through its core's cache: see caches.cpp
  std::vector<Stamp> reads;   // since then
  std::uint32_t toucher = 0;  // for Groups
  std::vector<Stamp> adds;    // since then; they commute with each other
};

// Some of them: [first, last).
struct Grains {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

// Memory of the same size on every rank.
struct Segment {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint32_t grain = 1;                   // bytes for each shadow
  std::uint32_t flags = ~0U;                 // slots: the first of the cells of their messages
  bool freed = false;                        // on some rank
  std::vector<std::vector<std::byte>> data;  // by rank
  std::vector<std::vector<Shadow>> shadows;  // by rank
  std::vector<Stamp> freed_at;               // by rank; epoch 0: not freed

  void make(std::uint32_t ranks, std::uint64_t size, std::uint32_t element);
};

// The clocks of the thread that issues an access.
struct Viewpoint {
  const Clock& hb;          // orders writes before later accesses
  const Clock& ended;       // orders reads before later writes
  std::uint32_t own = ~0U;  // the component of the thread's own loads: they come first in any case
  bool keep_adds = false;   // of each component, also where one is ordered after another's
  [[nodiscard]] bool has_read(Stamp stamp) const {
    return stamp.component == own || ended.has(stamp);
  }
};

// Records the access `stamp` of [first, last) grains and returns the first conflict, if any.
std::optional<Conflict> record(std::vector<Shadow>& shadows, std::uint64_t first,
                               std::uint64_t last, model::Access access, Stamp stamp,
                               Viewpoint from);

}  // namespace muster::check::engine
