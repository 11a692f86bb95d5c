// SendReceive: round a ring, both ways at once, and between two ranks that others do not wait for.
#include "muster/collective/send_receive.hpp"

#include <cstdint>

#include "check/builtin/collective_values.hpp"
#include "muster/check.hpp"

namespace {

using namespace muster::check::collectives;
using muster::Rank;
using muster::WaitStatus;

using Pairs = muster::SendReceive<T, tile>;

struct Conversation {
  const Pairs& pairs;
  muster::WindowRef<T> to;
  muster::WindowRef<T> from;
  std::uint32_t call;

  template <class F>
  WaitStatus send(F& fabric, Rank peer) const {
    return pairs.send(fabric, peer, from, from.size());
  }
  template <class F>
  WaitStatus receive(F& fabric, Rank peer) const {
    const WaitStatus status = pairs.receive(fabric, peer, to, to.size());
    if (status == WaitStatus::ok)
      look(fabric, to, to.size(), [&](std::int64_t i) { return value(peer.value, call, i); });
    return status;
  }
};

// More messages than there are slots.
std::int64_t pair_count(std::uint32_t lanes) {
  return count_for(lanes) + 2 * Pairs::depth;
}

}  // namespace

// Every rank sends to its right, then to its left. The messages are longer than the slots, so of
// two neighbours one must receive first.
MUSTER_CHECK(send_receive, {.ranks = 3, .calls = 3, .about = "from each rank to its neighbours"}) {
  const Pairs pairs(team, {.chunk = 2});
  const std::int64_t count = pair_count(lanes);
  const auto [to, from] = make_ends(team, count, count);
  each_call(team, lanes, calls, [&](auto& fabric, std::uint32_t call) {
    const Conversation now{pairs, to, from, call};
    fill(fabric, from, count, [&](std::int64_t i) { return value(fabric.rank().value, call, i); });
    const auto both = [&](Rank there, Rank here) {
      const bool first = fabric.rank().value % 2 == 0;
      const WaitStatus status = first ? now.send(fabric, there) : now.receive(fabric, here);
      if (status != WaitStatus::ok) return status;
      return first ? now.receive(fabric, here) : now.send(fabric, there);
    };
    const Rank right = muster::right_of(fabric);
    const Rank left = muster::left_of(fabric);
    const WaitStatus status = both(right, left);
    return status == WaitStatus::ok ? both(left, right) : status;
  });
}

// What fits into the slots is sent before anybody receives: rank 0 hears of all others in the
// order of their numbers, and they of nobody.
MUSTER_CHECK(send_first, {.ranks = 3,
                          .calls = 3,
                          .group = "send_receive",
                          .about = "what fits is sent before it is received"}) {
  const Pairs pairs(team, {.chunk = 2});
  const auto [to, from] = make_ends(team, count_for(lanes), count_for(lanes));
  each_call(team, lanes, calls, [&](auto& fabric, std::uint32_t call) {
    const Conversation now{pairs, to, from, call};
    fill(fabric, from, from.size(),
         [&](std::int64_t i) { return value(fabric.rank().value, call, i); });
    if (fabric.rank() != Rank{0}) return now.send(fabric, Rank{0});
    WaitStatus status = WaitStatus::ok;
    for (std::uint32_t peer = 1; peer < fabric.size() && status == WaitStatus::ok; ++peer)
      status = now.receive(fabric, Rank{peer});
    return status;
  });
}
