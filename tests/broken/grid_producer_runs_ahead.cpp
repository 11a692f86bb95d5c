// Two lanes produce and a third consumes, at a grid barrier that expects two arrivals. A producer
// that arrives without waiting arrives again before the call is over: its second arrival stands for
// the other's first, and the consumer reads what that one has not written. It mends it to wait for
// the call before the next arrival; or a cell for each producer.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::grid_producer_runs_ahead {
namespace {

constexpr std::uint32_t producers = 2;

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t lanes) {
  const auto told = GridBarrier(team).expecting(producers);
  const auto board = *team.window<int>({calls, producers}, "board");
  (void)team.lanes(lanes, [&](auto& fabric) -> WaitStatus {
    const std::uint32_t lane = fabric.lane().value;
    for (std::uint32_t call = 0; call < calls; ++call) {
      if (lane < producers) {
        fabric.local(board)[board.at(call, lane)] = 1;
        const auto arrival = told.arrive(fabric);
        if (!fixed) continue;
        const WaitStatus status = told.wait(fabric, arrival);
        if (status != WaitStatus::ok) return status;
      } else if (lane == producers) {
        const WaitStatus status = told.wait(fabric);
        if (status != WaitStatus::ok) return status;
        for (std::uint32_t producer = 0; producer < producers; ++producer)
          expect(fabric, fabric.local(board)[board.at(call, producer)] == 1);
      }
    }
    return WaitStatus::ok;
  });
}

}  // namespace

// Ranks do not matter: the lanes of each rank meet among themselves.
MUSTER_BROKEN(grid_producer_runs_ahead, race, .ranks = 1, .calls = 2, .lanes = 3)

}  // namespace muster::broken::grid_producer_runs_ahead
