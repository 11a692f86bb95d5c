// How gpu::Fabric fails, on host threads: deadlines, aborts, wrong arguments; what it records.
#include <gtest/gtest.h>

#include <atomic>
#include <tuple>

#include "gpu/host_team.hpp"
#include "muster/barrier.hpp"
#include "muster/packet.hpp"

namespace {

using namespace muster;
using gpu_test::HostSite;
using gpu_test::HostTeam;
using Fabric = gpu::Fabric<gpu::Thread, gpu::Ranks::few, true>;

// The lane of rank 0 of two; the other rank never comes.
struct Alone {
  explicit Alone(bool verify = true, std::uint64_t deadline_ns = 20'000'000)
      : site(2), team(site, Rank{0}) {
    site.handle().verify = verify ? 1 : 0;
    site.handle().deadline_ns = deadline_ns;
  }
  [[nodiscard]] Fabric lane(std::uint32_t number = 0, std::uint32_t lanes = 1) {
    return Fabric(site.handle(), gpu::LaneCoordinates{Rank{0}, Lane{number}, lanes});
  }
  [[nodiscard]] const gpu::ErrorRecord& record() const { return site.record(Rank{0}); }
  [[nodiscard]] gpu::Operation operation() const { return gpu::Operation{record().operation}; }
  [[nodiscard]] gpu::Cause cause() const { return gpu::Cause{record().cause}; }
  [[nodiscard]] std::uint32_t stop() { return std::atomic_ref(*site.handle().stop).load(); }
  void fail_on_expiry() {
    site.handle().retries = 0;
    site.handle().notes = 0;
  }

