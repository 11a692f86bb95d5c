// Whether a condition holds where an execution has ended.
#pragma once

#include <algorithm>
#include <vector>

#include "litmus/program.hpp"

namespace muster::litmus {

// value(term) is what a register, a location or a constant is worth there.
template <class Value>
[[nodiscard]] bool satisfies(const Condition& condition, Value&& value) {
  const auto part = [&](const Condition& one) { return satisfies(one, value); };
  switch (condition.kind) {
    case Condition::Kind::compare:
      return compare(condition.comparison, value(condition.left), value(condition.right));
    case Condition::Kind::negation: return !part(condition.parts.front());
    case Condition::Kind::any_of:
      return std::any_of(condition.parts.begin(), condition.parts.end(), part);
    case Condition::Kind::all_of: break;
  }
  return std::all_of(condition.parts.begin(), condition.parts.end(), part);
}

}  // namespace muster::litmus
