#include "blocks.hpp"

namespace muster::fuzz {

void Blocks::block() {
  const std::uint32_t left = most_cells - cells_;
  if (left < 2 || most_elements - elements_ < 2) return;
  switch (random_.below(18)) {
    case 0:
    case 1:
    case 2: return message();
    case 3: return third_party();
    case 4: return sum();
    case 5: return handoff();
    case 6:
    case 7: return barrier();
    case 8: return ring();
    case 9:
    case 10:
    case 11: return crowd();
    case 12:
    case 13: return kernels();
    case 14: return latch();
    case 15: return semaphore();
    default: return program_.threads > 1 ? siblings() : message();
  }
}

// Data from a to b by any of the ways, told and heard; then perhaps an acknowledgement and reuse.
void Blocks::message() {
  const std::uint32_t a = random_.below(lanes()), b = other_lane(a);
  const std::uint32_t from = element(), to = element(), c = cell();
  const std::uint32_t value = 1 + random_.below(3);
  const NotifyOp op = random_.percent(50) ? NotifyOp::set : NotifyOp::add;
  const Compare compare = random_.percent(70) ? Compare::ge : Compare::eq;
  const std::uint32_t way = random_.below(program_.threads > 1 ? 6 : 8);
  const bool pulled = way == 0;
  if (way != 1 && way != 2) emit(a, data(Kind::store, 0, from, 0, 5 + way));
  if (way != 1 && way != 2) meet(a);
  constexpr Kind ways[] = {Kind::store,     Kind::remote_store, Kind::remote_add, Kind::put,
                           Kind::put_async, Kind::put,          Kind::put_signal, Kind::put_signal};
  if (!pulled) {
    Op move = data(ways[way], rank_of(b), to, from, value);
    move.cell = c, move.op = op;
    emit(a, move);
  }
  if (way == 5) emit(a, {.kind = Kind::flush});
  if (way < 6) tell(a, notify(c, rank_of(b), value, op));
  if (way >= 6 && random_.percent(30) && cells_ < most_cells) return payload(a, b, to);
  hear(b, wait(c, compare, value));
  if (!pulled) emit(b, data(Kind::load, 0, 0, to, 0));
  if (pulled) pull(a, b, to, from);
  if (random_.percent(50)) acknowledge(a, b, way, to, from);
}

// A put_signal's payload, told of by another notify.
void Blocks::payload(std::uint32_t a, std::uint32_t b, std::uint32_t to) {
  const std::uint32_t told = cell();
  tell(a, notify(told, rank_of(b), 1, NotifyOp::set));
  hear(b, wait(told, Compare::ge, 1));
  emit(b, data(Kind::load, 0, 0, to, 0));
}

void Blocks::pull(std::uint32_t a, std::uint32_t b, std::uint32_t to, std::uint32_t from) {
  constexpr Kind ways[] = {Kind::remote_load, Kind::get, Kind::get_async};
  const std::uint32_t way = random_.below(3);
  emit(b, data(ways[way], rank_of(a), to, from, 0));
  if (way == 0) return;
  if (way == 2) emit(b, {.kind = Kind::flush});
  meet(b);
  emit(b, data(Kind::load, 0, 0, to, 0));
}

void Blocks::acknowledge(std::uint32_t a, std::uint32_t b, std::uint32_t way, std::uint32_t to,
                         std::uint32_t from) {
  const std::uint32_t c = cell();
  const Order order = way > 3 ? Order::release : maybe_relaxed(Order::release);
  complete(b, order);
  tell(b, notify(c, rank_of(a), 1, NotifyOp::set, order));
  hear(a, wait(c, Compare::ge, 1, way > 0 ? Order::acquire : maybe_relaxed(Order::acquire)));
  if (way != 1 && way != 2) {
    emit(a, data(Kind::store, 0, from, 0, 9));
  } else {
    emit(a, data(Kind::remote_store, rank_of(b), to, 0, 9));
  }
}

// a writes to b, and tells c, which tells b.
void Blocks::third_party() {
  const std::uint32_t a = random_.below(lanes()), b = other_lane(a), c = other_lane(a);
  if (b == c) return;
  const std::uint32_t to = element(), first = cell(), second = cell();
  emit(a, data(Kind::remote_store, rank_of(b), to, 0, 7));
  if (program_.profile == Profile::rdma || random_.percent(50)) emit(a, {.kind = Kind::flush});
  tell(a, notify(first, rank_of(c), 1, NotifyOp::add));
  hear(c, wait(first, Compare::ge, 1));
  tell(c, notify(second, rank_of(b), 1, NotifyOp::set));
  hear(b, wait(second, Compare::ge, 1));
  emit(b, data(Kind::load, 0, 0, to, 0));
}

// Everybody else adds to one element and to one cell of a lane.
void Blocks::sum() {
  const std::uint32_t b = random_.below(lanes());
  const std::uint32_t to = element(), c = cell();
  std::uint32_t count = 0;
  for (std::uint32_t a = 0; a < lanes(); ++a) {
    if (a == b) continue;
    ++count;
    emit(a, data(Kind::remote_add, rank_of(b), to, 0, a + 1));
    tell(a, notify(c, rank_of(b), 1, NotifyOp::add));
  }
  if (count == 0) return;
  hear(b, wait(c, random_.percent(75) ? Compare::ge : Compare::eq, count));
  emit(b, data(Kind::load, 0, 0, to, 0));
  if (random_.percent(30)) {  // takes the credits back
    emit(b, notify(c, rank_of(b), ~count + 1, NotifyOp::add, Order::relaxed));
    if (program_.threads == 1) program_.zero_cells |= 1U << c;
  }
}

void Blocks::handoff() {
  const std::uint32_t a = random_.below(lanes()), b = other_lane(a);
  const std::uint32_t to = element(), c = cell();
  emit(a, data(Kind::remote_store, rank_of(b), to, 0, 3));
  const std::uint32_t rounds = 1 + random_.below(2);
  const std::uint32_t strand_a = a * program_.threads, strand_b = b * program_.threads;
  for (std::uint32_t i = 0; i < rounds; ++i) {
    meet(a);
    program_.code[strand_a].push_back(
        {.kind = Kind::hand, .cell = c, .peer = rank_of(b), .order = Order::release});
    program_.code[strand_b].push_back({.kind = Kind::take, .cell = c, .order = Order::acquire});
    meet(b);
  }
  emit(b, data(Kind::load, 0, 0, to, 0));
}

// Each rank passes to the right what it got from the left.
void Blocks::ring() {
  const std::vector<std::uint32_t> members = one_per_rank();
  const auto ranks = static_cast<std::uint32_t>(members.size());
  if (ranks < 2) return;
  const std::uint32_t from = element(), to = element(), c = cell();
  for (const std::uint32_t m : members) {
    const std::uint32_t right = (rank_of(m) + 1) % ranks;
    emit(m, data(Kind::store, 0, from, 0, rank_of(m) + 1));
    meet(m);
    emit(m, data(random_.percent(50) ? Kind::put : Kind::put_async, right, to, from, 0));
    tell(m, notify(c, right, 1, NotifyOp::set));
  }
  for (const std::uint32_t m : members) {
    hear(m, wait(c, Compare::ge, 1));
    emit(m, data(Kind::load, 0, 0, to, 0));
  }
}

// Several lanes add to one cell of lane b, some after having heard of each other, and b waits now
// and then for what has come so far, or for less: what a certificate has to tell apart.
void Blocks::crowd() {
  const std::uint32_t b = random_.below(lanes());
  const std::uint32_t sum_cell = cell(), chain_cell = cell();
  std::uint32_t sum = 0, chain = 0;
  std::vector<std::uint32_t> written;
  const std::uint32_t steps = 3 + random_.below(4);
  for (std::uint32_t i = 0; i < steps; ++i) {
    const std::uint32_t a = other_lane(b);
    const bool waits = sum > 0 && random_.percent(35);
    if (waits) {
      const std::uint32_t least = random_.percent(70) ? sum : 1 + random_.below(sum);
      const Order order = random_.percent(80) ? Order::acquire : Order::relaxed;
      hear(b, wait(sum_cell, Compare::ge, least, order));
      if (!written.empty() && order == Order::acquire && least == sum)
        emit(b, data(Kind::load, 0, 0, written[random_.below(written.size())], 0));
    } else if (random_.percent(75) || a == b) {
      if (elements_ < most_elements && random_.percent(50)) {
        written.push_back(element());
        emit(a, data(Kind::remote_store, rank_of(b), written.back(), 0, i + 1));
      }
      const std::uint32_t value = 1 + random_.below(2);
      tell(a, notify(sum_cell, rank_of(b), value, NotifyOp::add));
      sum += value;
    } else {  // one lane lets another one go on
      const std::uint32_t from = random_.below(lanes());
      if (from == a) continue;
      if (random_.percent(50)) emit(from, {.kind = Kind::flush});
      tell(from, notify(chain_cell, rank_of(a), 1, NotifyOp::add, maybe_relaxed(Order::release)));
      if (++chain > 1) continue;
      hear(a, wait(chain_cell, Compare::ge, 1));
    }
  }
}

void Blocks::boundary(std::uint32_t rank) {
  const std::uint32_t per_rank = program_.lanes * program_.threads;
  for (std::uint32_t s = rank * per_rank; s < (rank + 1) * per_rank; ++s) {
    program_.code[s].push_back({.kind = Kind::boundary});
  }
}

// Data of a kernel that a relaxed notify of the next one speaks for, or that is awaited relaxed
// by a kernel before the one that reads it.
void Blocks::kernels() {
  const std::uint32_t a = random_.below(lanes()), b = other_lane(a);
  const std::uint32_t from = element(), to = element(), c = cell();
  const bool earlier = random_.percent(60), later = random_.percent(60);
  emit(a, data(Kind::store, 0, from, 0, 4));
  constexpr Kind ways[] = {Kind::remote_store, Kind::put, Kind::put_async};
  emit(a, data(ways[random_.below(3)], rank_of(b), to, from, 4));
  if (earlier) boundary(rank_of(a));
  // The end of a kernel speaks for all lanes.
  const std::uint32_t teller = rank_of(a) * program_.lanes + random_.below(program_.lanes);
  tell(earlier && teller != b ? teller : a,
       notify(c, rank_of(b), 1, NotifyOp::add, earlier ? Order::relaxed : Order::release));
  hear(b, wait(c, Compare::ge, 1, later ? Order::relaxed : Order::acquire));
  if (later) boundary(rank_of(b));
  emit(b, data(Kind::load, 0, 0, to, 0));
  emit(b, data(Kind::remote_load, rank_of(a), 0, from, 0));
}

// The threads of a lane share its counter, as a barrier's epoch is shared.
void Blocks::siblings() {
  const std::uint32_t lane = random_.below(lanes());
  const std::uint32_t begin = lane * program_.threads;
  for (std::uint32_t s = begin; s < begin + program_.threads; ++s) {
    program_.code[s].push_back({.kind = Kind::read_counter});
  }
  meet(lane);
  emit(lane, {.kind = Kind::write_counter, .value = 1 + random_.below(3)});
  meet(lane);
}

}  // namespace muster::fuzz
