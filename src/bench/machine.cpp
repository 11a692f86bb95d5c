#include "bench/machine.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "bench/commit.hpp"
#include "launch/binding.hpp"

namespace muster::bench {

namespace {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name") && !line.starts_with("CPU part")) continue;
    const auto colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::string compiler() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}, {}", __clang_major__, __clang_minor__, __clang_patchlevel__,
                     MUSTER_BENCH_FLAGS);
#else
  return fmt::format("g++ {}.{}.{}, {}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__,
                     MUSTER_BENCH_FLAGS);
#endif
}

struct Ticks {
  std::uint64_t all = 0;
  std::uint64_t idle = 0;
};

Ticks ticks(const std::vector<int>& cores) {
  Ticks sum;
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (!name.starts_with("cpu") || name == "cpu") continue;
    const int core = std::atoi(name.c_str() + 3);
    if (std::find(cores.begin(), cores.end(), core) == cores.end()) continue;
    // user nice system idle iowait irq softirq steal; what follows is counted in user already.
    std::uint64_t value = 0;
    for (int column = 0; column < 8 && words >> value; ++column) {
      sum.all += value;
      if (column == 3 || column == 4) sum.idle += value;
    }
  }
  return sum;
}

bool is_program(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

Machine this_machine() {
  utsname name{};
  uname(&name);
  return Machine{.cpu = cpu_model(),
                 .kernel = fmt::format("{} {}", name.sysname, name.release),
                 .compiler = compiler(),
                 .commit = built_commit,
                 .cores = launcher::allowed_cores()};
}

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  std::replace(text.begin(), text.end(), '\0', ' ');
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

double load_average() {
  double average = 0;
  std::ifstream("/proc/loadavg") >> average;
  return average;
}

double busy_share(const std::vector<int>& cores) {
  const Ticks before = ticks(cores);
  std::this_thread::sleep_for(std::chrono::milliseconds{300});
  const Ticks after = ticks(cores);
  const std::uint64_t all = after.all - before.all;
  if (all == 0) return 0;
  return 1.0 - static_cast<double>(after.idle - before.idle) / static_cast<double>(all);
}

std::string on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream directories(path == nullptr ? "" : path);
  for (std::string directory; std::getline(directories, directory, ':');) {
    const std::filesystem::path candidate = std::filesystem::path(directory) / program;
    if (is_program(candidate)) return candidate.string();
  }
  return {};
}

std::string beside_this_program(const std::string& program) {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return {};
  const auto here = self.parent_path();
  for (const auto& directory : {here, here.parent_path() / "libexec" / "muster"})
    if (is_program(directory / program)) return (directory / program).string();
  return {};
}

}  // namespace muster::bench
