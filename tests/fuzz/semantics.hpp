// One state of the reference interpreter, and what each operation does to it. See reference.hpp for
// what is decided here; this file only spells it out.
#pragma once

#include <bitset>
#include <optional>
#include <vector>

#include "program.hpp"
#include "reference.hpp"

namespace muster::fuzz {

inline constexpr std::size_t max_operations = 128;
// Of operation g: issue 3g; effect 3g + 1; the payload of a put_signal, whose effect is its
// deposit, 3g + 2.
using Events = std::bitset<3 * max_operations>;

inline std::size_t issue(std::size_t operation) {
  return 3 * operation;
}
inline std::size_t effect(std::size_t operation) {
  return 3 * operation + 1;
}
inline std::size_t payload(std::size_t operation) {
  return 3 * operation + 2;
}

// With the meetings of the operations that converge spelt out, where a lane has several threads: as
// converges whose `value` says of which operation they are.
[[nodiscard]] Program with_meetings(const Program& program);

// What a thread knows, and what a deposit tells.
struct Knowledge {
  Events hb{};    // happens-before
  Events ca{};    // what is done before any later notify; contains hb
  Events seen{};  // deposits that were read, and so must be seen again
  Events wb{};    // cached writes that are in memory again
  void join_effects(const Knowledge& other) {
    hb |= other.hb, ca |= other.hb, seen |= other.seen, wb |= other.wb;
  }
  void join(const Knowledge& other) {
    hb |= other.hb, ca |= other.ca, seen |= other.seen, wb |= other.wb;
  }
};

struct Deposit {
  std::size_t operation = 0;
  std::size_t strand = 0;
  bool plain = true;  // not a put_signal
  bool set = false;
  bool fetched = false;
  bool release = false;
  std::uint32_t value = 0;
  Events must{};        // as effects
  Knowledge carried{};  // hb and seen to who acquires; ca to who reads
  Knowledge behind{};   // a sentinel's: to its reader's next kernel
};

struct Cell {
  std::vector<Deposit> deposits;
  std::vector<Events> read;       // every set that anybody has read
  std::set<std::size_t> readers;  // threads that have reached a wait, test or read of it
  std::vector<std::size_t> idle;  // operations that fetched a value and wrote it again
  std::set<std::size_t> takers;   // threads that have added a negative value
  bool negative = false;          // in the view of one of them
};

enum class AccessKind : std::uint8_t { read, write, add };

struct Access {
  std::size_t location = 0;
  AccessKind kind = AccessKind::read;
  std::size_t event = 0;
  std::size_t strand = 0;
  bool cached = true;
};

// What a fetched operation leaves of the value that it finds; where that is the same, it is a read.
[[nodiscard]] std::uint32_t left_by(const Op& op, std::uint32_t found);

class State {
 public:
  explicit State(const Program& program);

  [[nodiscard]] bool finished(std::size_t strand) const;
  [[nodiscard]] bool finished() const;
  // Could the next operation of the strand run if its cell were read in full? A converge: can all?
  [[nodiscard]] bool runnable(std::size_t strand) const;
  // Does the next operation read a cell; which sets may it read (a wait: that satisfy it)?
  [[nodiscard]] bool reads(std::size_t strand) const;
  [[nodiscard]] std::vector<Events> readable(std::size_t strand) const;

  // Runs the next operation of the strand, which is runnable and, if it reads, reads `set`. A
  // converge runs for the whole lane. The errors that it shows are added to `wrong`.
  void run(std::size_t strand, const Events& set, std::set<Wrong>& wrong);
  // Errors that only the end shows: when all have finished, and when nobody can go on.
  void finish(std::set<Wrong>& wrong) const;
  void stick(std::set<Wrong>& wrong) const;

  [[nodiscard]] std::vector<std::uint64_t> identity() const;
  [[nodiscard]] Outcome outcome() const;

 private:
  struct Strand {
    std::size_t next = 0;  // index into its list
    Knowledge knows;
    Events loads;          // its own since it last converged
    Events looked;         // what its reads have seen since then
    Events issued;         // operations of the rank of which it knows that they were issued
    Knowledge valid;       // what it knew when it last invalidated its cache
    Knowledge fence;       // what it knew when its kernel began: a relaxed notify carries that
    Knowledge unacquired;  // what it has read and not acquired: the next kernel's start does
    bool begun = true;     // its kernel has
    std::optional<Events> told;  // what was done before its launch_done
    std::vector<std::uint32_t> log;
    std::vector<Events> history;  // what its reads have read
  };

