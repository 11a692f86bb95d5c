// Memory below the fabric's operations: locations that are read, written, and read and written in
// one, with fences, orders and scopes. The explorer of litmus tests runs on it, and so do atomic
// objects in checks (muster/check/atomic.hpp).
//
// Clocks say what happens before what; a relaxed access passes on nothing until a fence; a
// read-modify-write lies right behind what it has read, and carries that on; a write may lie
// anywhere in the order of its location that its thread does not know to be over. Who asks chooses
// among `readable` and `writable`; whoever tries every choice, in some order of the threads that
// agrees with program order and reads-from, tries every execution in which these two make no
// circle.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "check/bits.hpp"
#include "check/clock.hpp"
#include "muster/check/report.hpp"
#include "muster/types.hpp"

namespace muster::check::engine {

using Word = std::uint64_t;

// A write, by its number in its location; numbers are given as writes are made, 0 is the initial
// one.
using WriteNumber = std::uint32_t;

// Where a thread runs: who is inside of whose scope.
struct Seat {
  std::uint32_t block = 0;
  std::uint32_t device = 0;
};

// An access or a fence, as its thread makes it.
struct MemoryAccess {
  static constexpr std::uint32_t nobody = ~0U;  // of the initial writes

  std::uint32_t thread = nobody;
  Scope scope = Scope::system;
  bool strong = true;  // false: no atomic access; it carries and teaches nothing
  bool acquire = false;
  bool release = false;
  bool sc = false;
  std::uint32_t tag = 0;  // the caller's
};

// What a thread knows at a point: events that happen before it, and what is done (Thread::ended).
struct Known {
  Clock events;
  Clock ended;
  void join(const Known& other) {
    events.join(other.events);
    ended.join(other.ended);
  }
};

// Who acquires a write that carries this knows what was known, where the two are inside each
// other's scope.
struct Release {
  MemoryAccess by;
  Known known;
};

// What an access has read, and what it has written.
struct Touched {
  std::uint32_t location = 0;
  std::optional<WriteNumber> read{};
  std::optional<WriteNumber> written{};
};

class WeakMemory {
 public:
  struct Write {
    Word value = 0;
    MemoryAccess by;
    Stamp stamp;
    std::vector<Release> carries{};
    Bits observes{};  // of a read-modify-write: what it has read, and what that observes
  };

  // The seats are those of all threads, by number; they outlive the memory.
  WeakMemory(const std::vector<Seat>& seats, Rules rules);

  // There is no location.
  void clear();
  // Returns its number. The initial write is known to whoever's clock has `by`.
  std::uint32_t make(Word initial, Stamp by = {});
  [[nodiscard]] std::uint32_t locations() const {
    return static_cast<std::uint32_t>(places_.size());
  }

  // The last write that somebody who knows these events must see, or one behind it.
  [[nodiscard]] WriteNumber latest(std::uint32_t location, const Clock& known) const;
  // Those from there on; and those right behind which one may be put: the latter a
  // read-modify-write may read.
  [[nodiscard]] std::vector<WriteNumber> readable(std::uint32_t location, const Clock& known) const;
  [[nodiscard]] std::vector<WriteNumber> writable(std::uint32_t location, const Clock& known) const;

  // The access is the event `stamp`. What it acquires is added to `gained`.
  Word read(const MemoryAccess& access, Stamp stamp, std::uint32_t location, WriteNumber from,
            Known& gained);
  // `now` has the event, as all that its thread knows.
  WriteNumber write(const MemoryAccess& access, Stamp stamp, std::uint32_t location,
                    WriteNumber behind, Word value, const Known& now);
  // The write of a read-modify-write, of what its read has just read.
  WriteNumber write_back(const MemoryAccess& access, Stamp stamp, std::uint32_t location,
                         WriteNumber read, Word value, const Known& now);
  // Two steps, for what is acquired is released as well. The first adds to `gained`.
  void acquire_fence(const MemoryAccess& fence, Known& gained);
  void release_fence(const MemoryAccess& fence, const Known& now);

  [[nodiscard]] const Write& write_of(std::uint32_t location, WriteNumber number) const {
    return places_[location].writes[number];
  }
  [[nodiscard]] Word value(std::uint32_t location, WriteNumber number) const {
    return places_[location].writes[number].value;
  }
  [[nodiscard]] const std::vector<WriteNumber>& order(std::uint32_t location) const {
    return places_[location].order;
  }
  [[nodiscard]] std::size_t position(std::uint32_t location, WriteNumber number) const;
  [[nodiscard]] WriteNumber last(std::uint32_t location) const {
    return places_[location].order.back();
  }
  // Coherence-ordered: reads-from, modification order, "has read what is written over".
  [[nodiscard]] bool comes_before(const Touched& one, const Touched& other) const;
  // A fence.sc under the rules of PTX comes behind so many others.
  [[nodiscard]] std::uint32_t sc_fences() const { return static_cast<std::uint32_t>(sc_.size()); }

  // A write by another thread that such a write is neither morally strong with nor knows of, so
  // that the two have no order.
  [[nodiscard]] std::optional<WriteNumber> unordered(const MemoryAccess& access,
                                                     std::uint32_t location,
                                                     const Clock& known) const;
  // Are the two of one thread, or both atomic and each inside the other's scope?
  [[nodiscard]] bool morally_strong(const MemoryAccess& one, const MemoryAccess& other) const;
  // Appends what tells this memory from others, for executions that come to the same.
  void describe(std::vector<std::uint64_t>& to) const;

 private:
  struct Reading {
    Stamp stamp;
    WriteNumber number = 0;
    Bits observed;  // with what that write observes
  };
  struct Place {
    std::vector<Write> writes;       // by number
    std::vector<WriteNumber> order;  // coherence, modification order
    std::vector<bool> extended;      // by number: a read-modify-write lies right behind it
    std::vector<Reading> readings;
  };
  struct Knowledge {                             // of one thread
    std::vector<Release> fences;                 // its last ones, each of a scope
    std::vector<std::vector<Release>> releases;  // by location: of its stores there
    std::vector<std::vector<Release>> pending;   // by location: read, and not acquired
  };

  // The part whose thread and this access are inside each other's scope.
  void acquire(const MemoryAccess& access, const std::vector<Release>& releases,
               Known& gained) const;
  WriteNumber put(const MemoryAccess& access, Stamp stamp, std::uint32_t location, std::size_t at,
                  Word value, const Known& now);
  [[nodiscard]] bool reaches(const MemoryAccess& from, std::uint32_t thread) const;
  void describe(const Clock& clock, std::vector<std::uint64_t>& to) const;
  void describe(const std::vector<Release>& all, std::vector<std::uint64_t>& to) const;
  void describe(const Place& place, std::vector<std::uint64_t>& to) const;

  const std::vector<Seat>* seats_;
  Rules rules_;
  std::vector<Place> places_;
  std::vector<Knowledge> threads_;
  std::vector<Release> sc_;  // PTX: fence.sc so far, in their order
};

}  // namespace muster::check::engine
