// The counter barrier at four ranks and three calls: no certificate, and a long search.
#include "check/asking.hpp"

namespace muster::check {
namespace {

class Long : public testing::TestWithParam<const char*> {};

TEST_P(Long, IsComplete) {
  const Entry& entry = *find(GetParam());
  for (const std::uint32_t lanes : {1U, 2U})
    for (const std::uint32_t threads : {1U, 2U})
      for (const Profile profile : {Profile::rdma, Profile::direct, Profile::sc}) {
        Options options = options_for(4, profile, 3);
        options.lanes = lanes;
        options.threads = threads;
        EXPECT_VERDICT(explore(options, entry.body), complete)
            << lanes << " lanes, " << threads << " threads, " << name_of(profile);
      }
}

INSTANTIATE_TEST_SUITE_P(Counter, Long,
                         testing::Values("counter_barrier", "counter_barrier/scoped",
                                         "counter_barrier/exit", "counter_barrier/rendezvous"));

}  // namespace
}  // namespace muster::check
