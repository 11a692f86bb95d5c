#include "check/transfer_clocks.hpp"

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
    if (self.issued.at(component(at)) == 0) continue;
    if (agent.target == target || direct) carried.raise({component(at), 1});
  }
  return carried;
}

Clock TransferClocks::done_of(const Thread& self, LaneThreads issuers) const {
  Clock done;
  if (mutant("flush-does-nothing")) return done;
  if (profile_ == Profile::rdma)
    for (std::uint32_t i = 0; i < issuers.count; ++i)
      for (std::uint32_t target = 0; target < ranks_; ++target) {
        const std::uint32_t issued = channel(issuers.first + i, target);
        if (self.issued.at(issued) > 0) done.raise({issued, self.issued.at(issued)});
      }
  for (std::size_t at = 0; at < agents_.size() && !mutant("flush-without-gets"); ++at) {
    if (!issuers.has(agents_[at].thread) || self.issued.at(component(at)) == 0) continue;
    done.raise({component(at), 2});
  }
  return done;
}

Stamp TransferClocks::next_on_channel(Thread& thread, std::uint32_t target) const {
  const std::uint32_t to = channel(thread.id, target);
  const Stamp stamp = {to, thread.issued.at(to) + 1};
  thread.issued.raise(stamp);
  return stamp;
}

Stamp TransferClocks::new_agent(Thread& thread, std::uint32_t target, bool is_put) {
  agents_.push_back({thread.id, target, is_put});
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