  HostSite site;
  HostTeam team;
};

TEST(GpuFailure, AnExpiredBarrierIsRecordedOnce) {
  Alone alone;
  const EpochBarrier barrier(alone.team);
  Fabric fabric = alone.lane();
  EXPECT_EQ(barrier.sync(fabric), WaitStatus::expired);
  EXPECT_EQ(alone.record().complete, 1U);
  EXPECT_EQ(alone.record().status, static_cast<std::uint32_t>(WaitStatus::expired));
  EXPECT_EQ(alone.operation(), gpu::Operation::wait);
  EXPECT_EQ(alone.record().cell, barrier.rows().from(Lane{0}, Rank{1}).cell);
  EXPECT_EQ(alone.record().seen, 0U);
  EXPECT_EQ(alone.record().expected, 1U);
  // The second failure leaves the record alone, and is not sticky either.
  EXPECT_EQ(barrier.sync(fabric), WaitStatus::expired);
  EXPECT_EQ(alone.record().expected, 1U);
  EXPECT_EQ(fabric.converge(WaitStatus::ok), WaitStatus::ok);
}

// Whoever goes on after an expired wait is a call apart from its peers: so nobody does, unless the
// world was made for that.
TEST(GpuFailure, AnExpiredWaitFailsTheTeam) {
  Alone alone;
  alone.fail_on_expiry();
  const EpochBarrier barrier(alone.team);
  Fabric fabric = alone.lane();
  EXPECT_EQ(barrier.sync(fabric), WaitStatus::expired);
  EXPECT_EQ(alone.stop(), static_cast<std::uint32_t>(WaitStatus::aborted));
  // The peer comes late: its deposit does not make the next call a success.
  Fabric late(alone.site.handle(), gpu::LaneCoordinates{Rank{1}, Lane{0}, 1});
  late.notify(barrier.rows().from(Lane{0}, Rank{1}), Rank{0}, 2, NotifyOp::set);
  EXPECT_EQ(barrier.sync(fabric), WaitStatus::aborted);
  EXPECT_EQ(fabric.converge(WaitStatus::ok), WaitStatus::aborted);
  const Signals signals = *alone.team.signals(1);
  EXPECT_EQ(late.wait(signals[0], Compare::ge, 1), WaitStatus::aborted);
  // The calls of a lane that has failed are not there for its peers.
  EXPECT_EQ(late.read(barrier.rows().from(Lane{0}, Rank{0})), 1U);
}

// Barriers whose calls must not be repeated after one that failed: what a second call says, and
// that it deposits nothing. The barrier's first cell is the one that rank 0 deposits to.
template <class Barrier>
void fails_and_comes_again(bool retries, Rank reader = Rank{1}, std::uint32_t lanes = 1) {
  Alone alone;
  if (!retries) alone.fail_on_expiry();
  const Barrier barrier(alone.team);
  Fabric fabric = alone.lane(0, lanes);
  Fabric late(alone.site.handle(), gpu::LaneCoordinates{reader, Lane{0}, lanes});
  const auto expect = [&](Fabric& caller, WaitStatus status) {
    EXPECT_EQ(barrier.sync(caller), status);
    EXPECT_EQ(late.read(barrier.rows().from(Lane{0}, Rank{0})), 1U);
  };
  expect(fabric, WaitStatus::expired);
  // In the same kernel: the lane of a team that has failed does nothing more.
  expect(fabric, retries ? WaitStatus::refused : WaitStatus::aborted);
  // In a later launch, which the world tells of the failure.
  alone.site.handle().notes = 1;
  Fabric later = alone.lane(0, lanes);
  expect(later, WaitStatus::refused);
}

TEST(GpuFailure, WhoComesAgainDepositsNothing) {
  for (const bool retries : {true, false}) {
    fails_and_comes_again<CounterBarrier>(retries);
    fails_and_comes_again<CreditBarrier>(retries);
    fails_and_comes_again<FlipBarrier>(retries);
    fails_and_comes_again<SystemBarrier>(retries);
    fails_and_comes_again<GridBarrier>(retries, Rank{0}, 2);
  }
}

TEST(GpuFailure, HandTakePacketsAndWaitAnyFailTheTeam) {
  using Wait = WaitStatus (*)(Fabric&, Alone&);
  const Wait waits[] = {
      [](Fabric& fabric, Alone& alone) {
        const Signals signals = *alone.team.signals(1);
        EXPECT_EQ(fabric.hand(signals[0], Rank{1}), WaitStatus::ok);
        return fabric.hand(signals[0], Rank{1});
      },
      [](Fabric& fabric, Alone& alone) { return fabric.take((*alone.team.signals(1))[0]); },
      [](Fabric& fabric, Alone& alone) {
        const Condition condition{(*alone.team.signals(1))[0], Compare::ge, 1};
        return fabric.wait_any(&condition, 1).status;
      },
      [](Fabric& fabric, Alone& alone) {
        const PacketExchange<float, 2, 2> exchange(alone.team);
        auto tile = fabric.tile<float, 2, 2>();
        return exchange.wait(fabric, exchange.begin(fabric), Rank{1}, tile);
      }};
  for (const Wait wait : waits) {
    Alone alone;
    alone.fail_on_expiry();
    Fabric fabric = alone.lane();
    EXPECT_EQ(wait(fabric, alone), WaitStatus::expired);
    EXPECT_EQ(alone.stop(), static_cast<std::uint32_t>(WaitStatus::aborted));
  }
}

TEST(GpuFailure, ALoopOfTestsEndsWhereTheTeamHasFailed) {
  Alone alone(true, 0);
  const Signals signals = *alone.team.signals(1);
  Fabric fabric = alone.lane();
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::atomic_ref(*alone.site.handle().stop)
        .store(static_cast<std::uint32_t>(WaitStatus::peer_lost));
  });
  WaitStatus status = WaitStatus::pending;
  while (status == WaitStatus::pending) status = fabric.test(signals[0], Compare::ge, 1);
  EXPECT_EQ(status, WaitStatus::peer_lost);
  Fetched found;  // what changes nothing is a poll, too
  while (found.status == WaitStatus::ok) found = fabric.compare_swap(signals[0], Rank{1}, 1, 2);
  EXPECT_EQ(found.status, WaitStatus::peer_lost);
  stopper.join();
}

TEST(GpuFailure, HandTakePacketsAndWaitAnyExpire) {
  Alone alone;
  const Signals signals = *alone.team.signals(3);
  Fabric fabric = alone.lane();
  EXPECT_EQ(fabric.hand(signals[0], Rank{1}), WaitStatus::ok);
  EXPECT_EQ(fabric.hand(signals[0], Rank{1}), WaitStatus::expired);
  EXPECT_EQ(alone.operation(), gpu::Operation::hand);
  EXPECT_EQ(alone.record().peer, 1U);
  EXPECT_EQ(alone.record().seen, 1U);
  EXPECT_EQ(fabric.take(signals[1]), WaitStatus::expired);
  const Condition conditions[] = {{signals[1], Compare::ge, 1}, {signals[2], Compare::eq, 7}};
  EXPECT_EQ(fabric.wait_any(conditions, 2).status, WaitStatus::expired);
  const PacketExchange<float, 2, 2> exchange(alone.team);
  auto tile = fabric.tile<float, 2, 2>();
  const std::uint32_t flag = exchange.begin(fabric);
  EXPECT_EQ(exchange.wait(fabric, flag, Rank{1}, tile), WaitStatus::expired);
  EXPECT_EQ(fabric.test(signals[1], Compare::ge, 1), WaitStatus::pending);
}

