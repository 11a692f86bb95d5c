// What the checks themselves tell the model: uses of barriers, assertions, changes to try.
#include <fmt/format.h>

#include "check/execution.hpp"
#include "check/mutant.hpp"
#include "check/sites.hpp"

namespace muster::check::engine {

// As the host does in a verifying run: the calls of one number on one lane are alike on all ranks.
// Those of a part are its first thread's.
void Execution::describe(Thread& self, const CallSignature& call) {
  if (!self.leads() || fibers_.unwinding() || mutant("calls-not-compared")) return;
  const std::uint32_t number = threads_.counting_for(self).described++;
  const auto mismatch =
      described_.mismatch(self.lane, self.index, number, {self.rank, call, self.called});
  if (!mismatch) return;
  found(self, Kind::divergence, *mismatch,
        "every rank makes the same calls in the same order on each lane",
        fmt::format("call {} on lane {}", number, self.lane));
  fibers_.stop();
}

void Execution::enter_call(Thread& self, std::uint32_t barrier, model::BarrierScope scope,
                           Where where) {
  step(self, "enter", where);
  has_substance_ = true;
  self.call = {true, barrier, self.lane, threads_.counting_for(self).calls_made[barrier]++, scope};
  if (scope != model::BarrierScope::lane) groups_.merge_all();
  if (tracing()) note(self, where, fmt::format("enters call {} of the barrier", self.call.call));
  entries_.add(barrier, self.call.call,
               {self.rank, self.lane, self.stamp(), trace_.last_of(self.id)});
}

// Every thread of each lane that meets here must have entered in the causal past.
void Execution::leave_call(Thread& self, std::uint32_t barrier, WaitStatus status, Where where) {
  step(self, "leave", where);
  const CallTag call = self.call;
  self.call = {};
  if (tracing()) note(self, where, fmt::format("leaves call {} of the barrier", call.call));
  if (status != WaitStatus::ok || fibers_.unwinding()) return;
  const std::vector<std::uint32_t> heard =
      entries_.heard(barrier, call.call, self.cause, options_.ranks, self.lanes);
  for (std::uint32_t i = 0; i < heard.size(); ++i) {
    const std::uint32_t rank = i / self.lanes;
    const std::uint32_t lane = i % self.lanes;
    if (call.scope == model::BarrierScope::lane && lane != self.lane) continue;
    if (call.scope == model::BarrierScope::rank && rank != self.rank) continue;
    if (heard[i] >= self.together.count || mutant("stale-pass-unseen")) continue;
    found(self, Kind::stale_pass,
          fmt::format("{} leaves call {} of the barrier ({}) without having heard that rank {}{} "
                      "has entered it",
                      name_of_thread(self), call.call, short_place(where), rank,
                      self.lanes > 1 ? fmt::format(" lane {}", lane) : ""),
          fmt::format("nothing that rank {} gave after its entry leads to this exit; what was "
                      "taken instead is left over from another call, or from another rank",
                      rank),
          fmt::format("call {} of barrier {}, lane {}", call.call, barrier, self.lane), nullptr,
          {edge(rank, entries_.step_of(barrier, call.call, rank, lane), self)});
  }
}

// Outcomes are wanted for every combination, so nothing is searched on its own any more.
void Execution::record_outcome(Thread& self, std::uint64_t value) {
  if (fibers_.unwinding()) return;
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
  if (!self.is_setup) (void)self.settle(WaitStatus::invalid);
  found(self, Kind::contract, fmt::format("{}: {}", name_of_thread(self), what), "",
        std::string(what));
  return false;
}

void Execution::note(const Thread& self, Where where, std::string what) {
  if (!fibers_.unwinding()) trace_.add({self.id, self.epoch(), std::move(what), where}, self.hb);
}

void Execution::change_before(Thread& self, const char* operation, Where where) {
  sites_.come_to(operation, where);
  if (sites_.has(operation, where, Change::flush_before)) {
    if (tracing()) note(self, where, "flush (the change that is tried)");
    finish_transfers(self);
  }
  if (sites_.has(operation, where, Change::converge_before)) {
    if (tracing()) note(self, where, "converge (the change that is tried)");
    meet_by_force(self);
  }
}

void Execution::change_after(Thread& self, const char* operation, Where where) {
  if (!sites_.has(operation, where, Change::converge_after)) return;
  self.behind = true;
  meet_behind(self);
}

// The siblings need not make the wait: they meet it as they come to what is written behind it.
void Execution::come_behind(Thread& self) {
  if (self.is_setup || fibers_.unwinding()) return;
  const SiteChanges::Side side = sites_.side_of_converge(self.where);
  if (side == SiteChanges::Side::before) self.behind = false;
  if (side != SiteChanges::Side::behind || self.behind) return;
  self.behind = true;
  meet_behind(self);
}

void Execution::meet_behind(Thread& self) {
  const Where there = self.where;
  self.where = std::source_location::current();  // the same for all
  meet_at(self, "converge");
  self.where = there;
}

// Stands for a converge that the source does not have: the siblings run on until they block, and
// their clocks are joined. They may run further than a real converge would let them.
void Execution::meet_by_force(Thread& self) {
  if (fibers_.unwinding()) return;
  if (self.together.count == 1) return clocks_.complete_loads(self);
  const std::span<Thread> lane = threads_.at(self.together);
  for (bool busy = true; busy;) {
    busy = false;
    for (const Thread& thread : lane)
      busy = busy || (&thread != &self && thread.state == ThreadState::runnable && !thread.forced);
    if (!busy) break;
    self.forced = true;
    fibers_.make_way(self);
  }
  self.forced = false;
  clocks_.complete_loads(self);
  for (const Thread& thread : lane) {
    self.hb.join(thread.hb);
    self.cause.join(thread.cause);
    self.ended.join(clocks_.ended_with_loads(thread));
    self.issued.join(thread.issued);
  }
}

}  // namespace muster::check::engine
