// What a crash leaves behind: a dump of the rank's own memory, not of what it shares, and soon.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>

#include "liveness/jobs.hpp"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

// As the kernel sees it: every mapping that is shared and may be written is marked "dd".
TEST(Dump, SharedMemoryIsLeftOutOfIt) {
  for (const Start start : {Start::bare, Start::launcher, Start::alone}) {
    const std::string list = fresh_path();
    for (auto& command : start_job(start, 3, {STEP_VICTIM, "mappings", "0", "list", list}))
      EXPECT_EQ(command->wait(), 0) << command->err();
    unlink(list.c_str());
  }
}

// A null write, with dumps of at most 1 GB on.
TEST(Dump, OfACrashIsSmallAndDelaysNobody) {
  std::string pattern;
  std::getline(std::ifstream("/proc/sys/kernel/core_pattern"), pattern);
  if (pattern.empty() || pattern[0] == '|' || pattern.find('/') != std::string::npos)
    GTEST_SKIP() << "dumps do not go to the working directory here: core_pattern is " << pattern;
  rlimit limit{};
  getrlimit(RLIMIT_CORE, &limit);
  if (limit.rlim_max < 1'000'000 * 1024ULL) GTEST_SKIP() << "ulimit -Hc allows no dumps here";
  const std::string directory = fresh_path();
  fs::create_directory(directory);
  const auto death =
      die_at(Start::bare, 3, "crash", "1", {"allocate: keep", 1},
             {"sh", "-c", "cd " + directory + " && ulimit -c 1000000 && exec \"$@\"", "sh"});
  ASSERT_TRUE(death);
  expect_all_know(*death, 3, {1});
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(directory)) {
    // What is on disk, not the length of a sparse file.
    struct stat info {};
    ASSERT_EQ(stat(entry.path().c_str(), &info), 0);
    bytes += static_cast<std::uintmax_t>(info.st_blocks) * 512;
  }
  fs::remove_all(directory);
  EXPECT_GT(bytes, 0U) << "there was no dump at all";
  EXPECT_LT(bytes, 50'000'000U);
}

}  // namespace
}  // namespace muster::testing
