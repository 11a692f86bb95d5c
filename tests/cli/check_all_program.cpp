// Checks for tests of --all: groups that pass, fail, take long, crash, hang.
#include <unistd.h>

#include <cstdlib>
#include <ctime>

#include "muster/barrier.hpp"
#include "muster/check.hpp"

namespace {

template <class Barrier>
void meet(muster::model::Team& team, std::uint32_t calls) {
  Barrier barrier(team);
  (void)team.lane([&](auto& fabric) {
    for (std::uint32_t call = 0; call < calls; ++call)
      if (muster::check::barrier_call(fabric, [&] { return barrier.sync(fabric); }) !=
          muster::WaitStatus::ok)
        return;
  });
}

[[maybe_unused]] volatile bool for_ever = true;

}  // namespace

// The first is the last to end.
MUSTER_CHECK(a, {.ranks = 3, .calls = 1, .group = "order"}) {
  usleep(20'000);
  meet<muster::EpochBarrier>(team, calls);
}
MUSTER_CHECK(b, {.ranks = 2, .calls = 2, .group = "order"}) {
  meet<muster::EpochBarrier>(team, calls);
}
MUSTER_CHECK(c, {.weakest = muster::Profile::direct, .group = "order"}) {
  meet<muster::CounterBarrier>(team, calls);
}

// An execution takes 40 ms of the processor, and there are twelve places to try.
MUSTER_CHECK(processor, {.group = "burns"}) {
  const std::clock_t end = std::clock() + CLOCKS_PER_SEC / 50;
  while (std::clock() < end) continue;
  const auto told = *team.signals(6);
  (void)team.lane([&](auto& fabric) {
    const muster::Rank right = muster::right_of(fabric);
    fabric.notify(told[0], right, 1, muster::NotifyOp::set);
    (void)fabric.wait(told[0], muster::Compare::ge, 1);
    fabric.notify(told[1], right, 1, muster::NotifyOp::set);
    (void)fabric.wait(told[1], muster::Compare::ge, 1);
    fabric.notify(told[2], right, 1, muster::NotifyOp::set);
    (void)fabric.wait(told[2], muster::Compare::ge, 1);
    fabric.notify(told[3], right, 1, muster::NotifyOp::set);
    (void)fabric.wait(told[3], muster::Compare::ge, 1);
    fabric.notify(told[4], right, 1, muster::NotifyOp::set);
    (void)fabric.wait(told[4], muster::Compare::ge, 1);
    fabric.notify(told[5], right, 1, muster::NotifyOp::set);
    (void)fabric.wait(told[5], muster::Compare::ge, 1);
  });
}

MUSTER_CHECK(must_fail, {.group = "wrong", .fails = muster::check::Kind::expect}) {
  expect(team.calls() == 0, "there are no calls");
}
MUSTER_CHECK(fails, {.group = "wrong"}) {
  expect(calls == 0, "there are no calls");
}
MUSTER_CHECK(passes, {.group = "wrong"}) {
  meet<muster::EpochBarrier>(team, calls);
}

MUSTER_CHECK(endless, {.ranks = 8, .calls = 4, .group = "slow"}) {
  meet<muster::CounterBarrier>(team, calls);
}
MUSTER_CHECK(at_once, {.group = "slow"}) {
  meet<muster::EpochBarrier>(team, calls);
}

MUSTER_CHECK(aborts, {.group = "gone"}) {
  (void)team;
  std::abort();
}
MUSTER_CHECK(exits, {.group = "gone"}) {
  (void)team;
  _exit(0);
}
MUSTER_CHECK(loops, {.group = "hangs"}) {
  (void)team;
  while (for_ever) continue;
}
MUSTER_CHECK(waits, {.group = "hangs"}) {
  (void)team;
  while (for_ever) pause();
}
