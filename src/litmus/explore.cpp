#include "litmus/explore.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "check/weak_memory.hpp"
#include "litmus/candidate.hpp"
#include "litmus/condition.hpp"

namespace muster::litmus {
namespace {

using check::engine::Known;
using check::engine::MemoryAccess;
using check::engine::Seat;
using check::engine::Stamp;
using check::engine::WeakMemory;
using check::engine::WriteNumber;

// A use of a barrier: who has come, knowing what, and whether somebody has passed.
struct Meeting {
  std::vector<std::pair<std::size_t, Known>> come;
  bool passed = false;
};

struct Runner {
  std::size_t at = 0;
  std::size_t turns = 0;
  std::vector<Word> registers{};
  std::vector<Word> waits_at{};  // the barrier that it has come to, and has not passed
  Known known{};
  std::uint32_t events = 0;  // its own so far

  Stamp step(std::size_t thread) {
    const Stamp stamp{static_cast<std::uint32_t>(thread), ++events};
    known.events.raise(stamp);
    return stamp;
  }
};

struct State {
  WeakMemory memory;
  std::vector<Runner> runners;
  std::map<std::vector<Word>, Meeting> meetings;
  std::map<std::vector<Word>, Word> uses;  // of a barrier by a thread
};

struct Hash {
  std::size_t operator()(const std::vector<std::uint64_t>& words) const {
    std::uint64_t sum = 0;
    for (const std::uint64_t word : words)
      sum = (sum ^ (sum >> 29U) ^ word) * 0x9E3779B97F4A7C15U + 1;
    return sum;
  }
};

class Explorer {
 public:
  Explorer(const Program& program, const Bounds& bounds)
      : program_(program), bounds_(bounds), deadline_(bounds) {
    for (const Thread& thread : program_.threads) seats_.push_back({thread.cta, thread.gpu});
  }

  Exploration run() {
    State first{WeakMemory(seats_, check::Rules::ptx), {}, {}, {}};
    for (const Location& location : program_.locations) (void)first.memory.make(location.initial);
    for (const Thread& thread : program_.threads) {
      Runner runner;
      runner.registers = thread.initial;
      first.runners.push_back(std::move(runner));
    }
    visit(std::move(first));
    result_.holds = program_.quantifier == Quantifier::exists ? found_ : !found_;
    return result_;
  }

 private:
  [[nodiscard]] bool stopped() const { return !result_.decided(); }

  void visit(State state) {
    if (stopped()) return;
    for (std::size_t thread = 0; thread < state.runners.size(); ++thread)
      if (!run_registers(state, thread)) return;  // a loop is cut
    if (!seen_.insert(identity(state)).second) return;
    if (++result_.states > most_states) result_.cut = true;
    result_.late = deadline_.is_over();
    bool ended = true;
    for (std::size_t thread = 0; thread < state.runners.size() && !stopped(); ++thread) {
      if (state.runners[thread].at == program_.threads[thread].code.size()) continue;
      ended = false;
      step(state, thread);
    }
    if (ended) judge(state);
  }

  void judge(const State& state) {
    result_.executable = true;
    const bool holds = satisfies(program_.condition, [&](const Term& term) {
      if (term.kind == Term::Kind::constant) return term.value;
      if (term.kind == Term::Kind::reg) return state.runners[term.thread].registers[term.index];
      const auto location = static_cast<std::uint32_t>(term.index);
      return state.memory.value(location, state.memory.last(location));
    });
    found_ = found_ || holds != (program_.quantifier == Quantifier::forall);
  }

  // What concerns the thread alone. False where it turns too often.
  bool run_registers(State& state, std::size_t thread) const {
    Runner& runner = state.runners[thread];
    const std::vector<Instruction>& code = program_.threads[thread].code;
    while (runner.at < code.size()) {
      const Instruction& one = code[runner.at];
      std::size_t next = runner.at + 1;
      if (one.op == Op::jump) {
        next = one.next;
      } else if (one.op == Op::branch) {
        if (compare(one.comparison, operand(runner, one, 0), operand(runner, one, 1)))
          next = one.next;
      } else if (one.op == Op::compute) {
        const bool both = one.function != Function::second;
        const Word left = operand(runner, one, 0);
        runner.registers[one.target] =
            both ? apply(one.function, left, operand(runner, one, 1)) : left;
      } else if (one.op != Op::nothing) {
        return true;
      }
      if (next <= runner.at && ++runner.turns > bounds_.turns) return false;
      runner.at = next;
    }
    return true;
  }