TEST(GpuFailure, AnAbortEndsThisWaitAndAllLaterOnes) {
  Alone alone(true, 0);
  const EpochBarrier barrier(alone.team);
  Fabric fabric = alone.lane();
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::atomic_ref(*alone.site.handle().stop)
        .store(static_cast<std::uint32_t>(WaitStatus::peer_lost));
  });
  EXPECT_EQ(barrier.sync(fabric), WaitStatus::peer_lost);
  stopper.join();
  EXPECT_EQ(barrier.sync(fabric), WaitStatus::peer_lost);
  const Signals signals = *alone.team.signals(1);
  EXPECT_EQ(fabric.hand(signals[0], Rank{1}), WaitStatus::peer_lost);
  EXPECT_EQ(fabric.test(signals[0], Compare::eq, 0), WaitStatus::peer_lost);
}

// Of a window of 64 elements: to, from, count.
constexpr std::int64_t wrong_runs[][3] = {
    {-1, 0, 1}, {0, -1, 1}, {0, 0, -1},        {0, 0, 65},        {60, 0, 5},
    {0, 64, 1}, {8, 0, 64}, {0, 0, INT64_MAX}, {INT64_MAX, 0, 2}, {0, INT64_MIN, 2}};

// Each mistake: the operation that is named in the record. The lane goes on without harm.
template <class Mistake>
void expect_refused(gpu::Operation operation, gpu::Cause cause, Mistake mistake) {
  Alone alone;
  const EpochBarrier barrier(alone.team);
  const auto window = *alone.team.window<float>({8, 8});
  const auto slots = *alone.team.window<PacketLine>({4});
  Fabric fabric = alone.lane();
  mistake(fabric, barrier.rows(), window, slots);
  EXPECT_EQ(alone.record().complete, 1U);
  EXPECT_EQ(alone.record().status, static_cast<std::uint32_t>(WaitStatus::invalid));
  EXPECT_EQ(alone.operation(), operation);
  EXPECT_EQ(alone.cause(), cause);
  EXPECT_EQ(*alone.site.handle().stop, static_cast<std::uint32_t>(WaitStatus::aborted));
  EXPECT_EQ(fabric.converge(WaitStatus::ok), WaitStatus::invalid);
  EXPECT_EQ(barrier.sync(fabric), WaitStatus::invalid);
  EXPECT_EQ(fabric.local(window).size(), 64);  // still readable
}

TEST(GpuFailure, WrongArguments) {
  using gpu::Cause;
  using gpu::Operation;
  const Signal nowhere{0, 0x7fffffffU};
  expect_refused(Operation::notify, Cause::rank, [&](Fabric& fabric, Rows rows, auto, auto) {
    fabric.notify(rows.first, Rank{2}, 1, NotifyOp::set);
  });
  expect_refused(Operation::notify, Cause::cell, [&](Fabric& fabric, Rows, auto, auto) {
    fabric.notify(nowhere, Rank{1}, 1, NotifyOp::add);
  });
  expect_refused(Operation::notify, Cause::cell, [&](Fabric& fabric, Rows, auto, auto) {
    fabric.notify(Signal{static_cast<std::uint32_t>(gpu::detail::opaque(99)), 0}, Rank{1}, 1,
                  NotifyOp::add);
  });
  // Memory of windows is no cell.
  expect_refused(Operation::notify, Cause::cell, [&](Fabric& fabric, Rows, auto window, auto) {
    const auto cell = static_cast<std::uint32_t>(window.offset / gpu::cell_bytes);
    fabric.notify(Signal{0, cell}, Rank{1}, 1, NotifyOp::set);
  });
  expect_refused(Operation::wait, Cause::cell, [&](Fabric& fabric, Rows, auto, auto) {
    EXPECT_EQ(fabric.wait(nowhere, Compare::ge, 1), WaitStatus::invalid);
  });
  expect_refused(Operation::hand, Cause::rank, [&](Fabric& fabric, Rows rows, auto, auto) {
    EXPECT_EQ(fabric.hand(rows.first, Rank{7}), WaitStatus::invalid);
  });
  expect_refused(Operation::counter, Cause::cell, [&](Fabric& fabric, Rows, auto, auto) {
    fabric.set_counter(Counter{0, 0x7fffffffU}, 1);
  });
  expect_refused(Operation::window, Cause::team, [&](Fabric& fabric, Rows, auto window, auto) {
    ++window.team;
    EXPECT_EQ(fabric.local(window).size(), 0);
  });
  expect_refused(Operation::window, Cause::rank, [&](Fabric& fabric, Rows, auto window, auto) {
    EXPECT_EQ(fabric.address(window, Rank{2}).data(), fabric.local(window).data());
  });
  // Beyond the memory, over the cells, and offsets and extents whose sums wrap.
  for (const std::uint64_t offset :
       {std::uint64_t{HostSite::bytes}, std::uint64_t{0}, ~std::uint64_t{7}})
    expect_refused(Operation::window, Cause::segment, [&](Fabric& fabric, Rows, auto window, auto) {
      window.offset = offset;
      (void)fabric.local(window);
    });
  expect_refused(Operation::window, Cause::segment, [&](Fabric& fabric, Rows, auto window, auto) {
    window.rows = window.cols = std::int64_t{1} << 32U;
    (void)fabric.local(window);
  });
  expect_refused(Operation::packets, Cause::box, [&](Fabric& fabric, Rows, auto, auto slots) {
    auto tile = fabric.tile<float, 4, 8>();
    fabric.put_packets(slots, Rank{1}, 1, tile, 1);
  });
  expect_refused(Operation::packets, Cause::box, [&](Fabric& fabric, Rows, auto, auto slots) {
    fabric.clear_packets(slots, -1, 2);
  });
}

