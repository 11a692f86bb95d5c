#include "team/exit_watch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

namespace muster {
namespace {

struct Watched {
  const ExitWatch* by;
  pid_t process;
  std::string who;
};

// Never destroyed: exit() comes before.
struct Register {
  std::mutex lock;
  std::vector<Watched> watched;
};

Register& all() {
  static auto* const all = new Register;
  return *all;
}

// True, after a line for each, where this process has left bodies.
bool tell(int code) {
  const std::lock_guard guard(all().lock);
  bool left = false;
  for (const Watched& one : all().watched) {
    if (one.process != getpid()) continue;
    left = true;
    fmt::print(stderr, "muster: {} ended the process, with code {}, in the middle of its body\n",
               one.who, code);
  }
  std::fflush(stderr);
  return left;
}

// exit() may be called again by what it calls: glibc goes on with the rest, with the new code.
void on_exit_of_process(int code, void* /*unused*/) {
  if (tell(code) && code == 0) std::exit(1);
}

void on_quick_exit() {
  if (tell(0)) std::_Exit(1);
}

}  // namespace

ExitWatch::ExitWatch(std::string who) {
  static const int once = on_exit(on_exit_of_process, nullptr) + std::at_quick_exit(on_quick_exit);
  static_cast<void>(once);
  const std::lock_guard guard(all().lock);
  all().watched.push_back({this, getpid(), std::move(who)});
}

ExitWatch::~ExitWatch() {
  const std::lock_guard guard(all().lock);
  std::erase_if(all().watched, [this](const Watched& one) { return one.by == this; });
}

}  // namespace muster
