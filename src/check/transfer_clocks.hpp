// What threads know to be done, and what is on its way: the components of clocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "check/clock.hpp"
#include "check/thread.hpp"
#include "muster/check/report.hpp"

namespace muster::check::engine {

// Numbers the components: first the threads, then the loads of each, then on rdma its channels, one
// for each target; behind these come the agents, as they are made. Each event of a channel, and
// each agent, belongs to the thread that issued it, and is in that thread's clock `issued`. Nothing
// here puts an event into anybody's `hb` before it is done: that is left to who calls done_of and
// Thread::learn.
class TransferClocks {
 public:
  TransferClocks(const Options& options, std::uint32_t threads)
      : profile_(options.profile == Profile::noncoherent ? Profile::direct : options.profile),
        ranks_(options.ranks),
        threads_(threads),
        first_agent_(threads * (2 + (profile_ == Profile::rdma ? ranks_ : 0))) {}

  void clear() { agents_.clear(); }

  // ---- loads: contract 5
  [[nodiscard]] std::uint32_t loads_of(const Thread& thread) const { return threads_ + thread.id; }
  [[nodiscard]] Stamp load_of(const Thread& thread) const {
    return {loads_of(thread), thread.epoch()};
  }
  // Thread::ended, as it is once the loads are done too.
  [[nodiscard]] Clock ended_with_loads(const Thread& thread) const;
  // A converge, also of one thread, completes the loads before it.
  void complete_loads(Thread& thread) const;

  // ---- channels: rdma
  // The next event of the thread's channel to `target`, which the thread knows to be issued.
  Stamp next_on_channel(Thread& thread, std::uint32_t target) const;

  // ---- agents: transfers with a component of their own, done at epoch 1, their signals at epoch 2
  // A release notify to `target` carries a put, and no other. Of an asynchronous put the source is
  // read at epoch 1, which is all that complete() waits for, the target written at epoch 2.
  Stamp new_agent(Thread& thread, std::uint32_t target, bool is_put, bool is_async = false);
  [[nodiscard]] std::uint32_t agents() const { return static_cast<std::uint32_t>(agents_.size()); }
  [[nodiscard]] Stamp last_agent(std::uint32_t epoch) const {
    return {component(agents_.size() - 1), epoch};
  }

  // What a release of the thread carries to `target` besides its own clock: the puts of `siblings`,
  // which it is one of, that it knows to have been issued for that target; on direct for any.
  [[nodiscard]] Clock carried_to(const Thread& self, LaneThreads siblings,
                                 std::uint32_t target) const;
  // The transfers of these threads, to that peer or to all, that `self` knows to have been issued,
  // done.
  [[nodiscard]] Clock done_of(const Thread& self, LaneThreads issuers,
                              std::optional<Rank> peer = {}) const;
  // The thread's asynchronous transfers with that peer, of the first `begun` agents, completed.
  [[nodiscard]] Clock completed_of(const Thread& self, std::uint32_t peer,
                                   std::uint32_t begun) const;

  // ---- what an event is
  enum class Of : std::uint8_t { thread, loads, channel, agent };
  [[nodiscard]] Of kind_of(Stamp stamp) const;
  [[nodiscard]] bool is_transfer(Stamp stamp) const { return stamp.component >= 2 * threads_; }
  // The number of the thread that made it.
  [[nodiscard]] std::uint32_t issuer_of(Stamp stamp) const;
  // What of an agent the event is.
  enum class Flight : std::uint8_t { reading, put, get, other };
  [[nodiscard]] Flight flight_of(Stamp stamp) const;
  [[nodiscard]] std::uint32_t target_of_agent(Stamp stamp) const {
    return agents_[stamp.component - first_agent_].target;
  }
  [[nodiscard]] std::uint32_t target_of_channel(Stamp stamp) const {
    return (stamp.component - 2 * threads_) % ranks_;
  }
  // The thread's event that it belongs to, for who asks about causality.
  [[nodiscard]] Stamp event_of(Stamp stamp) const;

 private:
  struct Agent {
    std::uint32_t thread = 0;  // who issued it
    std::uint32_t target = 0;
    bool is_put = false;
    bool is_async = false;
    [[nodiscard]] std::uint32_t arrived() const { return is_put && is_async ? 2 : 1; }
  };

  [[nodiscard]] std::uint32_t channel(std::uint32_t thread, std::uint32_t target) const {
    return 2 * threads_ + thread * ranks_ + target;
  }
  [[nodiscard]] std::uint32_t component(std::size_t agent) const {
    return first_agent_ + static_cast<std::uint32_t>(agent);
  }

  Profile profile_;
  std::uint32_t ranks_;
  std::uint32_t threads_;
  std::uint32_t first_agent_;
  std::vector<Agent> agents_;
};

}  // namespace muster::check::engine