  static Word operand(const Runner& runner, const Instruction& one, std::size_t number) {
    const Operand& operand = one.operands[number];
    return operand.is_register ? runner.registers[operand.reg] : operand.value;
  }

  void step(const State& state, std::size_t thread) {
    const Instruction& one = program_.threads[thread].code[state.runners[thread].at];
    switch (one.op) {
      case Op::load: return load(state, thread, one);
      case Op::store: return store(state, thread, one);
      case Op::atomic: return atomic(state, thread, one);
      case Op::fence: return fence(state, thread, one);
      default: return barrier(state, thread, one);
    }
  }

  void go_on(State state, std::size_t thread) {
    ++state.runners[thread].at;
    visit(std::move(state));
  }

  static MemoryAccess access_of(const Event& event, std::size_t at) {
    MemoryAccess access;
    access.thread = static_cast<std::uint32_t>(event.thread);
    access.scope = event.scope == Scope::cta   ? muster::Scope::block
                   : event.scope == Scope::gpu ? muster::Scope::device
                                               : muster::Scope::system;
    access.strong = event.strong;
    access.acquire = event.acquire;
    access.release = event.release;
    access.sc = event.sc;
    access.tag = static_cast<std::uint32_t>(at);
    return access;
  }
  // Of the instruction that the thread is at.
  [[nodiscard]] MemoryAccess access(const State& state, std::size_t thread,
                                    Event::Kind kind) const {
    const std::size_t at = state.runners[thread].at;
    return access_of(memory_event(kind, thread, program_.threads[thread].code[at]), at);
  }

  static Word read(State& state, const MemoryAccess& access, std::uint32_t location,
                   WriteNumber from) {
    Runner& runner = state.runners[access.thread];
    Known gained;
    const Word value =
        state.memory.read(access, runner.step(access.thread), location, from, gained);
    runner.known.join(gained);
    return value;
  }

  // Two writes that nothing orders and that are not morally strong have no one order: then there is
  // no verdict.
  bool races(const State& state, const MemoryAccess& access, std::uint32_t location) {
    const auto& known = state.runners[access.thread].known.events;
    const auto other = state.memory.unordered(access, location, known);
    if (!other) return false;
    const auto words = [&](const MemoryAccess& of) {
      return "P" + std::to_string(of.thread) + ": " + program_.threads[of.thread].code[of.tag].text;
    };
    result_.race = words(state.memory.write_of(location, *other).by) + " and " + words(access);
    return true;
  }

  void load(const State& state, std::size_t thread, const Instruction& one) {
    const MemoryAccess made = access(state, thread, Event::Kind::read);
    const auto location = static_cast<std::uint32_t>(one.location);
    for (const WriteNumber from :
         state.memory.readable(location, state.runners[thread].known.events)) {
      if (stopped()) return;
      State next = state;
      next.runners[thread].registers[one.target] = read(next, made, location, from);
      go_on(std::move(next), thread);
    }
  }

  void store(const State& state, std::size_t thread, const Instruction& one) {
    const MemoryAccess made = access(state, thread, Event::Kind::write);
    const auto location = static_cast<std::uint32_t>(one.location);
    const Word value = operand(state.runners[thread], one, 0);
    if (races(state, made, location)) return;
    for (const WriteNumber behind :
         state.memory.writable(location, state.runners[thread].known.events)) {
      if (stopped()) return;
      State next = state;
      Runner& runner = next.runners[thread];
      const Stamp stamp = runner.step(thread);
      next.memory.write(made, stamp, location, behind, value, runner.known);
      go_on(std::move(next), thread);
    }
  }

