// An own protocol under the checker: each rank hands a number to its right neighbour, call after
// call. `my_ring` has a bug, `my_ring_fixed` has not.
//
//   ./my_ring                   checks both; exit code 1, for the first is refuted
//   ./my_ring my_ring_fixed     checks the second alone
#include "muster/check.hpp"

namespace {

// The number and, behind it, a deposit that says "number `call` is there". `credit` is what the
// fix adds: the reader tells the writer that it has read, and the writer waits for that before it
// writes the same place again (data outlives its readers).
template <muster::Fabric F>
muster::WaitStatus pass_on(F& fabric, muster::WindowRef<int> inbox, muster::Signals signals,
                           std::uint32_t call, bool credit) {
  using namespace muster;
  const Rank right = right_of(fabric);
  const Rank left = left_of(fabric);
  if (credit && call > 1) {
    const WaitStatus read = fabric.wait(signals[1], Compare::ge, call - 1);
    if (read != WaitStatus::ok) return read;
  }
  fabric.address(inbox, right)[0] = static_cast<int>(fabric.rank().value + 100 * call);
  fabric.notify(signals[0], right, call, NotifyOp::set);
  const WaitStatus arrived = fabric.wait(signals[0], Compare::ge, call);
  if (arrived != WaitStatus::ok) return arrived;
  muster::expect(fabric, fabric.local(inbox)[0] == static_cast<int>(left.value + 100 * call),
                 "the inbox holds the left neighbour's number of this call");
  if (credit) fabric.notify(signals[1], left, call, NotifyOp::set);
  return WaitStatus::ok;
}

void run_ring(muster::model::Team& team, std::uint32_t calls, bool credit) {
  const auto inbox = *team.window<int>({1}, "inbox");
  const auto signals = *team.signals(2);
  (void)team.lane([&](auto& fabric) {
    for (std::uint32_t call = 1; call <= calls; ++call) {
      if (pass_on(fabric, inbox, signals, call, credit) != muster::WaitStatus::ok) return;
    }
  });
}

}  // namespace

MUSTER_CHECK(my_ring, {.ranks = 3, .calls = 2, .weakest = muster::Profile::direct}) {
  run_ring(team, calls, false);
}

MUSTER_CHECK(my_ring_fixed, {.ranks = 3, .calls = 2, .weakest = muster::Profile::direct}) {
  run_ring(team, calls, true);
}
