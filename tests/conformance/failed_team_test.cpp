// What is left of a team that has failed or was closed: nothing that another team has, no memory.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "conformance/failures.hpp"
#include "muster/fabric/host/context.hpp"
#include "muster/muster.hpp"
#include "support/entries.hpp"

namespace muster {
namespace {

using testing::Checks;

class FailedTeams : public Failures {};

INSTANTIATE_TEST_SUITE_P(As, FailedTeams, ::testing::Values(threads, processes), name_of_start);

// What lies in this process of memory that ranks have registered under that name.
std::size_t mappings_of(const std::string& name) {
  std::ifstream maps("/proc/self/maps");
  std::size_t found = 0;
  for (std::string line; std::getline(maps, line);) found += line.find(name) != std::string::npos;
  return found;
}

// Memory that a team has registered is let go by close(): of a healthy team, more often than a job
// has room for, and of one that has failed, whose windows free() refuses with the failure.
TEST_P(FailedTeams, RegisteredMemoryGoesWithItsTeam) {
  expect_held(2, [](Team& team) -> Result<void> {
    Checks checks;
    constexpr const char* name = "muster_registered";
    const int fd = memfd_create(name, MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, 4096) != 0) return Error{ErrorCode::system, "no memfd"};
    for (int round = 0; round < 70; ++round) {
      const bool fails = round % 10 == 9;
      auto part = team.split(0);
      if (!checks.ok(part, "split")) return checks.done();
      const auto window = part->window_on<int>(fd, 0, {16});
      if (!checks.ok(window, "window_on")) return checks.done();
      checks.holds(mappings_of(name) > 0, "it is mapped");
      if (fails) {
        part->abort("no more");
        checks.refused(part->free(*window), ErrorCode::aborted, "free of a failed team's window",
                       "no more");
      }
      checks.ok(part->close(), fails ? "close of a failed team" : "close");
      if (!checks.ok(team.sync(), "sync")) return checks.done();
      checks.equal(mappings_of(name), 0, fails ? "mappings after a failure" : "mappings");
      if (!checks.ok(team.sync(), "sync")) return checks.done();
    }
    close(fd);
    return checks.done();
  });
}

// A rank that goes on with set-up calls after an abort: a slow rank, which is still in the call
// before it, neither takes them for its peers' part of that one nor for a mismatch.
TEST_P(FailedTeams, SetUpCallsAfterAnAbortReachNobody) {
  for (int attempt = 0; attempt < 20; ++attempt)
    expect_held(4, [](Team& team) -> Result<void> {
      const bool first = team.rank() == Rank{0};
      auto part = team.split(0, first ? 1 : 0);
      if (first) {
        team.abort("enough");
        for (int i = 0; i < 3; ++i) (void)team.split(0, -1 - i);
        for (std::uint32_t lanes = 1; lanes <= 3; ++lanes) (void)team.rows(lanes);
      }
      Checks checks;
      checks.holds(
          !part || part->size() == 4,
          "a team of " + std::to_string(part ? part->size() : 0) + " ranks came of a split of 4");
      checks.holds(part || part.error().code == ErrorCode::aborted,
                   "split: " + (part ? std::string() : to_string(part.error())));
      const Result<void> met = team.sync();
      checks.holds(!met && met.error().code == ErrorCode::aborted,
                   "sync: " + (met ? std::string("ok") : to_string(met.error())));
      return checks.done();
    });
}

// What a closed team had, its number too, is another team's by now.
TEST_P(FailedTeams, AClosedTeamReachesNobody) {
  expect_held(3, [](Team& team) -> Result<void> {
    Checks checks;
    auto old = *team.split(0);
    auto child = *old.split(0);
    checks.refused(old.close(), ErrorCode::invalid_argument, "close() before the child's",
                   "still open");
    checks.ok(child.close(), "close of the child");
    const Signals signals = *old.signals(1);
    checks.ok(old.close(), "close");

    auto other = *team.split(0);
    const Signals others = *other.signals(8);
    old.abort("nobody is there");
    checks.refused(old.shrink(), ErrorCode::invalid_argument, "shrink of a closed team", "closed");
    checks.refused(old.lane([&](auto& fabric) {
      fabric.notify(signals[0], Rank{0}, 7, NotifyOp::set);
      return WaitStatus::ok;
    }),
                   ErrorCode::invalid_argument, "a lane of a closed team", "closed");
    checks.ok(other.sync(), "sync of the other team");
    checks.ok(other.lane([&](auto& fabric) {
      for (std::uint32_t i = 0; i < 8; ++i)
        checks.holds(fabric.read(others[i]) == 0, "a new signal is not zero");
      return WaitStatus::ok;
    }),
              "a lane of the other team");
    checks.ok(team.sync(), "sync of the parent");
    return checks.done();
  });
}

// A team that failed is closed by each rank for itself, and so can its parent be.
TEST_P(FailedTeams, AFailedChildDoesNotHoldItsParentOpen) {
  expect_held(3, [](Team& team) -> Result<void> {
    Checks checks;
    auto parent = *team.split(0);
    auto closed = *parent.split(0);
    auto shrunk = *parent.split(0);
    if (team.rank() == Rank{0}) closed.abort("the first child");
    while (closed.sync()) {
    }
    checks.ok(closed.close(), "close of a failed team");
    checks.refused(closed.close(), ErrorCode::invalid_argument, "close once more", "closed");
    checks.refused(closed.shrink(), ErrorCode::invalid_argument, "shrink of what is closed",
                   "closed");
    auto rest = shrunk.shrink();
    checks.ok(rest, "shrink of a child");
    checks.ok(parent.close(), "close of the parent");
    checks.ok(team.sync(), "sync");
    return checks.done();
  });
}

// Bytes of the job's memory that are there.
std::int64_t bytes_taken() {
  for (const std::string& name : testing::entries_of("/proc/self/fd")) {
    const std::string path = "/proc/self/fd/" + name;
    char target[256] = {};
    if (readlink(path.c_str(), target, sizeof(target) - 1) <= 0) continue;
    struct stat status {};
    if (std::string(target).find("memfd:muster") != std::string::npos &&
        stat(path.c_str(), &status) == 0)
      return std::int64_t{status.st_blocks} * 512;
  }
  return 0;
}

// More than there are numbers for teams.
constexpr std::uint32_t shrinks = host::max_teams + 100;

// What failed teams had, their numbers too, is given back: with their last object, or by close().
TEST_P(FailedTeams, MoreShrinksThanTeamsLoseNothing) {
  constexpr std::int64_t elements = 1 << 18;  // 1 MiB
  expect_held(2, [](Team& first) -> Result<void> {
    Team team = first;
    Checks checks;
    std::int64_t early = 0;
    for (std::uint32_t i = 0; i < shrinks; ++i) {
      const auto window = team.window<float>({elements});
      if (!checks.ok(window, "window")) break;
      (void)team.rows();
      checks.ok(team.lane([&](auto& fabric) {
        checks.equal(fabric.local(*window)[elements - 1], 0.0F, "a new window's element");
        fabric.local(*window)[elements - 1] = 1;
      }),
                "a lane");
      if (team.rank() == Rank{0}) team.abort("again");
      auto rest = team.shrink();
      if (!checks.ok(rest, "shrink " + std::to_string(i))) break;
      if (i % 2 == 0) checks.ok(team.close(), "close of the failed team");
      team = std::move(*rest);
      if (i == 20) early = bytes_taken();
    }
    checks.ok(team.sync(), "sync at the end");
    const std::int64_t late = bytes_taken();
    checks.holds(early > 0 && late < early + 16 * elements * 4,
                 std::to_string(early) + " bytes after 20 shrinks, " + std::to_string(late) +
                     " after all: no more than a few windows between them");
    return checks.done();
  });
}

}  // namespace
}  // namespace muster
