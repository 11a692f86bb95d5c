#include "check/cell.hpp"

#include "check/mutant.hpp"

namespace muster::check::engine {

void Cell::reset() {
  live = false;
  promised_zero = false;
  count = 0;
  readings.clear();
  sets.clear();
  flipped = false;
  taken_back_by.clear();
  suspicions.clear();
  readers.clear();
  consumed = 0;  // toucher stays: what is shared is known over all executions
}

Deposit& Cell::append() {
  if (count == deposits.size()) deposits.emplace_back();
  return deposits[count++];
}

std::uint32_t Cell::value(const Bits& set) const {
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
    if (deposits[at].op == NotifyOp::set || deposits[at].flips) part.clear();
    part.add(at);
  });
  return part;
}

Bits Cell::all() const {
  Bits bits;
  for (std::uint32_t at = 0; at < count; ++at) bits.add(at);
  return bits;
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
