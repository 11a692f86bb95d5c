// The collectives in which all ranks do the same, each algorithm.
#include <cstdint>

#include "check/builtin/collective_values.hpp"
#include "muster/check.hpp"
#include "muster/collective.hpp"

namespace {

using namespace muster::check::collectives;
using muster::Algorithm;
using muster::Cells;
using muster::Rank;
using muster::WaitStatus;

// `count` elements, in pieces of a chunk.
template <Cells cells = Cells::epochs>
void all_reduce(Team& team, std::uint32_t lanes, std::uint32_t calls, Algorithm algorithm,
                std::int64_t chunk, std::int64_t count) {
  const muster::AllReduce<T, tile, cells> sums(team, {.algorithm = algorithm, .chunk = chunk});
  if (cells == Cells::credits) team.promise_zero(sums.rows());
  const auto [to, from] = make_ends(team, count, count);
  each_call(team, lanes, calls, [&](auto& fabric, std::uint32_t call) {
    fill(fabric, from, count, [&](std::int64_t i) { return value(fabric.rank().value, call, i); });
    const WaitStatus status = sums.run(fabric, to, from, count);
    if (status == WaitStatus::ok)
      look(fabric, to, count,
           [&](std::int64_t i) { return sum_of_values(fabric.size(), call, i); });
    return status;
  });
}
template <Cells cells = Cells::epochs>
void all_reduce(Team& team, std::uint32_t lanes, std::uint32_t calls, Algorithm algorithm) {
  all_reduce<cells>(team, lanes, calls, algorithm, 2, count_for(lanes));
}

}  // namespace

MUSTER_CHECK(packets, {.ranks = 3,
                       .calls = 3,
                       .group = "all_reduce",
                       .about = "everybody sends everything in packets"}) {
  all_reduce(team, lanes, calls, Algorithm::packets);
}

MUSTER_CHECK(one_shot, {.ranks = 3,
                        .calls = 3,
                        .group = "all_reduce",
                        .about = "everybody reads everything"}) {
  all_reduce(team, lanes, calls, Algorithm::one_shot);
}

MUSTER_CHECK(two_phase, {.ranks = 3,
                         .calls = 3,
                         .group = "all_reduce",
                         .about = "reduce a share, then collect the shares"}) {
  all_reduce(team, lanes, calls, Algorithm::two_phase);
}

MUSTER_CHECK(two_phase_overlapped, {.ranks = 3,
                                    .calls = 2,
                                    .group = "all_reduce",
                                    .about = "two_phase whose pieces are under way together"}) {
  // For each lane two pieces with a part for each rank, and a shorter one.
  const std::int64_t chunk = muster::share_grain<T> * team.size();
  all_reduce(team, lanes, calls, Algorithm::two_phase, chunk,
             2 * chunk * lanes + muster::share_grain<T> + 3);
}

MUSTER_CHECK(
    ring, {.ranks = 3, .calls = 3, .group = "all_reduce", .about = "from neighbour to neighbour"}) {
  all_reduce(team, lanes, calls, Algorithm::ring);
}

MUSTER_CHECK(one_shot_credits, {.ranks = 3,
                                .calls = 3,
                                .group = "all_reduce",
                                .about = "one_shot that leaves its cells zero"}) {
  all_reduce<Cells::credits>(team, lanes, calls, Algorithm::one_shot);
}

MUSTER_CHECK(two_phase_credits, {.ranks = 3,
                                 .calls = 3,
                                 .group = "all_reduce",
                                 .about = "two_phase that leaves its cells zero"}) {
  all_reduce<Cells::credits>(team, lanes, calls, Algorithm::two_phase);
}

MUSTER_CHECK(direct, {.ranks = 3,
                      .calls = 3,
                      .group = "all_reduce",
                      .about = "in place on windows, nothing staged"}) {
  const muster::AllReduce<T, tile> sums(team, {.algorithm = Algorithm::direct, .chunk = 2});
  const std::int64_t count = count_for(lanes);
  const auto window = *team.window<T>({count}, "window");
  each_call(team, lanes, calls, [&](auto& fabric, std::uint32_t call, bool failed) {
    if (!failed)
      fill(fabric, window, count,
           [&](std::int64_t i) { return value(fabric.rank().value, call, i); });
    const WaitStatus status = sums.run(fabric, window, window, count);
    if (status == WaitStatus::ok)
      look(fabric, window, count,
           [&](std::int64_t i) { return sum_of_values(fabric.size(), call, i); });
    return status;
  });
}

MUSTER_CHECK(reduce_scatter, {.ranks = 3, .calls = 3, .about = "a part of the sums to each rank"}) {
  const muster::ReduceScatter<T, tile> sums(team, {.chunk = 2 * team.size()});
  const std::int64_t count = count_for(lanes);
  const auto [to, from] = make_ends(team, count, count * team.size());
  each_call(team, lanes, calls, [&](auto& fabric, std::uint32_t call) {
    fill(fabric, from, count, [&](std::int64_t i) { return value(fabric.rank().value, call, i); });
    const WaitStatus status = sums.run(fabric, to, from, count);
    if (status == WaitStatus::ok)
      look(fabric, to, count, [&](std::int64_t i) {
        return sum_of_values(fabric.size(), call, fabric.rank().value * count + i);
      });
    return status;
  });
}

MUSTER_CHECK(all_gather, {.ranks = 3, .calls = 3, .about = "what all ranks have, to each"}) {
  const muster::AllGather<T, tile> gather(team, {.chunk = 2});
  const std::int64_t count = count_for(lanes);
  const auto [to, from] = make_ends(team, count * team.size(), count);
  each_call(team, lanes, calls, [&](auto& fabric, std::uint32_t call) {
    fill(fabric, from, count, [&](std::int64_t i) { return value(fabric.rank().value, call, i); });
    const WaitStatus status = gather.run(fabric, to, from, count);
    if (status == WaitStatus::ok)
      look(fabric, to, count, [&](std::int64_t i) {
        return value(static_cast<std::uint32_t>(i / count), call, i % count);
      });
    return status;
  });
}

MUSTER_CHECK(all_to_all, {.ranks = 3, .calls = 3, .about = "a part of each rank's to each"}) {
  const muster::AllToAll<T, tile> exchange(team, {.chunk = 2 * team.size()});
  const std::int64_t count = count_for(lanes);
  const auto [to, from] = make_ends(team, count * team.size(), count * team.size());
  each_call(team, lanes, calls, [&](auto& fabric, std::uint32_t call) {
    fill(fabric, from, count, [&](std::int64_t i) { return value(fabric.rank().value, call, i); });
    const WaitStatus status = exchange.run(fabric, to, from, count);
    if (status == WaitStatus::ok)
      look(fabric, to, count, [&](std::int64_t i) {
        return value(static_cast<std::uint32_t>(i / count), call,
                     fabric.rank().value * count + i % count);
      });
    return status;
  });
}
