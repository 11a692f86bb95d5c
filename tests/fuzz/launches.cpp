// Kernels that overlap, and slots whose data is its own flag, in the reference.
#include "semantics.hpp"

namespace muster::fuzz {

// ---- kernels: the strands of the next one begin once every lane of the one before has called
// launch_done, or has ended

std::size_t State::first_of(std::uint32_t kernel, std::uint32_t rank) const {
  return (std::size_t{kernel} * program_->ranks + rank) * program_->lanes * program_->threads;
}

bool State::has_ended(std::uint32_t kernel, std::uint32_t rank) const {
  const std::size_t first = first_of(kernel, rank);
  for (std::size_t s = first; s < first + std::size_t{program_->lanes} * program_->threads; ++s)
    if (!finished(s) || !strands_[s].begun) return false;
  return true;
}

bool State::may_begin(std::uint32_t kernel, std::uint32_t rank) const {
  const std::size_t first = first_of(kernel - 1, rank);
  for (std::uint32_t lane = 0; lane < program_->lanes; ++lane) {
    bool told = false;
    bool ended = true;
    for (std::uint32_t t = 0; t < program_->threads; ++t) {
      const std::size_t s = first + std::size_t{lane} * program_->threads + t;
      if (!strands_[s].begun) return false;
      told = told || strands_[s].told.has_value();
      ended = ended && finished(s);
    }
    if (!told && !ended) return false;
  }
  return kernel < 2 || has_ended(kernel - 2, rank);
}

// What the kernel's end has acquired, released and flushed.
Knowledge State::end_of(std::uint32_t kernel, std::uint32_t rank) const {
  Knowledge all;
  const std::size_t first = first_of(kernel, rank);
  const std::size_t last = first + std::size_t{program_->lanes} * program_->threads;
  for (std::size_t s = first; s < last; ++s) {
    const Strand& strand = strands_[s];
    all.join(strand.knows);
    all.ca |= strand.loads | strand.looked;
    all.join_effects(strand.unacquired);
    for (std::size_t g = first_[s]; g < first_[s] + strand.next; ++g)
      if (strand.issued.test(issue(g))) all.hb.set(effect(g)), all.hb.set(payload(g));
  }
  all.ca |= all.hb;
  return all;
}

// It knows the end of the last kernel but one, and comes after what was done before it was let go.
void State::begin(std::uint32_t kernel, std::uint32_t rank) {
  const std::size_t per_kernel = std::size_t{program_->lanes} * program_->threads;
  const std::size_t before = first_of(kernel - 1, rank);
  Knowledge known;
  if (kernel > 1) known = end_of(kernel - 2, rank);
  Events told;
  for (std::size_t s = before; s < before + per_kernel; ++s) {
    if (strands_[s].told) told |= *strands_[s].told;
    if (finished(s)) told |= strands_[s].knows.ca;
  }
  const std::size_t first = first_of(kernel, rank);
  for (std::size_t s = first; s < first + per_kernel; ++s) {
    strands_[s].begun = true;
    strands_[s].knows = strands_[s].fence = known;
    strands_[s].knows.ca |= told;
  }
}

void State::begin_kernels() {
  for (std::uint32_t kernel = 1; kernel < program_->kernels; ++kernel)
    for (std::uint32_t rank = 0; rank < program_->ranks; ++rank)
      if (!strands_[first_of(kernel, rank)].begun && may_begin(kernel, rank)) begin(kernel, rank);
}

void State::launch_wait(std::size_t strand) {
  const std::uint32_t kernel = program_->kernel_of(strand);
  if (kernel == 0) return;
  const Knowledge end = end_of(kernel - 1, program_->rank_of(strand));
  strands_[strand].knows.join(end);
  strands_[strand].fence.join(end);
}

// ---- slots: a message is a deposit of 1 that carries itself, clearing one of 0

std::size_t State::slot(std::uint32_t rank, std::uint32_t index) const {
  return std::size_t{program_->ranks} * (program_->elements + program_->lanes) +
         std::size_t{rank} * program_->slots + index;
}

void State::put_sentinel(std::size_t strand, std::set<Wrong>& wrong) {
  const Op& o = op(strand);
  const std::size_t g = operation(strand);
  const Knowledge& knows = strands_[strand].knows;
  const std::size_t event = sequential() ? issue(g) : payload(g);
  access(strand, slot(o.peer, o.to), AccessKind::write, event, wrong);
  memory_[slot(o.peer, o.to)] = o.value;
  Deposit d{.operation = g, .strand = strand, .plain = false, .set = true, .value = 1};
  d.release = sequential();
  const std::size_t index = cell_of(strand);
  d.must = must_see(strand, cells_[index]);
  if (sequential()) d.carried = knows, d.carried.hb.set(issue(g));
  d.carried.hb.set(effect(g)), d.carried.hb.set(payload(g));
  d.carried.ca = knows.ca | d.carried.hb;
  d.carried.ca.set(issue(g));
  if (!sequential()) d.behind = strands_[strand].fence;
  deposit(index, d, wrong);
}

// What it reads of the slot is part of the wait.
void State::wait_sentinel(std::size_t strand, const Events& set, std::set<Wrong>& wrong) {
  Strand& self = strands_[strand];
  Cell& cell = cells_[cell_of(strand)];
  const Events parts = contained(cell, set);
  for (const Deposit& d : cell.deposits) {
    if (!parts.test(effect(d.operation))) continue;
    self.knows.ca |= d.carried.ca;
    self.knows.join_effects(d.carried);
    self.unacquired.join_effects(d.behind);
  }
  self.knows.seen |= set;
  self.history.push_back(set);
  cell.read.push_back(set);
  cell.readers.insert(strand);
  const std::size_t place = slot(program_->rank_of(strand), op(strand).to);
  access(strand, place, AccessKind::read, issue(operation(strand)), wrong);
  self.log.push_back(memory_[place]);
}

void State::clear_sentinel(std::size_t strand, std::set<Wrong>& wrong) {
  const std::size_t g = operation(strand);
  Strand& self = strands_[strand];
  const std::size_t place = slot(program_->rank_of(strand), op(strand).to);
  access(strand, place, AccessKind::write, issue(g), wrong);
  memory_[place] = 0;
  Deposit d{.operation = g, .strand = strand, .set = true, .value = 0};
  d.release = sequential();
  const std::size_t index = cell_of(strand);
  d.must = must_follow(strand, cells_[index]);
  tell(self, d, {});
  deposit(index, d, wrong);
  self.knows.hb.set(effect(g));
}

}  // namespace muster::fuzz
