#include "launch/orphans.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "launch/process_stat.hpp"

namespace muster::launcher {
namespace {

namespace fs = std::filesystem;

std::optional<pid_t> as_pid(const std::string& text) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return pid;
}

// For kernels without /proc/PID/task/TID/children.
std::vector<pid_t> children_by_search() {
  std::vector<pid_t> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const auto pid = as_pid(entry.path().filename().string());
    const auto stat = pid ? stat_of(*pid) : std::nullopt;
    if (stat && stat->parent == getpid()) found.push_back(*pid);
  }
  return found;
}

// Those of this thread, and of the main one, which gets the orphans. What other threads have
// forked is none of a launch's business: they may have launched ranks of their own.
std::vector<pid_t> children() {
  std::vector<pid_t> found;
  bool listed = false;
  for (const pid_t thread : std::set<pid_t>{getpid(), gettid()}) {
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/children");
    listed = listed || file.is_open();
    pid_t pid = 0;
    while (file >> pid) found.push_back(pid);
  }
  return listed ? found : children_by_search();
}

}  // namespace

Orphanage::Orphanage() {
  const auto before = children();
  older_ = {before.begin(), before.end()};
  prctl(PR_GET_CHILD_SUBREAPER, &was_subreaper_);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

Orphanage::~Orphanage() {
  prctl(PR_SET_CHILD_SUBREAPER, was_subreaper_);
}

std::vector<pid_t> Orphanage::adopted(const std::set<pid_t>& ranks) const {
  std::vector<pid_t> found = children();
  std::erase_if(found, [&](pid_t pid) { return ranks.contains(pid) || older_.contains(pid); });
  return found;
}

std::vector<pid_t> Orphanage::reap(const std::set<pid_t>& ranks) const {
  std::vector<pid_t> running;
  for (const pid_t pid : adopted(ranks)) {
    if (waitpid(pid, nullptr, WNOHANG) == 0) running.push_back(pid);
  }
  return running;
}

}  // namespace muster::launcher
