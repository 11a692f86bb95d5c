// What a lane of the network fabric keeps, and the steps that its operations share.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fabric/ucx/network.hpp"
#include "fabric/ucx/team_state.hpp"
#include "muster/fabric/ucx/wire.hpp"

namespace muster::ucx {

struct Wire::State {
  // What this lane has under way to one peer.
  struct Link {
    bool moved = false;             // transfers since the last flush
    bool notified = false;          // deposits since the last flush ...
    NotifyOp last = NotifyOp::set;  // ... of this kind: those of another one are flushed first
    std::uint64_t numbered = 0;     // asynchronous transfers so far
    std::deque<std::pair<std::uint64_t, Operation*>> pending;  // that are not known to be complete
  };

  State(std::shared_ptr<Network> of, std::shared_ptr<TeamState> in, Lane here, OnExpiry expiry);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  [[nodiscard]] Target target(Rank peer, Place place) const {
    return {team->job_rank_of(peer), place};
  }
  [[nodiscard]] Target target(Rank peer, Signal cell) const {
    return target(peer, Place{cell.segment, std::uint64_t{cell.cell} * cell_stride});
  }

  [[nodiscard]] WaitStatus ended();
  // Waits until it is done, and gives it back; nullptr is done. What it says of the peer that it
  // failed with fails the lane.
  [[nodiscard]] WaitStatus finish(Operation* operation, Rank peer);
  [[nodiscard]] WaitStatus finish(Operation* operation, Rank peer, host::CallClock& call);
  // All that this lane has sent to that peer has taken effect.
  [[nodiscard]] WaitStatus flush(Rank peer);
  [[nodiscard]] WaitStatus finish_adds();
  // Before a deposit: what it must not overtake has taken effect. False where the lane has ended.
  [[nodiscard]] bool clear_way(Rank peer, NotifyOp op, Order order);
  void begin_async(Rank peer, Operation* operation);

  WaitStatus record(WaitStatus status, const Awaited* awaited);
  void notice(const Awaited& awaited) const;
  [[nodiscard]] std::string whom(const Error& state, const Awaited& awaited) const;
  [[nodiscard]] Error describe(const Awaited& awaited) const;

  std::shared_ptr<Network> network;
  std::shared_ptr<TeamState> team;
  Lane lane;
  OnExpiry on_expiry;
  std::vector<Link> links;  // by rank of the team
  Traffic traffic;

  std::atomic<std::uint64_t> added{0};  // messages of additions that were applied
  std::uint64_t additions = 0;          // and that were sent
  std::uint64_t account = 0;            // under which their targets answer

  std::optional<Error> error;
  WaitStatus end = WaitStatus::ok;
  std::uint32_t polls = 0;
  // Who writes the cell, where it is one of rows.
  std::function<std::optional<Rank>(Signal)> writer_of;
};

}  // namespace muster::ucx
