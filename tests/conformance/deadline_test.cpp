// One call, one deadline: a call that several peers do not answer expires as soon as one that a
// single peer does not answer, whatever the call; and calls, and waits outside of them, do not use
// up each other's time.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "muster/muster.hpp"
#include "muster/packet.hpp"
#include "support/board.hpp"
#include "support/checks.hpp"

namespace muster {
namespace {

using std::chrono::milliseconds;
using testing::Board;
using testing::Checks;

constexpr std::uint32_t ranks = 8;
constexpr milliseconds timeout{400};

class Deadlines : public ::testing::TestWithParam<RunAs> {
 protected:
  // Runs the body on all ranks; its own verdict reaches the test through the board.
  void expect_held(const std::function<Result<void>(const Board&, Team&)>& body) const {
    const Board board;
    (void)run({.ranks = ranks, .as = GetParam(), .timeout = timeout, .on_expiry = OnExpiry::retry},
              [&](Team& team) { board[team.rank().value].report(body(board, team)); });
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      EXPECT_TRUE(board[rank].reported) << "rank " << rank << " did not end";
      EXPECT_FALSE(board[rank].failed) << "rank " << rank << ": " << board[rank].text.data();
    }
  }

  // Rank 0 makes the call, the other seven never do. It expires after one time-out, not seven.
  template <class Make, class Call>
  void expect_one_deadline(Make make, Call call) const {
    expect_held([&](const Board& board, Team& team) {
      const auto made = make(team);
      const auto met = team.sync();
      return alone(board, team, met, [&] { return call(team, made); });
    });
  }
  template <class Barrier>
  void expect_one_deadline_of() const {
    const auto make = [](Team& team) { return Barrier(team); };
    expect_one_deadline(make, [](Team& team, const Barrier& barrier) {
      return team.lane([&](auto& fabric) { return barrier.sync(fabric); });
    });
    expect_one_deadline(make, [](Team& team, const Barrier& barrier) {
      return team.lane([&](auto& fabric) { return barrier.wait(fabric, barrier.arrive(fabric)); });
    });
    if constexpr (requires(Barrier b, host::Fabric & f) { b.scoped(f, [](auto&) {}); })
      expect_one_deadline(make, [](Team& team, const Barrier& barrier) {
        return team.lane([&](auto& fabric) {
          return barrier.scoped(fabric, [](auto& scope) { (void)scope.sync(); });
        });
      });
  }

