#include "fabric/host/control_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

#include "fabric/host/memory_info.hpp"

namespace muster::host {
namespace {

// Version 1 says 2^63, rounded down to a page, where there is no limit.
constexpr std::uint64_t no_limit = 1ULL << 62U;

std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

// The number behind `key` in a file of such pairs.
std::uint64_t value_of(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string name;
  std::uint64_t value = 0;
  while (file >> name >> value) {
    if (name == key) return value;
  }
  return 0;
}

struct Mount {
  std::string of;  // the directory of the hierarchy that is mounted
  std::string at;
};

// Where version 1's memory hierarchy, or version 2's only one, is mounted.
std::optional<Mount> find_mount(const std::string& root, bool second) {
  std::ifstream file(root + "/proc/self/mountinfo");
  std::string line;
  while (std::getline(file, line)) {
    const auto separator = line.find(" - ");
    if (separator == std::string::npos) continue;
    std::istringstream front(line);
    std::istringstream back(line.substr(separator + 3));
    std::string skipped, type, source, options;
    Mount mount;
    front >> skipped >> skipped >> skipped >> mount.of >> mount.at;
    back >> type >> source >> options;
    const bool memory = ("," + options + ",").find(",memory,") != std::string::npos;
    if (second ? type == "cgroup2" : type == "cgroup" && memory) return mount;
  }
  return std::nullopt;
}

// This process's group in that hierarchy, as /proc tells it.
std::optional<std::string> find_path(const std::string& root, bool second) {
  std::ifstream file(root + "/proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    const auto first = line.find(':');
    const auto next = line.find(':', first + 1);
    if (next == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, next - first - 1);
    const bool memory = ("," + controllers + ",").find(",memory,") != std::string::npos;
    if (second ? controllers.empty() : memory) return line.substr(next + 1);
  }
  return std::nullopt;
}

}  // namespace

ControlGroup::ControlGroup(std::string root) {
  // Where version 1 has the memory, version 2 has not.
  for (const bool second : {false, true}) {
    const auto mount = find_mount(root, second);
    const auto path = find_path(root, second);
    if (!mount || !path) continue;
    second_ = second;
    top_ = root + mount->at;
    // In a container the mount may begin at the group itself, or be none of the path's business.
    const std::string of = mount->of == "/" ? "" : mount->of;
    const bool within = path->starts_with(of) && path->find("/..") == std::string::npos;
    directory_ = top_ + (within ? path->substr(of.size()) : "");
    while (directory_.ends_with('/')) directory_.pop_back();
    return;
  }
}

std::optional<ControlGroup::Level> ControlGroup::tightest() const {
  std::optional<Level> found;
  std::string directory = directory_;
  while (!directory.empty() && directory.size() >= top_.size()) {
    const auto limit = number_in(directory + (second_ ? "/memory.max" : "/memory.limit_in_bytes"));
    const auto usage =
        number_in(directory + (second_ ? "/memory.current" : "/memory.usage_in_bytes"));
    if (limit && usage && *limit < no_limit) {
      const std::string stat = directory + "/memory.stat";
      const std::string prefix = second_ ? "" : "total_";
      const std::uint64_t files =
          value_of(stat, prefix + "inactive_file") + value_of(stat, prefix + "active_file");
      const std::uint64_t taken = *usage - std::min(*usage, files);
      const std::uint64_t left = *limit - std::min(*limit, taken);
      if (!found || left < found->left) found = Level{directory, *limit, left};
    }
    directory.resize(directory.rfind('/'));
    // In version 1 a group above binds only where it is told to.
    if (!second_ && number_in(directory + "/memory.use_hierarchy") == 0U) break;
  }
  return found;
}

std::optional<std::uint64_t> ControlGroup::left() const {
  const auto level = tightest();
  return level ? std::optional(level->left) : std::nullopt;
}

std::uint64_t ControlGroup::killed() const {
  return value_of(directory_ + (second_ ? "/memory.events" : "/memory.oom_control"), "oom_kill");
}

std::string ControlGroup::limit_in_words() const {
  const auto level = tightest();
  if (!level) return {};
  const std::string path = level->directory.substr(top_.size());
  return fmt::format("{} has a limit of {}", path.empty() ? "/" : path, format_bytes(level->limit));
}

std::function<std::string()> watch_kills_for_memory() {
  // The group's count, and the machine's, which holds it.
  const ControlGroup group;
  const auto of_machine = [] { return value_of("/proc/vmstat", "oom_kill"); };
  return [group, of_machine, of_group_before = group.killed(),
          of_machine_before = of_machine()]() -> std::string {
    const std::uint64_t of_group = group.killed() - of_group_before;
    const std::uint64_t of_all = of_machine() - of_machine_before;
    const std::uint64_t killed = of_group > 0 ? of_group : of_all;
    if (killed == 0) return {};
    const std::string limit = of_group > 0 ? group.limit_in_words() : "";
    return fmt::format(", and the kernel has killed {} process{} for memory meanwhile{}", killed,
                       killed == 1 ? "" : "es",
                       limit.empty() ? "" : ": the control group " + limit);
  };
}

}  // namespace muster::host
