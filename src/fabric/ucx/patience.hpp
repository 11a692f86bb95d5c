// How somebody waits on the network: first at work, then yielding, then asleep for short whiles.
#pragma once

#include <chrono>
#include <cstdint>

#include "fabric/ucx/network.hpp"
#include "fabric/ucx/team_state.hpp"
#include "muster/fabric/host/context.hpp"
#include "muster/types.hpp"

namespace muster::ucx {

class Patience {
 public:
  using Clock = std::chrono::steady_clock;

  // `call`: whose deadline this wait shares.
  Patience(Network& network, const TeamState& team, host::CallClock& call)
      : network_(network), team_(team), call_(call) {}

  // Moves the network on, and waits a little; ok: look again. Else why there is nothing to wait for
  // any more: the team's failure, or `expired`.
  [[nodiscard]] WaitStatus turn();

  // Once, after 10 s of the call.
  [[nodiscard]] bool has_turned_long();

 private:
  [[nodiscard]] WaitStatus slow_turn();

  Network& network_;
  const TeamState& team_;
  host::CallClock& call_;
  std::uint32_t turns_ = 0;
  std::uint32_t moves_ = 0;  // turns in which something moved
  std::uint32_t moves_seen_ = 0;
  bool long_ = false;
  Clock::time_point begin_{};
  Clock::time_point slow_since_{};  // of the whole call
  Clock::time_point next_look_{};
  Clock::time_point now_{};
  std::chrono::nanoseconds nap_ = std::chrono::microseconds(20);
};

}  // namespace muster::ucx
