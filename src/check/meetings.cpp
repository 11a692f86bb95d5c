// Where threads meet: converge, set-up calls.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "check/execution.hpp"
#include "check/mutant.hpp"
#include "check/sites.hpp"

namespace muster::check::engine {

void Execution::converge(Thread& self, WaitStatus& status, const char* kind, Where where) {
  step(self, kind, where);
  sites_.come_to(kind, where);
  if (sites_.has(kind, where, Change::drop)) return;
  if (tracing() && options_.threads > 1) note(self, where, kind);
  self.meeting_status = status;
  self.meeting_kind = kind;
  self.meeting_value.clear();
  meet_lane(self);
  status = self.meeting_status;
}

// As a converge, within an operation that converges.
void Execution::meet_at(Thread& self, const char* kind) {
  self.meeting_status = self.status;
  self.meeting_kind = kind;
  self.meeting_value.clear();
  meet_lane(self);
  (void)self.settle(self.meeting_status);
}

void Execution::broadcast(Thread& self, void* value, std::size_t size, Where where) {
  step(self, "broadcast", where);
  self.meeting_status = WaitStatus::ok;
  self.meeting_kind = "broadcast";
  const auto* bytes = static_cast<const std::byte*>(value);
  for (std::size_t i = 0; self.leads() && i < size; ++i)
    with(self, {static_cast<std::uint64_t>(bytes[i])});
  self.meeting_value.assign(bytes, bytes + size);
  meet_lane(self);
  if (self.meeting_value.size() == size) std::memcpy(value, self.meeting_value.data(), size);
}

// The last thread of the lane, or of the part of it, to arrive joins all clocks and lets the others
// go. Who meets is fixed before anybody comes, and a thread comes to one meeting at a time: so the
// order in which they come makes no difference (docs/proof.md).
void Execution::meet_lane(Thread& self) {
  if (fibers_.unwinding()) return;
  if (mutant("part-meets-the-lane"))
    for (const Thread& thread : threads_.at(threads_.of_lane(self))) self.join(thread);
  if (self.together.count == 1) {
    // Alone, there is nobody to meet.
    if (!mutant("converge-leaves-loads")) clocks_.complete_loads(self);
    return;
  }
  const std::span<Thread> lane = threads_.at(self.together);
  Thread& first = lane.front();
  self.state = ThreadState::meeting;
  for (const Thread& thread : lane)
    if (thread.state != ThreadState::meeting || !(thread.together == self.together))
      return fibers_.block(self, ThreadState::meeting);
  WaitStatus status = WaitStatus::ok;
  for (Thread& thread : lane) {
    status = worst(status, thread.meeting_status);
    if (std::strcmp(thread.meeting_kind, first.meeting_kind) != 0 ||
        !same_place(thread.where.at, first.where.at))
      found(self, Kind::divergence,
            fmt::format("{} is at the {} at {}, {} at the {} at {}", name_of_thread(first),
                        first.meeting_kind, short_place(first.where), name_of_thread(thread),
                        thread.meeting_kind, short_place(thread.where)),
            "the threads of a lane meet at one converge", name_of_thread(first));
    clocks_.complete_loads(thread);
    if (&thread != &first) first.join(thread);
  }
  for (const std::uint32_t index : in_order(self.together.count)) {
    Thread& thread = lane[index];
    if (&thread != &first) {
      thread.hb = first.hb;
      thread.cause = first.cause;
      thread.ended = first.ended;
      thread.issued = first.issued;
      thread.pending = first.pending;
      thread.caches.back = first.caches.back;
      thread.caches.pending = first.caches.pending;
      thread.depth = first.depth;
      thread.meeting_value = first.meeting_value;
    }
    thread.meeting_status = status;
    if (mutant("converge-invalidates")) acquire_caches(thread);
    if (&thread != &self) fibers_.ready(thread);
  }
  for (Thread& thread : lane) thread.tick();
  if (self.together == threads_.of_lane(self))
    for (Thread& thread : lane) thread.part = {};  // all are out of their parts
  self.state = ThreadState::runnable;
}

std::uint32_t Execution::meet(Thread& self, const std::string& what,
                              const std::function<std::uint32_t()>& make, Where where) {
  step(self, "set-up", where);
  if (fibers_.unwinding()) return 0;
  if (!self.is_setup) contract(self, false, what + " is called inside a lane", where);
  contract(self, !tasks_.busy(self.rank), what + " is called while tasks of a graph run", where);
  const std::uint32_t number = self.setup_calls++;
  if (!setup_calls_.come(number, what, make)) {
    found(self, Kind::divergence,
          fmt::format("set-up call {}: rank {} calls {}, another rank {}", number, self.rank, what,
                      setup_calls_.what(number)),
          "every rank makes the same set-up calls in the same order",
          fmt::format("set-up call {}", number));
    fibers_.stop();
    fibers_.block(self, ThreadState::setup);
    return 0;
  }
  if (setup_calls_.arrived(number) < options_.ranks) {
    fibers_.block(self, ThreadState::setup);
    return setup_calls_.result(number);
  }
  Thread& first = threads_.setup(0);
  for (std::uint32_t rank = 0; rank < options_.ranks; ++rank) {
    const Thread& other = threads_.setup(rank);
    first.hb.join(other.hb);
    first.cause.join(other.cause);
    first.ended.join(other.ended);
    first.caches.back.join(other.caches.back);
  }
  const Clock hb = first.hb;
  const Clock cause = first.cause;
  const Clock ended = first.ended;
  const Clock back = first.caches.back;
  for (const std::uint32_t rank : in_order(options_.ranks)) {
    Thread& other = threads_.setup(rank);
    other.hb = hb;
    other.cause = cause;
    other.ended = ended;
    other.caches.back = back;
    other.tick();
    if (&other != &self) fibers_.ready(other);
  }
  return setup_calls_.result(number);
}

void Execution::free_segment(Thread& self, std::uint32_t segment, Where where) {
  if (!contract(self, windows_.has(segment) && windows_[segment].freed_at[self.rank].epoch == 0,
                "memory that is not allocated is freed", where))
    return;
  Segment& memory = windows_[segment];
  const auto grains = static_cast<std::int64_t>(memory.shadows[self.rank].size());
  access(self, self.rank, {segment, 0, grains, memory.grain}, model::Access::write, self.stamp(),
         ", which it frees");
  memory.freed_at[self.rank] = self.stamp();
  memory.freed = true;
}

void Execution::free_cells(Thread& self, std::uint32_t first, std::uint32_t count, Where where) {
  if (!contract(self, first + count <= cells_.numbers(), "signals that do not exist are freed",
                where))
    return;
  for (std::uint32_t number = first; number < first + count; ++number) {
    Cell& cell = cells_.at(self.rank, number);
    contract(self, cell.live, "signals are freed twice", where);
    const Bits known = cell.known(self.hb, nullptr, {});
    if (!(known == cell.all()))
      found(self, Kind::race,
            fmt::format("{} frees {} with a deposit in flight", name_of_thread(self),
                        name_of_cell(cell)),
            "freeing: flush, then a barrier of the team", name_of_cell(cell));
    cell.live = false;
  }
}

void Execution::promise_zero(Thread& self, std::uint32_t first, std::uint32_t count) {
  has_substance_ = true;
  for (std::uint32_t number = first; number < first + count && number < cells_.numbers(); ++number)
    cells_.at(self.rank, number).promised_zero = true;
}

void Execution::abort(Thread& self, std::string_view reason, Where where) {
  step(self, "abort", where);
  if (tracing()) note(self, where, fmt::format("abort: {}", reason));
  aborted_ = true;
  for (Thread& thread : threads_)
    if (thread.state == ThreadState::reading && thread.read.kind != ReadKind::atomic) {
      thread.read.status = WaitStatus::aborted;
      fibers_.ready(thread);
    }
}

}  // namespace muster::check::engine
