#include "fabric/host/memory_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>

namespace muster::host {
namespace {

// A line "Name:   123 kB" of /proc/meminfo, in bytes.
std::uint64_t from_meminfo(const std::string& name) {
  std::ifstream file("/proc/meminfo");
  std::string key;
  std::uint64_t kilobytes = 0;
  std::string unit;
  while (file >> key >> kilobytes && std::getline(file, unit)) {
    if (key == name + ":") return kilobytes * 1024;
  }
  return 0;
}

std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

// What the control group (version 2, then 1) leaves of its limit.
std::optional<std::uint64_t> left_in_group() {
  static constexpr std::array<std::array<const char*, 2>, 2> files{
      {{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
       {"/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes"}}};
  for (const auto& [limit_file, usage_file] : files) {
    const auto limit = number_in(limit_file);
    const auto usage = number_in(usage_file);
    if (limit && usage) return *limit > *usage ? *limit - *usage : 0;
  }
  return std::nullopt;
}

}  // namespace

std::uint64_t total_memory() {
  return from_meminfo("MemTotal");
}

std::uint64_t available_memory() {
  const std::uint64_t machine = from_meminfo("MemAvailable");
  return std::min(machine, left_in_group().value_or(machine));
}

std::string format_bytes(std::uint64_t bytes) {
  static constexpr std::array<const char*, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

}  // namespace muster::host
