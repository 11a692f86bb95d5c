#include "launch/ancestor.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "launch/launchers.hpp"
#include "launch/process_stat.hpp"

namespace muster::launcher {
namespace {

using Variables = std::map<std::string, std::string>;

std::string folder_of(pid_t pid) {
  return "/proc/" + std::to_string(pid);
}

// Those that it was started with. No value where they cannot be read.
std::optional<Variables> variables_of(pid_t pid) {
  std::ifstream file(folder_of(pid) + "/environ");
  if (!file) return std::nullopt;
  Variables variables;
  for (std::string entry; std::getline(file, entry, '\0');) {
    const auto equals = entry.find('=');
    if (equals != std::string::npos) variables[entry.substr(0, equals)] = entry.substr(equals + 1);
  }
  if (file.bad()) return std::nullopt;
  return variables;
}

bool is_other_users(pid_t pid) {
  struct stat info {};
  return stat(folder_of(pid).c_str(), &info) == 0 && info.st_uid != geteuid();
}

// What the launchers' variables say that this process is that rank by, each with its digest.
std::map<Launcher, std::string> marks_of(const LaunchedBy& self, const Lookup& lookup) {
  std::map<Launcher, std::string> marks;
  for (const Launcher launcher : all_launchers()) {
    const Kind kind(lookup, launcher);
    if (launcher != self.launcher) {
      // A wrapper may set torchrun's variables from those that mpirun has given it.
      if (!kind.is_present()) continue;
      const auto claim = kind.claim();
      if (!claim || claim->rank != self.rank || claim->ranks.value_or(self.ranks) != self.ranks)
        continue;
    }
    if (auto digest = kind.digest()) marks[launcher] = std::move(*digest);
  }
  return marks;
}

bool has_one_of(const Variables& variables, const std::map<Launcher, std::string>& marks) {
  const Lookup lookup = [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  for (const auto& [launcher, mark] : marks) {
    if (Kind(lookup, launcher).digest() == mark) return true;
  }
  return false;
}

}  // namespace

std::optional<Ancestor> launching_ancestor(const LaunchedBy& self) {
  const Lookup own = [](const char* name) { return std::getenv(name); };
  // Set by hand: who has done it may have gone on to something else.
  if (self.launcher == Launcher::torchrun && own("TORCHELASTIC_RUN_ID") == nullptr)
    return std::nullopt;
  const auto marks = marks_of(self, own);
  if (marks.empty()) return std::nullopt;
  for (pid_t pid = getppid(); pid > 1;) {
    const auto stat = stat_of(pid);
    if (!stat) return std::nullopt;
    const auto variables = variables_of(pid);
    if (!variables && !is_other_users(pid)) return std::nullopt;
    if (!variables || !has_one_of(*variables, marks)) return Ancestor{pid, stat->started};
    pid = stat->parent;
  }
  return std::nullopt;
}

bool has_gone(const Ancestor& ancestor) {
  const auto stat = stat_of(ancestor.pid);
  if (stat) return stat->started != ancestor.started || stat->state == 'Z' || stat->state == 'X';
  // It is not there; or nothing is, or can be opened.
  struct stat info {};
  const bool absent = ::stat(folder_of(ancestor.pid).c_str(), &info) != 0 && errno == ENOENT;
  return absent && stat_of(getpid()).has_value();
}

}  // namespace muster::launcher
