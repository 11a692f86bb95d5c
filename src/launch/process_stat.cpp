#include "launch/process_stat.hpp"

#include <fstream>
#include <sstream>
#include <string>

namespace muster::launcher {

// Fields 3, 4 and 22 of /proc/PID/stat; the name before them stands in parentheses and may hold
// anything.
std::optional<ProcessStat> stat_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto after_name = text.rfind(')');
  if (after_name == std::string::npos) return std::nullopt;
  std::istringstream rest(text.substr(after_name + 1));
  ProcessStat stat;
  if (!(rest >> stat.state >> stat.parent)) return std::nullopt;
  std::string field;
  for (int number = 5; number < 22; ++number) rest >> field;
  if (!(rest >> stat.started)) return std::nullopt;
  return stat;
}

}  // namespace muster::launcher
