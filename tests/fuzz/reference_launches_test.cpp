// reference_test.cpp for kernels that overlap, and for slots whose data is its own flag.
#include <gtest/gtest.h>

#include "short_forms.hpp"

namespace muster::fuzz {
namespace {

const Op launch_wait{.kind = Kind::launch_wait};
const Op launch_done{.kind = Kind::launch_done};
const Op read_counter{.kind = Kind::read_counter};
const Op count{.kind = Kind::write_counter, .value = 1};

Op slot(Kind kind, std::uint32_t at, std::uint32_t peer = 0) {
  return {.kind = kind, .peer = peer, .value = 1, .to = at};
}

// One rank, one thread in each kernel.
Program kernels(Profile profile, std::vector<std::vector<Op>> code) {
  Program program = ranks(profile, std::move(code));
  program.kernels = program.ranks;
  program.ranks = 1;
  return program;
}

TEST(ReferenceLaunches, TheEndOfAKernelIsAcquiredByLaunchWait) {
  for (const Profile profile : all_profiles) {
    EXPECT_EQ(wrong(kernels(profile, {{store(0, 1)}, {launch_wait, load(0)}})), none);
    EXPECT_EQ(wrong(kernels(profile, {{launch_done, store(0, 1)}, {load(0), launch_wait}})), race);
    EXPECT_EQ(wrong(kernels(profile, {{store(0, 1), launch_done}, {load(0), launch_wait}})), race);
    EXPECT_EQ(wrong(kernels(profile, {{load(0), launch_done}, {store(0, 1), launch_wait}})), race);
    EXPECT_EQ(wrong(kernels(profile, {{launch_done, count}, {read_counter, launch_wait}})), race);
    EXPECT_EQ(wrong(kernels(profile, {{launch_done, count}, {launch_wait, read_counter}})), none);
  }
}

TEST(ReferenceLaunches, AKernelKnowsTheLastButOne) {
  for (const Profile profile : all_profiles)
    EXPECT_EQ(wrong(kernels(profile, {{store(0, 1), launch_done},
                                      {launch_wait, launch_done},
                                      {load(0), launch_wait}})),
              none);
}

// The first kernel waits for what the second one gives.
TEST(ReferenceLaunches, TheNextKernelBeginsWhereAllLanesHaveLetIt) {
  for (const Profile profile : all_profiles) {
    EXPECT_EQ(wrong(kernels(profile, {{launch_done, wait(0, 1)}, {set(0, 0, 1), launch_wait}})),
              none);
    EXPECT_EQ(wrong(kernels(profile, {{wait(0, 1), launch_done}, {set(0, 0, 1), launch_wait}})),
              Kinds{Wrong::deadlock});
    EXPECT_EQ(wrong(kernels(profile, {{launch_done, wait(0, 1)}, {launch_wait, set(0, 0, 1)}})),
              Kinds{Wrong::deadlock});
  }
}

// Two ranks, so many calls, each in a kernel of its own, in so many sets.
Program exchanges(Profile profile, std::uint32_t calls, std::uint32_t sets, bool early) {
  Program program;
  program.profile = profile;
  program.kernels = calls;
  program.slots = 2 * sets;
  for (std::uint32_t call = 0; call < calls; ++call) {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      const std::uint32_t mine = call % sets * 2 + rank;
      const std::uint32_t theirs = call % sets * 2 + 1 - rank;
      std::vector<Op> code{slot(Kind::put_sentinel, mine, 1 - rank)};
      code.insert(early ? code.end() : code.begin(), launch_wait);
      code.push_back(launch_done);
      code.push_back(slot(Kind::wait_sentinel, theirs));
      code.push_back(slot(Kind::clear_sentinel, theirs));
      program.code.push_back(std::move(code));
    }
  }
  return program;
}

TEST(ReferenceLaunches, TwoSetsOfSlotsThatAreClearedInPlace) {
  for (const Profile profile : all_profiles)
    EXPECT_EQ(wrong(exchanges(profile, 4, 2, false)), none);
  for (const Profile profile : weak_profiles) {
    EXPECT_NE(wrong(exchanges(profile, 3, 2, true)), none) << "put before launch_wait";
    EXPECT_NE(wrong(exchanges(profile, 2, 1, false)), none) << "one set";
  }
}

// The same in one kernel each: nothing says that the slots are cleared.
TEST(ReferenceLaunches, CallsInOneKernelLoseMessages) {
  for (const Profile profile : weak_profiles) {
    const Program apart = exchanges(profile, 3, 2, false);
    Program program = apart;
    program.kernels = 1;
    program.code.assign(2, {});
    for (std::size_t s = 0; s < apart.code.size(); ++s)
      for (const Op& op : apart.code[s])
        if (slotted(op.kind)) program.code[s % 2].push_back(op);
    EXPECT_EQ(wrong(program), (Kinds{Wrong::race, Wrong::clobber}));
  }
}

}  // namespace
}  // namespace muster::fuzz
