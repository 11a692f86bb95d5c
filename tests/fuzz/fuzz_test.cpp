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

class Fuzz : public testing::TestWithParam<Part> {};

TEST_P(Fuzz, CertificateSearchAndReferenceAgree) {
  constexpr std::uint64_t seeds = 175;
  std::uint64_t compared = 0, correct = 0, certified = 0, bounded = 0;
  for (std::uint64_t seed = GetParam().first; seed < GetParam().first + seeds; ++seed) {
    const Program program = draw(seed, GetParam().profile);
    const Comparison result = compare(program);
    compared += result.compared ? 1 : 0;
    correct += result.correct ? 1 : 0;
    certified += result.certified ? 1 : 0;
    bounded += result.bounded ? 1 : 0;
    if (!result.difference) continue;
    const Program smallest = shrink(program);
    ADD_FAILURE() << "seed " << seed << ": " << *result.difference << '\n'
                  << to_string(smallest) << compare(smallest).difference.value_or("");
    return;
  }
  // Most programs must be correct, or certificates go untested; and most must be small enough.
  EXPECT_GT(compared, seeds * 9 / 10);
  EXPECT_GT(correct, seeds / 2);
  EXPECT_GT(certified, seeds / 3);
  EXPECT_EQ(bounded, 0U);
}

class FuzzFetched : public testing::TestWithParam<Part> {};

TEST_P(FuzzFetched, SearchAndReferenceAgree) {
  constexpr std::uint64_t seeds = 100;
  std::uint64_t compared = 0, correct = 0, bounded = 0;
  for (std::uint64_t seed = GetParam().first; seed < GetParam().first + seeds; ++seed) {
    const Program program = draw(seed, GetParam().profile, true);
    const Comparison result = compare(program);
    compared += result.compared ? 1 : 0;
    correct += result.correct ? 1 : 0;
    bounded += result.bounded ? 1 : 0;
    if (!result.difference) continue;
    const Program smallest = shrink(program);
    ADD_FAILURE() << "seed " << seed << ": " << *result.difference << '\n'
                  << to_string(smallest) << compare(smallest).difference.value_or("");
    return;
  }
  EXPECT_GT(compared, seeds * 8 / 10);
  EXPECT_GT(correct, seeds / 3);
  EXPECT_EQ(bounded, 0U);
}

class FuzzKernels : public testing::TestWithParam<Part> {};

TEST_P(FuzzKernels, CertificateSearchAndReferenceAgree) {
  constexpr std::uint64_t seeds = 150;
  std::uint64_t compared = 0, correct = 0, certified = 0, bounded = 0;
  for (std::uint64_t seed = GetParam().first; seed < GetParam().first + seeds; ++seed) {
    const Program program = draw_kernels(seed, GetParam().profile);
    const Comparison result = compare(program);
    compared += result.compared ? 1 : 0;
    correct += result.correct ? 1 : 0;
    certified += result.certified ? 1 : 0;
    bounded += result.bounded ? 1 : 0;
    if (!result.difference) continue;
    const Program smallest = shrink(program);
    ADD_FAILURE() << "seed " << seed << ": " << *result.difference << '\n'
                  << to_string(smallest) << compare(smallest).difference.value_or("");
    return;
  }
  EXPECT_GT(compared, seeds * 8 / 10);
  EXPECT_GT(correct, seeds / 3);
  EXPECT_GT(certified, seeds / 4);
  EXPECT_EQ(bounded, 0U);
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
