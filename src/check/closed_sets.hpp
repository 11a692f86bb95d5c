// The closed sets of deposits that a read of a cell may take.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "check/cell.hpp"
#include "check/patience.hpp"

namespace muster::check::engine {

// What is looked for: closed sets S with must <= S <= among, with a deposit numbered `newer` or
// above where `newer` > 0, satisfying (where `condition` is given), and forming a chain with the
// sets already read (where `chain`).
struct SetQuery {
  const Cell* cell = nullptr;
  Bits must;
  Bits among;
  std::optional<Condition> condition;
  std::optional<Fetch> fetch;  // where it changes the value, S has all that anybody has read
  std::uint32_t newer = 0;
  bool minimal = false;  // only those of which no closed part satisfies; the cell is monotone
  bool chain = false;
  std::size_t limit = 1;         // stop after so many
  Patience* patience = nullptr;  // stop where it ends
};

struct SetAnswer {
  std::vector<Bits> sets;
  bool cut = false;  // there may be more than `limit`, or patience has ended
};

// The sets that leave out early deposits come first, so the first satisfying one is minimal.
[[nodiscard]] SetAnswer closed_sets(const SetQuery& query);

}  // namespace muster::check::engine
