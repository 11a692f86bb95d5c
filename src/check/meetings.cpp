// Where threads meet: converge, launches, set-up calls.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "check/execution.hpp"
#include "check/mutant.hpp"
#include "check/sites.hpp"

namespace muster::check::engine {

namespace {
void join_all(Thread& into, const Thread& from) {
  into.hb.join(from.hb);
  into.cause.join(from.cause);
  into.ended.join(from.ended);
  into.issued.join(from.issued);
  into.pending.join(from.pending);
  into.depth = std::max(into.depth, from.depth);
}
}  // namespace

void Execution::converge(Thread& self, WaitStatus& status, const char* kind, Where where) {
  step(self, kind, where);
  if (changed(kind, where, Change::drop)) return;
  self.meeting_status = status;
  self.meeting_kind = kind;
  self.meeting_value.clear();
  meet_lane(self);
  status = self.meeting_status;
}

// As a converge, within an operation that converges.
void Execution::meet_at(Thread& self, const char* kind) {
  self.meeting_status = WaitStatus::ok;
  self.meeting_kind = kind;
  self.meeting_value.clear();
  meet_lane(self);
}

void Execution::broadcast(Thread& self, void* value, std::size_t size, Where where) {
  step(self, "broadcast", where);
  self.meeting_status = WaitStatus::ok;
  self.meeting_kind = "broadcast";
  const auto* bytes = static_cast<const std::byte*>(value);
  for (std::size_t i = 0; self.index == 0 && i < size; ++i)
    with(self, {static_cast<std::uint64_t>(bytes[i])});
  self.meeting_value.assign(bytes, bytes + size);
  meet_lane(self);
  if (self.meeting_value.size() == size) std::memcpy(value, self.meeting_value.data(), size);
}

// The last thread of the lane to arrive joins the clocks of all and lets them go.
void Execution::meet_lane(Thread& self) {
  if (unwinding_) return;
  Thread* const lane = &threads_[self.rank * per_rank_ + 1 + self.lane * options_.threads];
  if (options_.threads == 1) {
    // Alone, there is nobody to meet.
    if (!mutant("converge-leaves-loads")) complete_loads(self);
    return;
  }
  self.state = ThreadState::meeting;
  Thread* const end = lane + options_.threads;
  for (Thread* thread = lane; thread != end; ++thread)
    if (thread->state != ThreadState::meeting) return block(self, ThreadState::meeting);
  WaitStatus status = WaitStatus::ok;
  for (Thread* thread = lane; thread != end; ++thread) {
    status = worst(status, thread->meeting_status);
    if (std::strcmp(thread->meeting_kind, lane->meeting_kind) != 0 ||
        !same_place(thread->where.at, lane->where.at))
      found(self, Kind::divergence,
            fmt::format("{} is at the {} at {}, {} at the {} at {}", name_of_thread(*lane),
                        lane->meeting_kind, short_place(lane->where), name_of_thread(*thread),
                        thread->meeting_kind, short_place(thread->where)),
            "the threads of a lane meet at one converge", name_of_thread(*lane));
    complete_loads(*thread);
    if (thread != lane) join_all(*lane, *thread);
  }
  for (const std::uint32_t index : in_order(options_.threads)) {
    Thread* const thread = lane + index;
    if (thread != lane) {
      thread->hb = lane->hb;
      thread->cause = lane->cause;
      thread->ended = lane->ended;
      thread->issued = lane->issued;
      thread->pending = lane->pending;
      thread->depth = lane->depth;
      thread->meeting_value = lane->meeting_value;
    }
    thread->meeting_status = status;
    if (thread != &self) ready(*thread);
  }
  for (Thread* thread = lane; thread != end; ++thread) thread->tick();
  self.state = ThreadState::runnable;
}

Result<void> Execution::launch(Thread& self, std::uint32_t count,
                               const std::function<Result<void>(model::Fabric&)>& body,
                               Where where) {
  step(self, "lanes", where);
  if (!contract(self, self.is_setup, "lanes cannot be run from inside a lane", where) ||
      !contract(self, count >= 1 && count <= options_.lanes,
                fmt::format("{} lanes asked for, 1 to {} can run", count, options_.lanes), where))
    return Error{ErrorCode::invalid_argument, "this many lanes cannot run"};
  ++self.launches;
  launches_[self.rank].push_back({count, where});
  self.hb.join(self.pending);  // the start of a kernel acquires
  self.cause.join(self.pending);
  self.ended.join(self.pending);
  self.lane_results.assign(static_cast<std::size_t>(count) * options_.threads, Result<void>{});
  self.lanes_left = count * options_.threads;
  for (const std::uint32_t i : in_order(count * options_.threads)) {
    Thread& thread = threads_[self.id + 1 + i];
    join_all(thread, self);
    thread.fence = thread.hb;  // ... and what came before it has been released
    thread.tick();
    thread.lanes = count;
    thread.call = {};
    thread.called = {};
    groups_.merge(thread.id, thread.id - thread.index);
    start(thread, [this, &self, &body, i](Thread& lane_thread) {
      model::Fabric fabric(lane_thread);
      self.lane_results[i] = body(fabric);
      finish_lane(lane_thread);
    });
  }
  self.tick();
  block(self, ThreadState::launching);
  Result<void> result;
  for (std::uint32_t i = 0; i < count * options_.threads; ++i) {
    complete_loads(threads_[self.id + 1 + i]);
    join_all(self, threads_[self.id + 1 + i]);
    if (result && !self.lane_results[i]) result = self.lane_results[i];
  }
  // The end of a launch releases and flushes, for all lanes (contract 10).
  if (!mutant("launch-without-flush")) finish_transfers_of(self, &self, &self + per_rank_);
  self.tick();
  if (aborted_ && result) return Error{ErrorCode::aborted, "the team was aborted"};
  return result;
}

void Execution::finish_lane(Thread& thread) {
  Thread& setup = threads_[thread.rank * per_rank_];
  if (--setup.lanes_left == 0) ready(setup);
}

std::uint32_t Execution::meet(Thread& self, const std::string& what,
                              const std::function<std::uint32_t()>& make, Where where) {
  step(self, "set-up", where);
  if (unwinding_) return 0;
  if (!self.is_setup) contract(self, false, what + " is called inside a lane", where);
  const std::uint32_t number = self.setup_calls++;
  if (number == setup_calls_.size()) setup_calls_.push_back({what, make ? make() : 0, 0, where});
  if (setup_calls_[number].what != what) {
    found(self, Kind::divergence,
          fmt::format("set-up call {}: rank {} calls {}, another rank {}", number, self.rank, what,
                      setup_calls_[number].what),
          "every rank makes the same set-up calls in the same order",
          fmt::format("set-up call {}", number));
    stop_ = true;
    block(self, ThreadState::setup);
  }
  if (++setup_calls_[number].arrived < options_.ranks) {
    block(self, ThreadState::setup);
    return setup_calls_[number].first;
  }
  Thread& first = threads_[0];
  for (std::uint32_t rank = 0; rank < options_.ranks; ++rank) {
    const Thread& other = threads_[rank * per_rank_];
    first.hb.join(other.hb);
    first.cause.join(other.cause);
    first.ended.join(other.ended);
  }
  const Clock hb = first.hb;
  const Clock cause = first.cause;
  const Clock ended = first.ended;
  for (const std::uint32_t rank : in_order(options_.ranks)) {
    Thread& other = threads_[rank * per_rank_];
    other.hb = hb;
    other.cause = cause;
    other.ended = ended;
    other.tick();
    if (&other != &self) ready(other);
  }
  return setup_calls_[number].first;
}

std::uint32_t Execution::new_segment(std::uint64_t bytes, std::uint32_t element,
                                     const std::string& name) {
  if (segment_count_ == segments_.size()) segments_.emplace_back();
  Segment& segment = segments_[segment_count_];
  segment.name = name.empty() ? fmt::format("window {}", segment_count_) : name;
  segment.make(options_.ranks, bytes, element);
  segment.flags = ~0U;
  return segment_count_++;
}

bool Execution::has_window(const std::string& name) const {
  for (std::uint32_t i = 0; i < segment_count_; ++i)
    if (segments_[i].name == name && !segments_[i].freed) return true;
  return false;
}

std::uint64_t Execution::segment_bytes(std::uint32_t segment) const {
  return segment < segment_count_ ? segments_[segment].bytes : 0;
}

std::uint32_t Execution::new_cells(std::uint32_t count, const std::string& name,
                                   std::uint32_t ranks) {
  const std::uint32_t first = cell_numbers_;
  std::uint32_t of_kind = 0;
  for (const Block& block : blocks_) of_kind += (block.ranks == 0) == (ranks == 0) ? 1 : 0;
  // The counters of rows have been made just before.
  const std::uint32_t counters =
      ranks == 0 ? 0 : counter_numbers_ - count / ranks * Rows::counters_of_lane;
  blocks_.push_back({first, count, ranks, counters, fmt::format("{} {}", name, of_kind)});
  cell_numbers_ += count;
  if (cells_.size() < static_cast<std::size_t>(cell_numbers_) * options_.ranks)
    cells_.resize(static_cast<std::size_t>(cell_numbers_) * options_.ranks);
  for (std::uint32_t number = first; number < cell_numbers_; ++number)
    for (std::uint32_t rank = 0; rank < options_.ranks; ++rank) {
      Cell& cell = cells_[cell_index(rank, number)];
      cell.rank = rank;
      cell.number = number;
      cell.live = true;
    }
  return first;
}

std::uint32_t Execution::new_counters(std::uint32_t count) {
  const std::uint32_t first = counter_numbers_;
  counter_numbers_ += count;
  const std::size_t all = static_cast<std::size_t>(counter_numbers_) * options_.ranks;
  counters_.resize(all);
  counter_shadows_.resize(all);
  for (std::size_t at = static_cast<std::size_t>(first) * options_.ranks; at < all; ++at) {
    counters_[at] = 0;
    counter_shadows_[at] = {};
  }
  return first;
}

std::uint32_t Execution::counters_of(std::uint32_t first_cell) const {
  for (const Block& block : blocks_)
    if (block.first == first_cell) return block.counters;
  return 0;
}

void Execution::free_segment(Thread& self, std::uint32_t segment, Where where) {
  if (!contract(self, segment < segment_count_ && segments_[segment].freed_at[self.rank].epoch == 0,
                "memory that is not allocated is freed", where))
    return;
  Segment& memory = segments_[segment];
  const auto grains = static_cast<std::int64_t>(memory.shadows[self.rank].size());
  access(self, self.rank, {segment, 0, grains, memory.grain}, model::Access::write, self.stamp(),
         ", which it frees");
  memory.freed_at[self.rank] = self.stamp();
  memory.freed = true;
}

void Execution::free_cells(Thread& self, std::uint32_t first, std::uint32_t count, Where where) {
  if (!contract(self, first + count <= cell_numbers_, "signals that do not exist are freed", where))
    return;
  for (std::uint32_t number = first; number < first + count; ++number) {
    Cell& cell = cells_[cell_index(self.rank, number)];
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
  for (std::uint32_t number = first; number < first + count && number < cell_numbers_; ++number)
    cells_[cell_index(self.rank, number)].promised_zero = true;
}

void Execution::abort(Thread& self, std::string_view reason, Where where) {
  step(self, "abort", where);
  if (tracing_) note(self, where, fmt::format("abort: {}", reason));
  aborted_ = true;
  for (Thread& thread : threads_)
    if (thread.state == ThreadState::reading) {
      thread.read.status = WaitStatus::aborted;
      ready(thread);
    }
}

}  // namespace muster::check::engine
