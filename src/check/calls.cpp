// What the checks themselves tell the model: uses of barriers, assertions, changes to try.
#include <fmt/format.h>

#include <cstring>
#include <tuple>

#include "check/execution.hpp"
#include "check/mutant.hpp"
#include "check/sites.hpp"

namespace muster::check::engine {

namespace {
std::uint64_t entry_key(std::uint32_t barrier, std::uint32_t call) {
  return (std::uint64_t{barrier} << 32U) | call;
}
bool same(const CallSignature& a, const CallSignature& b) {
  const auto others = [](const CallSignature& call) {
    const TransferShape& m = call.shape;
    return std::tuple(m.rows, m.cols, m.chunk_rows, m.chunk_cols, m.element, call.lanes);
  };
  return std::strcmp(a.name, b.name) == 0 && a.detail[0] == b.detail[0] &&
         a.detail[1] == b.detail[1] && others(a) == others(b);
}

std::string text_of(const CallSignature& call) {
  std::string text = call.name;
  if (call.lanes != 0) text += fmt::format(" of {} lanes", call.lanes);
  if (call.detail[0] != CallSignature::no_cell) text += fmt::format(" (cell {})", call.detail[0]);
  if (call.shape.rows != 0)
    text += fmt::format(" of {} x {} elements of {} bytes", call.shape.rows, call.shape.cols,
                        call.shape.element & 0xffffffffU);
  return text;
}
}  // namespace

// As the host does in a verifying run: the calls of one number on one lane are alike on all ranks.
void Execution::describe(Thread& self, const CallSignature& call) {
  if (self.index != 0 || unwinding_ || mutant("calls-not-compared")) return;
  const std::uint32_t number = self.described++;
  const std::uint64_t key = (std::uint64_t{self.lane} << 32U) | number;
  const Described& first =
      described_.try_emplace(key, Described{self.rank, call, self.called}).first->second;
  if (same(first.call, call)) return;
  found(self, Kind::divergence,
        fmt::format("rank {} calls {} ({}), rank {} {} ({}), each as call {} on lane {}",
                    first.rank, text_of(first.call), short_place(first.where), self.rank,
                    text_of(call), short_place(self.called), number, self.lane),
        "every rank makes the same calls in the same order on each lane",
        fmt::format("call {} on lane {}", number, self.lane));
  stop_ = true;
}

void Execution::enter_call(Thread& self, std::uint32_t barrier, model::BarrierScope scope,
                           Where where) {
  step(self, "enter", where);
  has_substance_ = true;
  self.call = {true, barrier, self.lane, self.calls_made[barrier]++, scope};
  entries_[entry_key(barrier, self.call.call)].push_back({self.rank, self.lane, self.stamp()});
  if (scope != model::BarrierScope::lane) groups_.merge_all();
  if (tracing_) note(self, where, fmt::format("enters call {} of the barrier", self.call.call));
}

// Every thread of each lane that meets here must have entered in the causal past.
void Execution::leave_call(Thread& self, std::uint32_t barrier, WaitStatus status, Where where) {
  step(self, "leave", where);
  const CallTag call = self.call;
  self.call = {};
  if (tracing_) note(self, where, fmt::format("leaves call {} of the barrier", call.call));
  if (status != WaitStatus::ok || unwinding_) return;
  std::vector<std::uint32_t> heard(static_cast<std::size_t>(options_.ranks) * self.lanes, 0);
  for (const Entry& entry : entries_[entry_key(barrier, call.call)])
    if (self.cause.has(entry.stamp) && entry.lane < self.lanes)
      ++heard[entry.rank * self.lanes + entry.lane];
  for (std::uint32_t i = 0; i < heard.size(); ++i) {
    const std::uint32_t rank = i / self.lanes;
    const std::uint32_t lane = i % self.lanes;
    if (call.scope == model::BarrierScope::lane && lane != self.lane) continue;
    if (call.scope == model::BarrierScope::rank && rank != self.rank) continue;
    if (heard[i] >= options_.threads || mutant("stale-pass-unseen")) continue;
    found(self, Kind::stale_pass,
          fmt::format("{} leaves call {} of the barrier ({}) without having heard that rank {}{} "
                      "has entered it",
                      name_of_thread(self), call.call, short_place(where), rank,
                      self.lanes > 1 ? fmt::format(" lane {}", lane) : ""),
          fmt::format("nothing that rank {} gave after its entry leads to this exit; what was "
                      "taken instead is left over from another call, or from another rank",
                      rank),
          fmt::format("call {} of barrier {}, lane {}", call.call, barrier, self.lane));
  }
}

// Outcomes are wanted for every combination, so nothing is searched on its own any more.
void Execution::record_outcome(Thread& self, std::uint64_t value) {
  if (unwinding_) return;
  groups_.merge_all();
  self.outcomes.push_back(value);
}

void Execution::expect(Thread& self, bool holds, std::string_view what, Where where) {
  self.where = where;
  did(self, "expect", where);
  has_substance_ = true;
  with(self, {static_cast<std::uint64_t>(holds)});
  if (holds) return;
  found(self, Kind::expect, fmt::format("{}: does not hold on {}", what, name_of_thread(self)), "",
        std::string(what));
}

bool Execution::contract(Thread& self, bool holds, std::string_view what, Where where) {
  if (holds) return true;
  self.where = where;
  found(self, Kind::contract, fmt::format("{}: {}", name_of_thread(self), what), "",
        std::string(what));
  return false;
}

void Execution::note(Thread& self, Where where, std::string what) {
  if (unwinding_) return;
  trace_.push_back({self.id, self.epoch(), std::move(what), where});
}

Order Execution::changed_order(const char* operation, Order order, Where where) {
  if (keeping_sites_) {
    Site site = site_of(operation, where);
    Site& kept = sites_.try_emplace(site.key(), std::move(site)).first->second;
    if (kept.order == Order::relaxed) kept.order = order;
  }
  if (options_.profile == Profile::sc) return Order::acq_rel;
  if (options_.changes.empty()) return order;
  if (changed(operation, where, Change::relax)) return Order::relaxed;
  if (changed(operation, where, Change::release))
    return order == Order::acquire ? Order::acq_rel : Order::release;
  if (changed(operation, where, Change::acquire))
    return order == Order::release ? Order::acq_rel : Order::acquire;
  return order;
}

bool Execution::changed(const char* operation, Where where, Change change) {
  if (keeping_sites_ && change == Change::drop) {
    const Site site = site_of(operation, where);
    sites_.emplace(site.key(), site);
  }
  if (options_.changes.empty()) return false;
  const auto at = options_.changes.find(site_of(operation, where).key());
  return at != options_.changes.end() && at->second == change;
}

void Execution::change_before(Thread& self, const char* operation, Where where) {
  if (keeping_sites_) {
    const Site site = site_of(operation, where);
    sites_.emplace(site.key(), site);
  }
  if (options_.changes.empty()) return;
  if (changed(operation, where, Change::flush_before)) finish_transfers(self);
  if (changed(operation, where, Change::converge_before)) meet_by_force(self);
}

void Execution::change_after(Thread& self, const char* operation, Where where) {
  if (!options_.changes.empty() && changed(operation, where, Change::converge_after)) {
    self.behind = true;
    meet_behind(self);
  }
}

// The place of the one converge that is tried behind a wait; line 0: there is none.
void Execution::find_converge_after() {
  for (const auto& [key, change] : options_.changes) {
    if (change != Change::converge_after || options_.threads == 1) continue;
    const auto colon = key.find(':');
    converge_file_ = key.substr(0, colon);
    converge_line_ = static_cast<std::uint32_t>(std::stoul(key.substr(colon + 1)));
  }
}

// The siblings need not make the wait: they meet it as they come to what is written behind it.
void Execution::come_behind(Thread& self) {
  if (self.is_setup || unwinding_ || !is_in(self.where, converge_file_)) return;
  if (self.where.at.line() <= converge_line_) {
    self.behind = false;
  } else if (!self.behind) {
    self.behind = true;
    meet_behind(self);
  }
}

void Execution::meet_behind(Thread& self) {
  const Where there = self.where;
  self.where = std::source_location::current();  // the same for all
  self.meeting_status = WaitStatus::ok;
  self.meeting_kind = "converge";
  self.meeting_value.clear();
  meet_lane(self);
  self.where = there;
}

// Stands for a converge that the source does not have: the siblings run on until they block, and
// their clocks are joined. They may run further than a real converge would let them.
void Execution::meet_by_force(Thread& self) {
  if (unwinding_) return;
  if (options_.threads == 1) return complete_loads(self);
  Thread* const lane = &threads_[self.rank * per_rank_ + 1 + self.lane * options_.threads];
  for (bool busy = true; busy;) {
    busy = false;
    for (Thread* thread = lane; thread != lane + options_.threads; ++thread)
      busy = busy || (thread != &self && thread->state == ThreadState::runnable && !thread->forced);
    if (!busy) break;
    self.forced = true;
    ready_.push_back(self.id);
    block(self, ThreadState::runnable);
  }
  self.forced = false;
  complete_loads(self);
  for (Thread* thread = lane; thread != lane + options_.threads; ++thread) {
    self.hb.join(thread->hb);
    self.cause.join(thread->cause);
    self.ended.join(ended_with_loads(*thread));
    self.issued.join(thread->issued);
  }
}

}  // namespace muster::check::engine