TEST(GpuFailure, WrongBoxesAndRuns) {
  for (const Box box :
       {Box{-1, 0, 1, 1}, Box{0, -1, 1, 1}, Box{0, 0, -1, 1}, Box{5, 0, 4, 1}, Box{0, 5, 1, 4},
        Box{8, 8, 1, 1}, Box{INT64_MAX, 0, 4, 4}, Box{0, INT64_MAX - 1, 4, 4}})
    expect_refused(gpu::Operation::tile, gpu::Cause::box,
                   [&](Fabric& fabric, Rows, auto window, auto) {
                     auto tile = fabric.tile<float, 4, 4>();
                     fabric.load(tile, window, box);
                     fabric.remote_store(tile, window, Rank{1}, box);
                     fabric.remote_add(tile, window, Rank{1}, box);
                   });
  for (const auto& run : wrong_runs)
    expect_refused(gpu::Operation::transfer, gpu::Cause::box,
                   [&](Fabric& fabric, Rows, auto window, auto) {
                     fabric.put(window, Rank{1}, run[0], window, run[1], run[2]);
                     (void)fabric.get(window, run[0], window, Rank{1}, run[1], run[2]);
                   });
}

// ---- one call, one deadline: the lane's one thread waits for seven ranks that never come

template <class Call>
void expect_one_deadline(const char* what, Call call) {
  constexpr std::chrono::milliseconds deadline{100};
  HostSite site(8);
  site.handle().deadline_ns =
      static_cast<std::uint64_t>(std::chrono::nanoseconds(deadline).count());
  HostTeam team(site, Rank{0});
  Fabric fabric(site.handle(), gpu::LaneCoordinates{Rank{0}, Lane{0}, 1});
  for (int repeat = 0; repeat < 2; ++repeat) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_NE(call(team, fabric), WaitStatus::ok) << what;
    const auto took = std::chrono::steady_clock::now() - begin;
    EXPECT_GE(took, deadline) << what;
    EXPECT_LT(took, 3 * deadline) << what;
  }
}

template <class Barrier>
WaitStatus sync_once(HostTeam& team, Fabric& fabric) {
  return Barrier(team).sync(fabric);
}

TEST(GpuFailure, SevenAbsentPeersCostOneDeadline) {
  expect_one_deadline("epoch", sync_once<EpochBarrier>);
  expect_one_deadline("credit", sync_once<CreditBarrier>);
  expect_one_deadline("flip", sync_once<FlipBarrier>);
  expect_one_deadline("counter", sync_once<CounterBarrier>);
  expect_one_deadline("dissemination", sync_once<DisseminationBarrier>);
  expect_one_deadline("system", sync_once<SystemBarrier>);
  expect_one_deadline("epoch, scoped", [](HostTeam& team, Fabric& fabric) {
    const EpochBarrier barrier(team);
    return barrier.scoped(fabric, [](auto& scope) { (void)scope.sync(); });
  });
  expect_one_deadline("packets", [](HostTeam& team, Fabric& fabric) {
    const PacketExchange<float, 1, 8> exchange(team);
    auto tile = fabric.tile<float, 1, 8>();
    const std::uint32_t flag = exchange.begin(fabric);
    WaitStatus status = WaitStatus::ok;
    for (std::uint32_t rank = 1; rank < 8; ++rank)
      status = worst(status, exchange.wait(fabric, flag, Rank{rank}, tile));
    return exchange.end(fabric, flag, status);
  });
}

