// A barrier of the lanes of a rank on one sum, where each lane remembers the sum that it last
// waited for. A launch with fewer lanes moves the sum on, and a lane that did not run waits, when
// it next does, for a sum that was reached long ago. The lanes that run must move the others'
// counters too.
//
// The checker must say: race, with at least 3 lanes.
#include "broken.hpp"

namespace muster::broken::lane_count_changed {
namespace {

template <bool fixed, class F>
WaitStatus meet(F& fabric, Rows rows) {
  const std::uint32_t sum = fabric.counter(rows.epoch(fabric.lane())) + fabric.lanes();
  fabric.converge();
  WaitStatus status = WaitStatus::ok;
  if (fabric.thread() == 0) {
    const Signal shared = rows.from(Lane{0}, Rank{0});
    fabric.notify(shared, fabric.rank(), 1, NotifyOp::add, Order::release, Scope::device);
    status = fabric.wait(shared, Compare::ge, sum, Order::acquire, Scope::device);
    for (std::uint32_t lane = fabric.lane().value; lane < rows.lanes; lane += fabric.lanes()) {
      if (fixed || Lane{lane} == fabric.lane()) fabric.set_counter(rows.epoch(Lane{lane}), sum);
    }
  }
  return fabric.converge(status);
}

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t lanes) {
  const Rows rows = *team.rows();
  const auto board = *team.window<int>({2, lanes}, "board");
  std::uint32_t call = 0;
  for (const std::uint32_t running : {lanes, lanes - 1, lanes}) {
    (void)team.lanes(running, [&, first = call](auto& fabric) -> WaitStatus {
      for (std::uint32_t now = first; now < first + calls; ++now) {
        if (fabric.thread() == 0) fabric.local(board)[board.at(now % 2, fabric.lane().value)] = 1;
        const WaitStatus met = meet<fixed>(fabric, rows);
        if (met != WaitStatus::ok) return met;
        for (std::uint32_t lane = 0; lane < running; ++lane)
          expect(fabric, fabric.local(board)[board.at(now % 2, lane)] == 1, "a lane's mark");
      }
      return WaitStatus::ok;
    });
    call += calls;
  }
}

}  // namespace

MUSTER_BROKEN(lane_count_changed, race, .ranks = 2, .calls = 2, .lanes = 3)

}  // namespace muster::broken::lane_count_changed
