// Many ranks on few cores: what it costs to start them grows with their number, and not with its
// square.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdio>

#include "liveness/jobs.hpp"

namespace muster::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double slack = 30;
#else
constexpr double slack = 1;
#endif

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

struct Measured {
  double cpu_s = 0;  // of the launcher and all ranks: what else the machine does counts little
  int descriptors = 0;
  int barrier_us = 0;
};

Measured start(int ranks) {
  rusage before{};
  getrusage(RUSAGE_CHILDREN, &before);
  Command command(muster(
      {"run", "-n", std::to_string(ranks), STEP_VICTIM, "measure", "0", "list", "/dev/null"}));
  EXPECT_EQ(command.wait(), 0) << command.err();
  rusage after{};
  getrusage(RUSAGE_CHILDREN, &after);
  Measured measured;
  measured.cpu_s = seconds(after.ru_utime) + seconds(after.ru_stime) - seconds(before.ru_utime) -
                   seconds(before.ru_stime);
  EXPECT_EQ(std::sscanf(command.out().c_str(), "%d descriptors, %d us", &measured.descriptors,
                        &measured.barrier_us),
            2)
      << command.out();
  return measured;
}

TEST(Startup, GrowsWithTheNumberOfRanks) {
  const Measured some = start(64);
  const Measured many = start(256);
  RecordProperty("cpu_s_of_64", std::to_string(some.cpu_s));
  RecordProperty("cpu_s_of_256", std::to_string(many.cpu_s));
  EXPECT_EQ(many.descriptors, some.descriptors);
  EXPECT_LT(many.cpu_s, 9 * some.cpu_s) << "16 times as much would be the square";
  EXPECT_LT(many.cpu_s, 2 * slack) << "a second of two cores";
  EXPECT_LT(many.barrier_us, 100'000 * slack);
}

}  // namespace
}  // namespace muster::testing
