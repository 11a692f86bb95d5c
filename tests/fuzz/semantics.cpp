#include "semantics.hpp"

#include <algorithm>
#include <numeric>

namespace muster::fuzz {

namespace {
void add_with_meetings(std::vector<Op>& list, const Op& op) {
  const bool both = op.kind == Kind::put || op.kind == Kind::get;
  const Op meeting{.kind = Kind::converge, .value = 1 + static_cast<std::uint32_t>(op.kind)};
  const bool before =
      op.kind == Kind::flush || op.kind == Kind::flush_peer || op.kind == Kind::complete;
  if (both || before) list.push_back(meeting);
  list.push_back(op);
  if (op.kind == Kind::converge) list.back().value = 0;
  if (both) list.push_back(meeting);
}
}  // namespace

Program with_meetings(const Program& program) {
  Program result = program;
  if (program.threads == 1) return result;
  for (std::size_t s = 0; s < program.code.size(); ++s) {
    result.code[s].clear();
    for (const Op& op : program.code[s]) add_with_meetings(result.code[s], op);
  }
  return result;
}

State::State(const Program& program)
    : program_(&program),
      first_(program.code.size(), 0),
      strands_(program.code.size()),
      cells_(std::size_t{program.ranks} * (program.cells + program.slots)),
      memory_(std::size_t{program.ranks} * (program.elements + program.lanes + program.slots), 0) {
  for (std::size_t s = 1; s < first_.size(); ++s)
    first_[s] = first_[s - 1] + program.code[s - 1].size();
  for (std::size_t s = 0; s < strands_.size(); ++s) skip(s);
  for (std::size_t s = program.in_kernel(); s < strands_.size(); ++s) strands_[s].begun = false;
  begin_kernels();
}

const Op& State::op(std::size_t strand) const {
  return program_->code[strand][strands_[strand].next];
}

std::size_t State::operation(std::size_t strand) const {
  return first_[strand] + strands_[strand].next;
}

bool State::finished(std::size_t strand) const {
  return strands_[strand].next == program_->code[strand].size();
}

bool State::finished() const {
  for (std::size_t s = 0; s < strands_.size(); ++s) {
    if (!finished(s)) return false;
  }
  return true;
}

// Moves to the next operation whose condition on the last logged value holds.
void State::skip(std::size_t strand) {
  Strand& self = strands_[strand];
  const std::uint32_t last = self.log.empty() ? 0 : self.log.back();
  while (!finished(strand)) {
    const When when = op(strand).when;
    if (when == When::always || (when == When::last_nonzero) == (last != 0)) return;
    ++self.next;
  }
}

// ---- cells

std::size_t State::cell_of(std::size_t strand) const {
  const Op& o = op(strand);
  if (slotted(o.kind)) {
    const std::uint32_t rank = o.kind == Kind::put_sentinel ? o.peer : program_->rank_of(strand);
    return std::size_t{program_->ranks} * program_->cells + rank * program_->slots + o.to;
  }
  const bool remote = o.kind == Kind::notify || o.kind == Kind::hand ||
                      o.kind == Kind::put_signal || fetches(o.kind);
  const std::uint32_t rank = remote ? o.peer : program_->rank_of(strand);
  return std::size_t{rank} * program_->cells + o.cell;
}

Events State::all(const Cell& cell) {
  Events set;
  for (const Deposit& d : cell.deposits) set.set(effect(d.operation));
  return set;
}

// `must` of each deposit is closed, so one pass is enough.
Events State::closure(const Cell& cell, Events set) {
  Events result = set;
  for (const Deposit& d : cell.deposits) {
    if (set.test(effect(d.operation))) result |= d.must;
  }
  return result;
}

// What the value of a set of deposits is made of: the last set, and the adds that are not before
// it. `carried`: what a reader learns from; a fetched operation hides nothing of that.
Events State::contained(const Cell& cell, const Events& set, bool carried) {
  const Deposit* last = nullptr;
  for (const Deposit& d : cell.deposits) {
    if (!d.set || !set.test(effect(d.operation)) || (carried && d.fetched)) continue;
    if (last == nullptr || d.must.test(effect(last->operation))) last = &d;
  }
  return last == nullptr ? set : set & ~last->must;
}

std::uint32_t State::value(const Cell& cell, const Events& set) {
  const Events parts = contained(cell, set, false);
  std::uint32_t result = 0;
  for (const Deposit& d : cell.deposits) {
    if (parts.test(effect(d.operation))) result += d.value;
  }
  return result;
}

Events State::must_see(std::size_t strand, const Cell& cell) const {
  const Knowledge& knows = strands_[strand].knows;
  return closure(cell, (knows.hb | knows.seen) & all(cell));
}

Events State::must_follow(std::size_t strand, const Cell& cell) const {
  Events before = must_see(strand, cell);
  const Events by_lane = issued_by_lane(strand);
  for (const Deposit& own : cell.deposits) {
    if (own.plain && by_lane.test(effect(own.operation))) before.set(effect(own.operation));
  }
  return closure(cell, before);
}

bool State::reads(std::size_t strand) const {
  const Kind kind = op(strand).kind;
  if (!strands_[strand].begun) return false;
  return kind == Kind::wait || kind == Kind::wait_sentinel || kind == Kind::test ||
         kind == Kind::read || fetches(kind);
}

std::uint32_t left_by(const Op& o, std::uint32_t found) {
  if (o.kind == Kind::fetch_add) return found + o.value;
  return o.kind == Kind::compare_swap && found != o.expected ? found : o.value;
}

std::vector<Events> State::readable(std::size_t strand) const {
  const Op& o = op(strand);
  const Cell& cell = cells_[cell_of(strand)];
  const Events least = fetches(o.kind) ? must_follow(strand, cell) : must_see(strand, cell);
  const std::size_t count = cell.deposits.size();
  std::vector<Events> sets;
  for (std::size_t mask = 0; mask < (std::size_t{1} << count); ++mask) {
    Events set;
    for (std::size_t i = 0; i < count; ++i) {
      if ((mask >> i & 1) != 0) set.set(effect(cell.deposits[i].operation));
    }
    if (sequential() && mask + 1 != std::size_t{1} << count) continue;
    if ((least & ~set).any() || closure(cell, set) != set) continue;
    const bool chain = std::all_of(cell.read.begin(), cell.read.end(), [&](const Events& other) {
      return (set & ~other).none() || (other & ~set).none();
    });
    if (!chain) continue;
    const bool newest = std::all_of(cell.read.begin(), cell.read.end(),
                                    [&](const Events& other) { return (other & ~set).none(); });
    const std::uint32_t found = value(cell, set);
    if (fetches(o.kind) && left_by(o, found) != found && !newest) continue;
    if (o.kind == Kind::wait && !satisfies(value(cell, set), o.compare, o.value)) continue;
    if (o.kind == Kind::wait_sentinel && value(cell, set) != 1) continue;
    sets.push_back(set);
  }
  return sets;
}

bool State::at(std::size_t strand, Kind kind) const {
  return !finished(strand) && op(strand).kind == kind;
}

std::pair<std::size_t, std::size_t> State::party(std::size_t strand) const {
  const bool lane = op(strand).kind == Kind::converge;
  const std::size_t count = lane ? program_->threads : program_->threads * program_->lanes;
  const std::size_t first = strand / count * count;
  return {first, first + count};
}

bool State::runnable(std::size_t strand) const {
  if (finished(strand) || !strands_[strand].begun) return false;
  const Op& o = op(strand);
  const auto full = [&] {
    const Cell& cell = cells_[cell_of(strand)];
    return value(cell, all(cell));
  };
  switch (o.kind) {
    case Kind::wait: return satisfies(full(), o.compare, o.value);
    case Kind::hand: return full() == 0;
    case Kind::take:
    case Kind::wait_sentinel: return full() == 1;
    case Kind::launch_wait:
      return program_->kernel_of(strand) == 0 ||
             has_ended(program_->kernel_of(strand) - 1, program_->rank_of(strand));
    case Kind::converge:
    case Kind::boundary: {
      const auto [first, last] = party(strand);
      for (std::size_t s = first; s < last; ++s) {
        if (!at(s, o.kind)) return false;
      }
      return true;
    }
    default: return true;
  }
}

// ---- identity, outcome, end

std::vector<std::uint64_t> State::identity() const {
  std::vector<std::uint64_t> id;
  for (const Strand& s : strands_) {
    id.push_back(s.next * 2 + (s.begun ? 1 : 0));
    for (std::size_t word = 0; program_->kernels > 1 && word < s.knows.ca.size(); word += 64)
      id.push_back(((s.knows.ca >> word) & Events(~0ULL)).to_ullong());
    for (const Events& set : s.history) {
      for (std::size_t word = 0; word < set.size(); word += 64) {
        id.push_back(((set >> word) & Events(~0ULL)).to_ullong());
      }
    }
  }
  return id;
}

Outcome State::outcome() const {
  Outcome result;
  const std::size_t per_rank = program_->lanes * program_->threads;
  for (std::uint32_t rank = 0; rank < program_->ranks; ++rank) {
    for (std::uint32_t kernel = 0; kernel < program_->kernels; ++kernel) {
      const std::size_t first = first_of(kernel, rank);
      for (std::size_t s = first; s < first + per_rank; ++s) {
        result.push_back(strands_[s].log.size());
        result.insert(result.end(), strands_[s].log.begin(), strands_[s].log.end());
      }
    }
    const auto begin = memory_.begin() + static_cast<std::ptrdiff_t>(element(rank, 0));
    result.insert(result.end(), begin, begin + program_->elements);
  }
  return result;
}

void State::finish(std::set<Wrong>& wrong) const {
  for (std::size_t c = 0; c < std::size_t{program_->ranks} * program_->cells; ++c) {
    const bool promised = (program_->zero_cells >> (c % program_->cells) & 1) != 0;
    if (promised && value(cells_[c], all(cells_[c])) != 0) wrong.insert(Wrong::credits);
  }
  judge_take_backs(wrong);
}

// An add of a negative number is a take-back where credits were promised, or where one thread alone
// adds such numbers and nobody else waits.
void State::judge_take_backs(std::set<Wrong>& wrong) const {
  for (std::size_t c = 0; c < std::size_t{program_->ranks} * program_->cells; ++c) {
    const Cell& cell = cells_[c];
    const bool promised = (program_->zero_cells >> (c % program_->cells) & 1) != 0;
    std::set<std::size_t> readers = cell.readers;  // and who is blocked there
    for (std::size_t s = 0; s < strands_.size(); ++s) {
      if (!finished(s) && reads(s) && cell_of(s) == c) readers.insert(s);
    }
    const bool alone = cell.takers.size() == 1 && readers == cell.takers;
    if ((promised || alone) && cell.negative) wrong.insert(Wrong::credits);
    if (!promised) continue;
    for (const std::size_t taker : cell.takers) {
      if (readers.size() > readers.count(taker)) wrong.insert(Wrong::credits);
    }
  }
}

void State::stick(std::set<Wrong>& wrong) const {
  judge_take_backs(wrong);
  for (std::size_t s = 0; s < strands_.size(); ++s) {
    if (finished(s) || at(s, Kind::boundary)) continue;
    if (!strands_[s].begun || at(s, Kind::launch_wait)) continue;
    if (!at(s, Kind::converge)) {
      wrong.insert(Wrong::deadlock);
      continue;
    }
    const auto [first, last] = party(s);
    for (std::size_t sibling = first; sibling < last; ++sibling) {
      if (finished(sibling) || at(sibling, Kind::boundary)) wrong.insert(Wrong::divergence);
    }
  }
}

// ---- data

std::size_t State::element(std::uint32_t rank, std::uint32_t index) const {
  return std::size_t{rank} * program_->elements + index;
}

std::size_t State::counter(std::size_t strand) const {
  return std::size_t{program_->ranks} * program_->elements + program_->lane_of(strand);
}

void State::access(std::size_t strand, std::size_t location, AccessKind kind, std::size_t event,
                   std::set<Wrong>& wrong, bool cached) {
  const Knowledge& knows = strands_[strand].knows;
  const Events reads = knows.ca | strands_[strand].loads;
  // From the latest back to the last write: what is older is before that write, or there was an
  // error.
  for (std::size_t i = accesses_.size(); i-- > 0;) {
    const auto& earlier = accesses_[i];
    if (earlier.location != location) continue;
    if (earlier.kind != kind || kind == AccessKind::write) {
      const Events& before = earlier.kind == AccessKind::read ? reads : knows.hb;
      if (!before.test(earlier.event)) wrong.insert(Wrong::race);
    }
    const bool adds = kind == AccessKind::add && earlier.kind == kind;
    if (adds && apart(strand, earlier.strand) && !knows.hb.test(earlier.event))
      wrong.insert(Wrong::domain);
    if (earlier.kind == AccessKind::write) break;
  }
  const Access made{location, kind, event, strand, cached};
  if (program_->profile == Profile::noncoherent) judge_caches(made, wrong);
  accesses_.push_back(made);
}

}  // namespace muster::fuzz
