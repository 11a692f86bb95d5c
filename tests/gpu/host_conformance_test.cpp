// The conformance bodies on gpu::Fabric, run by host threads: see host_team.hpp.
#include <gtest/gtest.h>

#include "conformance/atomic_bodies.hpp"
#include "conformance/barrier_bodies.hpp"
#include "conformance/barrier_lane_bodies.hpp"
#include "conformance/collective_bodies.hpp"
#include "conformance/counted_bodies.hpp"
#include "conformance/credit_bodies.hpp"
#include "conformance/hook_bodies.hpp"
#include "conformance/packet_bodies.hpp"
#include "conformance/reduce_bodies.hpp"
#include "conformance/remote_add_bodies.hpp"
#include "conformance/rooted_bodies.hpp"
#include "conformance/send_receive_bodies.hpp"
#include "conformance/sentinel_bodies.hpp"
#include "conformance/signal_bodies.hpp"
#include "conformance/tile_bodies.hpp"
#include "conformance/transfer_bodies.hpp"
#include "conformance/transfer_box_bodies.hpp"
#include "gpu/host_team.hpp"

namespace {

using namespace muster;
using conformance::Case;
using gpu_test::HostTeam;

class OnHost : public ::testing::Test {
 public:
  OnHost(Case<HostTeam> one, bool verify) : case_(one), verify_(verify) {}

  void TestBody() override {
    for (const std::uint32_t ranks : conformance::numbers(case_.sizes)) {
      // Threads that poll need not be many. 16 ranks find their addresses in another way than 8.
      if (ranks > (verify_ ? 3U : 16U)) continue;
      const Result<void> result =
          gpu_test::run_on_host(ranks, verify_, [&](HostTeam& team) { return case_.body(team); });
      ASSERT_TRUE(result.has_value())
          << case_.name << " on " << ranks << " ranks: " << to_string(result.error());
    }
  }

 private:
  Case<HostTeam> case_;
  bool verify_;
};

void add(const std::vector<Case<HostTeam>>& cases, bool verify) {
  for (const Case<HostTeam>& one : cases)
    ::testing::RegisterTest(
        verify ? "checked" : "trusted", one.name, nullptr, nullptr, __FILE__, __LINE__,
        [one, verify]() -> ::testing::Test* { return new OnHost(one, verify); });
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (const bool verify : {false, true}) {
    add(conformance::signal_cases<HostTeam>(), verify);
    add(conformance::atomic_cases<HostTeam>(), verify);
    add(conformance::barrier_cases<HostTeam>(), verify);
    add(conformance::barrier_lane_cases<HostTeam>(), verify);
    add(conformance::tile_cases<HostTeam>(), verify);
    add(conformance::reduce_cases<HostTeam>(), verify);
    add(conformance::transfer_cases<HostTeam>(), verify);
    add(conformance::transfer_box_cases<HostTeam>(), verify);
    add(conformance::remote_add_cases<HostTeam>(), verify);
    add(conformance::packet_cases<HostTeam>(), verify);
    add(conformance::sentinel_cases<HostTeam>(), verify);
    add(conformance::collective_cases<HostTeam>(), verify);
    add(conformance::rooted_cases<HostTeam>(), verify);
    add(conformance::counted_cases<HostTeam>(), verify);
    add(conformance::send_receive_cases<HostTeam>(), verify);
    add(conformance::hook_cases<HostTeam>(), verify);
    add(conformance::credit_cases<HostTeam>(), verify);
  }
  return RUN_ALL_TESTS();
}
