// The collectives with a root, which is another one in every call.
#include <cstdint>

#include "check/builtin/collective_values.hpp"
#include "muster/check.hpp"
#include "muster/collective.hpp"

namespace {

using namespace muster::check::collectives;
using muster::Cells;
using muster::Rank;
using muster::WaitStatus;

// More messages than there are slots.
std::int64_t rooted_count(std::uint32_t lanes) {
  return count_for(lanes) + 2 * muster::Rooted<T>::depth;
}

// With credits all cells are zero at the end.
template <Cells cells, class Collective>
void promise(Team& team, const Collective& collective) {
  if constexpr (cells == Cells::credits) {
    team.promise_zero(collective.rows());
    team.promise_zero(collective.answers());
  }
}

template <Cells cells>
void broadcast(Team& team, std::uint32_t lanes, std::uint32_t calls) {
  const muster::Broadcast<T, tile, cells> broadcast(team, {.chunk = 2});
  promise<cells>(team, broadcast);
  const std::int64_t count = rooted_count(lanes);
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

template <Cells cells>
void reduce(Team& team, std::uint32_t lanes, std::uint32_t calls) {
  const muster::Reduce<T, tile, cells> sums(team, {.chunk = 2});
  promise<cells>(team, sums);
  const std::int64_t count = rooted_count(lanes);
  const auto [to, from] = make_ends(team, count, count);
  each_call(team, lanes, calls, [&](auto& fabric, std::uint32_t call) {
    const Rank root{call % fabric.size()};
    fill(fabric, from, count, [&](std::int64_t i) { return value(fabric.rank().value, call, i); });
    const WaitStatus status = sums.run(fabric, to, from, count, root);
    if (status == WaitStatus::ok && fabric.rank() == root)
      look(fabric, to, count,
           [&](std::int64_t i) { return sum_of_values(fabric.size(), call, i); });
    return status;
  });
}

template <Cells cells>
void gather(Team& team, std::uint32_t lanes, std::uint32_t calls) {
  const muster::Gather<T, tile, cells> rows(team, {.chunk = 2});
  promise<cells>(team, rows);
  const std::int64_t count = rooted_count(lanes);
  const auto [to, from] = make_ends(team, count * team.size(), count);
  each_call(team, lanes, calls, [&](auto& fabric, std::uint32_t call) {
    const Rank root{call % fabric.size()};
    fill(fabric, from, count, [&](std::int64_t i) { return value(fabric.rank().value, call, i); });
    const WaitStatus status = rows.run(fabric, to, from, count, root);
    if (status == WaitStatus::ok && fabric.rank() == root)
      look(fabric, to, count, [&](std::int64_t i) {
        return value(static_cast<std::uint32_t>(i / count), call, i % count);
      });
    return status;
  });
}

template <Cells cells>
void scatter(Team& team, std::uint32_t lanes, std::uint32_t calls) {
  const muster::Scatter<T, tile, cells> parts(team, {.chunk = 2});
  promise<cells>(team, parts);
  const std::int64_t count = rooted_count(lanes);
  const auto [to, from] = make_ends(team, count, count * team.size());
  each_call(team, lanes, calls, [&](auto& fabric, std::uint32_t call) {
    const Rank root{call % fabric.size()};
    fill(fabric, from, count, [&](std::int64_t i) { return value(fabric.rank().value, call, i); });
    const WaitStatus status = parts.run(fabric, to, from, count, root);
    if (status == WaitStatus::ok)
      look(fabric, to, count, [&](std::int64_t i) {
        return value(root.value, call, fabric.rank().value * count + i);
      });
    return status;
  });
}

}  // namespace

MUSTER_CHECK(broadcast, {.ranks = 3, .calls = 3, .about = "what the root has, to each"}) {
  broadcast<Cells::epochs>(team, lanes, calls);
}
MUSTER_CHECK(reduce, {.ranks = 3, .calls = 3, .about = "the sums, to the root"}) {
  reduce<Cells::epochs>(team, lanes, calls);
}
MUSTER_CHECK(gather, {.ranks = 3, .calls = 3, .about = "what all ranks have, to the root"}) {
  gather<Cells::epochs>(team, lanes, calls);
}
MUSTER_CHECK(scatter, {.ranks = 3, .calls = 3, .about = "a part of the root's to each"}) {
  scatter<Cells::epochs>(team, lanes, calls);
}
MUSTER_CHECK(broadcast_credits,
             {.ranks = 3, .calls = 3, .about = "a broadcast that leaves its cells zero"}) {
  broadcast<Cells::credits>(team, lanes, calls);
}
MUSTER_CHECK(reduce_credits,
             {.ranks = 3, .calls = 3, .about = "a reduce that leaves its cells zero"}) {
  reduce<Cells::credits>(team, lanes, calls);
}
MUSTER_CHECK(gather_credits,
             {.ranks = 3, .calls = 3, .about = "a gather that leaves its cells zero"}) {
  gather<Cells::credits>(team, lanes, calls);
}
MUSTER_CHECK(scatter_credits,
             {.ranks = 3, .calls = 3, .about = "a scatter that leaves its cells zero"}) {
  scatter<Cells::credits>(team, lanes, calls);
}
