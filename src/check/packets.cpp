// Packets: a thread's share of a tile is one message, {payload, flag}, and the flag is a cell.
//
// put_packets is an agent of its own, as put_signal: its deposit carries the payload and nothing
// else. wait_packets waits for the cell to be equal to the flag, and reads the payload.
//
// Writing a slot again is ordered after an earlier use of it as a write is after an earlier read
// before a later write: a message that its reader has read has taken effect, and if the reader then
// told somebody who told the writer, by whatever order, the next message comes later (contract 5).
#include <fmt/format.h>

#include "check/execution.hpp"

namespace muster::check::engine {

using model::Access;
using model::Span;

namespace {
constexpr std::uint64_t line_bytes = sizeof(PacketLine);
}

void Execution::make_slots(std::uint32_t segment) {
  Segment& slots = windows_[segment];
  const auto lines = static_cast<std::uint32_t>(slots.bytes / line_bytes);
  slots.flags = cells_.make(lines * options_.threads, slots.name + ", flags", 0, 0);
}

// The cell of this thread's share of the tile that begins in the first of these lines.
Signal Execution::flag_of(const Thread& self, Span lines) const {
  const auto line = static_cast<std::uint32_t>(lines.offset / line_bytes);
  return {0, windows_[lines.segment].flags + line * options_.threads + self.place()};
}

bool Execution::begin_packets(Thread& self, Span lines, Rank peer, std::uint32_t flag,
                              Where where) {
  step(self, "put_packets", where);
  if (lines.count < 0 || fibers_.unwinding()) return false;
  if (!contract(self, windows_[lines.segment].flags != ~0U,
                "packets need slots: window<PacketLine>", where) ||
      !contract(self, flag != 0, "the flag 0 is what cleared slots hold", where) ||
      !check_cell(self, flag_of(self, lines), peer, where))
    return false;
  if (options_.profile != Profile::sc) (void)clocks_.new_agent(self, peer.value, false);
  if (tracing())
    note(self, where,
         fmt::format("put_packets to lines {} of {} of rank {}, flag {}", lines.offset / line_bytes,
                     windows_[lines.segment].name, peer.value, flag));
  return true;
}

void* Execution::put_packet(Thread& self, Span element, Rank peer) {
  steps_.count_element();
  Segment& segment = windows_[element.segment];
  const bool agent = options_.profile != Profile::sc;
  const Stamp stamp = agent ? clocks_.last_agent(1) : self.stamp();
  const std::uint64_t first = element.offset / segment.grain;
  const std::uint64_t last = (element.offset + element.element + segment.grain - 1) / segment.grain;
  record_access(
      self, segment.shadows[peer.value],
      {.stamp = stamp,
       .rank = peer.value,
       .segment = element.segment,
       .first = first,
       .last = last,
       .access = Access::write},
      {self.ended, self.ended},
      [&](std::uint64_t at) { return windows_.location(element.segment, at, peer.value); },
      " by a packet");
  if (peer.value != self.rank) costs_[self.rank].bytes += element.element;
  return windows_.bytes(peer.value, element);
}

void Execution::end_packets(Thread& self, Span lines, Rank peer, std::uint32_t flag, Where where) {
  const bool agent = options_.profile != Profile::sc;
  deposit_flag(self, flag_of(self, lines), peer, flag, agent, where);
  if (transfers_at_once()) {  // it has taken effect, and its thread knows
    Clock done;
    done.raise(clocks_.last_agent(2));
    self.learn(done);
  }
}

void Execution::deposit_flag(Thread& self, Signal signal, Rank peer, std::uint32_t flag, bool agent,
                             Where where) {
  const std::uint32_t index = cells_.index(peer.value, signal.cell);
  const Bits earlier = cells_[index].known(self.ended, nullptr, {});
  deposit(self, index, flag, NotifyOp::set, Order::release, {&earlier, agent, {}}, where);
  Cost& cost = costs_[self.rank];  // packets are counted by their bytes
  --(peer.value == self.rank ? cost.own_notifies : cost.notifies);
}

WaitStatus Execution::wait_packets(Thread& self, Span lines, std::uint32_t flag, Where where) {
  if (lines.count < 0 || fibers_.unwinding()) return WaitStatus::invalid;
  if (!contract(self, windows_[lines.segment].flags != ~0U,
                "packets need slots: window<PacketLine>", where) ||
      !contract(self, flag != 0, "the flag 0 is what cleared slots hold", where))
    return WaitStatus::invalid;
  const Condition condition = {flag_of(self, lines), Compare::eq, flag};
  return read_signal(self, ReadKind::wait, &condition, 1, Rank{self.rank}, Order::acquire, where);
}

// The payload is read by the wait: it is done when that returns, unlike a load.
void* Execution::read_packet(Thread& self, Span element) {
  steps_.count_element();
  access(self, self.rank, element, Access::read, self.stamp(), " as a message");
  return windows_.bytes(self.rank, element);
}

// Each thread clears the flags of its shares. The next packets come after a barrier.
void Execution::clear_packets(Thread& self, Span lines, Where where) {
  step(self, "clear_packets", where);
  if (lines.count < 0 || fibers_.unwinding()) return;
  if (!contract(self, windows_[lines.segment].flags != ~0U,
                "packets need slots: window<PacketLine>", where))
    return;
  if (tracing())
    note(self, where,
         fmt::format("clear_packets lines {} to {} of {}", lines.offset / line_bytes,
                     lines.offset / line_bytes + static_cast<std::uint64_t>(lines.count),
                     windows_[lines.segment].name));
  for (std::int64_t line = 0; line < lines.count; ++line) {
    const Span one{lines.segment, lines.offset + static_cast<std::uint64_t>(line) * line_bytes, 1,
                   lines.element};
    deposit_flag(self, flag_of(self, one), Rank{self.rank}, 0, false, where);
  }
}

}  // namespace muster::check::engine

namespace muster::model {

bool Fabric::begin_packets(Span lines, Rank peer, std::uint32_t flag, Where where) {
  return self_->run->begin_packets(*self_, lines, peer, flag, self_->at(where));
}
void* Fabric::put_packet(Span element, Rank peer) {
  return self_->run->put_packet(*self_, element, peer);
}
void Fabric::end_packets(Span lines, Rank peer, std::uint32_t flag, Where where) {
  self_->run->end_packets(*self_, lines, peer, flag, self_->at(where));
}
WaitStatus Fabric::wait_for_packets(Span lines, std::uint32_t flag, Where where) {
  return self_->run->wait_packets(*self_, lines, flag, self_->at(where));
}
void* Fabric::read_packet(Span element) {
  return self_->run->read_packet(*self_, element);
}
void Fabric::clear_packets(Slots slots, std::int64_t at, std::int64_t lines, Where where) {
  self_->run->clear_packets(*self_, run_of(slots, at, lines, where), self_->at(where));
}

}  // namespace muster::model
