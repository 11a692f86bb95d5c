// The memory that the explorer runs a litmus test on: what each thread knows, what each write
// carries, and in which order the writes of a location lie.
//
// It is the checker's signal cell for tests of a hardware model: clocks say what happens before
// what; a relaxed access passes on nothing until a fence; a read-modify-write lies right behind
// what it has read, and carries that on. But a store may be put anywhere in the order of its
// location that its thread does not know to be over, where a cell would say "clobber"; accesses
// have scopes; fences order what the fabric's operations order themselves; and a read that races
// reads any write, where the checker would say "race".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "check/bits.hpp"
#include "check/clock.hpp"
#include "litmus/candidate.hpp"
#include "litmus/program.hpp"

namespace muster::litmus {

using check::engine::Bits;
using check::engine::Clock;
using check::engine::Stamp;

// A write, by its location and its number there; numbers are given as writes are made, 0 is the
// initial one.
using WriteNumber = std::uint32_t;

// What is known at a point: the events before it in base causality, the writes that were observed
// before it (together: causality order), and of each location a write before which nothing can be
// read any more.
struct View {
  Clock events;
  std::vector<Bits> observed;       // by location
  std::vector<WriteNumber> latest;  // by location
};

// A release pattern: who acquires a write that carries it knows the view, where the two are inside
// each other's scope.
struct Release {
  Event by;
  View view;
};

struct Write {
  Word value = 0;
  Event event;  // of the initial one: no thread
  Stamp stamp;
  std::vector<Release> carries;
  Bits observes;  // of a read-modify-write: what it has read, and what that observes
};

struct Place {
  std::vector<Write> writes;       // by number
  std::vector<WriteNumber> order;  // coherence
  std::vector<bool> extended;      // by number: a read-modify-write lies right behind it
};

// Of one thread.
struct Knowledge {
  View view;
  std::uint32_t events = 0;                    // its own so far
  std::vector<Release> fences;                 // its last ones, each of a scope
  std::vector<std::vector<Release>> releases;  // by location: of its stores there
  std::vector<std::vector<Release>> pending;   // by location: read, and not acquired
};

class Memory {
 public:
  explicit Memory(const Program& program);

  // The writes that the thread may read at the location; and those right behind which it may put
  // one: the latter a read-modify-write may read.
  [[nodiscard]] std::vector<WriteNumber> readable(std::size_t thread, std::size_t location) const;
  [[nodiscard]] std::vector<WriteNumber> writable(std::size_t thread, std::size_t location) const;

  // `event` is the thread's. Returns the value that was read.
  Word read(const Event& event, WriteNumber from);
  void write(const Event& event, WriteNumber behind, Word value);
  // The write of a read-modify-write, of what its read has just read.
  void write_back(const Event& event, WriteNumber read, Word value);
  void fence(const Event& event);
  // The thread comes to a barrier, and passes one: it knows what those knew that came.
  [[nodiscard]] View come(std::size_t thread);
  void pass(std::size_t thread, const std::vector<View>& others);

  [[nodiscard]] Word value(std::size_t location, WriteNumber number) const {
    return places_[location].writes[number].value;
  }
  [[nodiscard]] Word last(std::size_t location) const {
    return value(location, places_[location].order.back());
  }
  // Two writes of a location that nothing orders and that are not morally strong, so that their
  // coherence is not one order; in words.
  [[nodiscard]] const std::optional<std::string>& race() const { return race_; }
  // Appends what tells this memory from others, for executions that come to the same.
  void describe(std::vector<std::uint64_t>& to) const;

 private:
  [[nodiscard]] std::size_t position(std::size_t location, WriteNumber number) const;
  void raise(View& view, std::size_t location, WriteNumber number) const;
  void join(View& view, const View& other) const;
  // The part that its thread and this event are inside each other's scope of.
  void acquire(const Event& event, const std::vector<Release>& releases);
  Stamp step(std::size_t thread);
  void look_for_race(const Event& event);
  WriteNumber put(const Event& event, std::size_t at, Word value);
  void describe(const View& view, std::vector<std::uint64_t>& to) const;
  void describe(const std::vector<Release>& all, std::vector<std::uint64_t>& to) const;
  void describe(const Place& place, std::vector<std::uint64_t>& to) const;

  const Program* program_;
  std::vector<Place> places_;
  std::vector<Knowledge> threads_;
  std::vector<Release> sc_;  // fence.sc so far, in their order
  std::optional<std::string> race_;
};

}  // namespace muster::litmus
