// Parts of lanes: who meets, what is theirs, and in which scope they speak.
#include "check/asking.hpp"
#include "muster/barrier.hpp"

namespace muster::check {
namespace {

constexpr Profile profiles[] = {Profile::rdma, Profile::direct, Profile::sc};

Options with_threads(std::uint32_t threads, Profile profile = Profile::direct,
                     std::uint32_t ranks = 2) {
  Options options = options_for(ranks, profile);
  options.threads = threads;
  return options;
}

bool says(const Report& report, const std::string& words) {
  for (const Finding& finding : report.findings)
    if (finding.what.find(words) != std::string::npos) return true;
  return false;
}

TEST(Parts, HaveThreadsOfTheirOwn) {
  const Report report = explore(with_threads(5), [](model::Team& team) {
    const auto window = *team.window<int>({1});
    (void)team.lane([&](auto& fabric) {
      const std::uint32_t own = fabric.thread();
      expect(fabric, fabric.threads() == 5);
      expect(fabric, fabric.template in_part<Threads<2>>(0) == (own < 2));
      expect(fabric, fabric.template in_part<Warps<3>>(2) == (own >= 2));
      if (own < 2) {
        auto part = fabric.template part<Threads<2>>(0);
        expect(part, part.threads() == 2 && part.thread() == own);
        expect(part, part.rank() == fabric.rank() && part.lane() == fabric.lane());
        expect(part, part.broadcast(10 + own) == 10);
      } else {
        auto part = fabric.template part<Warps<3>>(2);
        expect(part, part.threads() == 3 && part.thread() == own - 2);
        expect(part, part.broadcast(10 + own) == 12);
        expect(part, part.converge(own == 4 ? WaitStatus::expired : WaitStatus::ok) ==
                         WaitStatus::expired);
      }
      fabric.converge();
      if (own == 0) fabric.local(window)[0] = 1;
    });
  });
  EXPECT_VERDICT(report, certified);
}

// Tiles, puts and gets are shared out among the threads of the part, whatever the others do.
TEST(Parts, TransferByThemselves) {
  for (const Profile profile : profiles) {
    const Report report = explore(with_threads(4, profile, 3), [](model::Team& team) {
      const auto from = *team.window<int>({4}, "from");
      const auto put = *team.window<int>({4}, "put");
      const auto got = *team.window<int>({4}, "got");
      const EpochBarrier first(team);
      const EpochBarrier second(team);
      (void)team.lane([&](auto& fabric) {
        const auto value = [](Rank rank, int at) { return static_cast<int>(rank.value) * 10 + at; };
        fabric.local(from)[fabric.thread()] =
            value(fabric.rank(), static_cast<int>(fabric.thread()));
        fabric.converge();
        WaitStatus status = WaitStatus::ok;
        if (fabric.template in_part<Threads<1>>(0)) {
          auto part = fabric.template part<Threads<1>>(0);
          part.put(put, right_of(part), 0, from, 0, 4);
          status = second.sync(part);
          for (int at = 0; at < 4; ++at)
            expect(part, part.local(put)[at] == value(left_of(part), at), "what was put");
        } else {
          auto part = fabric.template part<Threads<3>>(1);
          status = first.sync(part);
          status = worst(status, part.get(got, 0, from, right_of(part), 0, 4));
          auto tile = part.template tile<int, 2, 2>();
          part.load(tile, WindowRef<int>{got.offset, 2, 2, got.segment, got.team}, Box{0, 0, 2, 2});
          tile.each([&](std::int64_t row, std::int64_t col, int& element) {
            expect(part, element == value(right_of(part), static_cast<int>(2 * row + col)),
                   "what was got");
          });
          status = worst(status, first.sync(part, use::full));
        }
        return fabric.converge(status);
      });
    });
    EXPECT_VERDICT(report, certified) << name_of(profile);
  }
}

// Each part by a barrier of its own, another number of times: their calls are no mismatch.
TEST(Parts, MeetTheirLikeOnOtherRanks) {
  for (const Profile profile : profiles) {
    const Report report = explore(with_threads(4, profile), [](model::Team& team) {
      const EpochBarrier one(team);
      const FlipBarrier other(team);
      (void)team.lane([&](auto& fabric) {
        WaitStatus status = WaitStatus::ok;
        if (fabric.template in_part<Threads<2>>(0)) {
          auto part = fabric.template part<Threads<2>>(0);
          for (int call = 0; call < 3; ++call)
            status = worst(status, barrier_call(
                                       part, [&] { return one.sync(part); }, 0));
        } else {
          auto part = fabric.template part<Threads<2>>(2);
          for (int call = 0; call < 2; ++call)
            status = worst(status, barrier_call(
                                       part, [&] { return other.sync(part); }, 1));
        }
        return fabric.converge(status);
      });
    });
    EXPECT_VERDICT(report, certified) << name_of(profile);
  }
}

TEST(Parts, InDifferentCallsAreNamed) {
  const Report report = explore(with_threads(2), [](model::Team& team) {
    const EpochBarrier one(team);
    const CreditBarrier other(team);
    (void)team.lane([&](auto& fabric) {
      WaitStatus status = WaitStatus::ok;
      if (fabric.template in_part<Threads<1>>(1)) {
        auto part = fabric.template part<Threads<1>>(1);
        status = part.rank() == Rank{0} ? one.sync(part) : other.sync(part);
      }
      return fabric.converge(status);
    });
  });
  EXPECT_FINDS(report, divergence);
}

TEST(Parts, ThatDoNotExistAreNamed) {
  const Report report = explore(with_threads(2), [](model::Team& team) {
    (void)team.lane([&](auto& fabric) {
      auto part = fabric.template part<Threads<2>>(1);
      expect(part, part.threads() == 1);
    });
  });
  EXPECT_FINDS(report, contract);
  EXPECT_TRUE(says(report, "a part of 2 threads from 1 on, of a lane of 2")) << told(report);

  const Report others = explore(with_threads(2), [](model::Team& team) {
    (void)team.lane([&](auto& fabric) {
      auto part = fabric.template part<Threads<1>>(0);
      part.converge();
    });
  });
  EXPECT_FINDS(others, contract);
  EXPECT_TRUE(says(others, "thread 1 makes a part of threads 0 to 0, which it is none of"))
      << told(others);
}

// Two parts with a thread in common, whoever makes them; one part made twice is one.
TEST(Parts, ThatOverlapAreNamed) {
  const Report report = explore(with_threads(3), [](model::Team& team) {
    (void)team.lane([&](auto& fabric) {
      if (fabric.thread() == 0) {
        auto part = fabric.template part<Threads<2>>(0);
        part.converge();
      } else {
        auto part = fabric.template part<Threads<2>>(1);
        part.converge();
        if (fabric.thread() == 1) part.converge();
      }
    });
  });
  EXPECT_FINDS(report, contract);
  EXPECT_TRUE(
      says(report, "a part of threads 1 to 2 is made while one of threads 0 to 1 is in use"))
      << told(report);

  const Report same = explore(with_threads(3), [](model::Team& team) {
    const auto window = *team.window<int>({1});
    (void)team.lane([&](auto& fabric) {
      for (int again = 0; again < 2 && fabric.thread() < 2; ++again)
        fabric.template part<Threads<2>>(0).converge();
      fabric.converge();
      if (fabric.thread() > 0) fabric.template part<Threads<2>>(1).converge();
      fabric.converge();
      if (fabric.thread() == 0) fabric.local(window)[0] = 1;
    });
  });
  EXPECT_VERDICT(same, certified);
}

// ---- scopes

// A count that lanes of a rank, or threads of a lane, keep together; the last adds what it saw.
Report counted_by(std::uint32_t lanes, std::uint32_t threads, Scope scope, bool by_peers) {
  Options options = with_threads(threads);
  options.lanes = lanes;
  return explore(options, [&](model::Team& team) {
    const auto window = *team.window<int>({lanes * threads});
    const Signal count = (*team.signals(1))[0];
    (void)team.lanes(lanes, [&](auto& fabric) -> WaitStatus {
      const std::uint32_t own = fabric.lane().value * fabric.threads() + fabric.thread();
      const Rank to = by_peers ? right_of(fabric) : fabric.rank();
      if (!by_peers) fabric.local(window)[own] = 1;
      fabric.notify(count, to, 1, NotifyOp::add, Order::release, scope);
      WaitStatus status = WaitStatus::ok;
      if (own == 0)
        status = fabric.wait(count, Compare::ge, lanes * threads, Order::acquire, scope);
      if (own == 0 && !by_peers)
        for (std::uint32_t at = 0; at < lanes * threads; ++at)
          expect(fabric, fabric.local(window)[at] == 1, "all have written");
      return fabric.converge(status);
    });
  });
}

TEST(Scopes, BlockIsOneLane) {
  EXPECT_VERDICT(counted_by(1, 3, Scope::block, false), certified);
  EXPECT_FINDS(counted_by(2, 1, Scope::block, false), scope);
  EXPECT_FINDS(counted_by(1, 1, Scope::block, true), scope);
}

TEST(Scopes, DeviceIsOneRank) {
  EXPECT_VERDICT(counted_by(2, 2, Scope::device, false), certified);
  EXPECT_FINDS(counted_by(1, 1, Scope::device, true), scope);
  EXPECT_VERDICT(counted_by(2, 1, Scope::system, true), certified);
}

// The narrower of two scopes counts, and what happens before needs none.
TEST(Scopes, OfOrderedAccessesMayDiffer) {
  const Report report = explore(with_threads(2), [](model::Team& team) {
    const auto window = *team.window<int>({2});
    const Signal cell = (*team.signals(1))[0];
    const EpochBarrier barrier(team);
    (void)team.lane([&](auto& fabric) {
      WaitStatus status = WaitStatus::ok;
      fabric.local(window)[0 + fabric.thread()] = 1;
      if (fabric.thread() == 0)
        fabric.notify(cell, fabric.rank(), 1, NotifyOp::set, Order::release, Scope::block);
      else
        status = fabric.wait(cell, Compare::ge, 1, Order::acquire, Scope::block);
      if (fabric.thread() == 1) expect(fabric, fabric.local(window)[0] == 1);
      status = fabric.converge(status);
      status = worst(status, barrier.sync(fabric));
      if (fabric.thread() == 1) {
        fabric.notify(cell, right_of(fabric), 2, NotifyOp::set);
        status = worst(status, fabric.wait(cell, Compare::ge, 2));
      }
      return fabric.converge(status);
    });
  });
  EXPECT_VERDICT(report, certified);
}

}  // namespace
}  // namespace muster::check
