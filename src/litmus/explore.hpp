// The verdict of an exploration: the test runs, thread by thread, on the checker's memory below the
// operations of a fabric (src/check/weak_memory.hpp), and every choice of what a read reads and
// where a write lies is tried.
//
// Where two writes race, the model gives their location no one order, and there is no verdict. Nor
// is there where the model allows an execution in which program order and reads-from make a circle
// (has_circle): it cannot be run step by step.
#pragma once

#include <cstdint>
#include <string>

#include "litmus/candidate.hpp"
#include "litmus/program.hpp"

namespace muster::litmus {

struct Exploration {
  bool holds = false;       // as Verdict::holds
  bool executable = false;  // as Verdict::executable
  std::string race;         // two writes that race, where some do: then nothing else is known
  bool cut = false;         // more than `most_states`
  bool late = false;        // more than Bounds::seconds
  std::uint64_t states = 0;

  [[nodiscard]] bool decided() const { return race.empty() && !cut && !late; }
};

inline constexpr std::uint64_t most_states = 1'000'000;

[[nodiscard]] Exploration explore(const Program& program, const Bounds& bounds = {});

}  // namespace muster::litmus
