// What an execution is made of: reads that were answered, what makes deposits, and how it ends.
#pragma once

#include <cstdint>
#include <optional>

#include "check/bits.hpp"
#include "check/cell.hpp"
#include "check/thread.hpp"
#include "check/where.hpp"
#include "muster/types.hpp"

namespace muster::check::engine {

// A read that was answered, for the judgement of condition D.
struct Taken {
  ReadKind kind = ReadKind::wait;
  std::uint32_t thread = 0;
  std::uint32_t epoch = 0;
  std::uint32_t cell = 0;
  std::uint32_t looks = 1;
  Compare compare = Compare::ge;
  std::uint32_t value = 0;
  Order order = Order::acquire;
  Bits must;
  Bits set;
  Where where;
};

// What makes a deposit: a notify (nothing of this), the agent of a put_signal, or an operation that
// has `found` these deposits and puts its own right behind them: a hand, a take, a fetched one.
struct Maker {
  const Bits* found = nullptr;
  bool agent = false;
  std::optional<Fetch::Kind> fetched;
  const Clock* behind = nullptr;  // Deposit::behind
};

enum class Ending : std::uint8_t {
  done,     // every set-up returned
  stuck,    // the rest is blocked for good: there is a finding
  dropped,  // a read that was put off got no new deposit
  stopped,  // after a finding that nothing sensible can follow
  polls,    // a thread polls, and nothing can come any more: see Polls::endless
  halted,   // Options::halt
  lost,     // the same answers have led elsewhere than before
};

}  // namespace muster::check::engine
