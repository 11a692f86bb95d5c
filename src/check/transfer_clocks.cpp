#include "check/transfer_clocks.hpp"

#include <algorithm>

#include "check/mutant.hpp"

namespace muster::check::engine {

Clock TransferClocks::carried_to(const Thread& self, LaneThreads siblings,
                                 std::uint32_t target) const {
  Clock carried;
  if (profile_ == Profile::sc || self.issued.size() == 0) return carried;
  if (mutant("release-without-channel")) return carried;
  const bool direct = profile_ == Profile::direct;
  for (std::uint32_t i = 0; i < siblings.count && !direct; ++i) {
    const std::uint32_t issued = channel(siblings.first + i, target);
    if (self.issued.at(issued) > 0) carried.raise({issued, self.issued.at(issued)});
    if (mutant("release-with-all-channels")) carried.join(self.issued);
  }
  for (std::size_t at = 0; at < agents_.size(); ++at) {
    const Agent& agent = agents_[at];
    if (!agent.is_put && !mutant("release-with-gets")) continue;
    if (self.issued.at(component(at)) == 0 || !siblings.has(agent.thread)) continue;
    if (agent.target == target || direct) carried.raise({component(at), agent.arrived()});
  }
  return carried;
}

Clock TransferClocks::done_of(const Thread& self, LaneThreads issuers,
                              std::optional<Rank> peer) const {
  Clock done;
  if (mutant("flush-does-nothing")) return done;
  if (profile_ == Profile::rdma)
    for (std::uint32_t i = 0; i < issuers.count; ++i)
      for (std::uint32_t target = 0; target < ranks_; ++target) {
        if (peer && peer->value != target) continue;
        const std::uint32_t issued = channel(issuers.first + i, target);
        if (self.issued.at(issued) > 0) done.raise({issued, self.issued.at(issued)});
      }
  for (std::size_t at = 0; at < agents_.size() && !mutant("flush-without-gets"); ++at) {
    if (!issuers.has(agents_[at].thread) || self.issued.at(component(at)) == 0) continue;
    if (peer && peer->value != agents_[at].target) continue;
    done.raise({component(at), 2});
  }
  return done;
}

Clock TransferClocks::completed_of(const Thread& self, std::uint32_t peer,
                                   std::uint32_t begun) const {
  Clock done;
  for (std::size_t at = 0; at < std::min<std::size_t>(begun, agents_.size()); ++at) {
    const Agent& agent = agents_[at];
    if (agent.thread == self.id && agent.target == peer && agent.is_async)
      done.raise({component(at), mutant("complete-is-a-flush") ? agent.arrived() : 1});
  }
  return done;
}

TransferClocks::Flight TransferClocks::flight_of(Stamp stamp) const {
  const Agent& agent = agents_[stamp.component - first_agent_];
  if (!agent.is_async) return Flight::other;
  if (stamp.epoch < agent.arrived()) return Flight::reading;
  return agent.is_put ? Flight::put : Flight::get;
}

Stamp TransferClocks::next_on_channel(Thread& thread, std::uint32_t target) const {
  const std::uint32_t to = channel(thread.id, target);
  const Stamp stamp = {to, thread.issued.at(to) + 1};
  thread.issued.raise(stamp);
  return stamp;
}

Stamp TransferClocks::new_agent(Thread& thread, std::uint32_t target, bool is_put, bool is_async) {
  agents_.push_back({thread.id, target, is_put, is_async});
  thread.issued.raise(last_agent(1));
  return last_agent(1);
}

Clock TransferClocks::ended_with_loads(const Thread& thread) const {
  Clock all = thread.ended;
  all.join(thread.looked);
  if (thread.loading) all.raise(load_of(thread));
  return all;
}

void TransferClocks::complete_loads(Thread& thread) const {
  if (!thread.loading && thread.looked.size() == 0) return;
  thread.ended = ended_with_loads(thread);
  thread.loading = false;
  thread.looked.clear();
  thread.tick();
}

TransferClocks::Of TransferClocks::kind_of(Stamp stamp) const {
  if (stamp.component < threads_) return Of::thread;
  if (stamp.component < 2 * threads_) return Of::loads;
  return stamp.component < first_agent_ ? Of::channel : Of::agent;
}

std::uint32_t TransferClocks::issuer_of(Stamp stamp) const {
  switch (kind_of(stamp)) {
    case Of::thread: return stamp.component;
    case Of::loads: return stamp.component - threads_;
    case Of::channel: return (stamp.component - 2 * threads_) / ranks_;
    case Of::agent: break;
  }
  return agents_[stamp.component - first_agent_].thread;
}

Stamp TransferClocks::event_of(Stamp stamp) const {
  if (kind_of(stamp) == Of::loads) stamp.component -= threads_;
  return stamp;
}

}  // namespace muster::check::engine
