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

// So many elements on each side: one part, or one for each rank.
struct Lengths {
  std::int64_t to;
  std::int64_t from;
};

// Call after call with another root. right(rank, root, call, i) is element i of the result on
// `rank`; `everywhere`, or at the root alone.
template <class Collective, class Right>
void rooted(Team& team, std::uint32_t lanes, std::uint32_t calls, Lengths parts, bool everywhere,
            Right&& right) {
  const Collective collective(team, {.chunk = 2});
  if (Collective::cells == Cells::credits) {  // all cells are zero at the end
    team.promise_zero(collective.rows());
    team.promise_zero(collective.answers());
  }
  const std::int64_t count = rooted_count(lanes);
  const auto [to, from] = make_ends(team, parts.to * count, parts.from * count);
  each_call(team, lanes, calls, [&](auto& fabric, std::uint32_t call) {
    const Rank root{call % fabric.size()};
    fill(fabric, from, count, [&](std::int64_t i) { return value(fabric.rank().value, call, i); });
    const WaitStatus status = collective.run(fabric, to, from, count, root);
    if (status == WaitStatus::ok && (everywhere || fabric.rank() == root))
      look(fabric, to, count,
           [&](std::int64_t i) { return right(fabric.rank().value, root.value, call, i); });
    return status;
  });
}

template <Cells cells>
void broadcast(Team& team, std::uint32_t lanes, std::uint32_t calls) {
  rooted<muster::Broadcast<T, tile, cells>>(
      team, lanes, calls, {1, 1}, true,
      [](std::uint32_t, std::uint32_t root, std::uint32_t call, std::int64_t i) {
        return value(root, call, i);
      });
}

template <Cells cells>
void reduce(Team& team, std::uint32_t lanes, std::uint32_t calls) {
  rooted<muster::Reduce<T, tile, cells>>(
      team, lanes, calls, {1, 1}, false,
      [&](std::uint32_t, std::uint32_t, std::uint32_t call, std::int64_t i) {
        return sum_of_values(team.size(), call, i);
      });
}

template <Cells cells>
void gather(Team& team, std::uint32_t lanes, std::uint32_t calls) {
  const std::int64_t count = rooted_count(lanes);
  rooted<muster::Gather<T, tile, cells>>(
      team, lanes, calls, {team.size(), 1}, false,
      [&](std::uint32_t, std::uint32_t, std::uint32_t call, std::int64_t i) {
        return value(static_cast<std::uint32_t>(i / count), call, i % count);
      });
}

template <Cells cells>
void scatter(Team& team, std::uint32_t lanes, std::uint32_t calls) {
  const std::int64_t count = rooted_count(lanes);
  rooted<muster::Scatter<T, tile, cells>>(
      team, lanes, calls, {1, team.size()}, true,
      [&](std::uint32_t rank, std::uint32_t root, std::uint32_t call, std::int64_t i) {
        return value(root, call, rank * count + i);
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
