// Adds of negative numbers: which of them take credits back, and what is wrong with those.
#include <fmt/format.h>

#include <algorithm>

#include "check/execution.hpp"
#include "check/mutant.hpp"

namespace muster::check::engine {

void Execution::check_take_back(Thread& self, Cell& cell, const Deposit& made) {
  if (made.op != NotifyOp::add || static_cast<std::int32_t>(made.value) >= 0) return;
  add_once(cell.taken_back_by, self.id);
  Bits seen = made.before;
  seen.add(cell.count - 1);
  const auto left = static_cast<std::int32_t>(cell.value(seen));
  if (left < 0 && !mutant("negative-unseen"))
    suspect(self, cell, Kind::credits,
            fmt::format("{} takes back {} from {}, of which it has seen {}", name_of_thread(self),
                        -static_cast<std::int32_t>(made.value), name_of_cell(cell),
                        left - static_cast<std::int32_t>(made.value)),
            "a waiter takes back exactly what it has waited for", nullptr);
  // The deposits that this takes back: the oldest that are still there.
  std::uint32_t skip = cell.consumed;
  std::uint32_t want = 0U - made.value;
  cell.consumed += want;
  made.before.each([&](std::uint32_t at) {
    const Deposit& credit = cell.deposits[at];
    const auto value = static_cast<std::int32_t>(credit.value);
    if (credit.op != NotifyOp::add || value <= 0) return;
    const std::uint32_t there = static_cast<std::uint32_t>(value);
    const std::uint32_t skipped = std::min(skip, there);
    skip -= skipped;
    const std::uint32_t used = std::min(want, there - skipped);
    want -= used;
    if (used == 0 || !credit.call.inside || !made.call.inside || credit.call == made.call) return;
    if (mutant("stale-take-back-unseen")) return;
    suspect(self, cell, Kind::stale_pass,
            fmt::format("{} takes back, in call {} of barrier {} on lane {}, a deposit on {} that "
                        "{} made in call {} of barrier {} on lane {}",
                        name_of_thread(self), made.call.call, made.call.barrier, made.call.lane,
                        name_of_cell(cell), name_of_thread(threads_[credit.thread]),
                        credit.call.call, credit.call.barrier, credit.call.lane),
            "each call must take back its own deposits", &credit.cause);
  });
}

// Whether it was a take-back at all shows at the end.
void Execution::suspect(Thread& self, Cell& cell, Kind kind, std::string what, std::string missing,
                        const Clock* also) {
  Suspicion one{kind, self.id, std::move(what), std::move(missing), self.cause};
  if (also != nullptr) one.past.join(*also);
  cell.suspicions.push_back(std::move(one));
}

// Which adds of negative numbers were take-backs is known now, and what was wrong with them.
void Execution::judge_take_backs() {
  for (std::uint32_t number = 0; number < cells_.numbers(); ++number)
    for (std::uint32_t rank = 0; rank < options_.ranks; ++rank) {
      const Cell& cell = cells_.at(rank, number);
      if (!cell.holds_credits() && !mutant("adds-are-take-backs")) continue;
      for (const Suspicion& suspicion : cell.suspicions)
        found_in(suspicion.past, threads_[suspicion.thread], suspicion.kind, suspicion.what,
                 suspicion.missing, name_of_cell(cell));
      if (!cell.promised_zero && !mutant("adds-are-take-backs")) continue;
      for (const std::uint32_t taker : cell.taken_back_by)
        for (const std::uint32_t reader : cell.readers)
          if (reader != taker && !mutant("other-taker-unseen"))
            found(threads_.setup(rank), Kind::credits,
                  fmt::format("{} takes back from {}, where {} waits",
                              name_of_thread(threads_[taker]), name_of_cell(cell),
                              name_of_thread(threads_[reader])),
                  "only the one thread that waits on a cell may take back from it",
                  name_of_cell(cell));
    }
}

}  // namespace muster::check::engine
