// What a check does not need is found by running without it, on every profile that it holds on.
#include "check/hints.hpp"

#include <algorithm>
#include <string>

#include "check/asking.hpp"

namespace muster::check {
namespace {

std::vector<Holding> holding_on(const Entry& entry, const std::vector<Profile>& profiles,
                                std::uint32_t threads = 1) {
  std::vector<Holding> all;
  for (const Profile profile : profiles) {
    Options options = options_for(2, profile);
    options.threads = threads;
    all.push_back({options, explore(options, entry.body)});
    EXPECT_TRUE(answered(all.back().report)) << told(all.back().report);
  }
  return all;
}

std::vector<std::string> said(const std::vector<Hint>& hints) {
  std::vector<std::string> all;
  for (const Hint& hint : hints) {
    const std::string text = describe(hint.repair);
    all.push_back(text.substr(text.find(": ") + 2));
    for (const Site& site : hint.with) all.back() += " with the " + site.operation;
    all.back() += " (" + hint.costs + ")";
  }
  std::sort(all.begin(), all.end());
  return all;
}

using Words = std::vector<std::string>;

// Told twice, where once would do: either may go, with the notify that only it waits for.
Entry told_twice() {
  Entry entry;
  entry.body = [](model::Team& team) {
    const auto data = *team.window<int>({1}, "data");
    const Signals told = *team.signals(2);
    (void)team.lane([&](auto& fabric) {
      if (fabric.rank() == Rank{0}) {
        fabric.address(data, Rank{1})[0] = 7;
        fabric.notify(told[0], Rank{1}, 1, NotifyOp::set);
        fabric.notify(told[1], Rank{1}, 1, NotifyOp::set);
        return;
      }
      (void)fabric.wait(told[0], Compare::ge, 1);
      (void)fabric.wait(told[1], Compare::ge, 1);
      expect(fabric, fabric.local(data)[0] == 7, "the number is there");
    });
  };
  return entry;
}

TEST(Hints, AWaitThatIsNotNeededGoesWithItsNotify) {
  const Entry entry = told_twice();
  const auto holding = holding_on(entry, {Profile::sc, Profile::direct});
  const Hints hints = hints_for(entry, holding, {});
  EXPECT_EQ(
      said(hints.spare),
      (Words{"the notify may be relaxed (release, once in a run)",
             "the notify may be relaxed (release, once in a run)",
             "the wait may be left out with the notify (saves 1 of 2 notifies, 1 of 2 waits)",
             "the wait may be left out with the notify (saves 1 of 2 notifies, 1 of 2 waits)"}));
  EXPECT_EQ(hints.needed, 2U);  // each notify, as long as somebody waits for it
  EXPECT_TRUE(hints.undecided.empty());
  EXPECT_EQ(hints.not_tried, 0U);
}

// On sc a flush does nothing, so that to leave it out there says nothing.
Entry flushes() {
  Entry entry;
  entry.body = [](model::Team& team) {
    const auto data = *team.window<int>({1}, "data");
    const auto own = *team.window<int>({1}, "own");
    const Signals told = *team.signals(1);
    (void)team.lane([&](auto& fabric) {
      if (fabric.rank() == Rank{0}) {
        fabric.put(data, Rank{1}, 0, own, 0, 1);
        (void)fabric.flush();
        fabric.converge();
        if (fabric.thread() == 0) fabric.notify(told[0], Rank{1}, 1, NotifyOp::set, Order::relaxed);
        return;
      }
      if (fabric.thread() == 0) (void)fabric.wait(told[0], Compare::ge, 1, Order::relaxed);
      fabric.converge();
    });
  };
  return entry;
}

TEST(Hints, HoldOnEveryProfileThatTheCheckHoldsOn) {
  const Entry entry = flushes();
  const auto dropped = [&](const std::vector<Profile>& profiles, const std::string& operation) {
    const Hints hints = hints_for(entry, holding_on(entry, profiles, 2), {});
    return std::count_if(hints.spare.begin(), hints.spare.end(), [&](const Hint& hint) {
      return hint.repair.site.operation == operation && hint.repair.change == Change::drop;
    });
  };
  EXPECT_EQ(dropped({Profile::direct}, "flush"), 1);
  EXPECT_EQ(dropped({Profile::sc}, "flush"), 0);  // where it does nothing in any case
  EXPECT_EQ(dropped({Profile::sc, Profile::direct}, "flush"), 1);
  EXPECT_EQ(dropped({Profile::direct}, "converge"), 2);  // nothing is read behind them
}

// A run that was cut short is no hint, and what was not come to is counted.
TEST(Hints, EndWhereTheyAreHalted) {
  const Entry entry = told_twice();
  auto holding = holding_on(entry, {Profile::direct});
  int asked = 0;
  for (Holding& one : holding) one.options.halt = [&] { return ++asked > 3; };
  const Hints hints = hints_for(entry, holding, {});
  EXPECT_EQ(hints.tried(), 1U);
  EXPECT_EQ(hints.not_tried, 4U);
  EXPECT_NE(hint_lines(hints, holding).back().find("; 4 not tried, over time; for "),
            std::string::npos)
      << hint_lines(hints, holding).back();
}

TEST(Hints, SayWhatTheyHoldFor) {
  const Entry entry = told_twice();
  const auto holding = holding_on(entry, {Profile::sc, Profile::direct});
  const auto lines = hint_lines(hints_for(entry, holding, {}), holding);
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_TRUE(lines[0].starts_with("hints_test.cpp:")) << lines[0];
  EXPECT_EQ(lines[4],
            "6 tried, each alone: 2 needed, 4 not; for 2 ranks, 1 calls, 1 lanes, 1 threads per "
            "lane on sc, direct, and what this check looks at, alone");
  EXPECT_EQ(hint_lines({}, {}), Words{"there are none where nothing is certified or complete"});
}

}  // namespace
}  // namespace muster::check
