// Kernels: what their start knows, what their end leaves, and what those know of each other that
// overlap (LaunchFabric).
//
// The threads of a kernel and of the next one are other threads, with components of their own: what
// they do is unordered until launch_wait. There are two such banks, for a third kernel does not
// begin before the first has ended: launch_done comes after launch_wait.
//
// What a kernel knows at its start is the end of the last kernel but one, which the last one has
// acquired before it let this one begin. (That this is enough for the next one too is an assumption
// of the model: a kernel that begins is taken to see what was visible on its GPU by then.)
#include <fmt/format.h>

#include <algorithm>

#include "check/execution.hpp"
#include "check/kernels.hpp"
#include "check/mutant.hpp"

namespace muster::check::engine {

Result<void> Execution::launch(Thread& self, std::uint32_t kernels, std::uint32_t count,
                               const KernelBody& body, Where where) {
  step(self, "lanes", where);
  if (!contract(self, self.is_setup, "lanes cannot be run from inside a lane", where) ||
      !contract(self, !tasks_.busy(self.rank), "lanes are run while tasks of a graph have them",
                where) ||
      !contract(self, count >= 1 && count <= options_.lanes,
                fmt::format("{} lanes asked for, 1 to {} can run", count, options_.lanes), where))
    return Error{ErrorCode::invalid_argument, "this many lanes cannot run"};
  if (kernels == 0) return {};
  if (kernels > 1 && !threads_.kernels_overlap()) {  // run() begins again, with the threads for it
    wants_overlap_ = true;
    fibers_.stop();
    fibers_.block(self, ThreadState::launching);
    return {};
  }
  self.learn(self.pending);  // the start of a kernel acquires
  self.caches.back.join(self.caches.pending);
  Kernels& all = kernels_[self.rank];
  all = Kernels{};
  all.body = &body;
  all.where = where;
  all.count = kernels;
  all.lanes = count;
  all.ends.emplace_back(self);
  begin_kernel(self.rank);
  self.tick();
  fibers_.block(self, ThreadState::launching);
  self.tick();
  if (aborted_ && all.result) return Error{ErrorCode::aborted, "the team was aborted"};
  return all.result;
}

void Execution::begin_kernel(std::uint32_t rank) {
  Kernels& all = kernels_[rank];
  const std::uint32_t number = all.begun++;
  launches_.add(rank, all.lanes, all.where);
  all.silent.assign(all.lanes, options_.threads);
  const Clock told = std::move(all.told);
  all.told = Clock{};
  const bool knows_last = mutant("dependent-launch-waits");
  const Past& known = all.ends[number == 0 ? 0 : knows_last ? all.ends.size() - 1 : number - 1];
  const std::span<Thread> threads = threads_.of_lanes(rank, all.lanes, number);
  const auto running = static_cast<std::uint32_t>(threads.size());
  all.running[number % 2] = running;
  for (const std::uint32_t i : in_order(running)) {
    Thread& thread = threads[i];
    thread.fence = thread.hb;  // what came before the kernel has been released
    known.acquired_by(thread);
    begin_caches(thread);
    thread.cause.join(told);
    thread.tick();
    thread.lanes = all.lanes;
    thread.kernel = number;
    thread.has_waited = number == 0;
    thread.status = aborted_ ? WaitStatus::aborted : WaitStatus::ok;
    thread.call = {};
    thread.called = {};
    thread.part = {};
    groups_.merge(thread.id, thread.id - thread.index);
    fibers_.start(thread, [this, &all](Thread& self) {
      model::Fabric fabric(self);
      const Result<void> result = (*all.body)(fabric, self.kernel);
      if (all.result && !result) all.result = result;
      finish_thread(self);
    });
  }
}

void Execution::launch_wait(Thread& self, Where where) {
  step(self, "launch_wait", where);
  if (self.has_waited || fibers_.unwinding()) return;
  if (tracing()) note(self, where, "launch_wait");
  const Kernels& all = kernels_[self.rank];
  while (all.ends.size() <= self.kernel && !fibers_.unwinding())
    fibers_.block(self, ThreadState::dependent);
  if (fibers_.unwinding()) return;
  self.has_waited = true;
  if (!mutant("launch-wait-acquires-nothing")) all.ends[self.kernel].acquired_by(self);
  acquire_caches(self);
  self.tick();
}

void Execution::launch_done(Thread& self, Where where) {
  step(self, "launch_done", where);
  if (fibers_.unwinding() ||
      !contract(
          self, self.has_waited,
          "launch_done comes after launch_wait: a third kernel may not begin beside the first",
          where))
    return;
  if (kernels_[self.rank].begun != self.kernel + 1) return;  // the next has begun already
  if (tracing()) note(self, where, "launch_done");
  kernels_[self.rank].silent[self.lane] = 0;
  tell_next(self);
  self.tick();
}

void Execution::tell_next(Thread& thread) {
  Kernels& all = kernels_[thread.rank];
  all.told.join(thread.cause);
  if (all.next_may_begin()) begin_kernel(thread.rank);
}

void Execution::finish_thread(Thread& thread) {
  contract(thread, thread.has_waited,
           "a kernel that may begin before the one before it has ended calls launch_wait in every "
           "thread",
           thread.at(thread.where.at));
  Kernels& all = kernels_[thread.rank];
  if (all.begun == thread.kernel + 1 && all.silent[thread.lane] > 0) {
    --all.silent[thread.lane];
    all.told.join(thread.cause);
  }
  if (--all.running[thread.kernel % 2] == 0) end_kernel(thread.rank);
  if (all.begun == thread.kernel + 1) tell_next(thread);
}

// The end of a kernel releases and flushes, for all lanes (contract 10).
void Execution::end_kernel(std::uint32_t rank) {
  Kernels& all = kernels_[rank];
  Thread& setup = threads_.setup(rank);
  const auto number = static_cast<std::uint32_t>(all.ends.size() - 1);
  const std::span<Thread> threads = threads_.of_lanes(rank, all.lanes, number);
  for (Thread& thread : threads) {
    clocks_.complete_loads(thread);
    end_caches(thread);
    setup.join(thread);
  }
  if (!mutant("launch-without-flush"))
    setup.learn(clocks_.done_of(setup, threads_.of_rank(threads.front())));
  all.ends.emplace_back(setup);
  if (all.begun > number + 1)
    for (Thread& thread : threads_.of_lanes(rank, all.lanes, number + 1))
      if (thread.state == ThreadState::dependent) fibers_.ready(thread);
  if (all.ends.size() > all.count) fibers_.ready(setup);
}

}  // namespace muster::check::engine

namespace muster::model {

void Fabric::launch_wait(Where where) {
  self_->run->launch_wait(*self_, self_->at(where));
}
void Fabric::launch_done(Where where) {
  self_->run->launch_done(*self_, self_->at(where));
}

Result<void> Team::launch(std::uint32_t kernels, std::uint32_t count, const KernelBody& body,
                          Where where) {
  return self_->run->launch(*self_, kernels, count, body, where);
}

}  // namespace muster::model
