#include "conformance/host_runner.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "muster/run.hpp"

namespace muster::conformance {
namespace {

class HostCase : public ::testing::Test {
 public:
  HostCase(Case<Team> one, RunAs as, HostOptions options)
      : case_(one), as_(as), options_(options) {}

  void TestBody() override {
    const bool verify = options_.verify && std::getenv("MUSTER_VERIFY") == nullptr;
    if (verify) setenv("MUSTER_VERIFY", "1", 1);
    run_all();
    if (verify) unsetenv("MUSTER_VERIFY");
  }

 private:
  void run_all() {
    for (const std::uint32_t ranks : numbers(case_.sizes)) {
      // A body that hangs is a failure long before the test's own limit.
      const RunOptions options{
          .ranks = ranks, .as = as_, .lanes = 4, .timeout = std::chrono::seconds(20)};
      const int status = run(options, [&](Team& team) { return case_.body(team); });
      ASSERT_EQ(status, 0) << case_.name << " on " << ranks << " ranks; the reason is on stderr";
    }
  }

  Case<Team> case_;
  RunAs as_;
  HostOptions options_;
};

void add(const Case<Team>& one, const std::string& suite, RunAs as, HostOptions options) {
  ::testing::RegisterTest(
      suite.c_str(), one.name, nullptr, nullptr, __FILE__, __LINE__,
      [one, as, options]() -> ::testing::Test* { return new HostCase(one, as, options); });
}

}  // namespace

bool add_host_cases(const std::string& topic, const HostCases& cases, HostOptions options) {
  for (const Case<Team>& one : cases) add(one, topic + "_threads", threads, options);
  for (const Case<Team>& one : cases) add(one, topic + "_processes", processes, options);
  return true;
}

}  // namespace muster::conformance
