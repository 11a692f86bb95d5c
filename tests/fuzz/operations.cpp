// What each operation does to a state of the reference.
#include <algorithm>

#include "semantics.hpp"

namespace muster::fuzz {
namespace {
bool is_load(Kind kind) {
  return kind == Kind::load || kind == Kind::remote_load || kind == Kind::read_counter;
}
// Where the lane is one thread. With several, with_meetings has put converges there.
bool converges(Kind kind) {
  return kind == Kind::put || kind == Kind::get || kind == Kind::flush ||
         kind == Kind::flush_peer || kind == Kind::complete || kind == Kind::put_signal;
}
}  // namespace

void State::run(std::size_t strand, const Events& set, std::set<Wrong>& wrong) {
  const std::size_t g = operation(strand);
  const Op& o = op(strand);
  Strand& self = strands_[strand];
  Knowledge& knows = self.knows;
  if (converges(o.kind)) complete_loads(strand);
  switch (o.kind) {
    case Kind::converge:
    case Kind::boundary: return meet(strand, wrong);
    case Kind::notify: signal(strand, wrong); break;
    case Kind::wait:
    case Kind::test:
    case Kind::read: read_cell(strand, set); break;
    case Kind::hand: flip(strand, true); break;
    case Kind::take: flip(strand, false); break;
    case Kind::fetch_add:
    case Kind::exchange:
    case Kind::compare_swap: fetch(strand, set, wrong); break;
    case Kind::flush: flush(strand); break;
    case Kind::flush_peer: flush(strand, o.peer); break;
    case Kind::complete: complete(strand); break;
    case Kind::put_sentinel: put_sentinel(strand, wrong); break;
    case Kind::wait_sentinel: wait_sentinel(strand, set, wrong); break;
    case Kind::clear_sentinel: clear_sentinel(strand, wrong); break;
    case Kind::launch_wait: launch_wait(strand); break;
    case Kind::launch_done: self.told = self.knows.ca; break;
    default: transfer(strand, wrong); break;
  }
  self.issued.set(issue(g));
  (is_load(o.kind) ? self.loads : knows.hb).set(issue(g));
  if (direct() && !flies(o)) knows.hb.set(effect(g)), knows.hb.set(payload(g));
  knows.ca |= knows.hb;
  ++self.next;
  skip(strand);
  begin_kernels();
}

// Contract 5: a converge completes the thread's loads, and what it has seen by reads.
void State::complete_loads(std::size_t strand) {
  Strand& self = strands_[strand];
  self.knows.ca |= self.loads | self.looked;
  self.loads.reset(), self.looked.reset();
}

bool State::flies(const Op& o) const {
  return (o.kind == Kind::put_async || o.kind == Kind::get_async) && !sequential();
}

// A converge, of the lane; or the end of the rank's kernel and the start of the next one, which
// also acquires, releases and flushes for all lanes of the rank (contract 10).
void State::meet(std::size_t strand, std::set<Wrong>& wrong) {
  const bool kernel = op(strand).kind == Kind::boundary;
  const auto [first, last] = party(strand);
  Knowledge all;
  Events issued;
  for (std::size_t s = first; s < last; ++s) {
    if (op(s).value != op(strand).value) wrong.insert(Wrong::divergence);
    complete_loads(s);
    if (kernel) write_back(s);
    all.join(strands_[s].knows);
    issued |= strands_[s].issued;
    if (kernel) all.join_effects(strands_[s].unacquired);
  }
  for (std::size_t s = first; s < last && kernel; ++s) {
    for (std::size_t g = first_[s]; g < first_[s] + strands_[s].next; ++g) {
      if (issued.test(issue(g))) all.hb.set(effect(g)), all.hb.set(payload(g));
    }
  }
  all.ca |= all.hb;
  for (std::size_t s = first; s < last; ++s) {
    strands_[s].knows = all;
    strands_[s].issued = issued;
    if (kernel) strands_[s].fence = strands_[s].valid = all;
    ++strands_[s].next;
    skip(s);
  }
}

// What a release to `peer` carries of the operations of the rank of which the strand knows that
// they were issued, besides what it knows to be done.
Events State::channel(std::size_t strand, std::uint32_t peer) const {
  Events result;
  const std::size_t per_rank = std::size_t{program_->lanes} * program_->threads;
  const std::size_t begin = strand / per_rank * per_rank;
  for (std::size_t s = begin; s < begin + per_rank; ++s) {
    for (std::size_t i = 0; i < strands_[s].next; ++i) {
      const Op& o = program_->code[s][i];
      const std::size_t g = first_[s] + i;
      if (!strands_[strand].issued.test(issue(g))) continue;
      if (direct() ? o.kind != Kind::put_async : o.peer != peer) continue;
      if (o.kind == Kind::notify || o.kind == Kind::put || o.kind == Kind::put_async ||
          o.kind == Kind::remote_store || o.kind == Kind::remote_add)
        result.set(effect(g));
      if (o.kind == Kind::put_signal || o.kind == Kind::put_async) result.set(payload(g));
    }
  }
  return result;
}

// The effects of the own lane's operations whose issue the thread knows: those with one peer, or
// all.
Events State::issued_by_lane(std::size_t strand, std::optional<std::uint32_t> peer) const {
  Events result;
  const std::size_t begin = strand - program_->thread_of(strand);
  for (std::size_t s = begin; s < begin + program_->threads; ++s) {
    for (std::size_t g = first_[s]; g < first_[s] + strands_[s].next; ++g) {
      if (peer && program_->code[s][g - first_[s]].peer != *peer) continue;
      if (strands_[strand].issued.test(issue(g))) result.set(effect(g)), result.set(payload(g));
    }
  }
  return result;
}

void State::flush(std::size_t strand, std::optional<std::uint32_t> peer) {
  strands_[strand].knows.hb |= issued_by_lane(strand, peer);
}

// Of the lane's asynchronous transfers with the peer: the source of a put has been read, the data
// of a get is there.
void State::complete(std::size_t strand) {
  const std::uint32_t peer = op(strand).peer;
  Knowledge& knows = strands_[strand].knows;
  const std::size_t begin = strand - program_->thread_of(strand);
  for (std::size_t s = begin; s < begin + program_->threads; ++s) {
    for (std::size_t i = 0; i < strands_[s].next; ++i) {
      const Op& o = program_->code[s][i];
      const std::size_t g = first_[s] + i;
      if (!flies(o) || o.peer != peer || !strands_[strand].issued.test(issue(g))) continue;
      knows.hb.set(o.kind == Kind::put_async ? payload(g) : effect(g));
    }
  }
}

void State::deposit(std::size_t index, const Deposit& d, std::set<Wrong>& wrong) {
  Cell& cell = cells_[index];
  for (const std::size_t idle : cell.idle) {
    const Knowledge& knows = strands_[d.strand].knows;
    if (d.set && !d.fetched && !knows.hb.test(effect(idle))) wrong.insert(Wrong::clobber);
  }
  for (const Deposit& other : cell.deposits) {
    const bool atomic = (other.fetched || !other.set) && (d.fetched || !d.set);
    if (!atomic && !d.must.test(effect(other.operation))) wrong.insert(Wrong::clobber);
  }
  judge_domains(cell, d, wrong);
  cell.deposits.push_back(d);
}

void State::tell(const Strand& self, Deposit& d, const Events& transfers) const {
  const Knowledge& source = d.release ? self.knows : self.fence;
  d.carried.hb = source.hb | transfers;
  d.carried.seen = source.seen;
  d.carried.wb = source.wb;
  Events itself;
  itself.set(issue(d.operation)), itself.set(effect(d.operation));
  if (d.release) d.carried.hb |= itself;
  d.carried.ca = self.knows.ca | d.carried.hb | itself;
  if (d.release) d.carried.ca |= self.loads | self.looked;
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
  const Events carried = d.release ? channel(strand, o.peer) : Events{};

  if (d.release) write_back(strand);
  d.must = must_follow(strand, cell);
  if (!d.set) judge_update(strand, cell, d.must, wrong);
  tell(self, d, carried);
  deposit(index, d, wrong);

  if (o.peer == program_->rank_of(strand)) knows.hb.set(effect(g));
  note_negative(strand, index);
}

// Of the deposit that has just been made.
void State::note_negative(std::size_t strand, std::size_t index) {
  Cell& cell = cells_[index];
  const Deposit& d = cell.deposits.back();
  if (d.set || static_cast<std::int32_t>(d.value) >= 0) return;
  cell.takers.insert(strand);
  Events seen = d.must;
  seen.set(effect(d.operation));
  if (static_cast<std::int32_t>(value(cell, seen)) < 0) cell.negative = true;
}

void State::read_cell(std::size_t strand, const Events& set) {
  const Op& o = op(strand);
  Cell& cell = cells_[cell_of(strand)];
  Strand& self = strands_[strand];
  const std::uint32_t seen = value(cell, set);
  const bool holds = satisfies(seen, o.compare, o.value);
  const bool ordered = sequential() || acquire_part(o.order) == Order::acquire;
  const bool acquires = ordered && (o.kind != Kind::test || holds);
  // A wait is done before what follows; a read, or a test that did not hold, is a load.
  const bool waited = acquires || sequential() || (o.kind != Kind::read && holds);
  const Events parts = contained(cell, set);
  for (const Deposit& d : cell.deposits) {
    if (!parts.test(effect(d.operation))) continue;
    (waited ? self.knows.ca : self.looked) |= d.carried.ca;
    (acquires ? self.knows : self.unacquired).join_effects(d.carried);
  }
  self.knows.seen |= set;
  if (acquires) self.valid = self.knows;
  self.history.push_back(set);
  cell.read.push_back(set);
  cell.readers.insert(strand);
  if (o.kind == Kind::read) return self.log.push_back(seen);
  if (o.kind == Kind::test) self.log.push_back(holds ? 1 : 0);
}

// Reads a set and, where it changes the value, puts its own deposit right behind it.
void State::fetch(std::size_t strand, const Events& set, std::set<Wrong>& wrong) {
  const Op& o = op(strand);
  const std::size_t g = operation(strand);
  const std::size_t index = cell_of(strand);
  Cell& cell = cells_[index];
  Strand& self = strands_[strand];
  const std::uint32_t found = value(cell, set);
  const bool acquires = sequential() || acquire_part(o.order) == Order::acquire;
  const Events parts = contained(cell, set);
  for (const Deposit& d : cell.deposits) {
    if (!parts.test(effect(d.operation))) continue;
    (acquires ? self.knows.ca : self.looked) |= d.carried.ca;
    (acquires ? self.knows : self.unacquired).join_effects(d.carried);
  }
  const Events least = must_follow(strand, cell);
  self.knows.seen |= set;
  if (acquires) self.valid = self.knows;
  self.history.push_back(set);
  cell.read.push_back(set);
  cell.readers.insert(strand);
  self.log.push_back(found);
  if (left_by(o, found) == found) {
    if (o.kind == Kind::compare_swap && found != o.expected) return;
    for (const Deposit& d : cell.deposits) {
      const bool before = set.test(effect(d.operation));
      if (d.set && !d.fetched && !before) wrong.insert(Wrong::clobber);
      if ((!d.set || d.fetched) && !before && apart(strand, d.strand)) wrong.insert(Wrong::domain);
    }
    cell.idle.push_back(g);
    self.knows.hb.set(effect(g));
    return;
  }

  Deposit d{.operation = g, .strand = strand, .set = o.kind != Kind::fetch_add, .fetched = true};
  d.value = o.value;
  d.release = sequential() || release_part(o.order) == Order::release;
  const Events carried = d.release ? channel(strand, o.peer) : Events{};
  if (d.release) write_back(strand);
  d.must = set;
  tell(self, d, carried);
  deposit(index, d, wrong);
  judge_update(strand, cell, least, wrong);
  self.knows.hb.set(effect(g));
  Events both = set;
  cell.read.push_back(both.set(effect(g)));
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
  if (acquires) self.valid = self.knows;
  self.history.push_back(set);
  cell.read.push_back(set);

  Deposit d{.operation = g, .strand = strand, .set = true, .value = hand ? 1U : 0U};
  d.release = sequential() || (hand && release_part(o.order) == Order::release);
  const std::uint32_t peer = hand ? o.peer : program_->rank_of(strand);
  const Events carried = d.release ? channel(strand, peer) : Events{};
  if (d.release) write_back(strand);
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
  const std::size_t later = direct() || o.peer == rank ? issue(g) : effect(g);  // a transfer's
  const bool first = program_->thread_of(strand) == 0;  // a single element is thread 0's
  const bool cached = o.peer == rank || o.kind != Kind::remote_store;
  const auto touch = [&](std::size_t location, AccessKind kind, std::size_t event) {
    access(strand, location, kind, event, wrong, cached && kind != AccessKind::add);
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
  const std::size_t event = flies(o) ? effect(g) : issue(g);
  for (std::uint32_t i = program_->thread_of(strand); i < o.count; i += program_->threads) {
    const std::size_t source = element(o.peer, o.from + i);
    const std::size_t target = element(program_->rank_of(strand), o.to + i);
    access(strand, source, AccessKind::read, event, wrong);
    access(strand, target, AccessKind::write, event, wrong, !flies(o));
    memory_[target] = memory_[source];
  }
}

void State::put(std::size_t strand, std::set<Wrong>& wrong) {
  const Op& o = op(strand);
  const std::size_t g = operation(strand);
  const std::uint32_t rank = program_->rank_of(strand);
  const bool at_once = o.kind == Kind::put && (direct() || o.peer == rank);
  const std::size_t write_at = at_once || sequential()      ? issue(g)
                               : o.kind == Kind::put_signal ? payload(g)
                                                            : effect(g);
  for (std::uint32_t i = program_->thread_of(strand); i < o.count; i += program_->threads) {
    const std::size_t source = element(rank, o.from + i);
    const std::size_t target = element(o.peer, o.to + i);
    access(strand, source, AccessKind::read, flies(o) ? payload(g) : issue(g), wrong);
    access(strand, target, AccessKind::write, write_at, wrong,
           o.kind == Kind::put && o.peer == rank);
    memory_[target] = memory_[source];
  }
  if (o.kind != Kind::put_signal) return;
  put_deposit(strand, wrong);
  if (o.peer == rank) strands_[strand].knows.hb.set(payload(g));
}

void State::put_deposit(std::size_t strand, std::set<Wrong>& wrong) {
  const Op& o = op(strand);
  const std::size_t index = cell_of(strand);
  const std::size_t g = operation(strand);
  const Knowledge& knows = strands_[strand].knows;
  Deposit d{.operation = g, .strand = strand, .plain = false};
  d.set = o.op == NotifyOp::set, d.value = o.value;
  d.release = true;
  d.must = must_see(strand, cells_[index]);
  if (sequential()) d.carried = knows, d.carried.hb.set(issue(g));  // where its accesses are
  d.carried.hb.set(effect(g)), d.carried.hb.set(payload(g));
  // What is done before it orders reads before later writes; it is not limited to what is carried.
  d.carried.ca = knows.ca | d.carried.hb;
  d.carried.ca.set(issue(g));
  deposit(index, d, wrong);
  note_negative(strand, index);
}

}  // namespace muster::fuzz
