// Collectives with the caller's arithmetic. AllReduce: what is sent is doubled; from what has
// arrived, and a residual, the sum of its row is taken, which all threads of the lane find out
// together. AllGather and ReduceScatter: what is sent and what arrives is changed by its place.
#include <cstdint>

#include "check/builtin/collective_values.hpp"
#include "muster/check.hpp"
#include "muster/collective.hpp"

namespace {

using namespace muster::check::collectives;
using muster::Algorithm;
using muster::Box;
using muster::WaitStatus;

T with_residual(std::uint32_t rank, std::uint32_t ranks, std::uint32_t call, std::int64_t index) {
  return 2 * sum_of_values(ranks, call, index) + static_cast<T>(rank + 7 * index);
}

// A row is a tile, of two elements, and two threads at most hold them.
void hooked(Team& team, std::uint32_t lanes, std::uint32_t calls, Algorithm algorithm) {
  const muster::AllReduce<T, tile> sums(team,
                                        {.algorithm = algorithm, .chunk = 2 * tile, .grain = tile});
  const std::int64_t count = tile * (2 * lanes + 1);
  const auto [to, from] = make_ends(team, count, count);
  const auto partial = *team.window<T>({lanes, 2}, "partial");
  each_call(team, lanes, calls, [&](auto& fabric, std::uint32_t call) {
    const std::uint32_t rank = fabric.rank().value;
    const std::int64_t place = 2 * std::int64_t{fabric.lane().value};
    const auto mine = muster::share_of<T>(count, fabric.lane().value, fabric.lanes(), tile);
    auto elements = fabric.template tile<T, 1, tile>();
    const auto each_row = [&](auto&& visit) {
      for (std::int64_t at = mine.first; at < mine.end(); at += tile) visit(Box{0, at, 1, tile});
    };
    each_row([&](Box box) {
      elements.each(
          [&](std::int64_t, std::int64_t col, T& one) { one = value(rank, call, box.col + col); });
      fabric.store(elements, from, box);
    });
    const auto before = [](auto& row, Box) {
      row.each([](std::int64_t, std::int64_t, T& one) { one *= 2; });
    };
    const auto after = [&](auto& row, Box box) {
      T sum = 0;
      row.each([&](std::int64_t, std::int64_t col, T& one) {
        one += static_cast<T>(rank + 7 * (box.col + col));
        sum += one;
      });
      fabric.local(partial)[place + fabric.thread()] = sum;
      fabric.converge();
      sum = 0;
      for (std::uint32_t thread = 0; thread < fabric.threads(); ++thread) {
        const T part = fabric.local(partial)[place + thread];
        sum += part;
      }
      fabric.converge();  // before the next row's are written
      row.each([&](std::int64_t, std::int64_t, T& one) { one -= sum; });
    };
    const WaitStatus status = sums.run(fabric, to, from, count, before, after);
    if (status != WaitStatus::ok) return status;
    each_row([&](Box box) {
      fabric.load(elements, to, box);
      elements.each([&](std::int64_t, std::int64_t col, T one) {
        const auto other = with_residual(rank, fabric.size(), call, box.col + 1 - col);
        muster::expect(fabric, one == -other, "an element less the sum of its row");
      });
    });
    return status;
  });
}

// What arrives is told by its place in `to`, what is sent by that in `from`.
T changed(T element, std::int64_t place) {
  return 2 * element + static_cast<T>(place);
}
template <class F>
auto change_by_place(F& /*fabric*/) {
  return [](auto& row, Box box) {
    row.each([&](std::int64_t, std::int64_t col, T& one) { one = changed(one, box.col + col); });
  };
}

// right(rank, call, i): element i of `to`.
template <class Collective, class Right>
void hooked_parts(Team& team, std::uint32_t lanes, std::uint32_t calls, std::int64_t to_parts,
                  std::int64_t from_parts, Right&& right) {
  const Collective collective(team, {.chunk = 2 * tile, .grain = tile});
  const std::int64_t count = tile * (2 * lanes + 1);
  const auto [to, from] = make_ends(team, to_parts * count, from_parts * count);
  each_call(team, lanes, calls, [&](auto& fabric, std::uint32_t call) {
    const std::uint32_t rank = fabric.rank().value;
    const auto mine = muster::share_of<T>(count, fabric.lane().value, fabric.lanes(), tile);
    auto elements = fabric.template tile<T, 1, tile>();
    const auto each_row = [&](std::int64_t parts, auto&& visit) {
      for (std::int64_t part = 0; part < parts; ++part)
        for (std::int64_t at = mine.first; at < mine.end(); at += tile)
          visit(Box{0, part * count + at, 1, tile});
    };
    each_row(from_parts, [&](Box box) {
      elements.each(
          [&](std::int64_t, std::int64_t col, T& one) { one = value(rank, call, box.col + col); });
      fabric.store(elements, from, box);
    });
    const WaitStatus status =
        collective.run(fabric, to, from, count, change_by_place(fabric), change_by_place(fabric));
    if (status != WaitStatus::ok) return status;
    each_row(to_parts, [&](Box box) {
      fabric.load(elements, to, box);
      elements.each([&](std::int64_t, std::int64_t col, T one) {
        const std::int64_t place = box.col + col;
        muster::expect(fabric, one == changed(right(rank, call, count, place), place),
                       "an element, changed where it was sent and where it arrived");
      });
    });
    return status;
  });
}

}  // namespace

MUSTER_CHECK(gather_hooks, {.ranks = 3,
                            .calls = 3,
                            .group = "all_gather",
                            .about = "with the caller's arithmetic, row by row"}) {
  hooked_parts<muster::AllGather<T, tile>>(
      team, lanes, calls, team.size(), 1,
      [](std::uint32_t, std::uint32_t call, std::int64_t count, std::int64_t place) {
        const std::int64_t sent = place % count;
        return changed(value(static_cast<std::uint32_t>(place / count), call, sent), sent);
      });
}
MUSTER_CHECK(scatter_hooks, {.ranks = 3,
                             .calls = 3,
                             .group = "reduce_scatter",
                             .about = "with the caller's arithmetic, row by row"}) {
  hooked_parts<muster::ReduceScatter<T, tile>>(
      team, lanes, calls, 1, team.size(),
      [&](std::uint32_t rank, std::uint32_t call, std::int64_t count, std::int64_t place) {
        T sum = 0;
        for (std::uint32_t peer = 0; peer < team.size(); ++peer)
          sum += changed(value(peer, call, rank * count + place), rank * count + place);
        return sum;
      });
}

MUSTER_CHECK(hooks_one_shot, {.ranks = 3,
                              .calls = 3,
                              .group = "all_reduce",
                              .about = "one_shot with the caller's arithmetic, row by row"}) {
  hooked(team, lanes, calls, Algorithm::one_shot);
}
MUSTER_CHECK(hooks_two_phase, {.ranks = 3,
                               .calls = 3,
                               .group = "all_reduce",
                               .about = "two_phase with the caller's arithmetic, row by row"}) {
  hooked(team, lanes, calls, Algorithm::two_phase);
}
MUSTER_CHECK(hooks_ring, {.ranks = 3,
                          .calls = 3,
                          .group = "all_reduce",
                          .about = "ring with the caller's arithmetic, row by row"}) {
  hooked(team, lanes, calls, Algorithm::ring);
}
