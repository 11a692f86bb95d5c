// A signal cell: the bag of deposits that reached it, and who has read which of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "check/bits.hpp"
#include "check/clock.hpp"
#include "check/where.hpp"
#include "muster/check/report.hpp"
#include "muster/fabric/model.hpp"
#include "muster/types.hpp"

namespace muster::check::engine {

// Which use of which barrier an operation belongs to (check::barrier_call).
struct CallTag {
  bool inside = false;
  std::uint32_t barrier = 0;
  std::uint32_t lane = 0;
  std::uint32_t call = 0;
  model::BarrierScope scope = model::BarrierScope::lane;
  friend bool operator==(const CallTag&, const CallTag&) = default;
};

// A fetched operation: what it leaves of the value that it finds.
struct Fetch {
  enum class Kind : std::uint8_t { add, exchange, compare_swap };
  Kind kind = Kind::add;
  std::uint32_t operand = 0;   // what is added, or put in the place of what is there
  std::uint32_t expected = 0;  // compare_swap

  [[nodiscard]] std::uint32_t after(std::uint32_t found) const {
    if (kind == Kind::add) return found + operand;
    return kind == Kind::exchange || found == expected ? operand : found;
  }
  // Contract 11: then it is a read.
  [[nodiscard]] bool leaves(std::uint32_t found) const { return after(found) == found; }
};

struct Deposit {
  std::uint32_t thread = 0;  // who issued it
  std::uint32_t value = 0;
  NotifyOp op = NotifyOp::set;
  Order order = Order::release;
  Scope scope = Scope::system;
  bool own_agent = false;  // put_signal: a writer of its own
  bool flips = false;  // a hand or a take: it adds, and its value is all that the cell holds then
  std::optional<Fetch::Kind> fetched;  // by which fetched operation
  Stamp stamp;                         // known to whoever's clock has reached it
  Clock view;                          // what a reader that acquires learns
  Clock behind;  // what its reader learns only where its next kernel begins, acquiring or not
  Clock cause;   // program order and every reads-from edge up to here
  Clock ended;   // the part of it that is done before this takes effect (Thread::ended)
  Bits before;   // the deposits on this cell that its thread had to see; closed
  Clock back;    // noncoherent: the cached writes that a reader learns to be written back
  CallTag call;
  std::uint64_t depth = 0;  // of the chain of deposits up to this one
  Where where;
  std::size_t step = 0;  // of the trace, if one is kept
};

// Something that is wrong if it was a take-back: see Execution::judge_take_backs.
struct Suspicion {
  Kind kind{};
  std::uint32_t thread = 0;
  std::string what;
  std::string missing;
  Clock past;
};

// A fetched operation that wrote what was there: no deposit, but a write beside a set.
struct IdleWrite {
  Stamp stamp;
  Clock cause;
  Where where;
};

struct Reading {
  std::uint32_t thread = 0;
  std::uint32_t epoch = 0;  // of the thread
  Bits set;
  Scope scope = Scope::system;
  Where where{};
};

// The threads of one lane, or of a part of it: they have neighbouring numbers.
struct LaneThreads {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  [[nodiscard]] bool has(std::uint32_t thread) const { return thread - first < count; }
  [[nodiscard]] bool meets(LaneThreads other) const {
    return first < other.first + other.count && other.first < first + count;
  }
  friend bool operator==(LaneThreads, LaneThreads) = default;
};

inline void add_once(std::vector<std::uint32_t>& list, std::uint32_t value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

struct Cell {
  std::uint32_t rank = 0;
  std::uint32_t number = 0;
  bool live = false;
  bool promised_zero = false;
  // Cleared by count, so that their memory is kept from one execution to the next.
  std::vector<Deposit> deposits;
  std::uint32_t count = 0;
  std::vector<Reading> readings;
  std::vector<IdleWrite> idle_writes;
  Bits sets;                                 // which deposits are sets
  bool flipped = false;                      // it is handed and taken
  bool exchanged = false;                    // a fetched operation replaced its value
  bool updated_unseen = false;               // noncoherent: see Execution::check_stale_update
  std::vector<std::uint32_t> taken_back_by;  // threads that gave a negative add
  std::vector<Suspicion> suspicions;
  std::vector<std::uint32_t> readers;  // threads that waited, tested or read
  std::uint32_t toucher = 0;           // for Groups
  std::uint32_t consumed = 0;          // credits taken back so far

  void reset();
  // Is a negative add to it a take-back? Where credits were promised, or where one thread alone
  // adds negative numbers and nobody else waits. Else it is an add.
  [[nodiscard]] bool holds_credits() const {
    return promised_zero || (taken_back_by.size() == 1 && readers == taken_back_by);
  }
  Deposit& append();

  // The value of a set of deposits. Sets are ordered (or there was a clobber), and the order of
  // issue is one of their orders; adds that an exchange did not find come after it.
  [[nodiscard]] std::uint32_t value(const Bits& set) const;
  // The part of a closed set that its value contains: from the last set, hand or take on.
  [[nodiscard]] Bits contained(const Bits& set) const;
  [[nodiscard]] Bits all() const;
  // Does it hold all that anybody has read? Then a fetched operation may change the cell after it.
  [[nodiscard]] bool is_newest(const Bits& set) const;
  // What a thread with this clock must see: deposits that happen before, and what was read by
  // itself or by readers that happen before. With `issued` also those of its lane that it knows to
  // be on their way: they take effect in program order (contract 4).
  [[nodiscard]] Bits known(const Clock& clock, const Clock* issued, LaneThreads lane) const;

 private:
  [[nodiscard]] std::uint32_t value_exchanged(const Bits& set) const;
};

}  // namespace muster::check::engine
