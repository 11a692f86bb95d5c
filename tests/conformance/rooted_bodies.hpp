// Collectives with a root: types, counts around the edges of tiles and staging, in place and not,
// call after call with another root and other data each time, ranks delayed at random.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/collective_bodies.hpp"

namespace muster::conformance {

// A root for each call, which alternates.
template <class Team>
[[nodiscard]] Rank root_of(const Team& team, std::uint32_t call) {
  return Rank{call * 5 % team.size()};
}

// call(fabric) after a random delay, on so many lanes.
template <class Team, class Call>
[[nodiscard]] Result<void> delayed(Team& team, std::uint32_t lanes, Call&& call) {
  return team.lanes(lanes, [&](auto& fabric) {
    Random random = random_of(fabric);
    random_delay(random);
    return call(fabric);
  });
}

template <class T>
[[nodiscard]] MemoryRef<T> nothing() {
  return {nullptr, 1, 0};
}

template <class Team, class T, Cells cells = Cells::epochs>
Result<void> broadcast_from_each(Team& team) {
  const Broadcast<T, collective_tile, cells> broadcast(team, {.chunk = collective_chunk});
  const std::uint32_t rank = team.rank().value;
  Checks checks;
  each_size([&](std::uint32_t lanes, std::int64_t count, std::uint32_t call) {
    const Rank root = root_of(team, call);
    std::vector<T> from = input_of<T, Sum>(rank, call, count);
    std::vector<T> to = poisoned<T>(count);
    checks.ok(delayed(team, lanes,
                      [&](auto& fabric) {
                        return broadcast.run(fabric, memory_of(to), memory_of(from), count, root);
                      }),
              "the call");
    for (std::int64_t i = 0; i < count; ++i)
      checks.holds(to[static_cast<std::size_t>(i)] == element_of<T, Sum>(root.value, call, i),
                   "an element of the root's");
  });
  return checks.done();
}

template <class Team, class T, class Op, Cells cells = Cells::epochs>
Result<void> reduce_to_each(Team& team) {
  const Reduce<T, collective_tile, cells> sums(team, {.chunk = collective_chunk});
  const std::uint32_t rank = team.rank().value;
  Checks checks;
  each_size([&](std::uint32_t lanes, std::int64_t count, std::uint32_t call) {
    const Rank root = root_of(team, call);
    std::vector<T> from = input_of<T, Op>(rank, call, count);
    const bool in_place = call % 2 == 1;
    std::vector<T> to = in_place ? from : poisoned<T>(count);
    const MemoryRef<T> source = memory_of(in_place ? to : from);
    const MemoryRef<T> target = root == team.rank() ? memory_of(to) : nothing<T>();
    checks.ok(
        delayed(team, lanes,
                [&](auto& fabric) { return sums.run(fabric, target, source, count, root, Op{}); }),
        "the call");
    for (std::int64_t i = 0; i < count; ++i) {
      const T seen = to[static_cast<std::size_t>(i)];
      if (root == team.rank())
        checks.holds(is_result<T, Op>(seen, team.size(), call, i), "an element of the result");
      else
        checks.holds(seen == (in_place ? element_of<T, Op>(rank, call, i) : convert<T>(77)),
                     "an element of who is not the root");
    }
  });
  return checks.done();
}

template <class Team, class T, Cells cells = Cells::epochs>
Result<void> gather_to_each(Team& team) {
  const Gather<T, collective_tile, cells> gather(team, {.chunk = collective_chunk});
  const std::uint32_t rank = team.rank().value;
  Checks checks;
  each_size([&](std::uint32_t lanes, std::int64_t count, std::uint32_t call) {
    const Rank root = root_of(team, call);
    const bool is_root = root == team.rank();
    std::vector<T> from = input_of<T, Sum>(rank, call, count);
    std::vector<T> to = poisoned<T>(is_root ? count * team.size() : 0);
    MemoryRef<T> source = memory_of(from);
    if (is_root && call % 2 == 1) {  // in place
      std::copy(from.begin(), from.end(), to.data() + rank * count);
      source = MemoryRef<T>{to.data() + rank * count, 1, count};
    }
    checks.ok(delayed(team, lanes,
                      [&](auto& fabric) {
                        return gather.run(fabric, memory_of(to), source, count, root);
                      }),
              "the call");
    for (std::int64_t i = 0; is_root && i < count * team.size(); ++i)
      checks.holds(to[static_cast<std::size_t>(i)] ==
                       element_of<T, Sum>(static_cast<std::uint32_t>(i / count), call, i % count),
                   "an element of a row");
  });
  return checks.done();
}

template <class Team, class T, Cells cells = Cells::epochs>
Result<void> scatter_from_each(Team& team) {
  const Scatter<T, collective_tile, cells> scatter(team, {.chunk = collective_chunk});
  const std::uint32_t rank = team.rank().value;
  Checks checks;
  each_size([&](std::uint32_t lanes, std::int64_t count, std::uint32_t call) {
    const Rank root = root_of(team, call);
    const bool is_root = root == team.rank();
    std::vector<T> from;
    if (is_root) from = input_of<T, Sum>(rank, call, count * team.size());
    std::vector<T> to = poisoned<T>(count);
    const bool in_place = is_root && call % 2 == 1;
    const MemoryRef<T> target =
        in_place ? MemoryRef<T>{from.data() + rank * count, 1, count} : memory_of(to);
    checks.ok(delayed(team, lanes,
                      [&](auto& fabric) {
                        return scatter.run(fabric, target, memory_of(from), count, root);
                      }),
              "the call");
    for (std::int64_t i = 0; i < count; ++i)
      checks.holds(target.data[i] == element_of<T, Sum>(root.value, call, rank * count + i),
                   "an element of the part");
  });
  return checks.done();
}

// On windows, three calls without anything in between, each with another root.
template <class Team, class T>
Result<void> roots_in_a_row(Team& team) {
  constexpr std::int64_t most = 5 * collective_chunk + 7;
  const Reduce<T, collective_tile> sums(team, {.chunk = collective_chunk});
  const Gather<T, collective_tile> gather(team, {.chunk = collective_chunk});
  const Scatter<T, collective_tile> scatter(team, {.chunk = collective_chunk});
  const std::int64_t ranks = team.size();
  const auto one = *team.template window<T>({most});
  const auto rows = *team.template window<T>({most * ranks});
  const auto back = *team.template window<T>({most});
  Checks checks;
  each_size([&](std::uint32_t lanes, std::int64_t count, std::uint32_t call) {
    const auto body = [&](auto& fabric) -> Result<void> {
      Checks lane;
      Random random = random_of(fabric);
      const std::uint32_t rank = fabric.rank().value;
      const Share mine = share_of<T>(count, fabric.lane().value, fabric.lanes());
      for (std::uint32_t again = 3 * call; again < 3 * call + 3 && lane.done(); ++again) {
        const Rank root = root_of(team, again);
        for (std::int64_t i = mine.first; i < mine.end(); ++i)
          fabric.local(one)[i] = element_of<T, Sum>(rank, again, i);
        random_delay(random);
        // What has been gathered is scattered again, by the same root.
        lane.ok(gather.run(fabric, rows, one, count, root), "gather");
        lane.ok(scatter.run(fabric, back, rows, count, root), "scatter");
        for (std::int64_t i = mine.first; i < mine.end(); ++i)
          lane.holds(fabric.local(back)[i] == element_of<T, Sum>(rank, again, i), "what was mine");
        lane.ok(sums.run(fabric, back, one, count, root), "reduce");
        for (std::int64_t i = mine.first; i < mine.end() && fabric.rank() == root; ++i)
          lane.holds(is_result<T, Sum>(fabric.local(back)[i], fabric.size(), again, i), "a sum");
      }
      return lane.done();
    };
    checks.ok(team.lanes(lanes, body), "the calls");
  });
  return checks.done();
}

// What a call refuses, before it tells anybody.
template <class Team>
Result<void> rooted_refuse(Team& team) {
  const Reduce<float> sums(team);
  const Gather<float> gather(team);
  const Scatter<float> scatter(team);
  const std::int64_t ranks = team.size();
  std::vector<float> many(static_cast<std::size_t>(4 * ranks));
  const MemoryRef<float> all = memory_of(many);
  const MemoryRef<float> two{many.data(), 1, 2};
  const MemoryRef<float> next{many.data() + 1, 1, 2};
  const Rank root = team.rank();  // each its own: nobody is told, so nobody waits
  Checks checks;
  const auto refused = [&](auto&& call, const char* what) {
    WaitStatus status = WaitStatus::ok;
    (void)team.lane([&](auto& fabric) { status = call(fabric); });
    checks.equal(status, WaitStatus::invalid, what);
  };
  const Rank beyond{team.size()};
  refused([&](auto& f) { return sums.run(f, two, two, 2, beyond); }, "reduce to no root");
  refused([&](auto& f) { return gather.run(f, all, two, 2, beyond); }, "gather to no root");
  refused([&](auto& f) { return scatter.run(f, two, all, 2, beyond); }, "scatter from no root");
  refused([&](auto& f) { return sums.run(f, two, two, -1, root); }, "a negative count");
  refused([&](auto& f) { return sums.run(f, next, two, 2, root); }, "memory that overlaps");
  refused([&](auto& f) { return gather.run(f, all, two, 5, root); }, "rows beyond the memory");
  refused([&](auto& f) { return scatter.run(f, two, all, 3, root); }, "a part beyond the memory");
  many[0] = 1;
  checks.ok(team.lane([&](auto& f) { return sums.run(f, two, two, 2, Rank{0}); }), "the call");
  if (team.rank() == Rank{0}) checks.equal(many[0], static_cast<float>(ranks), "its sum");
  return checks.done();
}

template <class Team>
std::vector<Case<Team>> rooted_cases() {
  return {
      {"BroadcastFloat", broadcast_from_each<Team, float>, Sizes::all},
      {"BroadcastInt64", broadcast_from_each<Team, std::int64_t>, Sizes::few},
      {"ReduceFloat", reduce_to_each<Team, float, Sum>, Sizes::all},
      {"ReduceUint8", reduce_to_each<Team, std::uint8_t, Max>, Sizes::few},
      {"ReduceBfloat16", reduce_to_each<Team, bfloat16, Sum>, Sizes::few},
      {"ReduceInt64Prod", reduce_to_each<Team, std::int64_t, Prod>, Sizes::few},
      {"GatherFloat", gather_to_each<Team, float>, Sizes::all},
      {"GatherInt16", gather_to_each<Team, std::int16_t>, Sizes::few},
      {"ScatterFloat", scatter_from_each<Team, float>, Sizes::all},
      {"ScatterDouble", scatter_from_each<Team, double>, Sizes::few},
      {"RootsInARow", roots_in_a_row<Team, std::int32_t>, Sizes::all},
      {"RootedRefusals", rooted_refuse<Team>, Sizes::few},
  };
}

}  // namespace muster::conformance
