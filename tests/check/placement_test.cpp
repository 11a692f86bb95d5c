// Where lanes run: how it is said, whom Scope::device reaches, and what is atomic towards what.
#include "check/asking.hpp"

namespace muster::check {
namespace {

constexpr Profile every_profile[] = {Profile::rdma, Profile::direct, Profile::sc};

std::string refusal(const char* text) {
  const Result<Placement> placement = placement_of(text);
  return placement ? "" : placement.error().what;
}

Options placed(const char* text, std::uint32_t ranks = 2, Profile profile = Profile::direct,
               std::uint32_t lanes = 1) {
  Options options = options_for(ranks, profile);
  options.lanes = lanes;
  options.place = *placement_of(text);
  EXPECT_EQ(misplaced(options.place, ranks, lanes), std::nullopt);
  return options;
}

TEST(Placement, IsReadAndWritten) {
  for (const std::string text : {"", "0=gpu0,1=gpu1", "all=gpu,all.1=host,2.0=nic"})
    EXPECT_EQ(to_string(*placement_of(text)), text);
}

TEST(Placement, WhatIsNoneIsNamed) {
  EXPECT_EQ(refusal("0:gpu0"), "'0:gpu0' places nothing: it wants WHO=WHERE, as in 0=gpu0");
  EXPECT_EQ(refusal("0=gpu0,x=gpu1"),
            "'x' in 'x=gpu1' is no rank or lane: it wants 0, all, or with a lane 0.1, all.1");
  EXPECT_EQ(refusal("0.=host"),
            "'0.' in '0.=host' is no rank or lane: it wants 0, all, or with a lane 0.1, all.1");
  EXPECT_EQ(refusal("all=gpux"),
            "'gpux' in 'all=gpux' is no place: there are host, gpu, gpu0, ... and nic");
  EXPECT_EQ(refusal("all=tpu"),
            "'tpu' in 'all=tpu' is no place: there are host, gpu, gpu0, ... and nic");
}

TEST(Placement, MustFitTheRanksAndLanes) {
  EXPECT_EQ(misplaced(*placement_of("all=gpu,2=host"), 2, 1), "rank 2 of 2 does not exist");
  EXPECT_EQ(misplaced(*placement_of("all=gpu,all.1=host"), 2, 1), "lane 1 of 1 does not exist");
  EXPECT_EQ(misplaced(*placement_of("0=gpu0"), 2, 1), "rank 1 has no place, and others have");
  EXPECT_EQ(misplaced(*placement_of("all.0=gpu0"), 2, 2),
            "rank 0 lane 1 has no place, and others have");
}

// Rank 0 tells rank 1 in the scope of a device.
void tell_in_device_scope(model::Team& team) {
  const auto inbox = *team.window<int>({1}, "inbox");
  const Signal ready = (*team.signals(1))[0];
  (void)team.lane([&](auto& fabric) {
    if (fabric.rank() == Rank(0))
      fabric.notify(ready, Rank(1), 1, NotifyOp::set, Order::release, Scope::device);
    else if (fabric.wait(ready, Compare::ge, 1, Order::acquire, Scope::device) == WaitStatus::ok)
      fabric.local(inbox)[0] = 1;
  });
}

TEST(Placement, TheScopeOfADeviceFollowsIt) {
  for (const Profile profile : every_profile) {
    for (const char* together : {"0=gpu0,1=gpu0", "all=host"})
      EXPECT_VERDICT(explore(placed(together, 2, profile), tell_in_device_scope), certified);
    for (const char* apart : {"", "0=gpu0,1=gpu1", "all=gpu", "0=gpu0,1=host", "all=nic"})
      EXPECT_FINDS(explore(placed(apart, 2, profile), tell_in_device_scope), scope);
  }
}

// A lane of the host beside the rank's lane on its GPU is not on that device.
TEST(Placement, LanesOfARankMayBeOnTwoDevices) {
  const auto program = [](model::Team& team) {
    const Signal ready = (*team.signals(1))[0];
    (void)team.lanes(2, [&](auto& fabric) {
      if (fabric.lane() == Lane(0))
        fabric.notify(ready, fabric.rank(), 1, NotifyOp::set, Order::release, Scope::device);
      else
        (void)fabric.wait(ready, Compare::ge, 1, Order::acquire, Scope::device);
    });
  };
  EXPECT_VERDICT(explore(placed("", 2, Profile::direct, 2), program), certified);
  EXPECT_VERDICT(explore(placed("all=gpu", 2, Profile::direct, 2), program), certified);
  EXPECT_FINDS(explore(placed("all=gpu,all.1=host", 2, Profile::direct, 2), program), scope);
}

// Ranks 0 and 1 change a cell of rank 0 by adds, fetched operations, or one of each.
template <class First, class Second>
Program both_change(First&& first, Second&& second) {
  return [=](model::Team& team) {
    const Signal cell = (*team.signals(1))[0];
    (void)team.lane([&](auto& fabric) {
      if (fabric.rank() == Rank(0)) first(fabric, cell);
      if (fabric.rank() == Rank(1)) second(fabric, cell);
    });
  };
}

TEST(Domains, ReadModifyWritesOfTwoAreRefuted) {
  const auto add = [](auto& fabric, Signal cell) {
    fabric.notify(cell, Rank(0), 1, NotifyOp::add);
  };
  const auto fetch = [](auto& fabric, Signal cell) { (void)fabric.fetch_add(cell, Rank(0), 1); };
  const auto swap = [](auto& fabric, Signal cell) { (void)fabric.exchange(cell, Rank(0), 0); };
  const auto idle = [](auto& fabric, Signal cell) { (void)fabric.fetch_add(cell, Rank(0), 0); };
  for (const Profile profile : every_profile)
    for (const Program& program :
         {both_change(add, add), both_change(add, fetch), both_change(fetch, add),
          both_change(add, swap), both_change(idle, add), both_change(add, idle)}) {
      for (const char* apart : {"0=host,1=gpu0", "0=nic,1=gpu0", "0=host,1=nic"})
        EXPECT_FINDS(explore(placed(apart, 2, profile), program), domain);
      for (const char* one : {"", "0=gpu0,1=gpu1", "all=host", "all=nic"}) {
        const Report report = explore(placed(one, 2, profile), program);
        EXPECT_TRUE(answered(report)) << one << ": " << told(report);
      }
    }
}

TEST(Domains, TheReportNamesBothAndTheFabric) {
  const auto add = [](auto& fabric, Signal cell) {
    fabric.notify(cell, Rank(0), 1, NotifyOp::add);
  };
  const Report host = explore(placed("0=host,1=gpu3"), both_change(add, add));
  for (const char* words :
       {"signals 0[0] of rank 0 is changed by ", "by rank 0 on the host (", "by rank 1 on GPU 3 ("})
    EXPECT_NE(told(host).find(words), std::string::npos) << words << told(host);
  EXPECT_NE(told(host).find("hostNativeAtomicSupported"), std::string::npos) << told(host);
  const Report adapter = explore(placed("0=nic,1=gpu3"), both_change(add, add));
  EXPECT_NE(told(adapter).find("IBV_ATOMIC_HCA"), std::string::npos) << told(adapter);
}

// One that is known to be done before the other begins is no danger, whatever makes it.
TEST(Domains, OneAfterTheOtherIsRight) {
  for (const bool waits : {true, false}) {
    const Program program = [&](model::Team& team) {
      const Signals cells = *team.signals(2);
      (void)team.lane([&](auto& fabric) {
        if (fabric.rank() == Rank(0)) {
          fabric.notify(cells[0], Rank(1), 1, NotifyOp::add);
          fabric.notify(cells[1], Rank(1), 1, NotifyOp::set);
        } else if (!waits || fabric.wait(cells[1], Compare::ge, 1) == WaitStatus::ok) {
          fabric.notify(cells[0], Rank(1), 1, NotifyOp::add);
        }
      });
    };
    for (const Profile profile : every_profile) {
      const Report report = explore(placed("0=host,1=gpu0", 2, profile), program);
      EXPECT_EQ(report.has(Kind::domain), !waits) << told(report);
      EXPECT_EQ(answered(report), waits) << told(report);
    }
  }
}

// An add that is ordered after another one does not hide it from a third.
TEST(Domains, RemoteAddsAreFoundBehindLaterOnes) {
  const Program program = [](model::Team& team) {
    const auto sum = *team.window<int>({1}, "sum");
    const Signal told = (*team.signals(1))[0];
    (void)team.lane([&](auto& fabric) {
      auto part = fabric.template tile<int, 1, 1>();
      part.each([](std::int64_t, std::int64_t, int& value) { value = 1; });
      if (fabric.rank() == Rank(1) && fabric.wait(told, Compare::ge, 1) != WaitStatus::ok) return;
      fabric.remote_add(part, sum, Rank(0), Box{0, 0, 1, 1});
      if (fabric.rank() == Rank(0)) fabric.notify(told, Rank(1), 1, NotifyOp::set);
    });
  };
  for (const Profile profile : every_profile) {
    EXPECT_FINDS(explore(placed("0=host,1=gpu0,2=gpu0", 3, profile), program), domain);
    EXPECT_VERDICT(explore(placed("0=host,1=gpu0", 2, profile), program), certified);
    EXPECT_VERDICT(explore(placed("all=gpu", 3, profile), program), certified);
  }
}

}  // namespace
}  // namespace muster::check
