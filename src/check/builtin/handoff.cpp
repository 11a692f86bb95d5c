// Handoff: the text that streams, graphs, kernels and host lanes run, around a ring and between two
// in both directions.
#include "muster/handoff.hpp"

#include <cstdint>

#include "muster/check.hpp"

namespace {

using muster::Box;
using muster::Handoff;
using muster::Rank;
using muster::WaitStatus;
using muster::WindowRef;

std::uint32_t number(Rank from, std::uint32_t lane, std::uint32_t call) {
  return 1 + call * 10'000 + lane * 100 + from.value;
}

// One thread of the lane does the protocol, all learn how it went.
template <class F, class Step>
WaitStatus by_one(F& fabric, Step&& step) {
  fabric.converge();
  return fabric.converge(fabric.thread() == 0 ? step() : WaitStatus::ok);
}

// One lane's handoff, and where the data lands.
struct Passing {
  Handoff handoff;
  WindowRef<std::uint32_t> inbox;

  template <class F>
  WaitStatus send(F& fabric, Rank to, std::uint32_t call) const {
    const WaitStatus status = by_one(fabric, [&] { return handoff.vacant(fabric); });
    if (status != WaitStatus::ok) return status;
    auto tile = fabric.template tile<std::uint32_t, 1, 1>();
    tile.each([&](std::int64_t, std::int64_t, std::uint32_t& element) {
      element = number(fabric.rank(), fabric.lane().value, call);
    });
    fabric.remote_store(tile, inbox, to, Box{0, fabric.lane().value, 1, 1});
    return by_one(fabric, [&] {
      handoff.post(fabric, to);
      return WaitStatus::ok;
    });
  }

  template <class F>
  WaitStatus receive(F& fabric, Rank from, std::uint32_t call) const {
    const WaitStatus status = by_one(fabric, [&] { return handoff.wait(fabric); });
    if (status != WaitStatus::ok) return status;
    if (fabric.thread() + 1 == fabric.threads())
      muster::expect(
          fabric,
          fabric.local(inbox)[fabric.lane().value] == number(from, fabric.lane().value, call),
          "the data of this round");
    return by_one(fabric, [&] {
      handoff.acknowledge(fabric, from);
      return WaitStatus::ok;
    });
  }
};

}  // namespace

// Every rank sends to its right and receives from its left: with two ranks both directions at once.
MUSTER_CHECK(handoff, {.ranks = 2,
                       .calls = 3,
                       .about = "data passes over and over with constant values, as in graphs"}) {
  const auto inbox = *team.window<std::uint32_t>({lanes}, "inbox");
  const auto cells = *team.signals(2 * lanes);
  team.promise_zero(cells);
  (void)team.lanes(lanes, [&](auto& fabric) -> WaitStatus {
    const Passing passing{Handoff(muster::Signals{cells[2 * fabric.lane().value], 2}), inbox};
    const Rank right = muster::right_of(fabric);
    const Rank left = muster::left_of(fabric);
    for (std::uint32_t call = 0; call < calls; ++call) {
      const WaitStatus sent = passing.send(fabric, right, call);
      if (sent != WaitStatus::ok) return sent;
      const WaitStatus received = passing.receive(fabric, left, call);
      if (received != WaitStatus::ok) return received;
    }
    // As the end of a graph would: the last round is complete.
    return by_one(fabric, [&] { return passing.handoff.vacant(fabric); });
  });
}
