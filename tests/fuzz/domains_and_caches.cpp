// The reference: atomicity domains, and the caches of the profile noncoherent.
#include <algorithm>

#include "semantics.hpp"

namespace muster::fuzz {

std::size_t State::strand_of(std::size_t operation) const {
  std::size_t strand = first_.size() - 1;
  while (first_[strand] > operation) --strand;
  return strand;
}

bool State::apart(std::size_t strand, std::size_t other) const {
  const auto& domains = program_->domains;
  return !domains.empty() &&
         domains[program_->rank_of(strand)] != domains[program_->rank_of(other)];
}

void State::judge_domains(const Cell& cell, const Deposit& made, std::set<Wrong>& wrong) const {
  const auto modifies = [](const Deposit& d) { return !d.set || d.fetched; };
  if (!modifies(made)) return;
  for (const Deposit& other : cell.deposits) {
    if (modifies(other) && !made.must.test(effect(other.operation)) &&
        apart(made.strand, other.strand))
      wrong.insert(Wrong::domain);
  }
  for (const std::size_t idle : cell.idle) {
    if (!strands_[made.strand].knows.hb.test(effect(idle)) && apart(made.strand, strand_of(idle)))
      wrong.insert(Wrong::domain);
  }
}

// A release: all that the thread has written so far.
void State::write_back(std::size_t strand) {
  Strand& self = strands_[strand];
  for (std::size_t i = 0; i < self.next; ++i) self.knows.wb.set(issue(first_[strand] + i));
}

bool State::in_one_line(std::size_t location, std::size_t other) const {
  const std::size_t elements = std::size_t{program_->ranks} * program_->elements;
  if (location == other) return true;
  if (location >= elements || other >= elements || program_->apart > 1) return false;
  return location / program_->elements == other / program_->elements;
}

void State::judge_caches(const Access& made, std::set<Wrong>& wrong) const {
  const Strand& self = strands_[made.strand];
  std::set<std::size_t> seen;  // locations whose last write has been judged
  for (std::size_t i = accesses_.size(); i-- > 0;) {
    const Access& earlier = accesses_[i];
    const bool beside = earlier.location != made.location;
    if (earlier.kind == AccessKind::read || seen.contains(earlier.location)) continue;
    if (made.kind == AccessKind::read ? beside : !in_one_line(made.location, earlier.location))
      continue;
    if (earlier.kind == AccessKind::write) seen.insert(earlier.location);
    if (earlier.strand == made.strand) continue;
    if (!beside && !self.knows.hb.test(earlier.event)) continue;  // a race
    const bool back = !earlier.cached || self.knows.wb.test(earlier.event);
    const bool fresh =
        self.valid.hb.test(earlier.event) && (!earlier.cached || self.valid.wb.test(earlier.event));
    if (!back || (made.cached && !fresh)) wrong.insert(Wrong::noncoherent);
  }
}

void State::judge_update(std::size_t strand, const Cell& cell, const Events& must,
                         std::set<Wrong>& wrong) const {
  if (program_->profile != Profile::noncoherent || op(strand).peer != program_->rank_of(strand))
    return;
  const Knowledge& valid = strands_[strand].valid;
  const Events fresh = closure(cell, (valid.hb | valid.seen) & all(cell));
  for (const Deposit& d : cell.deposits) {
    if (d.operation == operation(strand) || d.strand == strand) continue;
    if (must.test(effect(d.operation)) && !fresh.test(effect(d.operation)))
      wrong.insert(Wrong::noncoherent);
  }
}

}  // namespace muster::fuzz
