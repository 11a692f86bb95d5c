#include "litmus/candidate.hpp"

#include <algorithm>

namespace muster::litmus {
namespace {

// An expression with the number of steps that are left to it: more steps than there are expressions
// mean that it depends on itself.
std::optional<Word> evaluate(const Candidate& of, std::size_t number, std::size_t steps) {
  if (steps == 0) return {};
  const Expression& one = of.expressions[number];
  if (one.kind == Expression::Kind::constant) return one.value;
  if (one.kind == Expression::Kind::function) {
    const std::optional<Word> left = evaluate(of, one.left, steps - 1);
    const std::optional<Word> right = left ? evaluate(of, one.right, steps - 1) : left;
    if (!right) return {};
    return apply(one.function, *left, *right);
  }
  const Event& read = of.events[one.left];
  if (read.from == nothing) return {};
  const Event& write = of.events[read.from];
  // Whether a cas writes depends on what it reads.
  if (write.conditional && !evaluate(of, of.events[write.partner].value, steps - 1)) return {};
  return evaluate(of, write.value, steps - 1);
}

// A read without a write on which the expression depends, where there is one.
std::size_t open_read(const Candidate& of, std::size_t number, std::vector<bool>& visited) {
  if (visited[number]) return nothing;
  visited[number] = true;
  const Expression& one = of.expressions[number];
  if (one.kind == Expression::Kind::constant) return nothing;
  if (one.kind == Expression::Kind::function) {
    const std::size_t left = open_read(of, one.left, visited);
    return left != nothing ? left : open_read(of, one.right, visited);
  }
  const Event& read = of.events[one.left];
  if (read.from == nothing) return one.left;
  const Event& write = of.events[read.from];
  if (write.conditional) {
    const std::size_t condition = open_read(of, of.events[write.partner].value, visited);
    if (condition != nothing) return condition;
  }
  return open_read(of, write.value, visited);
}

}  // namespace

std::optional<Word> Candidate::value(std::size_t expression) const {
  return evaluate(*this, expression, expressions.size() + 1);
}

namespace {

// Of a strong event of a thread.
bool in_scope(const Program& program, const Event& of, const Event& other) {
  const Thread& mine = program.threads[of.thread];
  const Thread& theirs = program.threads[other.thread];
  if (of.scope == Scope::sys) return true;
  return mine.gpu == theirs.gpu && (of.scope == Scope::gpu || mine.cta == theirs.cta);
}

}  // namespace

bool morally_strong(const Program& program, const Event& one, const Event& other) {
  const bool memory = one.location != nothing && other.location != nothing;
  if (&one == &other || (memory && one.location != other.location)) return false;
  if (one.thread == nothing || other.thread == nothing) return false;
  return one.thread == other.thread ||
         (one.strong && other.strong && in_scope(program, one, other) &&
          in_scope(program, other, one));
}

Event memory_event(Event::Kind kind, std::size_t thread, const Instruction& one) {
  Event event;
  event.kind = kind;
  event.thread = thread;
  event.strong = one.order != Order::weak;
  event.scope = one.scope;
  event.location = one.location;
  event.instruction = &one;
  const bool both = one.order == Order::acq_rel;
  event.acquire = kind == Event::Kind::read && (both || one.order == Order::acquire);
  event.release = kind == Event::Kind::write && (both || one.order == Order::release);
  return event;
}

Event fence_event(std::size_t thread, const Instruction& one) {
  Event event;
  event.kind = Event::Kind::fence;
  event.thread = thread;
  event.strong = event.acquire = event.release = true;
  event.sc = one.order == Order::sc;
  event.scope = one.scope;
  event.instruction = &one;
  return event;
}

namespace {

class Enumerator {
 public:
  Enumerator(const Program& program, const Bounds& bounds,
             const std::function<bool(const Candidate&)>& visit)
      : program_(program), bounds_(bounds), visit_(visit), deadline_(bounds) {}

  Reached run() {
    Candidate first;
    for (const Location& location : program_.locations) {
      Event write;
      write.location = first.events.size();
      write.value = constant(first, location.initial);
      first.events.push_back(write);
    }
    for (const Thread& thread : program_.threads) {
      Strand strand;
      for (const Word word : thread.initial) strand.registers.push_back(constant(first, word));
      first.strands.push_back(strand);
    }
    go_on(std::move(first), 0);
    return reached_;
  }

 private:
  static std::size_t add(Candidate& to, const Expression& expression) {
    to.expressions.push_back(expression);
    return to.expressions.size() - 1;
  }
  static std::size_t constant(Candidate& to, Word value) {
    return add(to, {Expression::Kind::constant, Function::second, value, 0, 0});
  }
  static std::size_t operand(Candidate& to, std::size_t thread, const Operand& one) {
    return one.is_register ? to.strands[thread].registers[one.reg] : constant(to, one.value);
  }

