// The collectives, each algorithm: tiles of 2 elements, and staging so small that a call takes
// several pieces.
#include <cstdint>

#include "muster/check.hpp"
#include "muster/collective.hpp"

namespace {

using muster::Algorithm;
using muster::Rank;
using muster::Sum;
using muster::WaitStatus;
using muster::WindowRef;
using muster::model::Team;
using T = std::int32_t;

constexpr std::int64_t tile = 2;

// What rank `rank` has at `index` in a call: no two are the same, nor are their sums.
T value(std::uint32_t rank, std::uint32_t call, std::int64_t index) {
  return static_cast<T>(1000 * (rank + 1) + 100'000 * (call + 1)) + static_cast<T>(index);
}
T sum_of_values(std::uint32_t ranks, std::uint32_t call, std::int64_t index) {
  T sum = 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) sum += value(rank, call, index);
  return sum;
}

// The part of the lane in a block of `count` elements.
template <class F>
muster::Share part_of(const F& fabric, std::int64_t count) {
  return muster::share_of<T>(count, fabric.lane().value, fabric.lanes());
}

// visit(tile, box, first index) for the lane's part of each block of `count` elements.
template <class F, class Visit>
void each_own(F& fabric, WindowRef<T> window, std::int64_t count, Visit&& visit) {
  auto elements = fabric.template tile<T, 1, tile>();
  const muster::Share part = part_of(fabric, count);
  for (std::int64_t block = 0; block < window.size(); block += count) {
    for (std::int64_t at = part.first; at < part.end(); at += tile) {
      const std::int64_t length = part.end() - at < tile ? part.end() - at : tile;
      visit(elements, muster::Box{0, block + at, 1, length});
    }
  }
}

// Element i of the lane's part becomes make(i).
template <class F, class Make>
void fill(F& fabric, WindowRef<T> window, std::int64_t count, Make&& make) {
  each_own(fabric, window, count, [&](auto& elements, muster::Box box) {
    elements.each(
        [&](std::int64_t, std::int64_t col, T& element) { element = make(box.col + col); });
    fabric.store(elements, window, box);
  });
}

template <class F, class Make>
void look(F& fabric, WindowRef<T> window, std::int64_t count, Make&& make) {
  each_own(fabric, window, count, [&](auto& elements, muster::Box box) {
    fabric.load(elements, window, box);
    elements.each([&](std::int64_t, std::int64_t col, T element) {
      if (col < box.cols)
        muster::expect(fabric, element == make(box.col + col), "an element of the result");
    });
  });
}

struct Ends {
  WindowRef<T> to;
  WindowRef<T> from;
};
Ends make_ends(Team& team, std::int64_t to, std::int64_t from) {
  return {*team.window<T>({to}, "to"), *team.window<T>({from}, "from")};
}

// For each lane two tiles, the last of which is ragged, and more than a piece.
std::int64_t count_for(std::uint32_t lanes) {
  return muster::share_grain<T> * (lanes - 1) + 3;
}

// body(fabric, call) call after call, with nothing in between.
template <class Body>
void each_call(Team& team, std::uint32_t lanes, std::uint32_t calls, Body&& body) {
  (void)team.lanes(lanes, [&](auto& fabric) -> WaitStatus {
    for (std::uint32_t call = 0; call < calls; ++call) {
      const WaitStatus status = body(fabric, call);
      if (status != WaitStatus::ok) return status;
    }
    return WaitStatus::ok;
  });
}

void all_reduce(Team& team, std::uint32_t lanes, std::uint32_t calls, Algorithm algorithm) {
  const muster::AllReduce<T, tile> sums(team, {.algorithm = algorithm, .chunk = 2});
  const std::int64_t count = count_for(lanes);
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

}  // namespace

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

MUSTER_CHECK(
    ring, {.ranks = 3, .calls = 3, .group = "all_reduce", .about = "from neighbour to neighbour"}) {
  all_reduce(team, lanes, calls, Algorithm::ring);
}

MUSTER_CHECK(direct, {.ranks = 3,
                      .calls = 3,
                      .group = "all_reduce",
                      .about = "in place on windows, nothing staged"}) {
  const muster::AllReduce<T, tile> sums(team, {.algorithm = Algorithm::direct, .chunk = 2});
  const std::int64_t count = count_for(lanes);
  const auto window = *team.window<T>({count}, "window");
  each_call(team, lanes, calls, [&](auto& fabric, std::uint32_t call) {
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

// The root is another one in every call.
MUSTER_CHECK(broadcast, {.ranks = 3, .calls = 3, .about = "what the root has, to each"}) {
  const muster::Broadcast<T, tile> broadcast(team, {.chunk = 2});
  const std::int64_t count = count_for(lanes) + 2 * muster::Broadcast<T, tile>::depth;
  const auto [to, from] = make_ends(team, count, count);
  each_call(team, lanes, calls, [&](auto& fabric, std::uint32_t call) {
    const Rank root{call % fabric.size()};
    fill(fabric, from, count, [&](std::int64_t i) { return value(fabric.rank().value, call, i); });
    const WaitStatus status = broadcast.run(fabric, to, from, count, root);
    if (status == WaitStatus::ok)
      look(fabric, to, count, [&](std::int64_t i) { return value(root.value, call, i); });
    return status;
  });
}
