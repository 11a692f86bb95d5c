// What threads know to be done, and what is on its way: clocks, channels, agents, loads.
#include "check/execution.hpp"
#include "check/mutant.hpp"

namespace muster::check::engine {

// What a release carries to `target` besides the thread's own clock: the puts that it knows to have
// been issued for that target; on direct for any.
Clock Execution::carried_to(const Thread& self, std::uint32_t target) const {
  Clock carried;
  if (options_.profile == Profile::sc || self.issued.size() == 0) return carried;
  if (mutant("release-without-channel")) return carried;
  const bool direct = options_.profile == Profile::direct;
  for (std::uint32_t i = 0; i < per_rank_ && !direct; ++i) {
    const std::uint32_t component = channel(threads_[self.rank * per_rank_ + i], target);
    if (self.issued.at(component) > 0) carried.raise({component, self.issued.at(component)});
    if (mutant("release-with-all-channels")) carried.join(self.issued);
  }
  for (std::size_t at = 0; at < agents_.size(); ++at) {
    const Agent& agent = agents_[at];
    if (!agent.is_put && !mutant("release-with-gets")) continue;
    if (self.issued.at(agent_component(at)) == 0) continue;
    if (agent.target == target || direct) carried.raise({agent_component(at), 1});
  }
  return carried;
}

std::uint32_t Execution::loads_of(const Thread& thread) const {
  return static_cast<std::uint32_t>(threads_.size()) + thread.id;
}

std::uint32_t Execution::channel(const Thread& thread, std::uint32_t target) const {
  return 2 * static_cast<std::uint32_t>(threads_.size()) + thread.id * options_.ranks + target;
}

Stamp Execution::next_on_channel(Thread& thread, std::uint32_t target) {
  const std::uint32_t component = channel(thread, target);
  const Stamp stamp = {component, thread.issued.at(component) + 1};
  thread.issued.raise(stamp);
  return stamp;
}

std::uint32_t Execution::agent_component(std::size_t agent) const {
  return static_components_ + static_cast<std::uint32_t>(agent);
}

Stamp Execution::last_agent(std::uint32_t epoch) const {
  return {agent_component(agents_.size() - 1), epoch};
}

Stamp Execution::new_agent(Thread& thread, std::uint32_t target, bool is_put) {
  agents_.push_back({thread.id, target, is_put});
  thread.issued.raise(last_agent(1));
  return last_agent(1);
}

// The thread knows of these events, which are done.
void Execution::acquire(Thread& self, const Clock& events) {
  self.hb.join(events);
  self.cause.join(events);
  self.ended.join(events);
}

Clock Execution::ended_with_loads(const Thread& thread) const {
  Clock all = thread.ended;
  all.join(thread.looked);
  if (thread.loading) all.raise({loads_of(thread), thread.epoch()});
  return all;
}

// Contract 5: a converge, also of one thread, completes the loads before it.
void Execution::complete_loads(Thread& self) {
  if (!self.loading && self.looked.size() == 0) return;
  self.ended = ended_with_loads(self);
  self.loading = false;
  self.looked.clear();
  self.tick();
}

}  // namespace muster::check::engine
