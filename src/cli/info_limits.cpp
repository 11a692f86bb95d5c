// Control groups, versions 1 and 2, and resource limits.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "cli/info_report.hpp"
#include "fabric/host/memory_info.hpp"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

// The group of this process under one controller, and the file system that shows it.
struct Group {
  fs::path root;
  fs::path path;  // below root, from "/"
};

// /proc/self/cgroup has lines "number:controllers:path"; version 2 is "0::path".
std::optional<Group> group_of(const std::string& controller) {
  std::ifstream file("/proc/self/cgroup");
  std::optional<Group> unified;
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const fs::path path = line.substr(second + 1);
    if (controllers.find("," + controller + ",") != std::string::npos) {
      return Group{fs::path("/sys/fs/cgroup") / controller, path};
    }
    if (line.starts_with("0::")) unified = Group{"/sys/fs/cgroup", path};
  }
  return unified;
}

// Numbers in a group's file, and in those of the groups above it: all of them bind. Inside a
// container the path may be that of the host and lead nowhere; the root is then the own group.
std::vector<std::vector<std::string>> words_in(const Group& group, const std::string& name) {
  std::vector<std::vector<std::string>> found;
  fs::path path = group.path.relative_path();
  for (;;) {
    std::ifstream file(group.root / path / name);
    std::vector<std::string> words;
    for (std::string word; file >> word;) words.push_back(word);
    if (!words.empty()) found.push_back(std::move(words));
    if (path.empty()) return found;
    path = path.parent_path();
  }
}

std::optional<std::uint64_t> as_number(const std::string& word) {
  std::istringstream stream(word);
  std::uint64_t value = 0;
  if (word.starts_with('-') || !(stream >> value)) return std::nullopt;
  return value;
}

// The tightest whole number among the groups' files of either version's name.
std::optional<std::uint64_t> tightest(const std::string& controller, const std::string& version_2,
                                      const std::string& version_1) {
  std::optional<std::uint64_t> least;
  const auto group = group_of(controller);
  if (!group) return least;
  for (const std::string& name : {version_2, version_1}) {
    for (const auto& words : words_in(*group, name)) {
      const auto value = as_number(words.front());  // "max" is none
      if (value) least = std::min(*value, least.value_or(*value));
    }
  }
  return least;
}

// How many cores' worth of time the groups allow.
std::optional<double> processor_time() {
  std::optional<double> least;
  const auto group = group_of("cpu");
  if (!group) return least;
  const auto consider = [&](const std::string& quota, const std::string& period) {
    const auto part = as_number(quota);
    const auto whole = as_number(period);
    if (!part || !whole || *whole == 0) return;
    const double cores = static_cast<double>(*part) / static_cast<double>(*whole);
    least = std::min(cores, least.value_or(cores));
  };
  for (const auto& words : words_in(*group, "cpu.max")) {
    if (words.size() == 2) consider(words[0], words[1]);
  }
  const auto quotas = words_in(*group, "cpu.cfs_quota_us");
  const auto periods = words_in(*group, "cpu.cfs_period_us");
  for (std::size_t i = 0; i < std::min(quotas.size(), periods.size()); ++i) {
    consider(quotas[i].front(), periods[i].front());
  }
  return least;
}

Finding memory_limit() {
  // Version 1 writes "no limit" as a number near 2^63.
  constexpr std::uint64_t no_limit = std::uint64_t{1} << 62U;
  const auto bytes = tightest("memory", "memory.max", "memory.limit_in_bytes");
  if (!bytes || *bytes >= no_limit) return {"memory_limit", nullptr, "none"};
  return {"memory_limit", *bytes, host::format_bytes(*bytes)};
}

Finding processor_limit() {
  const auto cores = processor_time();
  if (!cores) return {"cpu_limit", nullptr, "none"};
  return {"cpu_limit", *cores, fmt::format("the time of {:g} cores", *cores)};
}

Finding process_limit() {
  auto most = tightest("pids", "pids.max", "pids.max");
  rlimit user{};
  if (getrlimit(RLIMIT_NPROC, &user) == 0 && user.rlim_cur != RLIM_INFINITY) {
    most = std::min<std::uint64_t>(user.rlim_cur, most.value_or(user.rlim_cur));
  }
  if (!most) return {"process_limit", nullptr, "none"};
  return {"process_limit", *most, fmt::format("{}", *most)};
}

}  // namespace

std::vector<Finding> limit_findings() {
  return {memory_limit(), processor_limit(), process_limit()};
}

}  // namespace muster::cli
