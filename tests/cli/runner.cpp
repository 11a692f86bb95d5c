// A program that calls run in a way that is easy to get wrong.
//
//   muster_runner NAME                  one run
//   muster_runner NAME again            two, one after the other, the second as NAME-2
//   muster_runner NAME leaves           the same, but rank 1 ends after the first
//   muster_runner NAME within           the body calls run itself, as NAME-inner
//   muster_runner NAME threads          the same, and the ranks that do so are 4 threads
//   muster_runner NAME forks            the body forks a process that does so
//   muster_runner NAME starts COMMAND   the body has the shell run COMMAND
//   muster_runner NAME exit|_exit|quick_exit   rank 1 ends so in the middle of its body
//   muster_runner NAME in-thread HOW    the same with 4 threads as ranks; HOW as above, or stays
//   muster_runner NAME patient          with the longest time-out that there is; rank 1 comes late
//   muster_runner NAME lanes            on 2 lanes
//   muster_runner NAME window MIB       a window of so much on each rank, every page written
//   muster_runner NAME touches MIB      rank 1 writes so much memory of its own
//   muster_runner NAME brings FILE      both bring the file, made anew with 8 MiB of which no page
//                                       is there, for a window of 4 MiB
//   muster_runner NAME killed WHERE     of 4 ranks, 3 kills itself while it is waited for, and the
//                                       others end with an error: at once (team), in a team of 1
//                                       and 3 (split), or in that of the survivors (shrink)
//
// NAME asks for 2 ranks where nothing else is said, NAME-inner for 3. Each rank prints "NAME: rank
// R of P".
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "muster/muster.hpp"

namespace {

using namespace muster;

// A window, rows and a barrier, and a word to the right: what an earlier run has left would show.
Result<void> meet(Team& team, const std::string& name) {
  const auto inbox = team.window<std::uint32_t>({1}, "inbox");
  if (!inbox) return inbox.error();
  const EpochBarrier barrier(team);
  Result<void> met = team.lane([&](auto& fabric) {
    if (fabric.local(*inbox)[0] != 0) return WaitStatus::invalid;
    if (const WaitStatus zero = barrier.sync(fabric); zero != WaitStatus::ok) return zero;
    fabric.address(*inbox, right_of(fabric))[0] = fabric.rank().value + 1;
    const WaitStatus status = barrier.sync(fabric);
    return fabric.local(*inbox)[0] == left_of(fabric).value + 1 ? status : WaitStatus::invalid;
  });
  fmt::print("{}: rank {} of {}\n", name, team.rank().value, team.size());
  std::fflush(stdout);
  return met;
}

int one_run(const std::string& name, std::uint32_t ranks) {
  return run({.ranks = ranks}, [&](Team& team) { return meet(team, name); });
}

int in_child(const std::string& name) {
  const pid_t child = fork();
  if (child == 0) _exit(one_run(name, 3));
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

Result<void> lose_rank_3(Team& team, const std::string& where) {
  auto pair = team.split(static_cast<std::int32_t>(team.rank().value % 2));
  if (!pair) return pair.error();
  const EpochBarrier of_all(team);
  const EpochBarrier of_pair(*pair);
  const Rank me = team.rank();
  if (auto ready = team.sync(); !ready) return ready;
  if (me == Rank{3}) kill(getpid(), SIGKILL);
  if (where == "split") {
    // The others do not look before the fourth's partner has told its story.
    if (me != Rank{1}) std::this_thread::sleep_for(std::chrono::milliseconds(500));
    return pair->lane([&](auto& fabric) { return of_pair.sync(fabric); });
  }
  // Who shrinks the team at once may be the first to fail it.
  const bool at_once = where == "shrink" && me == Rank{1};
  if (!at_once) {
    const Result<void> lost = team.lane([&](auto& fabric) { return of_all.sync(fabric); });
    if (where != "shrink") return lost;
  }
  auto survivors = team.shrink();
  if (!survivors) return survivors.error();
  return Error{ErrorCode::aborted, "a survivor gives up"};
}

constexpr std::int64_t mebibyte = 1 << 20;

Result<void> write_window(Team& team, std::int64_t mebibytes) {
  const auto window = team.window<char>({mebibytes * mebibyte});
  if (!window) return window.error();
  return team.lane([&](auto& fabric) {
    std::memset(fabric.local(*window).data(), 1, static_cast<std::size_t>(mebibytes * mebibyte));
  });
}

Result<void> bring(Team& team, const char* path) {
  const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, 8 * mebibyte) != 0) return Error{ErrorCode::system, "no such file"};
  const auto place = static_cast<std::int64_t>(team.rank().value) * 4 * mebibyte;
  const auto window = team.window_on<char>(fd, place, {4 * mebibyte});
  if (!window) return window.error();
  return team.lane(
      [&](auto& fabric) { std::memset(fabric.local(*window).data(), 1, 4 * mebibyte); });
}

// Written, so that it is there.
void touch(std::int64_t mebibytes) {
  std::vector<char> memory(static_cast<std::size_t>(mebibytes * mebibyte), '1');
  fmt::print("{}\n", memory.back());
}

int tell(const Result<void>& result) {
  if (!result) throw Failure(result.error());
  return 0;
}

void leave_by(const std::string& how) {
  if (how == "exit") std::exit(0);
  if (how == "_exit") _exit(0);
  if (how == "quick_exit") std::quick_exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  const std::string how = argc > 2 ? argv[2] : "";
  const std::string inner = name + "-inner";
  RunOptions options{.ranks = 2};
  if (how == "killed") options.ranks = 4;
  if (how == "patient") options.timeout = std::chrono::milliseconds::max();
  const std::string what = argc > 3 ? argv[3] : "";
  if (how == "in-thread") options = {.ranks = 4, .as = threads};
  if (how == "threads") options = {.ranks = 4, .as = threads};
  std::atomic<bool> leaves = false;
  const int code = run(options, [&](Team& team) -> int {
    if (how == "leaves" && team.rank() == Rank{1}) leaves = true;
    if (how == "killed") return tell(lose_rank_3(team, what));
    if (how == "window") return tell(write_window(team, std::stol(what)));
    if (how == "brings") return tell(bring(team, what.c_str()));
    if (how == "lanes") return tell(team.lanes(2, [](auto&) {}));
    if (how == "touches" && team.rank() == Rank{1}) touch(std::stol(what));
    if (how == "patient" && team.rank() == Rank{1})
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    if (!meet(team, name)) return 1;
    if (how == "within" || how == "threads") return one_run(inner, 3);
    if (how == "forks") return in_child(inner);
    if (how == "starts") return std::system(argv[3]) == 0 ? 0 : 1;
    if (team.rank() == Rank{1}) leave_by(how == "in-thread" ? what : how);
    return 0;
  });
  if (code != 0 || leaves) return code;
  return how == "again" || how == "leaves" ? one_run(name + "-2", 2) : 0;
}
