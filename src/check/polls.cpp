// Polls: loops over test, read, wait_any, window data or a counter.
//
// A poll that would see what it saw the last time, by a thread that has done and learned nothing
// since, is a wait that is put off until it would see more. Twice it is not: where it has not been
// tried yet, it is answered so a limited number of times at a stretch, for code that gives up after
// a few; and where nothing else can go on, for as long as it takes to say that it has no end.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "check/execution.hpp"
#include "check/sites.hpp"

namespace muster::check::engine {

namespace {

constexpr std::size_t most_polls = 64;  // of a loop; more are not recognised again
constexpr std::size_t places = 8;       // places for a glance
constexpr std::uint32_t glances_at_once = 64;
constexpr std::uint64_t fewer_rounds = 200;

std::uint64_t mixed(std::uint64_t sum, std::uint64_t value) {
  return (sum ^ (sum >> 29U) ^ value) * 0x9E3779B97F4A7C15U + 1;
}

std::uint64_t place_of(Where where) {
  return mixed(where.at.line(),
               (std::uint64_t{where.at.column()} << 32U) | std::strlen(where.at.file_name()));
}

bool is_poll(ReadKind kind) {
  return kind == ReadKind::test || kind == ReadKind::read || kind == ReadKind::any;
}

}  // namespace

std::uint64_t Execution::poll_key(const PendingRead& read) {
  if (!is_poll(read.kind)) return 0;
  std::uint64_t key = mixed(static_cast<std::uint64_t>(read.kind), place_of(read.where));
  for (const Look& look : read.looks) {
    key = mixed(key, look.cell);
    key = mixed(key, (static_cast<std::uint64_t>(look.compare) << 32U) | look.value);
  }
  return key | 1U;
}

// The thread has done or learned something: what it looks at next is looked at anew.
void Execution::changes(Thread& self) {
  ++changes_here_;
  self.polls.clear();
  self.repeats = 0;
}

// True where the read has its answer already.
bool Execution::poll_again(Thread& self) {
  PendingRead& read = self.read;
  read.poll = poll_key(read);
  read.again = read.may_spin = false;
  if (read.poll == 0) return false;
  for (Poll& poll : self.polls) {
    if (poll.key != read.poll || !(read.looks[poll.index].must == poll.set)) continue;
    ++self.repeats;
    polled_ = true;
    read.again = true;
    read.status = poll.status;
    read.index = poll.index;
    read.value = poll.value;
    if (self.spins > 0) {
      if (--self.spins > 0) return true;
      given_up_ = true;
    } else if (!poll.spun) {
      poll.spun = read.may_spin = true;
    }
    break;
  }
  return false;
}

void Execution::remember_poll(Thread& self, std::uint32_t which, const Bits& set) {
  const PendingRead& read = self.read;
  if (read.poll == 0) return changes(self);
  const auto known = std::find_if(self.polls.begin(), self.polls.end(),
                                  [&](const Poll& poll) { return poll.key == read.poll; });
  if (known != self.polls.end() || self.polls.size() == most_polls) changes(self);
  self.polls.push_back({read.poll, set, read.status, which, read.value, false});
}

// The poll that is asked about sees again what it saw the last time.
void Execution::answer_again(Thread& self) {
  spun_ = true;
  if (tracing_) note(self, self.read.where, "polls again, and sees nothing new");
  ready(self);
}

void Execution::look(Thread& self, std::uint64_t what, Where where) {
  if (unwinding_ || self.is_setup) return;
  const std::uint64_t key = mixed(what, place_of(where)) | 1U;
  Glance* const set = &self.glances[key % (self.glances.size() / places) * places];
  Glance* const known = std::find_if(set, set + places, [&](Glance& g) { return g.key == key; });
  Glance& glance = known != set + places ? *known : set[(key >> 32U) % places];
  if (glance.key != key || glance.changes != changes_here_) {
    glance = {key, changes_here_, 1};
    return;
  }
  ++self.repeats;
  if (++glance.times < glances_at_once) return;
  glance.times = 0;
  polled_ = true;
  block(self, ThreadState::polling);
}

// A poll for which nothing has come that it could see.
bool Execution::sees_nothing_new(const Thread& thread) const {
  if (thread.state != ThreadState::reading || !thread.read.again) return false;
  for (const Look& look : thread.read.looks)
    if (!(look.must == cells_[look.cell].all())) return false;
  return true;
}

// Nothing but polls is left: each sees once more what it saw. False where there is none, or where
// it was so too often.
bool Execution::poll_round() {
  Thread* first = nullptr;
  bool put_off = false;  // a read that the search put off: the branch has been seen
  for (Thread& thread : threads_) {
    const bool again = sees_nothing_new(thread);
    if (first == nullptr && (again || thread.state == ThreadState::polling)) first = &thread;
    put_off =
        put_off || (thread.state == ThreadState::reading && !again && satisfied_in_full(thread));
  }
  if (first == nullptr) return false;
  if (++poll_rounds_ > (put_off ? fewer_rounds : most_rounds_)) {
    if (put_off) return false;
    polling_ = describe_poll();
    most_rounds_ = fewer_rounds;  // what has no end once need not be waited for again
    return false;
  }
  for (const std::uint32_t at : in_order(static_cast<std::uint32_t>(threads_.size()))) {
    Thread& thread = threads_[at];
    if (sees_nothing_new(thread)) answer_again(thread);
    if (thread.state != ThreadState::polling) continue;
    spun_ = true;
    ready(thread);
  }
  return true;
}

std::string Execution::describe_poll() const {
  for (const Thread& thread : threads_)
    if (thread.state == ThreadState::polling || sees_nothing_new(thread))
      return fmt::format("{} polls at {}", name_of_thread(thread), short_place(thread.where));
  return "";
}

}  // namespace muster::check::engine
