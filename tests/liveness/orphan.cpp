// A rank whose launcher is about to be killed: it comes to a moment of its life, and stays there.
//
//   orphan MOMENT FILE [close-early | close-late | help]
//
// MOMENT is one of
//   before    in main, before it calls run; it goes on when FILE.go is there
//   joining   the last rank is before run, the others wait for it
//   barrier   of the body, to which the last rank does not come
//   body      in no call of muster's
//   end       the last rank is in its body, the others have ended theirs
// There it appends "RANK PID" to FILE. It closes all descriptors from 3 on as the first thing in
// main (close-early), or in the body (close-late); or it starts a helper in the body.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "muster/muster.hpp"

namespace {

using namespace muster;

std::string moment;
std::string file;

// By whoever started it; no other way to know it before run.
std::uint32_t rank_before_run() {
  for (const char* name : {"MUSTER_RANK", "OMPI_COMM_WORLD_RANK", "RANK", "SLURM_PROCID"})
    if (const char* rank = std::getenv(name)) return static_cast<std::uint32_t>(std::atoi(rank));
  return 0;
}

std::uint32_t ranks_before_run() {
  for (const char* name : {"MUSTER_RANKS", "OMPI_COMM_WORLD_SIZE", "WORLD_SIZE", "SLURM_NTASKS"})
    if (const char* ranks = std::getenv(name)) return static_cast<std::uint32_t>(std::atoi(ranks));
  return 1;
}

void say_that_it_is_there(std::uint32_t rank) {
  const int fd = open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  const std::string line = fmt::format("{} {}\n", rank, getpid());
  if (fd < 0 || write(fd, line.data(), line.size()) < 0) std::abort();
  close(fd);
}

void stay(const std::string& until = {}) {
  while (until.empty() || access(until.c_str(), F_OK) != 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

Result<void> body(Team& team, const std::string& does) {
  const EpochBarrier barrier(team);
  const bool is_last = team.rank().value + 1 == team.size();
  if (does == "close-late") close_range(3, ~0U, 0);
  if (does == "help" && std::system("setsid sleep 300 </dev/null >/dev/null 2>&1 &") != 0)
    return Error{.what = "no helper"};
  say_that_it_is_there(team.rank().value);
  if (moment == "body" || is_last) stay();
  if (moment == "end") return {};
  return team.lane([&](auto& fabric) { return barrier.sync(fabric); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) return 2;
  moment = argv[1];
  file = argv[2];
  const std::string does = argc == 4 ? argv[3] : "";
  if (does == "close-early") close_range(3, ~0U, 0);
  const std::uint32_t rank = rank_before_run();
  const bool is_last = rank + 1 == ranks_before_run();
  if (moment == "before" || moment == "joining") {
    say_that_it_is_there(rank);
    if (moment == "before" || is_last) stay(file + ".go");
  }
  return run({}, [&](Team& team) { return body(team, does); });
}
