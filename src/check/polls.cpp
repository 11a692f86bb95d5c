#include "check/polls.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "check/mutant.hpp"

namespace muster::check::engine {

namespace {

constexpr std::size_t most_polls = 64;  // of a loop; more are not recognised again
constexpr std::size_t places = 8;       // places for a glance
constexpr std::uint32_t glances_at_once = 64;
constexpr std::uint64_t fewer_rounds = 200;
// How often in a row a poll is answered as the last time, where that is tried.
constexpr std::uint32_t spins_at_once = 100;

std::uint64_t mixed(std::uint64_t sum, std::uint64_t value) {
  return (sum ^ (sum >> 29U) ^ value) * 0x9E3779B97F4A7C15U + 1;
}

std::uint64_t place_of(Where where) {
  return mixed(where.at.line(),
               (std::uint64_t{where.at.column()} << 32U) | std::strlen(where.at.file_name()));
}

bool is_poll(ReadKind kind) {
  return kind == ReadKind::test || kind == ReadKind::read || kind == ReadKind::any ||
         kind == ReadKind::fetch ||  // one that leaves the value; else a deposit follows
         kind == ReadKind::atomic;
}

// What makes it the same poll again; 0: it is none.
std::uint64_t key_of(const PendingRead& read) {
  if (!is_poll(read.kind)) return 0;
  std::uint64_t key = mixed(static_cast<std::uint64_t>(read.kind), place_of(read.where));
  for (const Look& look : read.looks) {
    key = mixed(key, look.cell);
    key = mixed(key, (static_cast<std::uint64_t>(look.compare) << 32U) | look.value);
  }
  if (read.kind == ReadKind::fetch)
    key = mixed(key, (static_cast<std::uint64_t>(read.fetch.kind) << 32U) | read.fetch.operand);
  if (read.kind == ReadKind::atomic) {
    if (read.atomic.call == nullptr) return 0;
    const detail::AtomicCall& call = *read.atomic.call;
    if (call.kind == detail::AtomicCall::Kind::store) return 0;
    key = mixed(mixed(key, read.atomic.object), static_cast<std::uint64_t>(call.kind));
    key = mixed(mixed(key, call.operand), call.expected);
  }
  return key | 1U;
}

std::uint32_t shortened(std::uint64_t key) {
  return static_cast<std::uint32_t>(key >> 32U);
}

// Is what the thread must see no more than what it saw then?
bool is_same(const PendingRead& read, const Poll& poll) {
  if (poll.key != read.poll) return false;
  if (read.kind == ReadKind::atomic) return read.atomic.must == poll.write;
  return read.looks[poll.index].must == poll.set;
}

}  // namespace

bool Polls::counts(std::uint64_t key) const {
  return counted_.contains(shortened(key));
}

void Polls::settle() {
  counted_.merge(new_);
  new_.clear();
}

std::string Polls::known_counted() const {
  if (counted_.empty()) return "";
  return fmt::format("n{:x}:", fmt::join(counted_, ","));
}

bool Polls::know_counted(std::string_view& path) {
  if (!path.starts_with('n')) return true;
  const std::size_t end = path.find(':');
  if (end == std::string_view::npos) return false;
  const char* at = path.data();
  while (at < path.data() + end) {
    std::uint32_t key = 0;
    const auto [after, error] = std::from_chars(at + 1, path.data() + end, key, 16);
    if (error != std::errc{} || (*after != ',' && *after != ':')) return false;
    counted_.insert(key);
    at = after;
  }
  path.remove_prefix(end + 1);
  return true;
}

// It does something else, having seen nothing new.
void Polls::leaves(const Thread& self) {
  for (const Poll& poll : self.polls)
    if (poll.spins > 0 && !counts(poll.key) && !mutant("counted-polls"))
      new_.insert(shortened(poll.key));
}

void Polls::reset() {
  seen_ = spun_ = given_up_ = false;
  endless_.clear();
  changes_ = rounds_ = 0;
}

void Polls::changed(Thread& self) {
  ++changes_;
  leaves(self);
  self.polls.clear();
  self.repeats = 0;
}

bool Polls::recall(Thread& self) {
  PendingRead& read = self.read;
  read.poll = key_of(read);
  read.again = read.may_spin = false;
  if (read.poll == 0) return false;
  for (Poll& poll : self.polls) {
    if (!is_same(read, poll)) continue;
    ++self.repeats;
    seen_ = true;
    read.again = true;
    read.status = poll.status;
    read.index = poll.index;
    read.value = poll.value;
    if (read.kind == ReadKind::atomic) read.atomic.found = poll.found;
    if (poll.spins > 0) {
      if (--poll.spins > 0) return true;
      given_up_ = true;
    } else if (counts(poll.key) ? poll.alone++ < spins_at_once : !poll.spun) {
      poll.spun = read.may_spin = true;
    }
    break;
  }
  return false;
}

void Polls::make_room(Thread& self) {
  const auto known = std::find_if(self.polls.begin(), self.polls.end(),
                                  [&](const Poll& poll) { return poll.key == self.read.poll; });
  if (known != self.polls.end()) {
    for (Poll& poll : self.polls) poll.spins = 0;  // it sees something new
    changed(self);
  } else {
    leaves(self);
    if (self.polls.size() == most_polls) changed(self);
  }
}

void Polls::remember(Thread& self, std::uint32_t which, const Bits& set) {
  const PendingRead& read = self.read;
  if (read.poll == 0) return changed(self);
  make_room(self);
  self.polls.push_back({read.poll, set, read.status, which, read.value, false, 0, 0, 0, 0});
}

void Polls::remember_atomic(Thread& self, WriteNumber write, Word found) {
  ++changes_;  // it may be a write
  make_room(self);
  self.polls.push_back({self.read.poll, {}, WaitStatus::ok, 0, 0, false, 0, 0, write, found});
}

bool Polls::is_stale(Thread& self, std::uint64_t what, Where where) {
  const std::uint64_t key = mixed(what, place_of(where)) | 1U;
  Glance* const set = &self.glances[key % (self.glances.size() / places) * places];
  Glance* place = std::find_if(set, set + places, [&](Glance& g) { return g.key == key; });
  // One that is out of date makes room: two of a loop must not drive each other out.
  if (place == set + places)
    place = std::find_if(set, set + places, [&](Glance& g) { return g.changes != changes_; });
  if (place == set + places) place = &set[(key >> 32U) % places];
  Glance& glance = *place;
  if (glance.key != key || glance.changes != changes_) {
    glance = {key, changes_, 1};
    return false;
  }
  ++self.repeats;
  if (++glance.times < glances_at_once) return false;
  glance.times = 0;
  seen_ = true;
  return true;
}

void Polls::spin(Thread& self) {
  for (Poll& poll : self.polls)
    if (poll.key == self.read.poll && !counts(poll.key)) poll.spins = spins_at_once;
}

bool Polls::begin_round(bool put_off) {
  if (++rounds_ <= (put_off ? fewer_rounds : most_rounds_)) return true;
  if (!put_off) most_rounds_ = fewer_rounds;  // what has no end once need not be waited for again
  return false;
}

bool Polls::sees_nothing_new(const Thread& thread, const Cells& cells) {
  if (thread.state != ThreadState::reading || !thread.read.again) return false;
  for (const Look& look : thread.read.looks)
    if (!(look.must == cells[look.cell].all())) return false;
  return true;
}

}  // namespace muster::check::engine
