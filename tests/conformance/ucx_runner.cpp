#include "conformance/ucx_runner.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "conformance/ucx_job.hpp"
#include "fabric/ucx/team_core.hpp"
#include "support/socket_bootstrap.hpp"

namespace muster::conformance {
namespace {

// In the child. The reason why it failed goes to `report`.
int run_rank(testing::SocketPairs& pairs, std::uint32_t rank, int report,
             const std::function<Result<void>(ucx::Team&)>& body, const ucx::Settings& settings) {
  Result<void> outcome;
  {
    testing::SocketBootstrap bootstrap(pairs, rank);
    Result<ucx::Team> team = ucx::join(bootstrap, settings);
    outcome = team ? run_and_close(*team, body) : Result<void>(team.error());
  }
  if (outcome) return 0;
  const std::string line =
      "rank " + std::to_string(rank) + ": " + to_string(outcome.error()) + "\n";
  (void)!write(report, line.data(), line.size());
  return 1;
}

// Every rank is a process here. Many of them meet over one transport: what more ranks try is the
// same over each, and over tcp a meeting of eight takes the processors many turns.
std::vector<std::uint32_t> numbers_on_ucx(Sizes sizes, const std::string& transport) {
  std::vector<std::uint32_t> all = numbers(sizes);
  const std::uint32_t most = transport == "posix" ? 8 : 3;
  std::erase_if(all, [most](std::uint32_t members) { return members > most; });
  return all;
}

class UcxCase : public ::testing::Test {
 public:
  UcxCase(Case<ucx::Team> one, std::string transport)
      : case_(one), transport_(std::move(transport)) {}

  void TestBody() override {
    if (in_ucx_job()) {
      const Result<void> outcome = run_in_ucx_job(case_.body);
      ASSERT_TRUE(outcome) << case_.name << ": " << to_string(outcome.error());
      return;
    }
    for (const std::uint32_t members : numbers_on_ucx(case_.sizes, transport_)) {
      const UcxRun run = run_on_ucx(members, transport_, case_.body);
      ASSERT_TRUE(run.well) << case_.name << " on " << members << " ranks over " << transport_
                            << ":\n"
                            << run.words;
    }
  }

 private:
  Case<ucx::Team> case_;
  std::string transport_;
};

}  // namespace

UcxRun run_on_ucx(std::uint32_t members, const std::string& transport,
                  const std::function<Result<void>(ucx::Team&)>& body, ucx::Settings settings) {
  setenv("UCX_TLS", transport.c_str(), 1);
  setenv("UCX_WARN_UNUSED_ENV_VARS", "n", 1);
  testing::SocketPairs pairs(members);
  int report[2] = {-1, -1};
  if (pipe(report) != 0) std::abort();
  std::vector<pid_t> children;
  for (std::uint32_t rank = 0; rank < members; ++rank) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      close(report[0]);
      _exit(run_rank(pairs, rank, report[1], body, settings));
    }
    children.push_back(child);
  }
  close(report[1]);
  UcxRun run;
  char bytes[512];
  for (ssize_t got = 0; (got = read(report[0], bytes, sizeof bytes)) > 0;)
    run.words.append(bytes, static_cast<std::size_t>(got));
  close(report[0]);
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    run.statuses.push_back(status);
    run.well = run.well && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  return run;
}

bool add_ucx_cases(const std::string& topic, const UcxCases& cases) {
  std::vector<const char*> transports{"posix", "sysv", "tcp"};
  if (in_ucx_job()) transports = {"hosts"};  // as the environment says
  for (const char* const transport : transports)
    for (const Case<ucx::Team>& one : cases)
      ::testing::RegisterTest(
          (topic + "_" + transport).c_str(), one.name, nullptr, nullptr, __FILE__, __LINE__,
          [one, transport]() -> ::testing::Test* { return new UcxCase(one, transport); });
  return true;
}

}  // namespace muster::conformance