  [[nodiscard]] const Op& op(std::size_t strand) const;
  [[nodiscard]] std::size_t operation(std::size_t strand) const;
  [[nodiscard]] bool direct() const { return program_->profile != Profile::rdma; }
  [[nodiscard]] bool sequential() const { return program_->profile == Profile::sc; }
  [[nodiscard]] std::size_t cell_of(std::size_t strand) const;
  [[nodiscard]] static Events all(const Cell& cell);
  [[nodiscard]] static Events closure(const Cell& cell, Events set);
  [[nodiscard]] static Events contained(const Cell& cell, const Events& set, bool carried = true);
  [[nodiscard]] static std::uint32_t value(const Cell& cell, const Events& set);
  [[nodiscard]] Events must_see(std::size_t strand, const Cell& cell) const;
  // With the plain notifies to it by the thread's lane whose issue it knows.
  [[nodiscard]] Events must_follow(std::size_t strand, const Cell& cell) const;
  // The effects on the channel to `peer` of the operations whose issue the thread knows; and of all
  // its lane's operations.
  [[nodiscard]] Events channel(std::size_t strand, std::uint32_t peer) const;
  [[nodiscard]] Events issued_by_lane(std::size_t strand,
                                      std::optional<std::uint32_t> peer = {}) const;
  // Are the operation's accesses by an agent, until a flush?
  [[nodiscard]] bool flies(const Op& op) const;
  [[nodiscard]] bool at(std::size_t strand, Kind kind) const;
  // The threads that meet at the strand's converge or boundary: [first, second).
  [[nodiscard]] std::pair<std::size_t, std::size_t> party(std::size_t strand) const;

  void skip(std::size_t strand);
  // ---- launches.cpp: kernels that overlap
  [[nodiscard]] bool may_begin(std::uint32_t kernel, std::uint32_t rank) const;
  [[nodiscard]] std::size_t first_of(std::uint32_t kernel, std::uint32_t rank) const;
  [[nodiscard]] Knowledge end_of(std::uint32_t kernel, std::uint32_t rank) const;
  [[nodiscard]] bool has_ended(std::uint32_t kernel, std::uint32_t rank) const;
  void begin(std::uint32_t kernel, std::uint32_t rank);
  void begin_kernels();
  void launch_wait(std::size_t strand);
  // ---- and slots
  void put_sentinel(std::size_t strand, std::set<Wrong>& wrong);
  void wait_sentinel(std::size_t strand, const Events& set, std::set<Wrong>& wrong);
  void clear_sentinel(std::size_t strand, std::set<Wrong>& wrong);
  [[nodiscard]] std::size_t slot(std::uint32_t rank, std::uint32_t index) const;
  void meet(std::size_t strand, std::set<Wrong>& wrong);
  void complete_loads(std::size_t strand);
  // What the deposit carries: what its thread knows, or, relaxed, what it knew at its kernel's
  // start; and `transfers`.
  void tell(const Strand& self, Deposit& deposit, const Events& transfers) const;
  void note_negative(std::size_t strand, std::size_t cell);
  void judge_take_backs(std::set<Wrong>& wrong) const;
  void signal(std::size_t strand, std::set<Wrong>& wrong);
  void read_cell(std::size_t strand, const Events& set);
  void flip(std::size_t strand, bool hand);
  void fetch(std::size_t strand, const Events& set, std::set<Wrong>& wrong);
  void transfer(std::size_t strand, std::set<Wrong>& wrong);
  void put(std::size_t strand, std::set<Wrong>& wrong);
  void get(std::size_t strand, std::set<Wrong>& wrong);
  void put_deposit(std::size_t strand, std::set<Wrong>& wrong);
  void deposit(std::size_t cell, const Deposit& deposit, std::set<Wrong>& wrong);
  void flush(std::size_t strand, std::optional<std::uint32_t> peer = {});
  void complete(std::size_t strand);
  // An access at `location` with what the strand knows; noncoherent: through its cache?
  void access(std::size_t strand, std::size_t location, AccessKind kind, std::size_t event,
              std::set<Wrong>& wrong, bool cached = true);
  // domains_and_caches.cpp
  [[nodiscard]] bool apart(std::size_t strand, std::size_t other) const;
  [[nodiscard]] std::size_t strand_of(std::size_t operation) const;
  void judge_domains(const Cell& cell, const Deposit& made, std::set<Wrong>& wrong) const;
  void judge_caches(const Access& made, std::set<Wrong>& wrong) const;
  void judge_update(std::size_t strand, const Cell& cell, const Events& must,
                    std::set<Wrong>& wrong) const;
  [[nodiscard]] bool in_one_line(std::size_t location, std::size_t other) const;
  void write_back(std::size_t strand);
  [[nodiscard]] std::size_t element(std::uint32_t rank, std::uint32_t index) const;
  [[nodiscard]] std::size_t counter(std::size_t strand) const;

  const Program* program_;
  std::vector<std::size_t> first_;  // of each strand's operations
  std::vector<Strand> strands_;
  std::vector<Cell> cells_;            // rank * cells + cell; then rank * slots + slot
  std::vector<std::uint32_t> memory_;  // elements of all ranks, counters of all lanes, slots
  std::vector<Access> accesses_;
};

}  // namespace muster::fuzz
