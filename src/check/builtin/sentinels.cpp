// SentinelExchange and SentinelAllReduce: one call a kernel, in kernels that overlap.
#include <cstdint>
#include <limits>

#include "muster/check.hpp"
#include "muster/collective/sentinel_all_reduce.hpp"
#include "muster/sentinel.hpp"

namespace {

using muster::Rank;
using muster::WaitStatus;

// A NaN with all bits set, in one element of each call.
float value_of(Rank rank, std::uint32_t call, std::int64_t at) {
  if (at == 1 && call == 1) return -std::numeric_limits<float>::quiet_NaN();
  return static_cast<float>(rank.value * 1000 + call * 10) + static_cast<float>(at);
}

template <std::uint32_t sets, class F>
WaitStatus one_call(F& fabric, const muster::SentinelExchange<float, 1, 3, sets>& exchange,
                    std::uint32_t number, std::int64_t count) {
  auto mine = fabric.template tile<float, 1, 3>();
  auto theirs = fabric.template tile<float, 1, 3>();
  const std::int64_t tiles = exchange.tiles(count);
  fabric.launch_wait();
  const std::uint32_t call = exchange.begin(fabric, count);
  for (std::int64_t index = 0; index < tiles; ++index) {
    mine.each([&](std::int64_t, std::int64_t col, float& element) {
      element = value_of(fabric.rank(), number, index * 3 + col);
    });
    fabric.replace_sentinel(mine);
    for (std::uint32_t step = 1; step < fabric.size(); ++step)
      exchange.put(fabric, call, muster::right_of(fabric, step), mine, index);
  }
  exchange.sent(fabric, call);
  fabric.launch_done();
  WaitStatus status = WaitStatus::ok;
  for (std::uint32_t step = 1; step < fabric.size(); ++step) {
    const Rank peer = muster::right_of(fabric, step);
    for (std::int64_t index = 0; index < tiles; ++index) {
      const WaitStatus one = exchange.wait(fabric, call, peer, theirs, index);
      status = worst(status, one);
      if (one != WaitStatus::ok) continue;
      theirs.each([&](std::int64_t, std::int64_t col, float element) {
        const float wanted = value_of(peer, number, index * 3 + col);
        muster::expect(fabric, element == wanted || (element != element && wanted != wanted),
                       "the tile holds this call's numbers");
      });
    }
  }
  return exchange.end(fabric, call, status);
}

template <std::uint32_t sets>
void exchange_all(muster::model::Team& team, std::uint32_t lanes, std::uint32_t calls) {
  constexpr std::int64_t most = 5;
  constexpr std::int64_t counts[] = {5, 2, 0, 4};
  const muster::SentinelExchange<float, 1, 3, sets> exchange(team, most);
  (void)team.overlapping_lanes(calls, lanes, [&](auto& fabric, std::uint32_t number) {
    return one_call<sets>(fabric, exchange, number, counts[number % 4]);
  });
}

// In place in every second call; a call of no elements, and one of more tiles than lanes.
template <class T>
void reduce_all(muster::model::Team& team, std::uint32_t lanes, std::uint32_t calls) {
  constexpr std::int64_t most = 5;
  constexpr std::int64_t counts[] = {5, 1, 0, 4};
  const muster::SentinelAllReduce<T, 2> sum(team, most);
  const auto from = *team.window<T>({most}, "from");
  const auto to = *team.window<T>({most}, "to");
  const auto value = [](std::uint32_t rank, std::uint32_t call, std::int64_t at) {
    return T(static_cast<float>(rank * 8 + call * 2 + static_cast<std::uint32_t>(at)));
  };
  (void)team.overlapping_lanes(calls, lanes, [&](auto& fabric, std::uint32_t call) {
    const std::int64_t count = counts[call % 4];
    const auto target = call % 2 == 0 ? to : from;
    fabric.launch_wait();
    const auto each_own = [&](auto&& visit) {  // elements of the lane's tiles
      for (std::int64_t at = 2 * fabric.lane().value; at < count; at += 2 * fabric.lanes())
        for (std::int64_t i = at + fabric.thread(); i < at + 2 && i < count; i += fabric.threads())
          visit(i);
    };
    each_own([&](std::int64_t i) { fabric.local(from)[i] = value(fabric.rank().value, call, i); });
    fabric.converge();
    const WaitStatus status = sum.run(fabric, target, from, count);
    if (status != WaitStatus::ok) return status;
    each_own([&](std::int64_t i) {
      float all = 0;
      for (std::uint32_t rank = 0; rank < fabric.size(); ++rank)
        all += static_cast<float>(value(rank, call, i));
      const T seen = fabric.local(target)[i];
      muster::expect(fabric, static_cast<float>(seen) == all, "the sum over all ranks");
    });
    return status;
  });
}

}  // namespace

MUSTER_CHECK(sentinel_all_reduce,
             {.ranks = 3, .calls = 4, .about = "an all_reduce that is a kernel of its own"}) {
  reduce_all<float>(team, lanes, calls);
}

MUSTER_CHECK(short_numbers, {.ranks = 2,
                             .calls = 3,
                             .group = "sentinel_all_reduce",
                             .about = "of bfloat16, two at a time"}) {
  reduce_all<muster::bfloat16>(team, lanes, calls);
}

MUSTER_CHECK(sentinel_exchange,
             {.ranks = 3,
              .calls = 3,
              .about = "tiles between all ranks that say themselves that they have come"}) {
  exchange_all<2>(team, lanes, calls);
}

MUSTER_CHECK(three_sets, {.ranks = 3,
                          .calls = 4,
                          .group = "sentinel_exchange",
                          .about = "cleared ahead, off the way of what is waited for"}) {
  exchange_all<3>(team, lanes, calls);
}
