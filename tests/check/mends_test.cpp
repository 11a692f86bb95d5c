// What is said to mend a failure was found by running with it.
#include <algorithm>

#include "check/asking.hpp"
#include "check/configuration.hpp"

namespace muster::check {
namespace {

// Thread 0 waits for all, and thread 1 reads: without a converge in between, before it may.
Entry reads_beside_the_wait() {
  Entry entry;
  entry.name = "reads_beside_the_wait";
  entry.body = [](model::Team& team) {
    const auto data = *team.window<int>({1}, "data");
    const Signals ready = *team.signals(1);
    (void)team.lane([&](auto& fabric) {
      if (fabric.rank() == Rank{0}) {
        if (fabric.thread() != 0) return;
        fabric.address(data, Rank{1})[0] = 7;
        fabric.notify(ready[0], Rank{1}, 1, NotifyOp::set);
        return;
      }
      if (fabric.thread() == 0) (void)fabric.wait(ready[0], Compare::ge, 1);
      if (fabric.thread() == 1) (void)static_cast<int>(fabric.local(data)[0]);
    });
  };
  return entry;
}

TEST(Mends, AConvergeAfterTheWaitIsTried) {
  const Entry entry = reads_beside_the_wait();
  Options options = options_for(2);
  options.threads = 2;
  const Report report = explore(options, entry.body);
  ASSERT_TRUE(report.has(Kind::race)) << told(report);
  std::vector<std::string> said;
  for (const Repair& repair : single_repairs(entry, options, report))
    said.push_back(describe(repair));
  EXPECT_TRUE(std::any_of(said.begin(), said.end(), [](const std::string& mend) {
    return mend.find("converge after the wait") != std::string::npos;
  })) << ::testing::PrintToString(said);
}

// A deposit in too narrow a scope, and a wait in the right one.
TEST(Mends, AWiderScopeIsTried) {
  Entry entry;
  entry.name = "notifies_in_the_block";
  entry.body = [](model::Team& team) {
    const Signals ready = *team.signals(1);
    (void)team.lane([&](auto& fabric) {
      fabric.notify(ready[0], right_of(fabric), 1, NotifyOp::set, Order::release, Scope::block);
      (void)fabric.wait(ready[0], Compare::ge, 1);
    });
  };
  const Options options = options_for(2);
  const Report report = explore(options, entry.body);
  ASSERT_TRUE(report.has(Kind::scope)) << told(report);
  const std::vector<Repair> mends = single_repairs(entry, options, report);
  ASSERT_EQ(mends.size(), 1U);
  EXPECT_NE(describe(mends[0]).find("let the notify have the scope system"), std::string::npos);
  EXPECT_TRUE(mends[0].is_whole());
}

}  // namespace
}  // namespace muster::check
