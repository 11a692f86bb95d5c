// A ring that passes its parts on in pieces: the sum for piece k of step s is s * pieces + k + 1,
// but the code lets it grow by 1 a step. From the second step on, the wait is satisfied by the
// pieces of the step before.
//
// The checker must say: race.
#include "broken.hpp"

namespace muster::broken::ring_threshold_step {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  constexpr std::uint32_t pieces = 2;
  const std::uint32_t steps = team.size() - 1 < 2 ? 2 : team.size() - 1;
  // Each step has a target of its own.
  const auto inbox = *team.window<int>({steps, pieces}, "inbox");
  const Signal told = (*team.signals(1))[0];
  (void)team.lane([&](auto& fabric) -> WaitStatus {
    for (std::uint32_t step = 0; step < steps; ++step) {
      for (std::uint32_t piece = 0; piece < pieces; ++piece) {
        const std::int64_t at = step * pieces + piece;
        auto tile = fabric.template tile<int, 1, 1>();
        tile.each([&](std::int64_t, std::int64_t, int& element) { element = 1; });
        fabric.remote_store(tile, inbox, right_of(fabric), Box{step, piece, 1, 1});
        fabric.converge();
        WaitStatus status = WaitStatus::ok;
        if (fabric.thread() == 0) {
          fabric.notify(told, right_of(fabric), 1, NotifyOp::add);
          const std::uint32_t sum = (fixed ? step * pieces : step) + piece + 1;
          status = fabric.wait(told, Compare::ge, sum);
          if (status == WaitStatus::ok) expect(fabric, fabric.local(inbox)[at] == 1, "the piece");
        }
        if (fabric.converge(status) != WaitStatus::ok) return WaitStatus::aborted;
      }
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(ring_threshold_step, race, .ranks = 2, .calls = 1)

}  // namespace muster::broken::ring_threshold_step