TEST(GpuFailure, ATransferWithinARankMayNotOverlap) {
  for (const std::int64_t to : {9, 10, 11, 17})
    expect_refused(gpu::Operation::transfer, gpu::Cause::overlap,
                   [&](Fabric& fabric, Rows, auto window, auto) {
                     fabric.put(window, Rank{0}, to, window, 10, 8);
                   });
  Alone alone;
  auto window = *alone.team.window<float>({8, 8});
  Fabric fabric = alone.lane();
  fabric.local(window)[10] = 5;
  fabric.put(window, Rank{0}, 18, window, 10, 8);
  fabric.put(window, Rank{0}, 2, window, 10, 8);
  fabric.put(window, Rank{0}, 10, window, 10, 0);  // nothing
  fabric.put(window, Rank{1}, 10, window, 10, 8);  // another rank's
  EXPECT_EQ(alone.record().complete, 0U);
  EXPECT_EQ(fabric.local(window)[18], 5.0F);
  EXPECT_EQ(fabric.local(window)[2], 5.0F);
  EXPECT_EQ(fabric.address(window, Rank{1})[10], 5.0F);
}

TEST(GpuFailure, ASeatThatDoesNotExist) {
  for (const auto& [rank, lane, lanes] :
       {std::tuple(2U, 0U, 1U), std::tuple(~0U, 0U, 1U), std::tuple(0U, 1U, 1U)}) {
    Alone alone(false);
    const EpochBarrier barrier(alone.team);
    Fabric fabric(alone.site.handle(), gpu::LaneCoordinates{Rank{rank}, Lane{lane}, lanes});
    EXPECT_EQ(alone.operation(), gpu::Operation::launch);
    EXPECT_EQ(alone.cause(), gpu::Cause::coordinates);
    EXPECT_EQ(alone.record().number[0], rank);
    EXPECT_EQ(alone.record().number[1], lane);
    EXPECT_EQ(fabric.converge(WaitStatus::ok), WaitStatus::invalid);
  }
}

TEST(GpuFailure, MoreLanesThanRowsHaveRoomFor) {
  Alone alone(false);
  const EpochBarrier barrier(alone.team);
  Fabric fabric = alone.lane(HostSite::max_lanes, HostSite::max_lanes + 1);
  EXPECT_EQ(alone.operation(), gpu::Operation::launch);
  EXPECT_EQ(alone.cause(), gpu::Cause::lanes);
  EXPECT_EQ(alone.record().number[0], HostSite::max_lanes + 1);
  EXPECT_EQ(barrier.sync(fabric), WaitStatus::invalid);
  // Nothing was deposited into the rows that come after.
  const Signals after = *alone.team.signals(1);
  HostTeam other(alone.site, Rank{1});
  Fabric reader(alone.site.handle(), gpu::LaneCoordinates{Rank{1}, Lane{0}, 1});
  for (std::uint32_t cell = 0; cell <= after.first.cell; ++cell)
    EXPECT_EQ(reader.read(Signal{0, cell}), 0U) << "cell " << cell;
}

// A kernel for at most 8 ranks has addresses of no more.
TEST(GpuFailure, MoreRanksThanTheKernelIsFor) {
  HostSite site(gpu::near_ranks + 1);
  HostTeam team(site, Rank{0});
  const EpochBarrier barrier(team);
  Fabric fabric(site.handle(), gpu::LaneCoordinates{Rank{0}, Lane{0}, 1});
  EXPECT_EQ(gpu::Operation{site.record(Rank{0}).operation}, gpu::Operation::team);
  EXPECT_EQ(barrier.sync(fabric), WaitStatus::invalid);
  gpu::Fabric<gpu::Thread, gpu::Ranks::many, true> other(site.handle(),
                                                         gpu::LaneCoordinates{Rank{1}, Lane{0}, 1});
  const Signals all = *team.signals(1);
  for (std::uint32_t cell = 0; cell <= all.first.cell; ++cell)
    EXPECT_EQ(other.read(Signal{0, cell}), 0U) << "cell " << cell;
}

}  // namespace
