// What each operation does to a state of the reference.
#include <algorithm>

#include "semantics.hpp"

namespace muster::fuzz {
void State::run(std::size_t strand, const Events& set, std::set<Wrong>& wrong) {
  const std::size_t g = operation(strand);
  Knowledge& knows = strands_[strand].knows;
  switch (op(strand).kind) {
    case Kind::converge:
    case Kind::boundary: return meet(strand);
    case Kind::notify: signal(strand, wrong); break;
    case Kind::wait:
    case Kind::test:
    case Kind::read: read_cell(strand, set); break;
    case Kind::hand: flip(strand, true); break;
    case Kind::take: flip(strand, false); break;
    case Kind::flush: flush(strand); break;
    default: transfer(strand, wrong); break;
  }
  strands_[strand].issued.set(issue(g));
  knows.hb.set(issue(g));
  if (direct()) knows.hb.set(effect(g));
  knows.ca |= knows.hb;
  ++strands_[strand].next;
  skip(strand);
}

// A converge, of the lane; or the end of the rank's kernel and the start of the next one, which
// also acquires and releases for all lanes of the rank (contract 10).
void State::meet(std::size_t strand) {
  const bool kernel = op(strand).kind == Kind::boundary;
  const auto [first, last] = party(strand);
  Knowledge all;
  Events issued;
  for (std::size_t s = first; s < last; ++s) {
    all.join(strands_[s].knows);
    issued |= strands_[s].issued;
    if (kernel) all.join_effects(strands_[s].unacquired);
  }
  for (std::size_t s = first; s < last; ++s) {
    strands_[s].knows = all;
    strands_[s].issued = issued;
    if (kernel) strands_[s].fence = all, strands_[s].fence_issued = issued;
    ++strands_[s].next;
    skip(s);
  }
}

Events State::channel(std::size_t strand, std::uint32_t peer, const Events& issued) const {
  Events result;
  if (direct()) return result;  // it knows the effects themselves
  const std::size_t per_rank = std::size_t{program_->lanes} * program_->threads;
  const std::size_t begin = strand / per_rank * per_rank;
  for (std::size_t s = begin; s < begin + per_rank; ++s) {
    for (std::size_t i = 0; i < strands_[s].next; ++i) {
      const Op& o = program_->code[s][i];
      const bool on_channel = o.kind == Kind::notify || o.kind == Kind::put ||
                              o.kind == Kind::put_async || o.kind == Kind::remote_store ||
                              o.kind == Kind::remote_add;
      if (!on_channel || o.peer != peer) continue;
      if (issued.test(issue(first_[s] + i))) result.set(effect(first_[s] + i));
    }
  }
  return result;
}

// The effects of the own lane's operations whose issue the thread knows.
Events State::issued_by_lane(std::size_t strand) const {
  Events result;
  const std::size_t begin = strand - program_->thread_of(strand);
  for (std::size_t s = begin; s < begin + program_->threads; ++s) {
    for (std::size_t g = first_[s]; g < first_[s] + strands_[s].next; ++g) {
      if (strands_[strand].issued.test(issue(g))) result.set(effect(g));
    }
  }
  return result;
}

void State::flush(std::size_t strand) {
  strands_[strand].knows.hb |= issued_by_lane(strand);
}

void State::deposit(std::size_t index, const Deposit& d, std::set<Wrong>& wrong) {
  Cell& cell = cells_[index];
  for (const Deposit& other : cell.deposits) {
    const bool both_add = !other.set && !d.set;
    if (!both_add && !d.must.test(effect(other.operation))) wrong.insert(Wrong::clobber);
  }
  cell.deposits.push_back(d);
}

void State::tell(const Strand& self, Deposit& d, const Events& transfers) const {
  const Knowledge& source = d.release ? self.knows : self.fence;
  d.carried.hb = source.hb | transfers;
  d.carried.seen = source.seen;
  Events itself;
  itself.set(issue(d.operation)), itself.set(effect(d.operation));
  if (d.release) d.carried.hb |= itself;
  d.carried.ca = self.knows.ca | d.carried.hb | itself;
}

void State::signal(std::size_t strand, std::set<Wrong>& wrong) {
  const Op& o = op(strand);
  const std::size_t g = operation(strand);
  const std::size_t index = cell_of(strand);
  Strand& self = strands_[strand];
  Knowledge& knows = self.knows;
  Cell& cell = cells_[index];
  Deposit d{.operation = g, .strand = strand, .set = o.op == NotifyOp::set, .value = o.value};
  d.release = sequential() || release_part(o.order) == Order::release;
  const Events carried = channel(strand, o.peer, d.release ? self.issued : self.fence_issued);

  Events before = must_see(strand, cell);
  const Events by_lane = issued_by_lane(strand);
  for (const Deposit& own : cell.deposits) {
    if (own.plain && by_lane.test(effect(own.operation))) before.set(effect(own.operation));
  }
  d.must = closure(cell, before);
  tell(self, d, carried);
  deposit(index, d, wrong);

  if (o.peer == program_->rank_of(strand)) knows.hb.set(effect(g));
  const bool negative = o.op == NotifyOp::add && static_cast<std::int32_t>(o.value) < 0;
  if (!negative) return;
  cell.takers.insert(strand);
  before = cell.deposits.back().must;
  before.set(effect(g));
  if (static_cast<std::int32_t>(value(cell, before)) < 0) wrong.insert(Wrong::credits);
}

void State::read_cell(std::size_t strand, const Events& set) {
  const Op& o = op(strand);
  Cell& cell = cells_[cell_of(strand)];
  Strand& self = strands_[strand];
  const std::uint32_t seen = value(cell, set);
  const bool holds = satisfies(seen, o.compare, o.value);
  const bool ordered = sequential() || acquire_part(o.order) == Order::acquire;
  const bool acquires = ordered && (o.kind != Kind::test || holds);
  const Events parts = contained(cell, set);
  for (const Deposit& d : cell.deposits) {
    if (!parts.test(effect(d.operation))) continue;
    self.knows.ca |= d.carried.ca;
    (acquires ? self.knows : self.unacquired).join_effects(d.carried);
  }
  self.knows.seen |= set;
  self.history.push_back(set);
  cell.read.push_back(set);
  cell.readers.insert(strand);
  if (o.kind == Kind::read) return self.log.push_back(seen);
  if (o.kind == Kind::test) self.log.push_back(holds ? 1 : 0);
}

// Reads the whole cell and replaces 0 by 1 (hand, at the peer) or 1 by 0 (take, at home).
void State::flip(std::size_t strand, bool hand) {
  const Op& o = op(strand);
  const std::size_t g = operation(strand);
  Cell& cell = cells_[cell_of(strand)];
  Strand& self = strands_[strand];
  const Events set = all(cell);
  const bool acquires = !hand && (sequential() || acquire_part(o.order) == Order::acquire);
  const Events parts = contained(cell, set);
  for (const Deposit& d : cell.deposits) {
    if (!parts.test(effect(d.operation))) continue;
    self.knows.ca |= d.carried.ca;
    (acquires || sequential() ? self.knows : self.unacquired).join_effects(d.carried);
  }
  self.knows.seen |= set;
  self.history.push_back(set);
  cell.read.push_back(set);

  Deposit d{.operation = g, .strand = strand, .set = true, .value = hand ? 1U : 0U};
  d.release = sequential() || (hand && release_part(o.order) == Order::release);
  const std::uint32_t peer = hand ? o.peer : program_->rank_of(strand);
  const Events carried = channel(strand, peer, d.release ? self.issued : self.fence_issued);
  d.must = set;
  self.knows.hb.set(effect(g));
  tell(self, d, carried);
  cell.deposits.push_back(d);
}

void State::transfer(std::size_t strand, std::set<Wrong>& wrong) {
  const Op& o = op(strand);
  const std::size_t g = operation(strand);
  const std::uint32_t rank = program_->rank_of(strand);
  Strand& self = strands_[strand];
  const std::size_t later = direct() ? issue(g) : effect(g);
  const bool first = program_->thread_of(strand) == 0;  // a single element is thread 0's
  const auto touch = [&](std::size_t location, AccessKind kind, std::size_t event) {
    access(self.knows, location, kind, event, wrong);
    return &memory_[location];
  };
  switch (o.kind) {
    case Kind::store: *touch(element(rank, o.to), AccessKind::write, issue(g)) = o.value; break;
    case Kind::load:
      self.log.push_back(*touch(element(rank, o.from), AccessKind::read, issue(g)));
      break;
    case Kind::read_counter:
      self.log.push_back(*touch(counter(strand), AccessKind::read, issue(g)));
      break;
    case Kind::write_counter: *touch(counter(strand), AccessKind::write, issue(g)) = o.value; break;
    case Kind::remote_store:
      if (first) *touch(element(o.peer, o.to), AccessKind::write, later) = o.value;
      break;
    case Kind::remote_add:
      if (first) *touch(element(o.peer, o.to), AccessKind::add, later) += o.value;
      break;
    case Kind::remote_load:
      if (first) self.log.push_back(*touch(element(o.peer, o.from), AccessKind::read, issue(g)));
      break;
    case Kind::get:
    case Kind::get_async: get(strand, wrong); break;
    default: put(strand, wrong); break;
  }
}

void State::get(std::size_t strand, std::set<Wrong>& wrong) {
  const Op& o = op(strand);
  const std::size_t g = operation(strand);
  const bool later = !direct() && o.kind == Kind::get_async;
  const std::size_t event = later ? effect(g) : issue(g);
  const Knowledge& knows = strands_[strand].knows;
  for (std::uint32_t i = program_->thread_of(strand); i < o.count; i += program_->threads) {
    const std::size_t source = element(o.peer, o.from + i);
    const std::size_t target = element(program_->rank_of(strand), o.to + i);
    access(knows, source, AccessKind::read, event, wrong);
    access(knows, target, AccessKind::write, event, wrong);
    memory_[target] = memory_[source];
  }
}

void State::put(std::size_t strand, std::set<Wrong>& wrong) {
  const Op& o = op(strand);
  const std::size_t g = operation(strand);
  const Knowledge& knows = strands_[strand].knows;
  const std::size_t read_at = o.kind == Kind::put_async && !direct() ? effect(g) : issue(g);
  const std::size_t write_at = direct() ? issue(g) : effect(g);
  for (std::uint32_t i = program_->thread_of(strand); i < o.count; i += program_->threads) {
    const std::size_t source = element(program_->rank_of(strand), o.from + i);
    const std::size_t target = element(o.peer, o.to + i);
    access(knows, source, AccessKind::read, read_at, wrong);
    access(knows, target, AccessKind::write, write_at, wrong);
    memory_[target] = memory_[source];
  }
  if (o.kind != Kind::put_signal) return;
  Events payload;
  payload.set(effect(g));
  if (direct()) payload.set(issue(g));  // where the accesses are
  put_deposit(strand, payload, wrong);
}

void State::put_deposit(std::size_t strand, const Events& payload, std::set<Wrong>& wrong) {
  const Op& o = op(strand);
  const std::size_t index = cell_of(strand);
  const Knowledge& knows = strands_[strand].knows;
  Deposit d{.operation = operation(strand), .strand = strand, .plain = false};
  d.set = o.op == NotifyOp::set;
  d.value = o.value;
  d.release = true;
  d.must = must_see(strand, cells_[index]);
  if (sequential()) d.carried = knows;
  d.carried.hb |= payload;
  // Causality is what orders reads before later writes; it is not limited to what is carried.
  d.carried.ca = knows.ca | d.carried.hb;
  d.carried.ca.set(issue(d.operation));
  deposit(index, d, wrong);
}

}  // namespace muster::fuzz