  // All threads from `thread` on as far as they come without a value that they branch on, then the
  // choice of a write for a read.
  void go_on(Candidate candidate, std::size_t thread) {
    for (; thread < candidate.strands.size() && !stopped_; ++thread) {
      while (step(candidate, thread)) {
        if (candidate.events.size() <= bounds_.events) continue;
        reached_.events_cut = true;
        return dead_end();
      }
      if (cut_) {
        cut_ = false;
        return dead_end();
      }
    }
    if (!stopped_) choose(std::move(candidate));
  }

  // One instruction; false where the thread has ended or cannot go on yet, or (cut_) not at all.
  bool step(Candidate& candidate, std::size_t thread) {
    Strand& strand = candidate.strands[thread];
    const std::vector<Instruction>& code = program_.threads[thread].code;
    if (strand.at >= code.size()) return false;
    const Instruction& one = code[strand.at];
    switch (one.op) {
      case Op::jump: return move_to(strand, one.next);
      case Op::branch: return branch(candidate, thread, one);
      case Op::compute: compute(candidate, thread, one); break;
      case Op::atomic: atomic(candidate, thread, one); break;
      case Op::load: load(candidate, thread, one); break;
      case Op::store: store(candidate, thread, one); break;
      case Op::fence: candidate.events.push_back(fence_event(thread, one)); break;
      case Op::barrier: barrier(candidate, thread, one); break;
      case Op::nothing: break;
    }
    ++candidate.strands[thread].at;
    return true;
  }

  bool move_to(Strand& strand, std::size_t next) {
    if (next <= strand.at && ++strand.turns > bounds_.turns) {
      reached_.turns_cut = true;
      cut_ = true;
      return false;
    }
    strand.at = next;
    return true;
  }

  bool branch(Candidate& candidate, std::size_t thread, const Instruction& one) {
    const std::optional<Word> left = candidate.value(operand(candidate, thread, one.operands[0]));
    const std::optional<Word> right = candidate.value(operand(candidate, thread, one.operands[1]));
    if (!left || !right) return false;
    Strand& strand = candidate.strands[thread];
    return move_to(strand, compare(one.comparison, *left, *right) ? one.next : strand.at + 1);
  }

  static void compute(Candidate& to, std::size_t thread, const Instruction& one) {
    const std::size_t left = operand(to, thread, one.operands[0]);
    std::size_t result = left;
    if (one.function != Function::second)
      result = add(to, {Expression::Kind::function, one.function, 0, left,
                        operand(to, thread, one.operands[1])});
    to.strands[thread].registers[one.target] = result;
  }

  // The expression of what the new read reads.
  static std::size_t push_read(Candidate& to, std::size_t thread, const Instruction& one) {
    Event read = memory_event(Event::Kind::read, thread, one);
    read.value = add(to, {Expression::Kind::read, Function::second, 0, to.events.size(), 0});
    to.events.push_back(read);
    return read.value;
  }

  static void load(Candidate& to, std::size_t thread, const Instruction& one) {
    to.strands[thread].registers[one.target] = push_read(to, thread, one);
  }

  static void store(Candidate& to, std::size_t thread, const Instruction& one) {
    Event write = memory_event(Event::Kind::write, thread, one);
    write.value = operand(to, thread, one.operands[0]);
    to.events.push_back(write);
  }

  // A read and, right behind it, a write. A cas forks: it may write or not, as its read will tell.
  void atomic(Candidate& to, std::size_t thread, const Instruction& one) {
    const std::size_t first = operand(to, thread, one.operands[0]);
    const bool cas = one.function == Function::cas;
    const std::size_t second = cas ? operand(to, thread, one.operands[1]) : first;
    const std::size_t read = to.events.size();
    const std::size_t old = push_read(to, thread, one);
    if (one.target != Instruction::none) to.strands[thread].registers[one.target] = old;
    if (cas) {
      Candidate other = to;
      other.assumptions.push_back({old, first, false});
      ++other.strands[thread].at;
      go_on(std::move(other), thread);
      to.assumptions.push_back({old, first, true});
    }
    Event write = memory_event(Event::Kind::write, thread, one);
    write.conditional = cas;
    write.partner = read;
    write.value = second;
    if (!cas && one.function != Function::second)
      write.value = add(to, {Expression::Kind::function, one.function, 0, old, first});
    to.events[read].partner = read + 1;
    to.events.push_back(write);
  }

  static void barrier(Candidate& to, std::size_t thread, const Instruction& one) {
    Event event;
    event.kind = Event::Kind::barrier;
    event.thread = thread;
    event.arrives = one.arrives;
    event.instruction = &one;
    for (const Operand& each : one.operands) event.identity.push_back(operand(to, thread, each));
    to.events.push_back(event);
  }

  [[nodiscard]] static bool holds(const Candidate& candidate, bool all_known) {
    return std::all_of(candidate.assumptions.begin(), candidate.assumptions.end(),
                       [&](const Assumption& one) {
                         const std::optional<Word> read = candidate.value(one.read);
                         const std::optional<Word> expected = candidate.value(one.expected);
                         if (!read || !expected) return !all_known;
                         return (*read == *expected) == one.equal;
                       });
  }

