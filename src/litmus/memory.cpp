#include "litmus/memory.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace muster::litmus {
namespace {

std::uint64_t as_number(Stamp stamp) {
  return (std::uint64_t{stamp.component} << 32U) | stamp.epoch;
}

// A later release by the same thread to the same scope knows more, so one of them is enough.
void keep(std::vector<Release>& all, const Release& one) {
  for (Release& other : all) {
    if (other.by.thread != one.by.thread || other.by.scope != one.by.scope) continue;
    if (one.view.events.covers(other.view.events)) other = one;
    return;
  }
  all.push_back(one);
}

void keep(std::vector<Release>& all, const std::vector<Release>& more) {
  for (const Release& one : more) keep(all, one);
}

}  // namespace

Memory::Memory(const Program& program) : program_(&program) {
  const std::size_t locations = program.locations.size();
  for (std::size_t at = 0; at < locations; ++at) {
    Write initial;
    initial.value = program.locations[at].initial;
    initial.event.location = at;
    Place place;
    place.writes.push_back(std::move(initial));
    place.order.push_back(0);
    place.extended.push_back(false);
    places_.push_back(std::move(place));
  }
  Knowledge nothing_known;
  nothing_known.view.observed.resize(locations);
  nothing_known.view.latest.resize(locations);
  nothing_known.releases.resize(locations);
  nothing_known.pending.resize(locations);
  threads_.assign(program.threads.size(), nothing_known);
}

std::size_t Memory::position(std::size_t location, WriteNumber number) const {
  const std::vector<WriteNumber>& order = places_[location].order;
  return static_cast<std::size_t>(std::find(order.begin(), order.end(), number) - order.begin());
}

std::vector<WriteNumber> Memory::readable(std::size_t thread, std::size_t location) const {
  const std::vector<WriteNumber>& order = places_[location].order;
  const std::size_t from = position(location, threads_[thread].view.latest[location]);
  return {order.begin() + static_cast<std::ptrdiff_t>(from), order.end()};
}

// Nothing comes between the two halves of a read-modify-write.
std::vector<WriteNumber> Memory::writable(std::size_t thread, std::size_t location) const {
  std::vector<WriteNumber> all = readable(thread, location);
  std::erase_if(all, [&](WriteNumber one) { return places_[location].extended[one]; });
  return all;
}

void Memory::raise(View& view, std::size_t location, WriteNumber number) const {
  WriteNumber& latest = view.latest[location];
  if (position(location, number) > position(location, latest)) latest = number;
}

void Memory::join(View& view, const View& other) const {
  view.events.join(other.events);
  for (std::size_t at = 0; at < places_.size(); ++at) {
    view.observed[at].add(other.observed[at]);
    raise(view, at, other.latest[at]);
  }
}

void Memory::acquire(const Event& event, const std::vector<Release>& releases) {
  for (const Release& one : releases) {
    if (morally_strong(*program_, one.by, event)) join(threads_[event.thread].view, one.view);
  }
}

Stamp Memory::step(std::size_t thread) {
  Knowledge& self = threads_[thread];
  const Stamp stamp{static_cast<std::uint32_t>(thread), ++self.events};
  self.view.events.raise(stamp);
  return stamp;
}

// This one comes later, so it is the other one that causality would put before it.
void Memory::look_for_race(const Event& event) {
  const View& view = threads_[event.thread].view;
  const std::vector<Write>& writes = places_[event.location].writes;
  for (WriteNumber number = 1; number < writes.size(); ++number) {
    const Event& other = writes[number].event;
    if (race_ || other.thread == event.thread || morally_strong(*program_, other, event)) continue;
    if (view.events.has(writes[number].stamp) || view.observed[event.location].has(number))
      continue;
    race_ = fmt::format("P{}: {} and P{}: {}", other.thread, other.instruction->text, event.thread,
                        event.instruction->text);
  }
}

// What is read otherwise than by morally strong accesses teaches nothing: the next read may see an
// older write.
Word Memory::read(const Event& event, WriteNumber from) {
  (void)step(event.thread);
  Knowledge& self = threads_[event.thread];
  const Write& write = places_[event.location].writes[from];
  if (morally_strong(*program_, write.event, event)) {  // it is observed
    self.view.observed[event.location].add(from);
    self.view.observed[event.location].add(write.observes);
    if (event.strong) keep(self.pending[event.location], write.carries);
    raise(self.view, event.location, from);
  }
  if (event.acquire) acquire(event, self.pending[event.location]);
  return write.value;
}

