// A thread of the model: one of a lane, or the set-up of a rank.
#pragma once

#include <algorithm>
#include <array>
#include <boost/context/fiber.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <source_location>
#include <string>
#include <vector>

#include "check/cell.hpp"
#include "check/clock.hpp"
#include "check/fiber_switch.hpp"
#include "check/weak_memory.hpp"
#include "check/where.hpp"
#include "muster/check/atomic.hpp"
#include "muster/fabric/model.hpp"
#include "muster/types.hpp"

namespace muster::check::engine {

class Execution;

enum class ThreadState : std::uint8_t {
  absent,  // no lane runs on it now
  runnable,
  reading,    // at a wait, test, read, hand, take, fetched operation or atomic object
  meeting,    // at a converge of its lane
  launching,  // a set-up that waits for its lanes
  dependent,  // waits for the kernel before its own (launch_wait)
  setup,      // at a set-up call, where all ranks meet
  polling,    // looks at a window again and again, and nothing there has changed
  done,       // a set-up that has returned
};

enum class ReadKind : std::uint8_t { wait, test, read, any, hand, take, fetch, atomic };

// Does it block until a condition holds?
[[nodiscard]] constexpr bool waits(ReadKind kind) {
  return kind != ReadKind::test && kind != ReadKind::read && kind != ReadKind::fetch &&
         kind != ReadKind::atomic;
}

// One cell that a read looks at; wait_any has several.
struct Look {
  std::uint32_t cell = 0;  // index in the execution
  Compare compare = Compare::ge;
  std::uint32_t value = 0;
  Bits must;                     // what the thread has to see (L)
  std::uint32_t newer = 0;       // put off: the set must have a deposit numbered so or above
  std::uint32_t seen_count = 0;  // deposits that were there when it was put off
};

// An operation on an atomic object, or (no call) a fence that has a place among all of seq_cst.
struct AtomicRead {
  const detail::AtomicCall* call = nullptr;
  MemoryAccess access;
  std::uint32_t object = 0;
  std::uint32_t location = 0;
  WriteNumber must = 0;          // it must see this one, or one behind it
  WriteNumber newer = 0;         // put off: it must see one numbered so or above
  std::uint32_t seen_count = 0;  // writes, or fences, that were there when it was put off
  Word found = 0;                // the answer; of a poll before that, what it saw the last time
};

// What a thread is blocked on.
struct PendingRead {
  ReadKind kind = ReadKind::wait;
  Order order = Order::acquire;
  std::vector<Look> looks;
  bool put_off = false;  // until a cell has more deposits than seen_count
  bool expiry_offered = false;
  std::uint32_t peer = 0;  // hand, fetch
  Fetch fetch;
  AtomicRead atomic;  // of that kind, which looks at no cell
  Where where;
  std::uint64_t poll = 0;  // what makes it the same poll again: see polls.hpp
  bool again = false;      // a poll that would see what it saw the last time
  bool may_spin = false;   // ... and it has not been tried yet to answer it so for a while
  // The answer.
  WaitStatus status = WaitStatus::ok;
  std::uint32_t index = 0;
  std::uint32_t value = 0;
};

// A poll, and how it was answered when it was made the last time.
struct Poll {
  std::uint64_t key = 0;
  Bits set;
  WaitStatus status = WaitStatus::ok;
  std::uint32_t index = 0;
  std::uint32_t value = 0;
  bool spun = false;        // answered so once, where it was not to be put off
  std::uint32_t spins = 0;  // so many more times it is
  std::uint32_t alone = 0;  // counted: so many times that was a choice
  WriteNumber write = 0;    // of an atomic object: what it saw, or left
  Word found = 0;
};

// A look at a window or counter, and how often it was made while nothing changed.
struct Glance {
  std::uint64_t key = 0;
  std::uint64_t changes = 0;
  std::uint32_t times = 0;
};

// On the profile noncoherent: see caches.cpp.
struct Caches {
  Clock back;        // cached writes that the thread knows to have been written back
  Clock fence;       // ... before the kernel began
  Clock pending;     // ... as relaxed waits would have told
  Clock valid;       // what happened before the core last invalidated its cache
  Clock valid_back;  // `back` at that time
};

struct Thread {
  Execution* run = nullptr;
  std::uint32_t id = 0;  // also its component
  std::uint32_t rank = 0;
  std::uint32_t lane = 0;
  std::uint32_t index = 0;  // in its lane
  bool is_setup = false;
  bool is_task = false;
  std::string task;        // its name
  bool deferred = false;   // what it waits for it does not hold a worker for
  std::string sealed;      // why it must not use its fabric any more
  std::uint32_t bank = 0;  // 1: of every second kernel, where kernels overlap