  // A cas that fails is a read, of whichever write.
  void atomic(const State& state, std::size_t thread, const Instruction& one) {
    const MemoryAccess reads = access(state, thread, Event::Kind::read);
    const MemoryAccess writes = access(state, thread, Event::Kind::write);
    const auto location = static_cast<std::uint32_t>(one.location);
    const Word first = operand(state.runners[thread], one, 0);
    const bool cas = one.function == Function::cas;
    const auto& known = state.runners[thread].known.events;
    const auto changeable = state.memory.writable(location, known);
    for (const WriteNumber from : state.memory.readable(location, known)) {
      if (stopped()) return;
      State next = state;
      Runner& runner = next.runners[thread];
      const Word found = next.memory.value(location, from);
      const bool changes = !cas || found == first;
      if (changes && std::find(changeable.begin(), changeable.end(), from) == changeable.end())
        continue;
      const Word value =
          cas ? operand(state.runners[thread], one, 1) : apply(one.function, found, first);
      (void)read(next, reads, location, from);
      if (changes) {
        if (races(next, writes, location)) return;
        const Stamp stamp = runner.step(thread);
        next.memory.write_back(writes, stamp, location, from, value, runner.known);
      }
      if (one.target != Instruction::none) runner.registers[one.target] = found;
      go_on(std::move(next), thread);
    }
  }

  void fence(const State& state, std::size_t thread, const Instruction& one) {
    State next = state;
    Runner& runner = next.runners[thread];
    const MemoryAccess made = access_of(fence_event(thread, one), runner.at);
    (void)runner.step(thread);
    Known gained;
    next.memory.acquire_fence(made, gained);
    runner.known.join(gained);
    next.memory.release_fence(made, runner.known);
    go_on(std::move(next), thread);
  }

  // Two steps: to come, and to pass. Who comes when somebody has passed would have had to come
  // before: that is no execution.
  void barrier(const State& state, std::size_t thread, const Instruction& one) {
    State next = state;
    Runner& runner = next.runners[thread];
    if (!runner.waits_at.empty()) {
      Meeting& meeting = next.meetings[std::exchange(runner.waits_at, {})];
      meeting.passed = true;
      for (const auto& [who, known] : meeting.come)
        if (who != thread) runner.known.join(known);
      return go_on(std::move(next), thread);
    }
    const Thread& place = program_.threads[thread];
    std::vector<Word> name{place.gpu, place.cta, one.operands.size()};
    for (std::size_t i = 0; i < one.operands.size(); ++i) name.push_back(operand(runner, one, i));
    std::vector<Word> mine = name;
    mine.push_back(thread);
    name.push_back(next.uses[mine]++);
    Meeting& meeting = next.meetings[name];
    if (meeting.passed) return;
    (void)runner.step(thread);
    meeting.come.emplace_back(thread, runner.known);
    if (one.arrives) return go_on(std::move(next), thread);
    runner.waits_at = name;
    visit(std::move(next));
  }

  // Two states with the same have the same futures.
  static std::vector<std::uint64_t> identity(const State& state) {
    std::vector<std::uint64_t> all;
    for (const Runner& runner : state.runners) {
      all.insert(all.end(), {runner.at, runner.turns, runner.waits_at.size()});
      all.insert(all.end(), runner.waits_at.begin(), runner.waits_at.end());
      all.insert(all.end(), runner.registers.begin(), runner.registers.end());
      for (std::uint32_t other = 0; other < state.runners.size(); ++other)
        all.push_back(runner.known.events.at(other));
    }
    for (const auto& [name, meeting] : state.meetings) {
      all.insert(all.end(), name.begin(), name.end());
      std::uint64_t who = meeting.passed ? 1 : 0;
      for (const auto& [thread, known] : meeting.come) who |= std::uint64_t{2} << thread;
      all.push_back(who);
    }
    state.memory.describe(all);
    return all;
  }

  const Program& program_;
  const Bounds& bounds_;
  Deadline deadline_;
  std::vector<Seat> seats_;
  Exploration result_;
  bool found_ = false;
  std::unordered_set<std::vector<std::uint64_t>, Hash> seen_;
};

}  // namespace

Exploration explore(const Program& program, const Bounds& bounds) {
  return Explorer(program, bounds).run();
}

}  // namespace muster::litmus
