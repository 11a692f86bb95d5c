// GridBarrier::expecting: lanes that arrive without waiting, and lanes that wait without arriving.
#include <cstdint>

#include "check/builtin/barrier_bodies.hpp"
#include "muster/barrier/grid.hpp"
#include "muster/check.hpp"

namespace {

using muster::Lane;
using muster::WaitStatus;
using muster::check::builtin::line;
namespace use = muster::use;

std::uint32_t number(std::uint32_t call, Lane lane) {
  return 1 + call * 100 + lane.value;
}

// All lanes but the last write an element each, which the last one reads; and again, over it. A
// single lane does both.
void fill_and_empty(muster::model::Team& team, std::uint32_t lanes, std::uint32_t calls) {
  const std::uint32_t producers = lanes > 1 ? lanes - 1 : 1;
  const auto filled = muster::GridBarrier(team).expecting(producers);
  const auto emptied = muster::GridBarrier(team).expecting(1);
  const auto board = *team.window<std::uint32_t>({line * lanes}, "board");
  (void)team.lanes(lanes, [&](auto& fabric) {
    const bool produces = fabric.lane().value < producers;
    const bool consumes = fabric.lane().value + 1 == lanes;
    for (std::uint32_t call = 0; call < calls; ++call) {
      if (produces && fabric.thread() + 1 == fabric.threads())
        fabric.local(board)[line * fabric.lane().value] = number(call, fabric.lane());
      const WaitStatus full = !consumes   ? filled.post(fabric)
                              : !produces ? filled.wait(fabric)
                                          : filled.sync(fabric);
      if (full != WaitStatus::ok) return;
      if (consumes)
        for (std::uint32_t lane = fabric.thread(); lane < producers; lane += fabric.threads())
          muster::expect(fabric, fabric.local(board)[line * lane] == number(call, Lane{lane}),
                         "each producer's element holds this call's number");
      const WaitStatus empty = !produces   ? emptied.post(fabric, use::exit)
                               : !consumes ? emptied.wait(fabric, use::exit)
                                           : emptied.sync(fabric, use::exit);
      if (empty != WaitStatus::ok) return;
    }
  });
}

}  // namespace

MUSTER_CHECK(producers,
             {.ranks = 1,
              .calls = 2,
              .lanes = 4,
              .group = "grid_barrier",
              .about = "some lanes arrive without waiting, one waits without arriving"}) {
  fill_and_empty(team, lanes, calls);
}
