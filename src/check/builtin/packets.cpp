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

// Calls of several tiles, the last one ragged, of a single one, and of none.
void exchange_runs(muster::model::Team& team, std::uint32_t lanes, std::uint32_t calls) {
  constexpr std::int64_t counts[] = {5, 0, 3, 6, 1};
  constexpr std::int64_t most = 6;
  using Runs = muster::PacketExchange<std::int32_t, 1, 2>;
  const Runs exchange(team, most);
  const auto from = *team.window<std::int32_t>({lanes, most}, "from");
  const auto to = *team.window<std::int32_t>({lanes * team.size(), most}, "to");
  const auto value = [](Rank rank, std::uint32_t call, std::int64_t at) {
    return static_cast<std::int32_t>(rank.value * 1000 + call * 10) +
           static_cast<std::int32_t>(at) + 1;
  };
  const auto row_of = [](muster::Box box, std::int64_t row) {
    return muster::Box{row, box.col, box.rows, box.cols};
  };
  (void)team.lanes(lanes, [&](auto& fabric) {
    auto tile = fabric.template tile<std::int32_t, 1, 2>();
    const std::int64_t lane = fabric.lane().value;
    for (std::uint32_t call = 0; call < calls; ++call) {
      const std::int64_t count = counts[call % 5];
      for (std::int64_t at = fabric.thread(); at < count; at += fabric.threads())
        fabric.local(from)[from.at(lane, at)] = value(fabric.rank(), call, at);
      fabric.converge();
      const std::uint32_t flag = exchange.begin(fabric, count);
      for (std::int64_t index = 0; index < Runs::tiles(count); ++index) {
        fabric.load(tile, from, row_of(Runs::box(index, count), lane));
        for (std::uint32_t step = 1; step < fabric.size(); ++step)
          exchange.put(fabric, flag, muster::right_of(fabric, step), tile, index);
      }
      WaitStatus status = WaitStatus::ok;
      for (std::uint32_t step = 1; step < fabric.size(); ++step) {
        const Rank peer = muster::right_of(fabric, step);
        const std::int64_t row = lane * fabric.size() + peer.value;
        for (std::int64_t index = 0; index < Runs::tiles(count); ++index) {
          status = worst(status, exchange.wait(fabric, flag, peer, tile, index));
          fabric.store(tile, to, row_of(Runs::box(index, count), row));
        }
      }
      if (exchange.end(fabric, flag, status) != WaitStatus::ok) return;
      for (std::uint32_t step = 1; step < fabric.size(); ++step) {
        const Rank peer = muster::right_of(fabric, step);
        const std::int64_t row = lane * fabric.size() + peer.value;
        for (std::int64_t at = fabric.thread(); at < count; at += fabric.threads())
          muster::expect(fabric, fabric.local(to)[to.at(row, at)] == value(peer, call, at),
                         "the run holds this call's numbers");
      }
      fabric.converge();  // before the next call overwrites them
    }
  });
}

}  // namespace

MUSTER_CHECK(packet_exchange, {.ranks = 3,
                               .calls = 3,
                               .about = "tiles between all ranks, with a flag beside the data"}) {
  exchange_all(team, lanes, calls, 0);
}

MUSTER_CHECK(runs, {.ranks = 3,
                    .calls = 4,
                    .group = "packet_exchange",
                    .about = "several tiles a call, the last one ragged; any number of elements"}) {
  exchange_runs(team, lanes, calls);
}

MUSTER_CHECK(comes_round, {.ranks = 2,
                           .calls = 4,
                           .group = "packet_exchange",
                           .about = "the count wraps: the slots are cleared before"}) {
  exchange_all(team, lanes, calls, ~0U - 2);
}
