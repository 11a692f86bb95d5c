// PacketExchange: two sets of slots in turn, also where the count of calls comes round.
#include <cstdint>

#include "muster/check.hpp"
#include "muster/packet.hpp"

namespace {

using muster::Rank;
using muster::WaitStatus;

using Exchange = muster::PacketExchange<std::int32_t, 1, 3>;

// `before`: as if there had been so many calls already.
void exchange_all(muster::model::Team& team, std::uint32_t lanes, std::uint32_t calls,
                  std::uint32_t before) {
  const Exchange exchange(team);
  (void)team.lanes(lanes, [&](auto& fabric) {
    if (before != 0) {
      if (fabric.thread() == 0) fabric.set_counter(exchange.counts().epoch(fabric.lane()), before);
      fabric.converge();
    }
    auto mine = fabric.template tile<std::int32_t, 1, 3>();
    auto theirs = fabric.template tile<std::int32_t, 1, 3>();
    const auto value = [&](Rank rank, std::uint32_t call, std::int64_t col) {
      return static_cast<std::int32_t>(rank.value * 1000 + call * 10) +
             static_cast<std::int32_t>(col);
    };
    for (std::uint32_t call = 0; call < calls; ++call) {
      mine.each([&](std::int64_t, std::int64_t col, std::int32_t& element) {
        element = value(fabric.rank(), call, col);
      });
      const std::uint32_t flag = exchange.begin(fabric);
      WaitStatus status = WaitStatus::ok;
      for (std::uint32_t step = 1; step < fabric.size(); ++step)
        exchange.put(fabric, flag, muster::right_of(fabric, step), mine);
      for (std::uint32_t step = 1; step < fabric.size(); ++step) {
        const Rank peer = muster::right_of(fabric, step);
        const WaitStatus one = exchange.wait(fabric, flag, peer, theirs);
        status = worst(status, one);
        if (one != WaitStatus::ok) continue;
        theirs.each([&](std::int64_t, std::int64_t col, std::int32_t element) {
          muster::expect(fabric, element == value(peer, call, col),
                         "the tile holds this call's numbers");
        });
      }
      if (exchange.end(fabric, flag, status) != WaitStatus::ok) return;
    }
  });
}

}  // namespace

MUSTER_CHECK(packet_exchange, {.ranks = 3,
                               .calls = 3,
                               .about = "tiles between all ranks, with a flag beside the data"}) {
  exchange_all(team, lanes, calls, 0);
}

MUSTER_CHECK(comes_round, {.ranks = 2,
                           .calls = 4,
                           .group = "packet_exchange",
                           .about = "the count wraps: the slots are cleared before"}) {
  exchange_all(team, lanes, calls, ~0U - 2);
}
