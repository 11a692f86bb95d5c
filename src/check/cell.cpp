#include "check/cell.hpp"

#include "check/mutant.hpp"

namespace muster::check::engine {

void Cell::reset() {
  live = false;
  promised_zero = false;
  count = 0;
  readings.clear();
  idle_writes.clear();
  sets.clear();
  flipped = exchanged = updated_unseen = false;
  taken_back_by.clear();
  suspicions.clear();
  readers.clear();
  consumed = 0;  // toucher stays: what is shared is known over all executions
}

Deposit& Cell::append() {
  if (count == deposits.size()) deposits.emplace_back();
  return deposits[count++];
}

// From the last one that replaced the value: those that it did not find, whenever they were issued.
std::uint32_t Cell::value_exchanged(const Bits& set) const {
  const Deposit* last = nullptr;
  set.each([&](std::uint32_t at) {
    if (deposits[at].op == NotifyOp::set) last = &deposits[at];
  });
  std::uint32_t value = last == nullptr ? 0 : last->value;
  set.each([&](std::uint32_t at) {
    const Deposit& deposit = deposits[at];
    if (deposit.op == NotifyOp::add && (last == nullptr || !last->before.has(at)))
      value += deposit.value;
  });
  return value;
}

std::uint32_t Cell::value(const Bits& set) const {
  if (exchanged && !mutant("exchange-in-order-of-issue")) return value_exchanged(set);
  std::uint32_t value = 0;
  set.each([&](std::uint32_t at) {
    const Deposit& deposit = deposits[at];
    value = deposit.op == NotifyOp::set ? deposit.value : value + deposit.value;
  });
  return value;
}

Bits Cell::contained(const Bits& set) const {
  if ((sets.empty() && !flipped) || mutant("overwritten-deposits-carry")) return set;
  Bits part;
  set.each([&](std::uint32_t at) {
    // What a fetched operation replaces goes on being carried.
    const bool hides =
        deposits[at].op == NotifyOp::set && (!deposits[at].fetched || mutant("exchange-hides"));
    if (hides || deposits[at].flips) part.clear();
    part.add(at);
  });
  return part;
}

Bits Cell::all() const {
  Bits bits;
  for (std::uint32_t at = 0; at < count; ++at) bits.add(at);
  return bits;
}

bool Cell::is_newest(const Bits& set) const {
  for (const Reading& reading : readings)
    if (!reading.set.within(set)) return false;
  return true;
}

Bits Cell::known(const Clock& clock, const Clock* issued, LaneThreads lane) const {
  Bits bits;
  // Backwards, so that what a known deposit had to see needs no look of its own.
  for (std::uint32_t at = count; at-- > 0;) {
    if (bits.has(at)) continue;
    const Deposit& deposit = deposits[at];
    const bool sent = issued != nullptr && !mutant("L-without-own") && !deposit.own_agent &&
                      lane.has(deposit.thread) && issued->has(deposit.stamp);
    if (!sent && !clock.has(deposit.stamp)) continue;
    bits.add(at);
    if (!mutant("closure-of-L")) bits.add(deposit.before);
  }
  if (mutant("L-without-reads")) return bits;
  for (const Reading& reading : readings)
    if (reading.epoch <= clock.at(reading.thread)) bits.add(reading.set);
  return bits;
}

}  // namespace muster::check::engine