  // What it does now it does together with these: the threads of its lane, or of a part of it.
  LaneThreads together;
  LaneThreads part;             // that it has made since its lane last met; of none: no threads
  Scope scope = Scope::system;  // of the operation on a signal that it is in

  // What is running on it.
  std::uint32_t lanes = 1;
  std::uint32_t kernel = 0;            // which of those that were launched together
  bool has_waited = true;              // for the kernel before it
  WaitStatus status = WaitStatus::ok;  // of its lane, as far as it knows
  ThreadState state = ThreadState::absent;
  boost::context::fiber fiber;
  [[no_unique_address]] FiberSwitch sanitizers;  // what they are told when the fiber is resumed
  Where where;                                   // of the operation that it is in
  std::source_location called;                   // the call of a protocol that it is in, if any

  Clock hb;     // happens-before
  Clock cause;  // program order, converge, and every reads-from edge
  // Contract 5: what is done before any later notify, relaxed ones too. `cause` but for the
  // thread's loads since its last converge, and but for what it has seen by `read` since then.
  Clock ended;
  Clock looked;          // what such reads saw
  bool loading = false;  // there are such loads
  Clock issued;          // transfers of the rank that it knows to have been issued
  Clock fence;           // what a relaxed notify carries: everything before the kernel began
  Clock pending;         // what relaxed waits would have acquired: the next kernel's start does

  Caches caches;

  PendingRead read;

  // What it looks at again and again, since it last did or learned anything.
  std::vector<Poll> polls;
  std::array<Glance, 64> glances{};
  std::uint64_t repeats = 0;  // polls and looks that brought nothing new, one after another

  // At a converge.
  WaitStatus meeting_status = WaitStatus::ok;
  const char* meeting_kind = "";
  std::vector<std::byte> meeting_value;

  bool behind = false;  // the converge that is tried: see Execution::come_behind
  bool forced = false;  // waits for its siblings where the source has no converge

  // At a set-up call.
  std::uint32_t setup_calls = 0;

  std::uint64_t depth = 0;  // of the chain of deposits behind it
  CallTag call;
  std::map<std::uint32_t, std::uint32_t> calls_made;  // by barrier
  std::uint32_t described = 0;                        // calls that it has described
  std::vector<std::uint64_t> outcomes;

  // Before an execution: it has done nothing and knows nothing.
  void reset() {
    state = ThreadState::absent;
    part = {};
    for (Clock* clock : {&hb, &cause, &ended, &looked, &issued, &fence, &pending}) clock->clear();
    loading = false;
    for (Clock* clock :
         {&caches.back, &caches.fence, &caches.pending, &caches.valid, &caches.valid_back})
      clock->clear();
    setup_calls = 0;
    call = {};
    called = {};
    calls_made.clear();
    described = 0;
    outcomes.clear();
    depth = 0;
    behind = false;
    polls.clear();
    glances.fill({});
    repeats = 0;
    status = WaitStatus::ok;
    task.clear();
    sealed.clear();
    deferred = false;
  }
  // Whatever is worse than `expired` stays.
  WaitStatus settle(WaitStatus seen) {
    if (seen > WaitStatus::expired) status = worst(status, seen);
    return seen;
  }
  // A place of the source, as reached from the call that it is in.
  [[nodiscard]] Where at(std::source_location place) const { return {place, called}; }
  [[nodiscard]] std::uint32_t epoch() const { return hb.at(id); }
  // Its number among those, and whether it is the first.
  [[nodiscard]] std::uint32_t place() const { return id - together.first; }
  [[nodiscard]] bool leads() const { return place() == 0; }
  [[nodiscard]] Stamp stamp() const { return {id, epoch()}; }
  // It knows all that the other does.
  void join(const Thread& other) {
    hb.join(other.hb);
    cause.join(other.cause);
    ended.join(other.ended);
    issued.join(other.issued);
    pending.join(other.pending);
    caches.back.join(other.caches.back);
    caches.pending.join(other.caches.pending);
    depth = std::max(depth, other.depth);
  }
  // It knows of these events, which are done.
  void learn(const Clock& events) {
    hb.join(events);
    cause.join(events);
    ended.join(events);
  }
  // What follows is no longer part of what was handed on.
  void tick() {
    hb.raise({id, epoch() + 1});
    cause.raise({id, epoch()});
    ended.raise({id, epoch()});
  }
};

}  // namespace muster::check::engine
