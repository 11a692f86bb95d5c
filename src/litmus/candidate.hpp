// Candidate executions of a litmus test: what each thread does, and from which write each read
// reads.
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "litmus/program.hpp"

namespace muster::litmus {

inline constexpr std::size_t nothing = ~std::size_t{0};

// What an event is worth, perhaps not yet known: a constant, what a read has read, or a function of
// two.
struct Expression {
  enum class Kind : std::uint8_t { constant, read, function } kind = Kind::constant;
  Function function = Function::second;
  Word value = 0;
  std::size_t left = 0;  // of functions: expressions; of reads: the event
  std::size_t right = 0;
};

struct Event {
  enum class Kind : std::uint8_t { write, read, fence, barrier } kind = Kind::write;
  std::size_t thread = nothing;  // nothing: an initial write
  bool strong = false;
  bool acquire = false;
  bool release = false;
  bool sc = false;
  bool arrives = false;  // of barriers
  Scope scope = Scope::sys;
  std::size_t location = nothing;
  std::size_t value = nothing;          // of reads and writes: an expression
  std::size_t from = nothing;           // of reads: the write
  std::size_t partner = nothing;        // the other half of a read-modify-write
  bool conditional = false;             // a write of cas, which is there where its read was right
  std::size_t seen = 0;                 // of reads put off: how many events there were
  std::vector<std::size_t> identity{};  // of barriers: expressions
  const Instruction* instruction = nullptr;
};

// What the fork at a cas assumed: the read is worth `expected`, or is not.
struct Assumption {
  std::size_t read = 0;
  std::size_t expected = 0;
  bool equal = true;
};

struct Strand {
  std::size_t at = 0;
  std::size_t turns = 0;                 // jumps back so far
  std::vector<std::size_t> registers{};  // expressions
};

// Initial writes come first, one for each location; the events of a thread lie in program order.
struct Candidate {
  std::vector<Event> events;
  std::vector<Expression> expressions;
  std::vector<Strand> strands;
  std::vector<Assumption> assumptions;

  // Nothing where a read that it depends on has no write yet, or where it depends on itself.
  [[nodiscard]] std::optional<Word> value(std::size_t expression) const;
};

// Of an instruction of the thread; the two halves of an atomic are a read and a write.
[[nodiscard]] Event memory_event(Event::Kind kind, std::size_t thread, const Instruction& one);
[[nodiscard]] Event fence_event(std::size_t thread, const Instruction& one);

// Related in program order, or both strong and each inside the other's scope; accesses of memory to
// one location. Not of an event and itself.
[[nodiscard]] bool morally_strong(const Program& program, const Event& one, const Event& other);

// How far to go.
struct Bounds {
  std::size_t turns = 2;                 // jumps back for each thread
  std::uint64_t candidates = 4'000'000;  // and dead ends: what came to no candidate counts too
  std::size_t events = 128;              // of one candidate, initial writes among them
  std::uint64_t orders = 2'000'000;      // of writes and fences that are tried, in all candidates
  double seconds = 20;  // of processor time, so that a busy machine changes nothing
};

// Bounds::seconds, from now on.
class Deadline {
 public:
  explicit Deadline(const Bounds& bounds) : end_(now() + bounds.seconds) {}
  // Asked often: it looks at the clock now and then.
  [[nodiscard]] bool is_over() {
    if (!over_ && ++asked_ % 32 == 0) over_ = now() > end_;
    return over_;
  }
  // As it was seen last.
  [[nodiscard]] bool was_over() const { return over_; }

 private:
  static double now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

  double end_;
  std::uint32_t asked_ = 0;
  bool over_ = false;
};

struct Reached {
  std::uint64_t candidates = 0;
  std::uint64_t dead_ends = 0;  // where no write was left for a read, or a thread waits for ever
  bool turns_cut = false;       // a loop would have gone on
  bool candidates_cut = false;  // there are more of both than that
  bool orders_cut = false;      // and of orders
  bool events_cut = false;      // one was too long
  bool seconds_cut = false;     // it took too long
};

// Calls `visit` for every candidate in which each read has a write of its location to read from and
// nothing depends on itself (rf and dependencies are acyclic, those of branches among them), each
// once; what can be seen to break the order of one location within a thread, or atomicity, is left
// out. `visit` returns whether to go on.
[[nodiscard]] Reached for_each_candidate(const Program& program, const Bounds& bounds,
                                         const std::function<bool(const Candidate&)>& visit);

}  // namespace muster::litmus