WriteNumber Memory::put(const Event& event, std::size_t at, Word value) {
  Place& place = places_[event.location];
  const auto number = static_cast<WriteNumber>(place.writes.size());
  Knowledge& self = threads_[event.thread];
  look_for_race(event);
  const Stamp stamp = step(event.thread);
  Write write;
  write.value = value;
  write.event = event;
  write.stamp = stamp;
  place.writes.push_back(std::move(write));
  place.order.insert(place.order.begin() + static_cast<std::ptrdiff_t>(at), number);
  place.extended.push_back(false);
  self.view.latest[event.location] = number;
  if (!event.strong) return number;
  std::vector<Release>& carries = place.writes[number].carries;
  std::vector<Release>& releases = self.releases[event.location];
  if (event.release) keep(releases, Release{event, self.view});
  keep(carries, self.fences);
  keep(carries, releases);
  return number;
}

void Memory::write(const Event& event, WriteNumber behind, Word value) {
  put(event, position(event.location, behind) + 1, value);
}

void Memory::write_back(const Event& event, WriteNumber read, Word value) {
  Place& place = places_[event.location];
  const WriteNumber number = put(event, position(event.location, read) + 1, value);
  place.extended[read] = true;
  const Write& old = place.writes[read];
  Write& made = place.writes[number];
  if (!morally_strong(*program_, old.event, event)) return;
  made.observes = old.observes;
  made.observes.add(read);
  keep(made.carries, old.carries);
}

void Memory::fence(const Event& event) {
  (void)step(event.thread);
  Knowledge& self = threads_[event.thread];
  for (const std::vector<Release>& pending : self.pending) acquire(event, pending);
  if (event.sc) acquire(event, sc_);
  const Release release{event, self.view};
  keep(self.fences, release);
  if (event.sc) sc_.push_back(release);
}

View Memory::come(std::size_t thread) {
  (void)step(thread);
  return threads_[thread].view;
}

void Memory::pass(std::size_t thread, const std::vector<View>& others) {
  for (const View& other : others) join(threads_[thread].view, other);
}

// ---- in numbers. Writes are called by their thread and event: their own numbers depend on the
// order in which threads ran.

void Memory::describe(const View& view, std::vector<std::uint64_t>& to) const {
  for (std::size_t thread = 0; thread < threads_.size(); ++thread)
    to.push_back(view.events.at(static_cast<std::uint32_t>(thread)));
  for (std::size_t at = 0; at < places_.size(); ++at) {
    const Place& place = places_[at];
    to.push_back(as_number(place.writes[view.latest[at]].stamp));
    for (const WriteNumber one : place.order) to.push_back(view.observed[at].has(one) ? 1 : 0);
  }
}

void Memory::describe(const std::vector<Release>& all, std::vector<std::uint64_t>& to) const {
  std::vector<std::vector<std::uint64_t>> each;
  for (const Release& one : all) {
    each.push_back({one.by.thread, static_cast<std::uint64_t>(one.by.scope)});
    describe(one.view, each.back());
  }
  std::sort(each.begin(), each.end());
  to.push_back(each.size());
  for (const auto& one : each) to.insert(to.end(), one.begin(), one.end());
}

void Memory::describe(const Place& place, std::vector<std::uint64_t>& to) const {
  to.push_back(place.order.size());
  for (const WriteNumber number : place.order) {
    const Write& write = place.writes[number];
    to.insert(to.end(), {as_number(write.stamp), write.value, place.extended[number] ? 1U : 0U});
    for (const WriteNumber one : place.order) to.push_back(write.observes.has(one) ? 1 : 0);
    describe(write.carries, to);
  }
}

void Memory::describe(std::vector<std::uint64_t>& to) const {
  for (const Place& place : places_) describe(place, to);
  for (const Knowledge& thread : threads_) {
    describe(thread.view, to);
    describe(thread.fences, to);
    for (const auto& one : thread.releases) describe(one, to);
    for (const auto& one : thread.pending) describe(one, to);
  }
  describe(sc_, to);
}

}  // namespace muster::litmus
