#include "check/weak_memory.hpp"

#include <algorithm>
#include <utility>

#include "check/mutant.hpp"

namespace muster::check::engine {
namespace {

std::uint64_t number_of(Stamp stamp) {
  return (std::uint64_t{stamp.component} << 32U) | stamp.epoch;
}

// A later release by the same thread to the same scope knows more, so one of them is enough.
void keep(std::vector<Release>& all, const Release& one) {
  for (Release& other : all) {
    if (other.by.thread != one.by.thread || other.by.scope != one.by.scope) continue;
    if (one.known.events.covers(other.known.events)) other = one;
    return;
  }
  all.push_back(one);
}

void keep(std::vector<Release>& all, const std::vector<Release>& more) {
  for (const Release& one : more) keep(all, one);
}

}  // namespace

WeakMemory::WeakMemory(const std::vector<Seat>& seats, Rules rules)
    : seats_(&seats), rules_(rules), threads_(seats.size()) {}

void WeakMemory::clear() {
  places_.clear();
  for (Knowledge& one : threads_) one = {};
  sc_.clear();
}

std::uint32_t WeakMemory::make(Word initial, Stamp by) {
  Place& place = places_.emplace_back();
  Write& first = place.writes.emplace_back();
  first.value = initial;
  first.stamp = by;
  place.order.push_back(0);
  place.extended.push_back(false);
  for (Knowledge& one : threads_) {
    one.releases.emplace_back();
    one.pending.emplace_back();
  }
  return locations() - 1;
}

std::size_t WeakMemory::position(std::uint32_t location, WriteNumber number) const {
  const std::vector<WriteNumber>& order = places_[location].order;
  return static_cast<std::size_t>(std::find(order.begin(), order.end(), number) - order.begin());
}

bool WeakMemory::reaches(const MemoryAccess& from, std::uint32_t thread) const {
  const Seat& mine = (*seats_)[from.thread];
  const Seat& theirs = (*seats_)[thread];
  if (from.scope == Scope::system) return true;
  return mine.device == theirs.device &&
         (from.scope == Scope::device || mine.block == theirs.block);
}

bool WeakMemory::morally_strong(const MemoryAccess& one, const MemoryAccess& other) const {
  if (one.thread == MemoryAccess::nobody || other.thread == MemoryAccess::nobody) return false;
  return one.thread == other.thread ||
         (one.strong && other.strong && reaches(one, other.thread) && reaches(other, one.thread));
}

WriteNumber WeakMemory::latest(std::uint32_t location, const Clock& known) const {
  const Place& place = places_[location];
  Bits seen;
  if (!mutant("atomic-reads-forgotten"))
    for (const Reading& one : place.readings)
      if (known.has(one.stamp)) seen.add(one.number);
  for (std::size_t at = place.order.size(); at-- > 1;) {
    const WriteNumber number = place.order[at];
    if (seen.has(number) || known.has(place.writes[number].stamp)) return number;
  }
  return 0;
}

std::vector<WriteNumber> WeakMemory::readable(std::uint32_t location, const Clock& known) const {
  const std::vector<WriteNumber>& order = places_[location].order;
  const std::size_t from = position(location, latest(location, known));
  return {order.begin() + static_cast<std::ptrdiff_t>(from), order.end()};
}

// Nothing comes between the two halves of a read-modify-write.
std::vector<WriteNumber> WeakMemory::writable(std::uint32_t location, const Clock& known) const {
  std::vector<WriteNumber> all = readable(location, known);
  if (!mutant("atomic-in-two-steps"))
    std::erase_if(all, [&](WriteNumber one) { return places_[location].extended[one]; });
  return all;
}

void WeakMemory::acquire(const MemoryAccess& access, const std::vector<Release>& releases,
                         Known& gained) const {
  for (const Release& one : releases)
    if (morally_strong(one.by, access)) gained.join(one.known);
}

// What is read otherwise than by morally strong accesses teaches nothing: the next read may see an
// older write. PTX lets an acquire learn what its thread has read of the location before, too.
Word WeakMemory::read(const MemoryAccess& access, Stamp stamp, std::uint32_t location,
                      WriteNumber from, Known& gained) {
  Place& place = places_[location];
  const Write& write = place.writes[from];
  std::vector<Release>& pending = threads_[access.thread].pending[location];
  if (morally_strong(write.by, access)) {
    Reading reading{stamp, from, write.observes};
    reading.observed.add(from);
    place.readings.push_back(std::move(reading));
    if (access.strong) keep(pending, write.carries);
  }
  if (access.acquire) acquire(access, rules_ == Rules::ptx ? pending : write.carries, gained);
  return write.value;
}

WriteNumber WeakMemory::put(const MemoryAccess& access, Stamp stamp, std::uint32_t location,
                            std::size_t at, Word value, const Known& now) {
  Place& place = places_[location];
  const auto number = static_cast<WriteNumber>(place.writes.size());
  Knowledge& self = threads_[access.thread];
  Write& write = place.writes.emplace_back();
  write.value = value;
  write.by = access;
  write.stamp = stamp;
  place.order.insert(place.order.begin() + static_cast<std::ptrdiff_t>(at), number);
  place.extended.push_back(false);
  if (!access.strong) return number;
  std::vector<Release>& releases = self.releases[location];
  if (rules_ == Rules::cpp) releases.clear();  // they end with the thread's next store
  if (access.release) keep(releases, Release{access, now});
  if (!mutant("atomic-fence-releases-nothing")) keep(write.carries, self.fences);
  keep(write.carries, releases);
  return number;
}

WriteNumber WeakMemory::write(const MemoryAccess& access, Stamp stamp, std::uint32_t location,
                              WriteNumber behind, Word value, const Known& now) {
  return put(access, stamp, location, position(location, behind) + 1, value, now);
}

WriteNumber WeakMemory::write_back(const MemoryAccess& access, Stamp stamp, std::uint32_t location,
                                   WriteNumber read, Word value, const Known& now) {
  Place& place = places_[location];
  const WriteNumber number = put(access, stamp, location, position(location, read) + 1, value, now);
  place.extended[read] = true;
  const Write& old = place.writes[read];
  Write& made = place.writes[number];
  if (!morally_strong(old.by, access)) return number;
  made.observes = old.observes;
  made.observes.add(read);
  if (!mutant("atomic-chain-carries-nothing")) keep(made.carries, old.carries);
  return number;
}

void WeakMemory::acquire_fence(const MemoryAccess& fence, Known& gained) {
  for (const std::vector<Release>& pending : threads_[fence.thread].pending)
    acquire(fence, pending, gained);
  if (fence.sc && rules_ == Rules::ptx) acquire(fence, sc_, gained);
}

void WeakMemory::release_fence(const MemoryAccess& fence, const Known& now) {
  const Release release{fence, now};
  keep(threads_[fence.thread].fences, release);
  if (fence.sc && rules_ == Rules::ptx) sc_.push_back(release);
}

bool WeakMemory::comes_before(const Touched& one, const Touched& other) const {
  if (one.location != other.location) return false;
  const auto at = [&](WriteNumber number) { return position(one.location, number); };
  if (one.written && other.written && at(*one.written) < at(*other.written)) return true;
  if (one.written && other.read && at(*one.written) <= at(*other.read)) return true;
  return one.read && ((other.written && at(*one.read) < at(*other.written)) ||
                      (other.read && at(*one.read) < at(*other.read)));
}

// The new write comes later, so it is the other one that causality would put before it.
std::optional<WriteNumber> WeakMemory::unordered(const MemoryAccess& access, std::uint32_t location,
                                                 const Clock& known) const {
  const Place& place = places_[location];
  Bits observed;
  for (const Reading& one : place.readings)
    if (known.has(one.stamp)) observed.add(one.observed);
  for (WriteNumber number = 1; number < place.writes.size(); ++number) {
    const Write& other = place.writes[number];
    if (other.by.thread != access.thread && !morally_strong(other.by, access) &&
        !known.has(other.stamp) && !observed.has(number))
      return number;
  }
  return std::nullopt;
}

// ---- in numbers. Writes are called by their event: their own numbers depend on the order in which
// threads ran.

void WeakMemory::describe(const Clock& clock, std::vector<std::uint64_t>& to) const {
  for (std::uint32_t thread = 0; thread < threads_.size(); ++thread) to.push_back(clock.at(thread));
}

void WeakMemory::describe(const std::vector<Release>& all, std::vector<std::uint64_t>& to) const {
  std::vector<std::vector<std::uint64_t>> each;
  for (const Release& one : all) {
    each.push_back({one.by.thread, static_cast<std::uint64_t>(one.by.scope)});
    describe(one.known.events, each.back());
  }
  std::sort(each.begin(), each.end());
  to.push_back(each.size());
  for (const auto& one : each) to.insert(to.end(), one.begin(), one.end());
}

void WeakMemory::describe(const Place& place, std::vector<std::uint64_t>& to) const {
  to.push_back(place.order.size());
  for (const WriteNumber number : place.order) {
    const Write& write = place.writes[number];
    to.insert(to.end(), {number_of(write.stamp), write.value, place.extended[number] ? 1U : 0U});
    for (const WriteNumber one : place.order) to.push_back(write.observes.has(one) ? 1 : 0);
    describe(write.carries, to);
  }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> readings;
  for (const Reading& one : place.readings)
    readings.emplace_back(number_of(one.stamp), number_of(place.writes[one.number].stamp));
  std::sort(readings.begin(), readings.end());
  to.push_back(readings.size());
  for (const auto& [event, write] : readings) to.insert(to.end(), {event, write});
}

void WeakMemory::describe(std::vector<std::uint64_t>& to) const {
  for (const Place& place : places_) describe(place, to);
  for (const Knowledge& thread : threads_) {
    describe(thread.fences, to);
    for (const auto& one : thread.releases) describe(one, to);
    for (const auto& one : thread.pending) describe(one, to);
  }
  describe(sc_, to);
}

}  // namespace muster::check::engine
