// Runs a program through the checker and compares its answer with the reference's.
#pragma once

#include <optional>
#include <string>

#include "muster/check.hpp"
#include "program.hpp"
#include "reference.hpp"

namespace muster::fuzz {

[[nodiscard]] check::Report examine(const Program& program, bool certificate);

// What is different, in words, or nothing. A bounded report differs from nothing.
[[nodiscard]] std::optional<std::string> difference(const Verdict& reference,
                                                    const check::Report& report);

struct Comparison {
  bool compared = false;  // false: too large for the reference
  bool correct = false;
  bool certified = false;
  bool searched = false;  // the answer with certificates came from the search
  bool bounded = false;
  std::optional<std::string> difference;
};

// Reference, checker with certificates, checker without.
[[nodiscard]] Comparison compare(const Program& program);

// The smallest program found that still differs, by dropping operations, threads' lists,
// conditions.
[[nodiscard]] Program shrink(Program program);

}  // namespace muster::fuzz
