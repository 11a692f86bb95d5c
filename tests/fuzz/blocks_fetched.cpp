// Blocks with fetched operations: who comes first, who comes last, locks, tickets.
#include "blocks.hpp"

namespace muster::fuzz {

void Blocks::fetched_block() {
  if (most_cells - cells_ < 2 || most_elements - elements_ < 2) return;
  if (program_.threads > 1) return tickets();  // nothing there depends on what was found
  switch (random_.below(4)) {
    case 0: return first_come();
    case 1: return last_of_us();
    case 2: return try_lock();
    default: return tickets();
  }
}

// Two lanes meet in a cell: who comes second sees what the first one wrote.
void Blocks::first_come() {
  const std::uint32_t a = random_.below(lanes()), b = other_lane(a);
  if (a == b) return;
  const std::uint32_t c = cell(), home = rank_of(random_.below(lanes()));
  const std::uint32_t written[] = {element(), element()};
  const Kind kind = random_.percent(60) ? Kind::fetch_add : Kind::exchange;
  for (const std::uint32_t i : {0U, 1U}) {
    const std::uint32_t m = i == 0 ? a : b;
    emit(m, data(Kind::remote_store, home, written[i], 0, 5 + i));
    emit(m, fetch(kind, c, home, 1 + i * random_.below(2), Order::acq_rel));
    Op look = data(Kind::remote_load, home, 0, written[1 - i], 0);
    look.when = When::last_nonzero;
    emit(m, look);
  }
}

// All count down from their number: who finds one left sees what all have written. The count is
// there before the others come: some have waited for it.
void Blocks::last_of_us() {
  const std::uint32_t b = random_.below(lanes()), home = rank_of(b);
  const std::uint32_t c = cell(), go = cell();
  const std::uint32_t count = 2 + random_.below(2);
  std::vector<std::uint32_t> written;
  emit(b, notify(c, home, count - 1, random_.percent(50) ? NotifyOp::set : NotifyOp::add));
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t m = other_lane(b);
    if (m == b) return;
    emit(b, notify(go, rank_of(m), 1, NotifyOp::add));
    emit(m, wait(go, Compare::ge, 1));
    if (elements_ < most_elements) {
      written.push_back(element());
      emit(m, data(Kind::remote_store, home, written.back(), 0, i + 1));
    }
    emit(m, fetch(Kind::fetch_add, c, home, ~0U, Order::acq_rel));
    Op look = data(Kind::remote_load, home, 0, written.empty() ? 0 : written.front(), 0);
    look.when = When::last_zero;
    emit(m, look);
  }
}

// Who gets the lock at once uses what it guards, and gives it back.
void Blocks::try_lock() {
  const std::uint32_t home = rank_of(random_.below(lanes()));
  const std::uint32_t c = cell(), guarded = element();
  const std::uint32_t tries = 2 + random_.below(2);
  for (std::uint32_t i = 0; i < tries; ++i) {
    const std::uint32_t m = random_.below(lanes());
    emit(m, fetch(random_.percent(60) ? Kind::compare_swap : Kind::exchange, c, home, 1,
                  Order::acquire));
    Op use = data(random_.percent(50) ? Kind::remote_store : Kind::remote_load, home, guarded,
                  guarded, 3 + i);
    use.when = When::last_zero;
    // What was loaded is what the last look logs: only a store may be followed by the release.
    emit(m, use);
    Op leave = fetch(Kind::exchange, c, home, 0, Order::release);
    if (random_.percent(30)) leave = fetch(Kind::fetch_add, c, home, ~0U, Order::release);
    leave.when = When::last_zero;
    emit(m, leave);
  }
}

// Numbers from a cell to which some add besides, and for which its owner waits.
void Blocks::tickets() {
  const std::uint32_t b = random_.below(lanes()), home = rank_of(b);
  const std::uint32_t c = cell();
  std::uint32_t sum = 0;
  const std::uint32_t steps = 2 + random_.below(3);
  for (std::uint32_t i = 0; i < steps; ++i) {
    const std::uint32_t m = random_.below(lanes());
    constexpr Order orders[] = {Order::relaxed, Order::acquire, Order::release, Order::acq_rel};
    const Order order = orders[random_.below(4)];
    const std::uint32_t value = 1 + random_.below(2);
    complete(m, order);
    if (random_.percent(30))
      tell(m, notify(c, home, value, NotifyOp::add));
    else
      hear(m, fetch(Kind::fetch_add, c, home, random_.percent(15) ? 0 : value, order));
    sum += value;
  }
  if (random_.percent(30))
    emit(random_.below(lanes()), fetch(Kind::compare_swap, c, home, 1 + random_.below(4),
                                       Order::acq_rel, random_.below(3)));
  if (random_.percent(50)) hear(b, wait(c, Compare::ge, 1 + random_.below(sum)));
}

}  // namespace muster::fuzz
