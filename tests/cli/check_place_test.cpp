// `muster check --place` and `--profile noncoherent`, as typed.
#include <gtest/gtest.h>

#include "cli/command.hpp"

namespace muster::testing {
namespace {

std::string usage_of_place(const std::string& name, const std::vector<std::string>& more) {
  std::vector<std::string> words{"check", name};
  words.insert(words.end(), more.begin(), more.end());
  Command command(muster(words));
  EXPECT_EQ(command.wait(), 2) << command.out();
  EXPECT_EQ(command.out(), "");
  const auto lines = lines_of(command.err());
  return lines.empty() ? "" : lines.front();
}

TEST(CheckPlace, WhatIsNoPlaceIsRefusedByName) {
  const auto refused = [](const char* place) {
    return usage_of_place("credit_barrier", {"-n", "2", "--place", place});
  };
  EXPECT_EQ(refused("0:gpu0"),
            "muster check: --place: '0:gpu0' places nothing: it wants WHO=WHERE, as in 0=gpu0");
  EXPECT_EQ(refused("all=gpu,1=tpu"),
            "muster check: --place: 'tpu' in '1=tpu' is no place: there are host, gpu, gpu0, ... "
            "and nic");
  EXPECT_EQ(refused("lane1=gpu"),
            "muster check: --place: 'lane1' in 'lane1=gpu' is no rank or lane: it wants 0, all, or "
            "with a lane 0.1, all.1");
  EXPECT_EQ(refused("0=gpu0"), "muster check: --place: rank 1 has no place, and others have");
  EXPECT_EQ(refused("all=gpu,2=host"), "muster check: --place: rank 2 of 2 does not exist");
  EXPECT_EQ(refused("all=gpu,all.1=host"), "muster check: --place: lane 1 of 1 does not exist");
}

// A check that says itself where it runs, asked for fewer ranks than that.
TEST(CheckPlace, TheChecksOwnPlacesMustFit) {
  EXPECT_EQ(usage_of_place("broken/sum_from_host_and_gpu", {"-n", "1"}),
            "muster check: broken/sum_from_host_and_gpu runs on all=gpu,1=host, and rank 1 of 1 "
            "does not exist: --place says otherwise");
}

// Credits that a host gives and a GPU takes back; and the same among GPUs. A replay goes where it
// was.
TEST(CheckPlace, TwoDomainsAreRefutedAndOneIsNot) {
  Command mixed(muster({"check", "credit_barrier", "-n", "2", "--place", "all=gpu,0=host"}));
  EXPECT_EQ(mixed.wait(), 1) << mixed.err();
  const std::string out = mixed.out();
  EXPECT_TRUE(
      out.starts_with("credit_barrier: 2 ranks, 2 calls, 1 lanes, 1 threads per lane, "
                      "placed all=gpu,0=host\n"))
      << out;
  EXPECT_EQ(count(out, " REFUTED: domain"), 3) << out;
  const auto at = out.find("--replay ");
  ASSERT_NE(at, std::string::npos) << out;
  const std::string replay =
      out.substr(at + 9, out.find_first_of(",\n ", out.find("d=", at)) - at - 9);
  Command again(muster({"check", "credit_barrier", "--replay", replay}));
  EXPECT_EQ(again.wait(), 1) << replay << again.err();
  EXPECT_EQ(count(again.out(), " REFUTED: domain"), 1) << replay << again.out();
  Command gpus(muster({"check", "credit_barrier", "-n", "2", "--place", "0=gpu0,1=gpu1"}));
  EXPECT_EQ(gpus.wait(), 0) << gpus.out();
}

TEST(CheckPlace, MemoryThatIsNotCoherentIsAskedForByName) {
  Command right(muster({"check", "epoch_barrier", "--profile", "noncoherent"}));
  EXPECT_EQ(right.wait(), 0) << right.out();
  EXPECT_EQ(count(right.out(), "  noncoherent certified: "), 1) << right.out();
  Command wrong(muster({"check", "credit_barrier/exit", "--profile", "noncoherent"}));
  EXPECT_EQ(wrong.wait(), 1) << wrong.out();
  EXPECT_EQ(count(wrong.out(), "  noncoherent REFUTED: noncoherent"), 1) << wrong.out();
  Command claimed(muster({"check", "broken/line_shared_with_a_peer_fixed"}));
  EXPECT_EQ(claimed.wait(), 0) << claimed.out();
  EXPECT_EQ(count(claimed.out(), "  noncoherent certified: "), 1) << claimed.out();
}

}  // namespace
}  // namespace muster::testing
