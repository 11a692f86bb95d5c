// A program of which one rank kills itself at a step of a set-up call that is named.
//
//   step_victim SCENARIO VICTIM list FILE       the steps of rank VICTIM, a line each
//   step_victim SCENARIO VICTIM STEP NTH FILE   it dies at the NTH time (from 1) that it comes to
//                                               STEP, and FILE says so first: "rank nanoseconds"
//
// VICTIM is a rank, or `any`: the first one to come there. In the scenarios that begin with
// `after_`, the last rank dies first, and only steps within the body count. In `again` those of the
// second run do.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/step.hpp"
#include "muster/muster.hpp"
#include "support/board.hpp"

namespace {

using namespace muster;

struct Plan {
  bool any = false;
  std::uint32_t victim = 0;
  std::string step;  // empty: list them
  int nth = 0;
  std::string file;
};
Plan plan;
std::atomic<bool> armed{true};
std::atomic<int> times{0};
bool crashes = false;  // instead of being killed

void die() {
  if (crashes) *static_cast<volatile int*>(nullptr) = 1;
  kill(getpid(), SIGKILL);
  _exit(1);  // the first process of a pid namespace does not die of its own signals
}

void at_step(std::uint32_t rank, const char* name) {
  if (!armed || (!plan.any && rank != plan.victim)) return;
  if (plan.step.empty()) {
    const int fd = open(plan.file.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (fd < 0) return;  // it may open no more
    const std::string line = std::string(name) + "\n";
    if (write(fd, line.data(), line.size()) < 0) std::abort();
    close(fd);
    return;
  }
  if (plan.step != name || ++times != plan.nth) return;
  close(0);  // this process may have opened all it may
  const int fd = open(plan.file.c_str(), O_WRONLY | O_EXCL | O_CREAT, 0600);
  if (fd < 0) return;  // another rank was here first
  const std::string line = fmt::format("{} {}\n", rank, testing::monotonic_ns());
  if (write(fd, line.data(), line.size()) < 0) std::abort();
  die();
}

// The n-th call of each scenario, until one fails.
template <class... Calls>
Result<void> in_turn(Calls... calls) {
  Result<void> result;
  (void)((result = calls(), result.has_value()) && ...);
  return result;
}

template <class T>
Result<void> outcome(const Result<T>& result) {
  return result ? Result<void>() : Result<void>(result.error());
}

Result<void> use_windows(Team& team) {
  const auto window = team.window<float>({16, 16});
  if (!window) return window.error();
  const auto rows = team.rows();
  if (!rows) return rows.error();
  return in_turn([&] { return outcome(team.signals(3)); }, [&] { return team.free(*rows); },
                 [&] { return team.free(*window); });
}

// As many descriptors as this process may have.
void open_all() {
  while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0) {
  }
}

// With `hungry`, after this process has opened as many descriptors as it may.
Result<void> bring_memory(Team& team, bool hungry = false) {
  const int fd = memfd_create("brought", MFD_CLOEXEC);
  if (ftruncate(fd, 4096) != 0) return Error{ErrorCode::system, "no memory to bring"};
  if (hungry) open_all();
  const auto window = team.window_on<std::uint32_t>(fd, 0, {16});
  close(fd);
  if (!window) return window.error();
  // Each rank's piece is the one that it brought, as it sees itself and as its peers see it.
  return in_turn(
      [&] {
        return team.lane([&](auto& fabric) {
          fabric.local(*window)[0] = fabric.rank().value + 1;
          return WaitStatus::ok;
        });
      },
      [&] { return team.sync(); },
      [&] {
        return team.lane([&](auto& fabric) -> Result<void> {
          for (std::uint32_t peer = 0; peer < fabric.size(); ++peer) {
            const std::uint32_t word = fabric.address(*window, Rank{peer})[0];
            if (word != peer + 1)
              return Error{.what =
                               fmt::format("the memory of rank {} is rank {}'s", peer, word - 1)};
          }
          return {};
        });
      },
      [&] { return team.free(*window); });
}

// Of the shared mappings that may be written, none goes into a core dump.
Result<void> look_at_mappings(Team& team) {
  const int fd = memfd_create("brought", MFD_CLOEXEC);
  if (ftruncate(fd, 4096) != 0) return Error{ErrorCode::system, "no memory to bring"};
  const auto brought = team.window_on<std::uint32_t>(fd, 0, {16});
  const auto window = team.window<float>({16, 16});
  close(fd);
  if (!brought) return brought.error();
  if (!window) return window.error();
  std::ifstream maps("/proc/self/smaps");
  int shared = 0;
  std::string mapping;
  for (std::string line; std::getline(maps, line);) {
    const auto space = line.find(' ');
    if (line.find('-') < space && space + 4 < line.size()) mapping = line;
    if (!line.starts_with("VmFlags:") || mapping.find("rw-s ") == std::string::npos) continue;
    ++shared;
    if (line.find(" dd") == std::string::npos) return Error{.what = "goes into a dump: " + mapping};
  }
  // The job's memory, and three brought pieces.
  if (shared < 4) return Error{.what = fmt::format("{} shared mappings", shared)};
  return {};
}

// How many descriptors a rank has open, and how long a barrier of all takes.
Result<void> measure(Team& team) {
  const auto files = std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  const EpochBarrier barrier(team);
  constexpr int rounds = 10;
  std::int64_t took_ns = 0;
  const Result<void> ran = team.lane([&](auto& fabric) {
    WaitStatus status = barrier.sync(fabric);  // touches all memory
    const std::int64_t begin_ns = testing::monotonic_ns();
    for (int i = 0; i < rounds && status == WaitStatus::ok; ++i) status = barrier.sync(fabric);
    took_ns = testing::monotonic_ns() - begin_ns;
    return status;
  });
  if (team.rank() == Rank{0})
    fmt::print("{} descriptors, {} us a barrier\n", files, took_ns / rounds / 1000);
  return ran;
}

Result<void> split_and_close(Team& team) {
  auto part = team.split(0);
  if (!part) return part.error();
  return in_turn([&] { return use_windows(*part); }, [&] { return part->close(); });
}

// Until a team of survivors works.
Result<void> shrink(Team& team) {
  Team current = team;
  while (true) {
    auto survivors = current.shrink();
    if (!survivors) return outcome(survivors);
    current = *survivors;
    // The last call tells of a death at the end of the one before.
    Result<void> used = use_windows(current);
    if (used) {
      armed = false;
      used = current.sync();
    }
    if (!used && used.error().code != ErrorCode::peer_lost) return used;
    if (!used) continue;
    fmt::print("{} survivors\n", current.size());
    std::fflush(stdout);
    return {};
  }
}

Result<void> play(Team& team, const std::string& scenario) {
  if (scenario.starts_with("after_") && team.rank().value + 1 == team.size()) die();
  armed = true;
  if (scenario == "join" || scenario == "again") return {};
  if (scenario == "window" || scenario == "crash") return use_windows(team);
  if (scenario == "measure") return measure(team);
  if (scenario == "mappings") return look_at_mappings(team);
  if (scenario == "window_on") return bring_memory(team);
  if (scenario == "hungry")
    return in_turn([&] { return bring_memory(team, true); },
                   [&] { return open_all(), use_windows(team); });
  if (scenario == "split") return split_and_close(team);
  if (scenario == "after_failure") return team.sync();
  if (scenario == "after_shrink") {
    if (const auto met = team.sync(); met) return Error{.what = "nobody has died"};
    return shrink(team);
  }
  return Error{.what = "unknown scenario " + scenario};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5 && argc != 6) return 2;
  const std::string scenario = argv[1];
  const std::string victim = argv[2];
  plan.any = victim == "any";
  plan.victim = static_cast<std::uint32_t>(std::atoi(argv[2]));
  if (argc == 6) {
    plan.step = argv[3];
    plan.nth = std::atoi(argv[4]);
  }
  plan.file = argv[argc - 1];
  crashes = scenario == "crash";
  armed = !scenario.starts_with("after_");
  on_step = at_step;
  if (scenario == "again") {
    armed = false;
    if (const int first = run({.ranks = 3}, [](Team& team) { return team.sync(); }); first != 0)
      return first;
    armed = true;
  }
  return run({.ranks = scenario.starts_with("after_") ? 4U : 3U}, [&](Team& team) {
    const Result<void> played = play(team, scenario);
    armed = false;  // who comes to the end of its body owes the others nothing more
    return played;
  });
}
