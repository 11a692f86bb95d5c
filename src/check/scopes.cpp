// Parts of lanes, and who is inside of whose scope.
//
// Two accesses to one cell, one of them a deposit, that nothing else orders must be inside each
// other's scope: the whole system; a device, which is a rank unless lanes are placed; a lane, whose
// threads are one block. Outside of it a deposit need not be seen at all, an add need not be
// atomic, and a release need not be acquired (PTX ISA, memory consistency model: such accesses are
// not morally strong). The pairs are judged as they are made, by what happens before: in every
// other execution of a certified protocol more does, so that no pair is added there.
#include <fmt/format.h>

#include "check/execution.hpp"
#include "check/mutant.hpp"
#include "check/sites.hpp"

namespace muster::check::engine {

namespace {
bool reaches(Scope scope, const Thread& self, const Thread& other, const Places& placed) {
  switch (scope) {
    case Scope::system: return true;
    case Scope::device:
      return mutant("device-is-rank") ? self.rank == other.rank : placed.same_device(self, other);
    case Scope::block:
      return self.rank == other.rank && self.lane == other.lane && self.bank == other.bank;
  }
  return false;
}

const char* name_of_scope(Scope scope) {
  switch (scope) {
    case Scope::system: return "system";
    case Scope::device: return "device";
    case Scope::block: return "block";
  }
  return "?";
}

}  // namespace

bool Execution::agree(Scope mine, const Thread& self, Scope theirs, const Thread& other) const {
  return reaches(mine, self, other, places_) && reaches(theirs, other, self, places_);
}

bool Execution::check_part(Thread& self, std::uint32_t first, std::uint32_t count, Where where) {
  has_parts_ = true;
  const bool exists =
      contract(self, count >= 1 && first <= options_.threads && count <= options_.threads - first,
               fmt::format("a part of {} threads from {} on, of a lane of {}", count, first,
                           options_.threads),
               where) &&
      contract(self, self.index - first < count,
               fmt::format("thread {} makes a part of threads {} to {}, which it is none of",
                           self.index, first, first + count - 1),
               where);
  return exists && check_apart(self, {self.id - self.index + first, count}, where);
}

// Parts are in use until the lane meets: which threads are out of theirs before is a matter of the
// schedule.
bool Execution::check_apart(Thread& self, LaneThreads made, Where where) {
  const std::uint32_t lane = self.id - self.index;
  const auto words = [lane](LaneThreads part) {
    return fmt::format("threads {} to {}", part.first - lane, part.first - lane + part.count - 1);
  };
  for (const Thread& other : threads_.at(threads_.of_lane(self))) {
    if (other.part.count == 0 || other.part == made || !other.part.meets(made)) continue;
    if (mutant("parts-overlap-unseen")) continue;
    return contract(
        self, false,
        fmt::format("a part of {} is made while one of {} is in use, which thread {} has "
                    "made: the lane meets before a thread is of another part",
                    words(made), words(other.part), other.index),
        where);
  }
  self.part = made;
  return true;
}

void Execution::check_scope(Thread& self, const Cell& cell, const Deposit& made) {
  for (std::uint32_t at = 0; at + 1 < cell.count; ++at) {
    const Deposit& other = cell.deposits[at];
    const Thread& who = threads_[other.thread];
    if (!made.before.has(at) && !agree(made.scope, self, other.scope, who))
      return found_scope(self, cell, who, other.where, &other.cause);
  }
  for (const Reading& reading : cell.readings) {
    const Thread& who = threads_[reading.thread];
    if (reading.epoch > self.ended.at(reading.thread) &&
        !agree(made.scope, self, reading.scope, who))
      return found_scope(self, cell, who, reading.where, nullptr);
  }
}

void Execution::check_scope(Thread& self, const Cell& cell, const Bits& known) {
  for (std::uint32_t at = 0; at < cell.count; ++at) {
    const Deposit& other = cell.deposits[at];
    const Thread& who = threads_[other.thread];
    if (!known.has(at) && !agree(self.scope, self, other.scope, who))
      return found_scope(self, cell, who, other.where, &other.cause);
  }
}

void Execution::found_scope(Thread& self, const Cell& cell, const Thread& other, Where theirs,
                            const Clock* also) {
  if (mutant("scope-unseen")) return;
  found(
      self, Kind::scope,
      fmt::format("{} is used by {} ({}, scope {}) and by {} ({}), unordered, and one of them is "
                  "outside of the other's scope",
                  name_of_cell(cell), name_of_thread(self), short_place(self.where),
                  name_of_scope(self.scope), name_of_thread(other), short_place(theirs)),
      "block reaches the threads of one lane, device the lanes on one device (of one rank, unless "
      "they are placed), system all: both sides must name one that reaches the other",
      name_of_cell(cell), also);
}

}  // namespace muster::check::engine
