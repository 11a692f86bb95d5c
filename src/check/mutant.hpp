// Mutations of the checker's own rules. tests/mutants builds the engine with MUSTER_MUTANTS and
// holds that breaking any one rule makes a test fail; everywhere else the hooks are constants.
#pragma once

#ifdef MUSTER_MUTANTS
#include <cstdlib>
#include <string_view>
#endif

namespace muster::check {

#ifdef MUSTER_MUTANTS
// Is the rule of this name (docs/mutants.md) to be broken in this process?
inline bool mutant(std::string_view name) {
  static const char* const chosen = std::getenv("MUSTER_MUTANT");
  return chosen != nullptr && name == chosen;
}
#else
constexpr bool mutant(const char* /*name*/) {
  return false;
}
#endif

}  // namespace muster::check