 private:
  template <class Call>
  static Result<void> alone(const Board& board, Team& team, const Result<void>& met, Call call) {
    Checks checks;
    checks.ok(met, "sync before");
    std::atomic<std::uint32_t>& done = board[0].rounds;
    if (team.rank() != Rank{0}) {
      while (done.load(std::memory_order_acquire) == 0)
        std::this_thread::sleep_for(milliseconds(5));
      return checks.done();
    }
    const std::int64_t before = testing::monotonic_ns();
    const Result<void> ended = call();
    const auto took = std::chrono::nanoseconds(testing::monotonic_ns() - before);
    done.store(1, std::memory_order_release);
    checks.refused(ended, ErrorCode::expired, "the call");
    checks.holds(took >= timeout, "it waited for its time-out");
    checks.holds(took < 4 * timeout, "one deadline, took " +
                                         std::to_string(took / milliseconds(1)) + " ms of " +
                                         std::to_string(timeout.count()));
    return checks.done();
  }
};

INSTANTIATE_TEST_SUITE_P(As, Deadlines, ::testing::Values(threads, processes), [](const auto& one) {
  return one.param == threads ? "threads" : "processes";
});

TEST_P(Deadlines, EpochBarrier) {
  expect_one_deadline_of<EpochBarrier>();
}
TEST_P(Deadlines, DisseminationBarrier) {
  expect_one_deadline_of<DisseminationBarrier>();
}
TEST_P(Deadlines, Barrier) {
  expect_one_deadline_of<Barrier>();
}
TEST_P(Deadlines, CounterBarrier) {
  expect_one_deadline_of<CounterBarrier>();
}
TEST_P(Deadlines, CreditBarrier) {
  expect_one_deadline_of<CreditBarrier>();
}
TEST_P(Deadlines, FlipBarrier) {
  expect_one_deadline_of<FlipBarrier>();
}
TEST_P(Deadlines, SystemBarrier) {
  expect_one_deadline_of<SystemBarrier>();
}

// Two lanes on each rank: both wait for the other ranks, then for each other.
TEST_P(Deadlines, SystemBarrierOfTwoLanes) {
  expect_one_deadline([](Team& team) { return SystemBarrier(team); },
                      [](Team& team, const SystemBarrier& barrier) {
                        return team.lanes(2, [&](auto& fabric) { return barrier.sync(fabric); });
                      });
}

using Exchange = PacketExchange<float, 2, 3>;

template <class F>
WaitStatus exchange_once(F& fabric, const Exchange& exchange) {
  auto tile = fabric.template tile<float, 2, 3>();
  const std::uint32_t flag = exchange.begin(fabric);
  WaitStatus status = WaitStatus::ok;
  for_each_peer(fabric, [&](Rank peer) { exchange.put(fabric, flag, peer, tile); });
  for_each_peer(
      fabric, [&](Rank peer) { status = worst(status, exchange.wait(fabric, flag, peer, tile)); });
  return exchange.end(fabric, flag, status);
}

TEST_P(Deadlines, PacketExchange) {
  expect_one_deadline(
      [](Team& team) { return Exchange(team); },
      [](Team& team, const Exchange& exchange) {
        return team.lane([&](auto& fabric) { return exchange_once(fabric, exchange); });
      });
}

// ---- set-up

template <class T>
Result<void> only_status(const Result<T>& result) {
  return result ? Result<void>() : Result<void>(result.error());
}

TEST_P(Deadlines, SetUpCalls) {
  const auto expect = [&](auto call) {
    expect_one_deadline([](Team& team) { return *team.split(0); },
                        [&](Team& /*all*/, Team part) { return only_status(call(part)); });
  };
  expect([](Team& team) { return team.sync(); });
  expect([](Team& team) { return team.window<float>({4}); });
  expect([](Team& team) { return team.allocate(64); });
  expect([](Team& team) { return team.rows(); });
  expect([](Team& team) { return team.signals(1); });
  expect([](Team& team) { return team.split(0); });
  expect([](Team& team) { return team.close(); });
  expect([](Team& team) { return team.shrink(); });
  expect([](Team& team) {
    const int fd = memfd_create("brought", MFD_CLOEXEC);
    if (ftruncate(fd, 4096) != 0)
      return Result<WindowRef<float>>(Error{ErrorCode::system, "no memfd"});
    auto window = team.window_on<float>(fd, 0, {4});
    close(fd);
    return window;
  });
}

TEST_P(Deadlines, Free) {
  const auto signals = [](Team& team) { return *team.signals(1); };
  expect_one_deadline(signals, [](Team& team, Signals freed) { return team.free(freed); });
  const auto window = [](Team& team) { return *team.window<float>({4}); };
  expect_one_deadline(window, [](Team& team, WindowRef<float> freed) { return team.free(freed); });
}

// ---- peers that come one after another, each in less than the time-out

// Rank k comes k * 0.4 time-outs after rank 0, whose call expires all the same after one.
template <class Call>
Result<void> one_after_another(Team& team, Call call) {
  std::this_thread::sleep_for(team.rank().value * timeout * 2 / 5);
  const std::int64_t before = testing::monotonic_ns();
  const Result<void> ended = team.lane(call);
  const auto took = std::chrono::nanoseconds(testing::monotonic_ns() - before);
  Checks checks;
  if (team.rank() != Rank{0}) return checks.done();
  checks.refused(ended, ErrorCode::expired, "the call");
  checks.holds(took < timeout * 5 / 2, "one deadline, took " +
                                           std::to_string(took / milliseconds(1)) + " ms of " +
                                           std::to_string(timeout.count()));
  return checks.done();
}

TEST_P(Deadlines, PeersThatComeOneAfterAnother) {
  expect_held([](const Board&, Team& team) {
    const EpochBarrier barrier(team);
    return one_after_another(team, [&](auto& fabric) { return barrier.sync(fabric); });
  });
  expect_held([](const Board&, Team& team) {
    const CreditBarrier barrier(team);
    return one_after_another(team, [&](auto& fabric) { return barrier.sync(fabric); });
  });
  expect_held([](const Board&, Team& team) {
    const FlipBarrier barrier(team);
    return one_after_another(team, [&](auto& fabric) { return barrier.sync(fabric); });
  });
  expect_held([](const Board&, Team& team) {
    const Exchange exchange(team);
    return one_after_another(team, [&](auto& fabric) { return exchange_once(fabric, exchange); });
  });
}

// ---- what shares no deadline

constexpr int turns = 4;
constexpr milliseconds pause_of_one{
    150};  // of the time-out less than half, and all of them more than it

TEST_P(Deadlines, EachCallHasItsOwn) {
  expect_held([](const Board&, Team& team) {
    const EpochBarrier epoch(team);
    const FlipBarrier flip(team);
    const Exchange exchange(team);
    return team.lane([&](auto& fabric) {
      WaitStatus status = WaitStatus::ok;
      for (int turn = 0; turn < turns && status == WaitStatus::ok; ++turn) {
        if (fabric.rank() == Rank{1}) std::this_thread::sleep_for(pause_of_one);
        if (turn % 4 == 3) status = exchange_once(fabric, exchange);
        if (turn % 4 == 2) status = flip.sync(fabric);
        if (turn % 4 < 2) status = epoch.sync(fabric);
      }
      return status;
    });
  });
}

TEST_P(Deadlines, EachCallOfAScopeHasItsOwn) {
  expect_held([](const Board&, Team& team) {
    const EpochBarrier barrier(team);
    return team.lane([&](auto& fabric) {
      return barrier.scoped(fabric, [&](auto& scope) {
        for (int turn = 0; turn < turns; ++turn) {
          if (fabric.rank() == Rank{1}) std::this_thread::sleep_for(pause_of_one);
          (void)scope.sync();
        }
      });
    });
  });
}

TEST_P(Deadlines, EachWaitOutsideOfCallsHasItsOwn) {
  expect_held([](const Board&, Team& team) {
    const Signals turn_of = *team.signals(1);
    const EpochBarrier barrier(team);
    return team.lane([&](auto& fabric) {
      WaitStatus status = barrier.sync(fabric);
      for (std::uint32_t turn = 1; turn <= turns && status == WaitStatus::ok; ++turn) {
        if (fabric.rank() == Rank{0}) {
          std::this_thread::sleep_for(pause_of_one);
          for_each_peer(fabric,
                        [&](Rank peer) { fabric.notify(turn_of[0], peer, turn, NotifyOp::set); });
        } else {
          status = fabric.wait(turn_of[0], Compare::ge, turn);
        }
      }
      return worst(status, barrier.sync(fabric));
    });
  });
}

}  // namespace
}  // namespace muster
