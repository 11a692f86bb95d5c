#include "conformance/host_runner.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "muster/run.hpp"

namespace muster::conformance {
namespace {

class HostCase : public ::testing::Test {
 public:
  HostCase(Case<Team> one, RunAs as) : case_(one), as_(as) {}

  void TestBody() override {
    for (const std::uint32_t ranks : numbers(case_.sizes)) {
      // A body that hangs is a failure long before the test's own limit.
      const RunOptions options{
          .ranks = ranks, .as = as_, .lanes = 4, .timeout = std::chrono::seconds(20)};
      const int status = run(options, [&](Team& team) { return case_.body(team); });
      ASSERT_EQ(status, 0) << case_.name << " on " << ranks << " ranks; the reason is on stderr";
    }
  }

 private:
  Case<Team> case_;
  RunAs as_;
};

void add(const Case<Team>& one, const char* suite, RunAs as) {
  ::testing::RegisterTest(suite, one.name, nullptr, nullptr, __FILE__, __LINE__,
                          [one, as]() -> ::testing::Test* { return new HostCase(one, as); });
}

}  // namespace

int run_host_cases(const HostCases& cases, int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (const Case<Team>& one : cases) add(one, "threads", threads);
  for (const Case<Team>& one : cases) add(one, "processes", processes);
  return RUN_ALL_TESTS();
}

}  // namespace muster::conformance
