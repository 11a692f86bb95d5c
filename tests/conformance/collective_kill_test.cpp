// A rank that is killed at a random moment inside a collective: every other rank is told within the
// time that a death may take to be noticed, and no result that was said to be ok is wrong.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <new>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "conformance/counted_bodies.hpp"
#include "muster/run.hpp"
#include "muster/team/collective.hpp"

namespace muster::conformance {
namespace {

constexpr std::uint32_t ranks = 4;
constexpr std::int64_t count = 3000;  // several tiles, and for the small staging below many pieces

// Calls until one fails; a mismatch where a result said to be ok is wrong.
using Loop = Result<void> (*)(Team& team);

Result<void> wrong(const char* what) {
  return Error{.code = ErrorCode::mismatch, .what = what};
}

template <Algorithm algorithm>
Result<void> all_reduce_loop(Team& team) {
  const AllReduce<std::int32_t> sums(team, {.algorithm = algorithm, .chunk = 512});
  for (std::uint32_t call = 0;; ++call) {
    auto mine = input_of<std::int32_t, Sum>(team.rank().value, call, count);
    std::vector<std::int32_t> all(mine.size());
    const Result<void> done = team.lane(
        [&](auto& fabric) { return sums.run(fabric, memory_of(all), memory_of(mine), count); });
    if (!done) return done;
    for (std::int64_t i = 0; i < count; ++i)
      if (!is_result<std::int32_t, Sum>(all[static_cast<std::size_t>(i)], ranks, call, i))
        return wrong("a sum is wrong");
  }
}

Result<void> reduce_scatter_loop(Team& team) {
  const std::uint32_t rank = team.rank().value;
  for (std::uint32_t call = 0;; ++call) {
    const auto mine = input_of<std::int32_t, Sum>(rank, call, count * ranks);
    std::vector<std::int32_t> part(count);
    if (auto done = reduce_scatter(team, std::span(part), mine); !done) return done;
    for (std::int64_t i = 0; i < count; ++i)
      if (!is_result<std::int32_t, Sum>(part[static_cast<std::size_t>(i)], ranks, call,
                                        rank * count + i))
        return wrong("a part of the sums is wrong");
  }
}

Result<void> all_gather_loop(Team& team) {
  for (std::uint32_t call = 0;; ++call) {
    const auto mine = input_of<std::int32_t, Sum>(team.rank().value, call, count);
    std::vector<std::int32_t> rows(count * ranks);
    if (auto done = all_gather(team, std::span(rows), mine); !done) return done;
    for (std::int64_t i = 0; i < count * ranks; ++i)
      if (rows[static_cast<std::size_t>(i)] !=
          element_of<std::int32_t, Sum>(static_cast<std::uint32_t>(i / count), call, i % count))
        return wrong("a row is wrong");
  }
}

Result<void> all_to_all_loop(Team& team) {
  const std::uint32_t rank = team.rank().value;
  for (std::uint32_t call = 0;; ++call) {
    const auto mine = input_of<std::int32_t, Sum>(rank, call, count * ranks);
    std::vector<std::int32_t> rows(count * ranks);
    if (auto done = all_to_all(team, std::span(rows), mine); !done) return done;
    for (std::int64_t i = 0; i < count * ranks; ++i)
      if (rows[static_cast<std::size_t>(i)] !=
          element_of<std::int32_t, Sum>(static_cast<std::uint32_t>(i / count), call,
                                        rank * count + i % count))
        return wrong("a part is wrong");
  }
}

Result<void> broadcast_loop(Team& team) {
  const Broadcast<std::int32_t> broadcast(team, {.chunk = 512});
  for (std::uint32_t call = 0;; ++call) {
    const Rank root{call % ranks};
    auto mine = input_of<std::int32_t, Sum>(team.rank().value, call, count);
    std::vector<std::int32_t> got(mine.size());
    const Result<void> done = team.lane([&](auto& fabric) {
      return broadcast.run(fabric, memory_of(got), memory_of(mine), count, root);
    });
    if (!done) return done;
    for (std::int64_t i = 0; i < count; ++i)
      if (got[static_cast<std::size_t>(i)] != element_of<std::int32_t, Sum>(root.value, call, i))
        return wrong("an element of the root's is wrong");
  }
}

// What one root gathers, the next scatters; the sums go to a third.
Result<void> rooted_loop(Team& team) {
  const Reduce<std::int32_t> sums(team, {.chunk = 512});
  const Gather<std::int32_t> gather(team, {.chunk = 512});
  const Scatter<std::int32_t> scatter(team, {.chunk = 512});
  for (std::uint32_t call = 0;; ++call) {
    const Rank root{call % ranks};
    auto mine = input_of<std::int32_t, Sum>(team.rank().value, call, count);
    std::vector<std::int32_t> rows(root == team.rank() ? count * ranks : 0);
    std::vector<std::int32_t> back(mine.size());
    std::vector<std::int32_t> all(mine.size());
    const Rank third{(call + 1) % ranks};
    const Result<void> done = team.lane([&](auto& fabric) {
      WaitStatus status = gather.run(fabric, memory_of(rows), memory_of(mine), count, root);
      if (status == WaitStatus::ok)
        status = scatter.run(fabric, memory_of(back), memory_of(rows), count, root);
      if (status == WaitStatus::ok)
        status = sums.run(fabric, memory_of(all), memory_of(mine), count, third);
      return status;
    });
    if (!done) return done;
    if (back != mine) return wrong("what was gathered and scattered is wrong");
    for (std::int64_t i = 0; third == team.rank() && i < count; ++i)
      if (!is_result<std::int32_t, Sum>(all[static_cast<std::size_t>(i)], ranks, call, i))
        return wrong("a sum is wrong");
  }
}

// Rank r has count - 100 r elements for each.
Result<void> counted_loop(Team& team) {
  const AllToAllV<std::int32_t> exchange(team, {.chunk = 2048});
  const std::uint32_t rank = team.rank().value;
  const auto length = [](std::uint32_t from) { return count - 100 * std::int64_t{from}; };
  const Layout sent(ranks, 0, [&](std::uint32_t) { return length(rank); });
  const Layout rooms(ranks, 0, length);
  for (std::uint32_t call = 0;; ++call) {
    auto mine = input_of<std::int32_t, Sum>(rank, call, sent.size());
    std::vector<std::int32_t> all(static_cast<std::size_t>(rooms.size()));
    const Result<void> done = team.lane([&](auto& fabric) {
      return exchange.run(fabric, memory_of(all), rooms.parts(), nothing<std::int64_t>(),
                          memory_of(mine), sent.parts());
    });
    if (!done) return done;
    bool right = true;
    rooms.each([&](std::uint32_t from, std::int64_t i, std::int64_t at) {
      right = right && all[static_cast<std::size_t>(at)] ==
                           element_of<std::int32_t, Sum>(from, call, rank * length(from) + i);
    });
    if (!right) return wrong("a part is wrong");
  }
}

Result<void> send_receive_loop(Team& team) {
  const SendReceive<std::int32_t> pairs(team, {.chunk = 512});
  const std::uint32_t rank = team.rank().value;
  const Rank right{(rank + 1) % ranks};
  const Rank left{(rank + ranks - 1) % ranks};
  for (std::uint32_t call = 0;; ++call) {
    auto mine = input_of<std::int32_t, Sum>(rank, call, count);
    std::vector<std::int32_t> theirs(mine.size());
    const Result<void> done = team.lane([&](auto& fabric) {
      WaitStatus status = WaitStatus::ok;
      if (rank % 2 == 0) status = pairs.send(fabric, right, memory_of(mine), count);
      if (status == WaitStatus::ok) status = pairs.receive(fabric, left, memory_of(theirs), count);
      if (status == WaitStatus::ok && rank % 2 != 0)
        status = pairs.send(fabric, right, memory_of(mine), count);
      return status;
    });
    if (!done) return done;
    if (theirs != input_of<std::int32_t, Sum>(left.value, call, count))
      return wrong("what the left has sent is wrong");
  }
}

// How a rank's loop ended.
enum class Outcome : int { none, told, told_late, wrong_result, other_error };

// What the ranks, which are processes, tell the test.
class Outcomes {
 public:
  Outcomes()
      : all_(static_cast<Outcome*>(
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    if (all_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~Outcomes() { munmap(all_, bytes); }
  Outcomes(const Outcomes&) = delete;
  Outcomes& operator=(const Outcomes&) = delete;
  [[nodiscard]] Outcome& of(std::uint32_t rank) { return all_[rank]; }

 private:
  static constexpr std::size_t bytes = ranks * sizeof(Outcome);
  Outcome* all_;
};

Outcome outcome_of(const Result<void>& ended, bool in_time) {
  if (ended.error().code == ErrorCode::mismatch) return Outcome::wrong_result;
  if (ended.error().code != ErrorCode::peer_lost) return Outcome::other_error;
  return in_time ? Outcome::told : Outcome::told_late;
}

// A death in the set-up of the loop's object is thrown.
Result<void> caught(Loop loop, Team& team) {
  try {
    return loop(team);
  } catch (const Failure& failure) {
    return failure.error();
  }
}

// One job whose `victim` is killed after so many microseconds; its exit status.
int lose_one(Loop loop, std::uint32_t victim, std::chrono::microseconds after, Outcomes& outcomes) {
  const RunOptions options{.ranks = ranks, .as = processes, .timeout = std::chrono::seconds(20)};
  return run(options, [&](Team& team) -> Result<void> {
    std::thread killer;
    if (team.rank().value == victim) {
      killer = std::thread([after] {
        std::this_thread::sleep_for(after);
        kill(getpid(), SIGKILL);
      });
    }
    const auto start = std::chrono::steady_clock::now();
    const Result<void> ended = caught(loop, team);
    if (killer.joinable()) killer.join();
    const auto took = std::chrono::steady_clock::now() - start;
    // One second, as promised, and another for a machine that is busy with other tests.
    outcomes.of(team.rank().value) = outcome_of(ended, took < after + std::chrono::seconds(2));
    return ended;
  });
}

struct Named {
  const char* name;
  Loop loop;
};

class CollectiveKill : public ::testing::TestWithParam<Named> {};

TEST_P(CollectiveKill, EverySurvivorIsTold) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 40; ++trial) {
    const std::uint32_t victim = random() % ranks;
    const auto after = std::chrono::microseconds(random() % 8000);
    const std::string what =
        "rank " + std::to_string(victim) + " killed after " + std::to_string(after.count()) + " us";
    Outcomes outcomes;
    // The rank that was killed decides the exit status.
    ASSERT_EQ(lose_one(GetParam().loop, victim, after, outcomes), 128 + SIGKILL) << what;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      ASSERT_EQ(outcomes.of(rank), rank == victim ? Outcome::none : Outcome::told)
          << "rank " << rank << ", " << what;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, CollectiveKill,
    ::testing::Values(Named{"Packets", all_reduce_loop<Algorithm::packets>},
                      Named{"OneShot", all_reduce_loop<Algorithm::one_shot>},
                      Named{"TwoPhase", all_reduce_loop<Algorithm::two_phase>},
                      Named{"Ring", all_reduce_loop<Algorithm::ring>},
                      Named{"ReduceScatter", reduce_scatter_loop},
                      Named{"AllGather", all_gather_loop}, Named{"AllToAll", all_to_all_loop},
                      Named{"Broadcast", broadcast_loop}, Named{"Rooted", rooted_loop},
                      Named{"Counted", counted_loop}, Named{"SendReceive", send_receive_loop}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace muster::conformance
