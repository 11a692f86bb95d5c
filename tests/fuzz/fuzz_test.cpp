// The checker against the reference, on a fixed number of programs. muster_fuzz runs more.
#include <gtest/gtest.h>

#include "compare.hpp"
#include "generator.hpp"

namespace muster::fuzz {
namespace {

struct Part {
  Profile profile;
  std::uint64_t first;
};

struct Tally {
  std::uint64_t compared = 0, correct = 0, certified = 0, bounded = 0;
};

// Compares `seeds` programs of the part, drawn by draw(seed, profile); stops at a difference.
template <class Draw>
Tally compare_all(const Part& part, std::uint64_t seeds, Draw&& draw_one) {
  Tally tally;
  for (std::uint64_t seed = part.first; seed < part.first + seeds; ++seed) {
    const Program program = draw_one(seed, part.profile);
    const Comparison result = compare(program);
    tally.compared += result.compared ? 1 : 0;
    tally.correct += result.correct ? 1 : 0;
    tally.certified += result.certified ? 1 : 0;
    tally.bounded += result.bounded ? 1 : 0;
    if (!result.difference) continue;
    const Program smallest = shrink(program);
    ADD_FAILURE() << "seed " << seed << ": " << *result.difference << '\n'
                  << to_string(smallest) << compare(smallest).difference.value_or("");
    break;
  }
  return tally;
}

class Fuzz : public testing::TestWithParam<Part> {};

TEST_P(Fuzz, CertificateSearchAndReferenceAgree) {
  constexpr std::uint64_t seeds = 175;
  const Tally tally = compare_all(
      GetParam(), seeds, [](std::uint64_t seed, Profile profile) { return draw(seed, profile); });
  // Most programs must be correct, or certificates go untested; and most must be small enough.
  EXPECT_GT(tally.compared, seeds * 9 / 10);
  EXPECT_GT(tally.correct, seeds / 2);
  EXPECT_GT(tally.certified, seeds / 3);
  EXPECT_EQ(tally.bounded, 0U);
}

class FuzzFetched : public testing::TestWithParam<Part> {};

TEST_P(FuzzFetched, SearchAndReferenceAgree) {
  constexpr std::uint64_t seeds = 100;
  const Tally tally = compare_all(GetParam(), seeds, [](std::uint64_t seed, Profile profile) {
    return draw(seed, profile, true);
  });
  EXPECT_GT(tally.compared, seeds * 8 / 10);
  EXPECT_GT(tally.correct, seeds / 3);
  EXPECT_EQ(tally.bounded, 0U);
}

class FuzzKernels : public testing::TestWithParam<Part> {};

TEST_P(FuzzKernels, CertificateSearchAndReferenceAgree) {
  constexpr std::uint64_t seeds = 150;
  const Tally tally = compare_all(GetParam(), seeds, [](std::uint64_t seed, Profile profile) {
    return draw_kernels(seed, profile);
  });
  EXPECT_GT(tally.compared, seeds * 8 / 10);
  EXPECT_GT(tally.correct, seeds / 3);
  EXPECT_GT(tally.certified, seeds / 4);
  EXPECT_EQ(tally.bounded, 0U);
}

std::vector<Part> parts() {
  std::vector<Part> result;
  for (const Profile profile :
       {Profile::rdma, Profile::direct, Profile::sc, Profile::noncoherent}) {
    for (std::uint64_t first = 0; first < 700; first += 175) result.push_back({profile, first});
  }
  return result;
}

INSTANTIATE_TEST_SUITE_P(Seeds, FuzzFetched,
                         testing::Values(Part{Profile::rdma, 0}, Part{Profile::rdma, 100},
                                         Part{Profile::rdma, 300}, Part{Profile::direct, 0},
                                         Part{Profile::direct, 100}, Part{Profile::sc, 0},
                                         Part{Profile::sc, 100}),
                         [](const auto& part) {
                           return std::string(check::name_of(part.param.profile)) + "_from_" +
                                  std::to_string(part.param.first);
                         });

INSTANTIATE_TEST_SUITE_P(Seeds, FuzzKernels,
                         testing::Values(Part{Profile::rdma, 0}, Part{Profile::rdma, 150},
                                         Part{Profile::direct, 0}, Part{Profile::direct, 150},
                                         Part{Profile::sc, 0}),
                         [](const auto& part) {
                           return std::string(check::name_of(part.param.profile)) + "_from_" +
                                  std::to_string(part.param.first);
                         });

INSTANTIATE_TEST_SUITE_P(Seeds, Fuzz, testing::ValuesIn(parts()), [](const auto& part) {
  return std::string(check::name_of(part.param.profile)) + "_from_" +
         std::to_string(part.param.first);
});

}  // namespace
}  // namespace muster::fuzz
