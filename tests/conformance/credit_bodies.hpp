// Collectives whose cells hold credits: the results are those of the others, and after every call
// all cells of all lanes are zero.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/rooted_bodies.hpp"
#include "muster/barrier.hpp"

namespace muster::conformance {

// Between two meetings of all ranks nobody is in a call.
template <class F>
[[nodiscard]] WaitStatus all_zero(F& fabric, const EpochBarrier& barrier, Checks& checks,
                                  std::initializer_list<Rows> all) {
  const WaitStatus status = barrier.sync(fabric);
  if (status != WaitStatus::ok) return status;
  for (const Rows& rows : all)
    for (std::uint32_t rank = 0; rank < fabric.size() && fabric.thread() == 0; ++rank)
      checks.equal(fabric.read(rows.from(fabric.lane(), Rank{rank})), 0U, "a cell after the call");
  return barrier.sync(fabric);
}

template <class Team, Algorithm algorithm>
Result<void> credits_all_reduce(Team& team) {
  using T = std::int32_t;
  constexpr std::int64_t most = 5 * collective_chunk + 7;
  const AllReduce<T, collective_tile, Cells::credits> sums(
      team, {.algorithm = algorithm, .chunk = collective_chunk});
  const EpochBarrier barrier(team);
  const auto window = *team.template window<T>({most});
  Checks checks;
  std::uint32_t call = 0;
  for (const std::uint32_t lanes : {1U, 2U, 4U})
    for (const std::int64_t count : {std::int64_t{0}, std::int64_t{3}, most}) {
      const auto body = [&](auto& fabric) -> Result<void> {
        Checks lane;
        Random random = random_of(fabric);
        const Share mine = share_of<T>(count, fabric.lane().value, fabric.lanes());
        for (std::uint32_t again = 3 * call; again < 3 * call + 3 && lane.done(); ++again) {
          for (std::int64_t i = mine.first; i < mine.end(); ++i)
            fabric.local(window)[i] = element_of<T, Sum>(fabric.rank().value, again, i);
          random_delay(random);
          lane.ok(sums.run(fabric, window, window, count), "the call");
          for (std::int64_t i = mine.first; i < mine.end(); ++i)
            lane.holds(is_result<T, Sum>(fabric.local(window)[i], fabric.size(), again, i),
                       "an element of the result");
          if (again % 3 != 0)  // the first two without anything in between
            lane.ok(all_zero(fabric, barrier, lane, {sums.rows()}), "the meetings");
        }
        return lane.done();
      };
      checks.ok(team.lanes(lanes, body), "the calls");
      ++call;
    }
  return checks.done();
}

// One after the other, each with another root.
template <class Team>
Result<void> credits_with_roots(Team& team) {
  using T = float;
  constexpr std::int64_t most = 5 * collective_chunk + 7;
  const CollectiveOptions options{.chunk = collective_chunk};
  const Broadcast<T, collective_tile, Cells::credits> broadcast(team, options);
  const Reduce<T, collective_tile, Cells::credits> reduce(team, options);
  const Gather<T, collective_tile, Cells::credits> gather(team, options);
  const Scatter<T, collective_tile, Cells::credits> scatter(team, options);
  const EpochBarrier barrier(team);
  const auto one = *team.template window<T>({most});
  const auto all = *team.template window<T>({most * team.size()});
  Checks checks;
  std::uint32_t call = 0;
  for (const std::uint32_t lanes : {1U, 2U, 4U})
    for (const std::int64_t count : {std::int64_t{1}, 9 * collective_tile, most}) {
      const auto body = [&](auto& fabric) -> Result<void> {
        Checks lane;
        const auto zero = [&](const auto& object) {
          lane.ok(all_zero(fabric, barrier, lane, {object.rows(), object.answers()}), "meetings");
        };
        for (std::uint32_t again = 2 * call; again < 2 * call + 2 && lane.done(); ++again) {
          const Rank root{again % fabric.size()};
          lane.ok(broadcast.run(fabric, one, one, count, root), "broadcast");
          zero(broadcast);
          lane.ok(reduce.run(fabric, one, one, count, root), "reduce");
          zero(reduce);
          lane.ok(gather.run(fabric, all, one, count, root), "gather");
          zero(gather);
          lane.ok(scatter.run(fabric, one, all, count, root), "scatter");
          zero(scatter);
        }
        return lane.done();
      };
      checks.ok(team.lanes(lanes, body), "the calls");
      ++call;
    }
  return checks.done();
}

// What there is no credit form of is said where the object is made.
template <class Team>
Result<void> credits_refuse_rings(Team& team) {
  Checks checks;
  try {
    (void)AllReduce<float, collective_tile, Cells::credits>(team, {.algorithm = Algorithm::ring});
    checks.holds(false, "a ring with credits is refused");
  } catch (const Failure& failure) {
    checks.mentions(failure.error().what, "algorithm is ring; with credits it must be", "a ring");
  }
  return checks.done();
}

template <class Team>
std::vector<Case<Team>> credit_cases() {
  using enum Algorithm;
  return {
      {"CreditsOneShot", credits_all_reduce<Team, one_shot>, Sizes::all},
      {"CreditsTwoPhase", credits_all_reduce<Team, two_phase>, Sizes::few},
      {"CreditsDirect", credits_all_reduce<Team, direct>, Sizes::few},
      {"CreditsWithRoots", credits_with_roots<Team>, Sizes::all},
      {"CreditsBroadcast", broadcast_from_each<Team, float, Cells::credits>, Sizes::few},
      {"CreditsReduce", reduce_to_each<Team, float, Sum, Cells::credits>, Sizes::few},
      {"CreditsGather", gather_to_each<Team, float, Cells::credits>, Sizes::few},
      {"CreditsScatter", scatter_from_each<Team, float, Cells::credits>, Sizes::few},
      {"CreditsRefuseRings", credits_refuse_rings<Team>, Sizes::few},
  };
}

}  // namespace muster::conformance