  [[nodiscard]] bool ended(const Candidate& candidate) const {
    for (std::size_t thread = 0; thread < candidate.strands.size(); ++thread) {
      if (candidate.strands[thread].at < program_.threads[thread].code.size()) return false;
    }
    return true;
  }

  // The read to decide next: once all threads have ended any, before that one on which a thread
  // waits that has not been put off with the writes that are there.
  [[nodiscard]] std::size_t next_read(const Candidate& candidate, bool all_ended) const {
    if (all_ended) {
      for (std::size_t i = 0; i < candidate.events.size(); ++i) {
        const Event& event = candidate.events[i];
        if (event.kind == Event::Kind::read && event.from == nothing) return i;
      }
      return nothing;
    }
    for (std::size_t thread = 0; thread < candidate.strands.size(); ++thread) {
      const Strand& strand = candidate.strands[thread];
      const std::vector<Instruction>& code = program_.threads[thread].code;
      if (strand.at >= code.size()) continue;
      for (const Operand& one : code[strand.at].operands) {
        if (!one.is_register) continue;
        std::vector<bool> visited(candidate.expressions.size());
        const std::size_t read = open_read(candidate, strand.registers[one.reg], visited);
        if (read != nothing && candidate.events[read].seen < candidate.events.size()) return read;
      }
    }
    return nothing;
  }

  // Within one thread: no write that comes later, and none that another one has overwritten.
  [[nodiscard]] static bool may_read(const Candidate& candidate, std::size_t read,
                                     std::size_t write) {
    const Event& reader = candidate.events[read];
    const Event& writer = candidate.events[write];
    const bool own = writer.thread == reader.thread;
    if (own && write > read) return false;
    if (!own && writer.thread != nothing) return true;
    for (std::size_t i = write + 1; i < read; ++i) {
      const Event& between = candidate.events[i];
      if (between.kind == Event::Kind::write && between.thread == reader.thread &&
          between.location == reader.location)
        return false;
    }
    return true;
  }

  // Of two morally strong read-modify-writes that read the same write, the second in coherence
  // would have the first between its halves, where coherence relates that write to both.
  [[nodiscard]] bool breaks_atomicity(const Candidate& candidate, std::size_t read,
                                      std::size_t write) const {
    const Event& reader = candidate.events[read];
    const Event& writer = candidate.events[write];
    const auto before = [&](const Event& half) {
      return writer.thread == nothing || morally_strong(program_, writer, half);
    };
    if (reader.partner == nothing || !before(reader)) return false;
    return std::any_of(candidate.events.begin(), candidate.events.end(), [&](const Event& other) {
      return &other != &reader && other.kind == Event::Kind::read && other.from == write &&
             other.partner != nothing && before(other) && morally_strong(program_, reader, other);
    });
  }

  void choose(Candidate candidate) {
    if (deadline_.is_over()) {
      reached_.seconds_cut = stopped_ = true;
      return;
    }
    const bool all_ended = ended(candidate);
    const std::size_t read = next_read(candidate, all_ended);
    if (read == nothing) return all_ended ? leaf(candidate) : dead_end();
    bool went_on = false;
    const std::size_t from = candidate.events[read].seen;
    for (std::size_t write = from; write < candidate.events.size() && !stopped_; ++write) {
      const Event& event = candidate.events[write];
      if (event.kind != Event::Kind::write || event.location != candidate.events[read].location ||
          !may_read(candidate, read, write) || breaks_atomicity(candidate, read, write))
        continue;
      Candidate chosen = candidate;
      chosen.events[read].from = write;
      if (!holds(chosen, false)) continue;
      went_on = true;
      go_on(std::move(chosen), 0);
    }
    if (all_ended && !went_on) dead_end();
    // Or from a write that is not there yet.
    if (all_ended || stopped_) return;
    candidate.events[read].seen = candidate.events.size();
    choose(std::move(candidate));
  }

  // One more of what is counted; false where that was one too many.
  bool may_go_on(std::uint64_t& counted) {
    ++counted;
    if (reached_.candidates + reached_.dead_ends <= bounds_.candidates) return true;
    reached_.candidates_cut = true;
    stopped_ = true;
    return false;
  }

  void dead_end() {
    if (!stopped_) (void)may_go_on(reached_.dead_ends);
  }

  void leaf(const Candidate& candidate) {
    if (!may_go_on(reached_.candidates)) return;
    // What still has no value depends on itself.
    for (const Event& event : candidate.events) {
      if (event.value != nothing && !candidate.value(event.value)) return;
    }
    if (holds(candidate, true) && !visit_(candidate)) stopped_ = true;
  }

  const Program& program_;
  const Bounds& bounds_;
  const std::function<bool(const Candidate&)>& visit_;
  Deadline deadline_;
  Reached reached_;
  bool cut_ = false;
  bool stopped_ = false;
};

}  // namespace

Reached for_each_candidate(const Program& program, const Bounds& bounds,
                           const std::function<bool(const Candidate&)>& visit) {
  return Enumerator(program, bounds, visit).run();
}

}  // namespace muster::litmus
