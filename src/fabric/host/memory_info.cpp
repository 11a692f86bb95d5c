#include "fabric/host/memory_info.hpp"

#include <fmt/format.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "fabric/host/control_group.hpp"

namespace muster::host {
namespace {

// A line "Name:   123 kB" of /proc/meminfo, in bytes.
std::optional<std::uint64_t> from_meminfo(const std::string& name) {
  std::ifstream file("/proc/meminfo");
  std::string key;
  std::uint64_t kilobytes = 0;
  std::string unit;
  while (file >> key >> kilobytes && std::getline(file, unit)) {
    if (key == name + ":") return kilobytes * 1024;
  }
  return std::nullopt;
}

// Where there is no /proc, the kernel tells less: not what it could free.
struct sysinfo of_kernel() {
  struct sysinfo info {};
  ::sysinfo(&info);
  return info;
}

}  // namespace

std::uint64_t total_memory() {
  if (const auto total = from_meminfo("MemTotal")) return *total;
  const struct sysinfo info = of_kernel();
  return std::uint64_t{info.totalram} * info.mem_unit;
}

std::uint64_t available_memory() {
  const struct sysinfo info = of_kernel();
  const std::uint64_t machine =
      from_meminfo("MemAvailable")
          .value_or(std::uint64_t{info.freeram + info.bufferram} * info.mem_unit);
  return std::min(machine, ControlGroup().left().value_or(machine));
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
