// Sums of what all ranks have, by a lane whose warps do different things at a time: some bring the
// peers' tiles, the others add them up. docs/kernels.md goes through it; `muster check
// example/peer_sums` proves it, and tests/gpu/parts.cu runs it on GPUs.
#pragma once

#include <bit>
#include <cstdint>

#include "muster/barrier/epoch.hpp"
#include "muster/fabric.hpp"

namespace example {

// A lane is `Producers` and, behind them, `Consumers`: muster::Warps<n> or muster::Threads<n>.
//
// The producers get a tile into a slot of the lane and say so, the consumers add it up and say that
// the slot is free. There are `depth` slots, so that so many tiles are under way at a time. Both
// signals count tiles, on from call to call, each set by one thread. Tile n is brought once tile
// n - depth has been read, which was in its slot: nothing is overwritten that is still wanted.
//
// The ranks meet by the producers alone, before the first get, so that what it brings is there, and
// after the last, so that the peers may write their own again.
template <std::int64_t C, class Producers, class Consumers>
class PeerSums {
 public:
  template <muster::SetUp Team>
  explicit PeerSums(Team& team, std::uint32_t depth = 2)
      : depth_(std::bit_ceil(depth)),
        barrier_(team),
        filled_(*team.rows()),
        emptied_(*team.rows()),
        slots_(*team.template window<float>({team.max_lanes() * std::int64_t{depth_}, C})) {}

  // Called by all threads of the lane. `to` becomes the sum of all ranks' `from`; both are of 1 x
  // count elements, as many on every rank. After a status that is not ok, which is the same to all
  // threads, `to` holds anything.
  template <muster::PartFabric F>
  MUSTER_FN muster::WaitStatus sum(F& fabric, muster::WindowRef<float> from,
                                   muster::WindowRef<float> to) const {
    using namespace muster;
    const Counter counted = filled_.epoch(fabric.lane());
    const std::uint32_t first = fabric.counter(counted);
    fabric.converge();  // the producers speak for what the whole lane has written
    WaitStatus status = WaitStatus::ok;
    if (fabric.template in_part<Producers>(0)) {
      auto part = fabric.template part<Producers>(0);
      status = produce(part, from, first);
    } else {
      auto part = fabric.template part<Consumers>(Producers::count);
      status = consume(part, to, first);
    }
    status = fabric.converge(status);  // a part that has failed has failed the lane
    if (fabric.thread() == 0) fabric.set_counter(counted, first + tiles(fabric, from.cols));
    fabric.converge();
    return status;
  }

 private:
  template <muster::Fabric F>
  MUSTER_FN muster::WaitStatus produce(F& part, muster::WindowRef<float> from,
                                       std::uint32_t n) const {
    using namespace muster;
    const Signal filled = filled_.from(part.lane(), part.rank());
    const Signal emptied = emptied_.from(part.lane(), part.rank());
    WaitStatus status = barrier_.sync(part);
    if (status != WaitStatus::ok) return status;
    for (std::int64_t at = part.lane().value * C; at < from.cols; at += part.lanes() * C)
      for (std::uint32_t rank = 0; rank < part.size(); ++rank, ++n) {
        if (part.thread() == 0)
          status = part.wait(emptied, Compare::ge, n + 1 - depth_, Order::acquire, Scope::block);
        status = part.converge(status);
        if (status != WaitStatus::ok) return status;
        const Box slot = slot_of(part, n, from.cols - at);
        status = part.get(slots_, slots_.at(slot.row, 0), from, Rank{rank}, at, slot.cols);
        if (status != WaitStatus::ok) return status;
        // Speaks for all threads of the part: they have met at the end of get.
        if (part.thread() == 0)
          part.notify(filled, part.rank(), n + 1, NotifyOp::set, Order::release, Scope::block);
      }
    return barrier_.sync(part);
  }

  template <muster::Fabric F>
  MUSTER_FN muster::WaitStatus consume(F& part, muster::WindowRef<float> to,
                                       std::uint32_t n) const {
    using namespace muster;
    const Signal filled = filled_.from(part.lane(), part.rank());
    const Signal emptied = emptied_.from(part.lane(), part.rank());
    auto sums = part.template tile<float, 1, C>();
    auto theirs = part.template tile<float, 1, C>();
    WaitStatus status = WaitStatus::ok;
    for (std::int64_t at = part.lane().value * C; at < to.cols; at += part.lanes() * C) {
      sums.each([](std::int64_t, std::int64_t, float& element) { element = 0; });
      for (std::uint32_t rank = 0; rank < part.size(); ++rank, ++n) {
        if (part.thread() == 0)
          status = part.wait(filled, Compare::ge, n + 1, Order::acquire, Scope::block);
        status = part.converge(status);
        if (status != WaitStatus::ok) return status;
        part.load(theirs, slots_, slot_of(part, n, to.cols - at));
        sums.combine(theirs, Sum{});
        part.converge();  // all threads of the part have read the slot
        if (part.thread() == 0)
          part.notify(emptied, part.rank(), n + 1, NotifyOp::set, Order::release, Scope::block);
      }
      part.store(sums, to, Box{0, at, 1, to.cols - at < C ? to.cols - at : C});
    }
    return status;
  }

  // Where the lane's tile number n is, of which so many elements are left.
  template <muster::Fabric F>
  [[nodiscard]] MUSTER_FN muster::Box slot_of(const F& part, std::uint32_t n,
                                              std::int64_t left) const {
    return {std::int64_t{part.lane().value} * depth_ + n % depth_, 0, 1, left < C ? left : C};
  }

  // How many tiles of all ranks this lane goes through in a call.
  template <muster::Fabric F>
  [[nodiscard]] MUSTER_FN static std::uint32_t tiles(const F& fabric, std::int64_t count) {
    const std::int64_t begin = fabric.lane().value * C;
    const std::int64_t step = fabric.lanes() * C;
    const std::int64_t own = begin < count ? (count - begin + step - 1) / step : 0;
    return static_cast<std::uint32_t>(own) * fabric.size();
  }

  std::uint32_t depth_;  // a power of two: so the slots go on in turn where the count wraps
  muster::EpochBarrier barrier_;
  muster::Rows filled_;
  muster::Rows emptied_;
  muster::WindowRef<float> slots_;
};

}  // namespace example
