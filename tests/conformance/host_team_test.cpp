// Teams within teams: renumbered peers, rows and failures of their own, a parent's windows, and
// memory that is as good as new when it is used again.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <optional>
#include <utility>
#include <vector>

#include "conformance/host_runner.hpp"
#include "conformance/setup_bodies.hpp"
#include "muster/muster.hpp"

namespace muster::conformance {
namespace {

// Odd and even ranks apart, numbered backwards: everybody writes the parent's window and one of the
// new team's, and reads both from every member.
Result<void> check_half(Team& team, Team& half, WindowRef<std::int64_t> parents, int round) {
  EpochBarrier barrier(half);
  const auto own = half.window<std::int64_t>({8});
  Checks checks;
  const std::int64_t base = std::int64_t{round} * 1000;
  auto ran = half.lane([&](auto& fabric) -> WaitStatus {
    checks.equal(fabric.local(*own)[0], 0, "a new window's element");
    fabric.local(parents)[0] = base + team.rank().value;
    fabric.local(*own)[0] = base + fabric.rank().value;
    const WaitStatus met = barrier.sync(fabric);
    for (std::uint32_t peer = 0; peer < fabric.size(); ++peer) {
      const std::int64_t rank = team.rank().value % 2 + 2 * (fabric.size() - 1 - peer);
      checks.equal(fabric.address(parents, Rank{peer})[0], base + rank, "the parent's window");
      checks.equal(fabric.address(*own, Rank{peer})[0], base + peer, "the team's window");
    }
    return worst(met, barrier.sync(fabric));
  });
  if (!ran) return ran;
  return checks.done();
}

Result<void> split_and_close(Team& team) {
  const auto parents = team.window<std::int64_t>({4});
  for (int round = 1; round <= 50; ++round) {
    const auto key = -static_cast<std::int32_t>(team.rank().value);
    auto half = team.split(static_cast<std::int32_t>(team.rank().value % 2), key);
    if (!half) return half.error();
    if (auto checked = check_half(team, *half, *parents, round); !checked) return checked;
    if (auto closed = half->close(); !closed) return closed;
    if (half->sync()) return Error{ErrorCode::invalid_argument, "sync of a closed team succeeded"};
  }
  return {};
}

// Overlapping and nested: a team of all, and in it pairs, used in turn.
Result<void> overlap(Team& team) {
  auto all = team.split(0);
  auto pair = all->split(static_cast<std::int32_t>(team.rank().value / 2));
  EpochBarrier of_team(team);
  EpochBarrier of_all(*all);
  EpochBarrier of_pair(*pair);
  for (int round = 0; round < 100; ++round) {
    if (auto r = pair->lane([&](auto& fabric) { return of_pair.sync(fabric); }); !r) return r;
    if (auto r = all->lane([&](auto& fabric) { return of_all.sync(fabric); }); !r) return r;
    if (auto r = team.lane([&](auto& fabric) { return of_team.sync(fabric); }); !r) return r;
  }
  if (auto closed = pair->close(); !closed) return closed;
  return all->close();
}

// An abort of the parent ends waits on the team that was split off.
Result<void> parents_failure(Team& team) {
  auto half = team.split(0);
  const auto never = half->signals(1);
  if (team.rank() == Rank{0}) team.abort("enough");
  const auto waited =
      half->lane([&](auto& fabric) { return fabric.wait((*never)[0], Compare::ge, 1); });
  if (waited) return Error{ErrorCode::invalid_argument, "a wait for nothing succeeded"};
  if (waited.error().what.find("enough") == std::string::npos) return waited;
  auto rest = team.shrink();
  return rest ? rest->sync() : Result<void>(rest.error());
}

Result<void> wrong_colour(Team& team) {
  const auto wrong = team.split(team.rank() == Rank{0} ? -3 : 1);
  Checks checks;
  if (team.rank() == Rank{0}) {
    checks.refused(wrong, ErrorCode::invalid_argument, "split", "colour is -3", "0 or more");
  } else {
    checks.refused(wrong, ErrorCode::mismatch, "split", "rank 0 failed", "colour is -3");
  }
  return checks.done();
}

// A split that fails takes nothing: where there is room for some of its teams only, that room
// stays.
Result<void> teams_run_out(Team& team) {
  constexpr std::uint32_t room = 1023;  // a job has 1024 teams at a time, and this is one of them
  std::vector<Team> alone;
  std::optional<Error> error;
  while (!error && alone.size() <= room) {
    auto one = team.split(static_cast<std::int32_t>(team.rank().value));
    if (one) {
      alone.push_back(std::move(*one));
    } else {
      error = one.error();
    }
  }
  Checks checks;
  checks.equal(alone.size(), std::size_t{room / team.size()}, "teams that there is room for");
  const bool some_room = room % team.size() != 0;
  checks.equal(team.split(0).has_value(), some_room, "room for one more team");
  for (Team& one : alone) checks.ok(one.close(), "close");
  checks.ok(team.split(static_cast<std::int32_t>(team.rank().value)), "split");
  return checks.done();
}

// Each rank registers a piece of a file of its own, off the page's edge; a split team uses it as
// well.
Result<void> brought_memory(Team& team) {
  constexpr std::int64_t place = 4096 + 64;
  const int fd = memfd_create("brought", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, 3 * 4096) != 0) return Error{ErrorCode::system, "no memfd"};
  Checks checks;
  for (int round = 0; round < 3; ++round) {
    auto window = team.window_on<std::int32_t>(fd, place, {16, 16});
    if (!window) return window.error();
    auto reversed = team.split(0, -static_cast<std::int32_t>(team.rank().value));
    EpochBarrier barrier(*reversed);
    auto ran = reversed->lane([&](auto& fabric) -> WaitStatus {
      fabric.local(*window)[255] = round * 100 + static_cast<std::int32_t>(fabric.rank().value);
      const WaitStatus met = barrier.sync(fabric);
      for (std::uint32_t peer = 0; peer < fabric.size(); ++peer) {
        checks.equal(fabric.address(*window, Rank{peer})[255],
                     round * 100 + static_cast<std::int32_t>(peer), "the peer's last element");
      }
      return worst(met, barrier.sync(fabric));
    });
    if (!ran) return ran;
    std::int32_t last = 0;
    checks.equal(pread(fd, &last, sizeof last, place + 255 * 4), ssize_t{sizeof last}, "read");
    checks.equal(last % 100, static_cast<std::int32_t>(team.size() - 1 - team.rank().value),
                 "the file's");
    if (auto closed = reversed->close(); !closed) return closed;
    if (auto freed = team.free(*window); !freed) return freed;
    checks.refused(team.free(*window), ErrorCode::invalid_argument, "second free", "freed twice");
  }
  checks.refused(team.window_on<std::int32_t>(fd, place, {4096}), ErrorCode::invalid_argument,
                 "too short", "the file has 12288 bytes");
  checks.refused(team.window_on<std::int32_t>(fd, 2, {4}), ErrorCode::invalid_argument,
                 "misaligned", "not aligned");
  checks.refused(team.window_on<std::int32_t>(fd, -4, {4}), ErrorCode::invalid_argument, "negative",
                 "place is -4");
  close(fd);
  return checks.done();
}

// Ranks that call different barriers get an error that names both, soon, and not a hang.
Result<void> different_barriers(Team& team) {
  EpochBarrier one(team);
  CreditBarrier other(team);
  const bool first = team.rank() == Rank{0};
  const auto ran = team.lane([&](auto& fabric) -> WaitStatus {
    for (int call = 0; call < 100; ++call) {
      const bool strays = first && call == 50;
      const WaitStatus met = strays ? other.sync(fabric) : one.sync(fabric);
      if (met != WaitStatus::ok) return met;
    }
    return WaitStatus::ok;
  });
  Checks checks;
  if (team.size() == 1) return ran;
  if (ran) return Error{ErrorCode::invalid_argument, "different barriers were accepted"};
  checks.mentions(ran.error().what, "EpochBarrier (cell", "the error");
  checks.mentions(ran.error().what, "CreditBarrier (cell", "the error");
  auto rest = team.shrink();
  checks.ok(rest, "shrink");
  return checks.done();
}

// One rank has finished while the others meet once more.
Result<void> one_call_more(Team& team) {
  EpochBarrier barrier(team);
  const auto calls = team.rank() == Rank{0} ? 3 : 4;
  const auto ran = team.lane([&](auto& fabric) -> WaitStatus {
    WaitStatus met = WaitStatus::ok;
    for (int call = 0; call < calls && met == WaitStatus::ok; ++call) met = barrier.sync(fabric);
    return met;
  });
  const auto ended = team.sync();
  Checks checks;
  if (team.size() == 1) return ended;
  const Error error = ran ? ended.error() : ran.error();
  checks.mentions(error.what, "EpochBarrier (cell", "the error");
  checks.mentions(error.what, "sync()", "the error");
  auto rest = team.shrink();
  checks.ok(rest, "shrink");
  return checks.done();
}

// One lane gives up: the others, here and on the peers, do not wait for it until the deadline.
Result<void> one_lane_gives_up(Team& team) {
  const auto never = team.signals(1);
  const auto ran = team.lanes(3, [&](auto& fabric) -> Result<void> {
    if (fabric.lane() == Lane{1} && fabric.rank() == Rank{0}) {
      return Error{ErrorCode::unavailable, "no more of this"};
    }
    return result_of(fabric.wait((*never)[0], Compare::ge, 1));
  });
  Checks checks;
  if (team.rank() == Rank{0}) {
    checks.refused(ran, ErrorCode::unavailable, "the lane that gave up", "no more of this");
  } else {
    checks.refused(ran, ErrorCode::aborted, "the peers' lanes", "rank 0 lane 1", "no more of this");
  }
  checks.ok(team.shrink(), "shrink");
  return checks.done();
}

[[maybe_unused]] const bool added =
    add_host_cases("team",
                   {{"extents", extents<Team>, Sizes::few},
                    {"statuses", statuses<Team>, Sizes::few},
                    {"split_and_close", split_and_close, Sizes::all},
                    {"overlap", overlap, Sizes::all},
                    {"parents_failure", parents_failure, Sizes::all},
                    {"brought_memory", brought_memory, Sizes::all},
                    {"different_barriers", different_barriers, Sizes::all},
                    {"one_call_more", one_call_more, Sizes::all},
                    {"one_lane_gives_up", one_lane_gives_up, Sizes::few},
                    {"teams_run_out", teams_run_out, Sizes::few},
                    {"wrong_colour", wrong_colour, Sizes::few}},
                   {.verify = true});

}  // namespace
}  // namespace muster::conformance
