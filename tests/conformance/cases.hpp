// A conformance case: a body over any Team, and the sizes at which it is worth running.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "muster/fabric.hpp"
#include "muster/result.hpp"
#include "muster/types.hpp"
#include "support/checks.hpp"

namespace muster::conformance {

using testing::Checks;

enum class Sizes {
  few,         // 1, 2, 3: what a body does between two ranks does not depend on the others
  all,         // 1, 2, 3, 5, 8, 16
  all_and_64,  // and 64, for bodies that are cheap
};

[[nodiscard]] inline std::vector<std::uint32_t> numbers(Sizes sizes) {
  switch (sizes) {
    case Sizes::few: return {1, 2, 3};
    case Sizes::all: return {1, 2, 3, 5, 8, 16};
    case Sizes::all_and_64: return {1, 2, 3, 5, 8, 16, 64};
  }
  return {};
}

template <class Team>
struct Case {
  const char* name;
  Result<void> (*body)(Team& team);
  Sizes sizes = Sizes::all;
};

// Each rank and lane has a seed of its own, the same in every run.
using Random = std::mt19937;
template <LaneIdentity F>
[[nodiscard]] Random random_of(const F& fabric) {
  return Random(1 + fabric.rank().value * 97 + fabric.lane().value);
}

}  // namespace muster::conformance
