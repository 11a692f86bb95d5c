// Slots whose data is its own flag: a thread's share of a tile is one message, and whether it has
// come is a cell, which put_sentinel sets to 1 and clear_sentinel to 0.
//
// put_sentinel is an agent of its own, as a packet: who takes its deposit has the payload. Besides
// it carries, as a relaxed notify does, what had been done before its kernel began, which who takes
// it acquires at its next kernel's start (Deposit::behind, Thread::pending).
//
// Clearing is a write, of the cell and of the elements: unlike a read it must have been MADE when
// the peer writes the slot again, not only be over. So what the next message is ordered after is
// asked of happens-before, where packets ask whether reads have ended.
#include <fmt/format.h>

#include "check/execution.hpp"
#include "check/mutant.hpp"

namespace muster::check::engine {

using model::Access;
using model::Span;

namespace {
constexpr const char* need_slots = "sentinels need slots: window<SentinelLine>";
}

bool Execution::begin_sentinel(Thread& self, Span lines, Rank peer, Where where) {
  step(self, "put_sentinel", where);
  if (lines.count < 0 || fibers_.unwinding()) return false;
  if (!contract(self, windows_[lines.segment].flags != ~0U, need_slots, where) ||
      !check_cell(self, flag_of(self, lines), peer, where))
    return false;
  if (options_.profile != Profile::sc) (void)clocks_.new_agent(self, peer.value, false);
  if (tracing())
    note(self, where,
         fmt::format("put_sentinel to {} of rank {}", windows_.location(lines, peer.value),
                     peer.value));
  return true;
}

void Execution::check_sentinel(Thread& self, bool is_one, Where where) {
  if (!is_one || mutant("sentinel-may-be-sent")) return;
  contract(self, false,
           "an element that is sent is the sentinel, which says that nothing has come: "
           "replace_sentinel(tile) before it",
           where);
}

void* Execution::put_element(Thread& self, Span element, Rank peer) {
  steps_.count_element();
  const bool agent = options_.profile != Profile::sc;
  const Stamp stamp = agent ? clocks_.last_agent(1) : self.stamp();
  write_element(self, element, peer.value, stamp, " by put_sentinel");
  if (peer.value != self.rank) costs_[self.rank].bytes += element.element;
  return windows_.bytes(peer.value, element);
}

void Execution::write_element(Thread& self, Span element, std::uint32_t rank, Stamp stamp,
                              const char* how) {
  Segment& segment = windows_[element.segment];
  const std::uint64_t first = element.offset / segment.grain;
  const std::uint64_t last = (element.offset + element.element + segment.grain - 1) / segment.grain;
  record_access(
      self, segment.shadows[rank],
      {.stamp = stamp,
       .rank = rank,
       .segment = element.segment,
       .first = first,
       .last = last,
       .access = Access::write},
      {mutant("clearing-need-only-be-over") ? self.ended : self.hb, self.ended},
      [&](std::uint64_t at) { return windows_.location(element.segment, at, rank); }, how);
}

void Execution::end_sentinel(Thread& self, Span lines, Rank peer, Where where) {
  const bool agent = options_.profile != Profile::sc;
  Cost& cost = costs_[self.rank];  // counted by their bytes
  --(peer.value == self.rank ? cost.own_notifies : cost.notifies);
  const std::uint32_t index = cells_.index(peer.value, flag_of(self, lines).cell);
  Maker maker;
  maker.agent = agent;
  if (agent) maker.behind = mutant("sentinel-carries-its-kernel") ? &self.hb : &self.fence;
  const Bits over = cells_[index].known(self.ended, nullptr, {});
  if (mutant("clearing-need-only-be-over")) maker.found = &over;
  deposit(self, index, 1, NotifyOp::set, agent ? Order::relaxed : Order::release, maker, where);
  if (options_.profile == Profile::direct) {  // it has taken effect, and its thread knows
    Clock done;
    done.raise(clocks_.last_agent(2));
    self.learn(done);
  }
}

WaitStatus Execution::wait_sentinel(Thread& self, Span lines, Where where) {
  if (lines.count < 0 || fibers_.unwinding()) return WaitStatus::invalid;
  if (!contract(self, windows_[lines.segment].flags != ~0U, need_slots, where))
    return WaitStatus::invalid;
  const Condition condition = {flag_of(self, lines), Compare::eq, 1};
  return read_signal(self, ReadKind::wait, &condition, 1, Rank{self.rank}, Order::acquire, where);
}

bool Execution::begin_clearing(Thread& self, Span lines, Where where) {
  step(self, "clear_sentinel", where);
  if (lines.count < 0 || fibers_.unwinding()) return false;
  if (!contract(self, windows_[lines.segment].flags != ~0U, need_slots, where)) return false;
  if (tracing())
    note(self, where, fmt::format("clear_sentinel {}", windows_.location(lines, self.rank)));
  return true;
}

void Execution::clear_element(Thread& self, Span element) {
  steps_.count_element();
  write_element(self, element, self.rank, self.stamp(), " by clear_sentinel");
}

void Execution::end_clearing(Thread& self, Span lines, Where where) {
  --costs_[self.rank].own_notifies;
  deposit(self, cells_.index(self.rank, flag_of(self, lines).cell), 0, NotifyOp::set,
          options_.profile == Profile::sc ? Order::release : Order::relaxed, {}, where);
}

}  // namespace muster::check::engine

namespace muster::model {

bool Fabric::begin_sentinel(Span lines, Rank peer, Where where) {
  return self_->run->begin_sentinel(*self_, lines, peer, self_->at(where));
}
void Fabric::check_sentinel(bool is_one, Where where) {
  self_->run->check_sentinel(*self_, is_one, self_->at(where));
}
void* Fabric::put_element(Span element, Rank peer) {
  return self_->run->put_element(*self_, element, peer);
}
void Fabric::end_sentinel(Span lines, Rank peer, Where where) {
  self_->run->end_sentinel(*self_, lines, peer, self_->at(where));
}
WaitStatus Fabric::wait_for_sentinel(Span lines, Where where) {
  return self_->run->wait_sentinel(*self_, lines, self_->at(where));
}
bool Fabric::begin_clearing(Span lines, Where where) {
  return self_->run->begin_clearing(*self_, lines, self_->at(where));
}
void Fabric::clear_element(Span element) {
  self_->run->clear_element(*self_, element);
}
void Fabric::end_clearing(Span lines, Where where) {
  self_->run->end_clearing(*self_, lines, self_->at(where));
}

}  // namespace muster::model
