// What the limits of control groups leave, read from copies of the kernel's files: version 1 and 2,
// on a machine and in a container.
#include "fabric/host/control_group.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace muster::host {
namespace {

using Files = std::map<std::string, std::string>;

// A tree of files, gone when this goes.
class Copy {
 public:
  explicit Copy(const Files& files)
      : root_(std::filesystem::temp_directory_path() /
              ("muster-group-" + std::to_string(getpid()))) {
    std::filesystem::remove_all(root_);
    for (const auto& [path, text] : files) {
      const auto file = root_ / path;
      std::filesystem::create_directories(file.parent_path());
      std::ofstream(file) << text;
    }
  }
  ~Copy() { std::filesystem::remove_all(root_); }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  [[nodiscard]] ControlGroup group() const { return ControlGroup(root_.string()); }

 private:
  std::filesystem::path root_;
};

const std::string mounted_second =
    "22 1 0:20 / /proc rw - proc proc rw\n"
    "31 22 0:28 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
const std::string mounted_first =
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

Files second(const std::string& path) {
  return {{"proc/self/mountinfo", mounted_second}, {"proc/self/cgroup", "0::" + path + "\n"}};
}

Files first(const std::string& path) {
  return {{"proc/self/mountinfo", mounted_first},
          {"proc/self/cgroup", "4:memory:" + path + "\n1:cpu:/\n0::/\n"}};
}

void add_second(Files& files, const std::string& at, const std::string& max, int current,
                int file = 0) {
  const std::string directory = "sys/fs/cgroup" + at;
  files[directory + "/memory.max"] = max + "\n";
  files[directory + "/memory.current"] = std::to_string(current) + "\n";
  files[directory + "/memory.stat"] =
      "anon 5\ninactive_file " + std::to_string(file) + "\nactive_file 1\nslab 7\n";
}

void add_first(Files& files, const std::string& at, const std::string& limit, int usage,
               int file = 0) {
  const std::string directory = "sys/fs/cgroup/memory" + at;
  files[directory + "/memory.limit_in_bytes"] = limit + "\n";
  files[directory + "/memory.usage_in_bytes"] = std::to_string(usage) + "\n";
  files[directory + "/memory.stat"] = "cache 9\ninactive_file 900\ntotal_inactive_file " +
                                      std::to_string(file) + "\ntotal_active_file 1\n";
  files[directory + "/memory.use_hierarchy"] = "1\n";
}

TEST(ControlGroup, OfVersionTwo) {
  Files files = second("/user/job");
  add_second(files, "/user/job", "1000", 400, 50);
  const Copy copy(files);
  EXPECT_EQ(copy.group().left(), 1000U - 400 + 51);
  EXPECT_EQ(copy.group().limit_in_words(), "/user/job has a limit of 1000 B");
}

TEST(ControlGroup, TheTightestAboveBinds) {
  Files files = second("/user/job/step");
  add_second(files, "/user/job/step", "max", 10);
  add_second(files, "/user/job", "1000", 900);
  add_second(files, "/user", "5000", 1000);
  const Copy copy(files);
  EXPECT_EQ(copy.group().left(), 101U);
  EXPECT_EQ(copy.group().limit_in_words(), "/user/job has a limit of 1000 B");
}

TEST(ControlGroup, AContainerSeesItsOwnAtTheTop) {
  Files files = second("/");
  add_second(files, "", "2000", 1);
  EXPECT_EQ(Copy(files).group().left(), 2000U);

  // The path of the host, where only the container's part is mounted.
  Files inner = second("/docker/abc/step");
  inner["proc/self/mountinfo"] =
      "31 22 0:28 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw,nsdelegate\n";
  add_second(inner, "/step", "3000", 1);
  EXPECT_EQ(Copy(inner).group().left(), 3000U);

  Files beside = second("/../other");
  add_second(beside, "", "4000", 1);
  EXPECT_EQ(Copy(beside).group().left(), 4000U);
}

TEST(ControlGroup, OfVersionOne) {
  Files files = first("/batch/7");
  add_first(files, "/batch/7", "1000", 400, 50);
  add_first(files, "/batch", "600", 590, 0);
  add_first(files, "", "9223372036854771712", 100000);
  const Copy copy(files);
  EXPECT_EQ(copy.group().left(), 11U);
  EXPECT_EQ(copy.group().limit_in_words(), "/batch has a limit of 600 B");
  files["sys/fs/cgroup/memory/batch/memory.use_hierarchy"] = "0\n";
  EXPECT_EQ(Copy(files).group().left(), 651U);
}

TEST(ControlGroup, WithoutALimitOrWithoutGroups) {
  Files none = first("/");
  add_first(none, "", "9223372036854771712", 100000);
  EXPECT_FALSE(Copy(none).group().left().has_value());
  EXPECT_EQ(Copy(none).group().limit_in_words(), "");
  Files unlimited = second("/a");
  add_second(unlimited, "/a", "max", 5);
  EXPECT_FALSE(Copy(unlimited).group().left().has_value());
  EXPECT_FALSE(Copy(Files{{"nothing", ""}}).group().left().has_value());
  EXPECT_EQ(Copy(Files{{"nothing", ""}}).group().killed(), 0U);
}

TEST(ControlGroup, TakenBeyondTheLimitLeavesNothing) {
  Files files = second("/a");
  add_second(files, "/a", "1000", 2000);
  EXPECT_EQ(Copy(files).group().left(), 0U);
}

TEST(ControlGroup, CountsWhomTheKernelKilled) {
  Files two = second("/a");
  two["sys/fs/cgroup/a/memory.events"] = "low 0\nmax 7\noom 3\noom_kill 2\n";
  EXPECT_EQ(Copy(two).group().killed(), 2U);
  Files one = first("/b");
  one["sys/fs/cgroup/memory/b/memory.oom_control"] =
      "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n";
  EXPECT_EQ(Copy(one).group().killed(), 4U);
}

}  // namespace
}  // namespace muster::host
