// SentinelAllReduce: an all_reduce that is a kernel of its own, for data that says itself that it
// has come.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "muster/collective/call.hpp"
#include "muster/collective/sums.hpp"
#include "muster/fabric.hpp"
#include "muster/reduce.hpp"
#include "muster/result.hpp"
#include "muster/sentinel.hpp"

namespace muster {

// to[i] = op over all ranks of from[i], 0 <= i < count: count elements x P ranks to count elements
// on each. ONE CALL IN A KERNEL, by all lanes, which are the same on all ranks (one run of lanes on
// a host); the next call is in a later one. For calls in a loop there is AllReduce.
//
// Everybody sends everything, and adds up what has come, in the order of the ranks: the same bits
// on every rank. Cost per rank and call: 1 round, (P-1) n elements written and what fills the last
// tile; no notify, no signal waited for. Tiles of C elements are dealt to the lanes in turn:
// fastest are as many lanes as there are tiles, and 16 bytes of a tile for each thread of a lane.
//
// run() calls launch_wait before it touches anything, and launch_done when all is sent: so kernels
// of it may overlap (LaunchFabric). What it reads has been complete since an earlier kernel, or
// since the threads of the lane have met.
//
// `to` and `from` are windows of the team or plain memory, the same or without overlap. T is float,
// double, float16 or bfloat16. A NaN with all bits set becomes another one on the way, on all ranks
// alike, the own elements too.
//
// Why calls may follow each other: see SentinelExchange, of which every lane makes a call where it
// has a tile. After a call that was not `ok`, `to` holds anything, and the next one is `refused`.
template <class T, std::int64_t C, std::uint32_t sets = 2>
class SentinelAllReduce {
 public:
  using Exchange = SentinelExchange<T, 1, C, sets>;

  SentinelAllReduce() = default;
  // `most` elements of a call that at least so many lanes make; a call of more is refused. Takes
  // `sets` times as many elements of every rank, for each rank, and more where more lanes may run.
  template <SetUp Team>
  SentinelAllReduce(Team& team, std::int64_t most, std::uint32_t least_lanes = 1)
      : exchange_(team, of_a_lane(most, least_lanes)) {}

  // Called by all threads of the lane; the same status to all. count >= 0.
  template <SentinelFabric F, TransferEnd To, TransferEnd From, class Op = Sum>
  requires LaunchFabric<F> MUSTER_FN WaitStatus run(F& fabric, To to, From from, std::int64_t count,
                                                    Op op = {}, CallSite<F> site = {})
  const {
    const Called called(fabric, site);
    fabric.launch_wait();
    if (!detail::holds_call(to, count, from, count, 0) ||
        count > exchange_.most_tiles() * C * fabric.lanes()) {
      detail::describe_collective<T>(fabric, "SentinelAllReduce", rows(), detail::operator_code(op),
                                     count, false);
      return WaitStatus::invalid;
    }
    const std::int64_t first = std::int64_t{fabric.lane().value} * C;
    if (first >= count) return WaitStatus::ok;
    return reduce(fabric, detail::as_run(to), detail::as_run(from), first, count, op);
  }

  [[nodiscard]] MUSTER_FN Rows rows() const { return exchange_.counts(); }

 private:
  template <class Op>
  static constexpr bool known =
      std::is_same_v<Op, Sum> || std::is_same_v<Op, Prod> || std::is_same_v<Op, Max> ||
      std::is_same_v<Op, Min> || std::is_same_v<Op, ReduceOp>;

  // Whole tiles: as many as the lane that has the most of them.
  [[nodiscard]] static std::int64_t of_a_lane(std::int64_t most, std::uint32_t least_lanes) {
    if (most < 0 || least_lanes == 0)
      throw Failure(Error{ErrorCode::invalid_argument,
                          "SentinelAllReduce: most is " + std::to_string(most) +
                              " elements of at least " + std::to_string(least_lanes) +
                              " lanes; neither may be less than none, nor the lanes none"});
    const std::int64_t tiles = Exchange::tiles(most);
    const std::int64_t turns = (tiles + least_lanes - 1) / least_lanes;
    return turns <= INT64_MAX / C ? turns * C : INT64_MAX;
  }

  [[nodiscard]] MUSTER_FN static Box box_at(std::int64_t at, std::int64_t count) {
    const std::int64_t left = count - at;
    return detail::run_box(at, left < C ? left : C);
  }

  template <class F, class To, class From, class Op>
  MUSTER_FN WaitStatus reduce(F& fabric, To to, From from, std::int64_t first, std::int64_t count,
                              Op op) const {
    const std::int64_t turn = std::int64_t{fabric.lanes()} * C;
    auto mine = fabric.template tile<T, 1, C>();
    fabric.load(mine, from, box_at(first, count));  // under way together with the count of calls
    const std::uint32_t call = exchange_.begin(fabric);
    std::int64_t last = 0;
    for (std::int64_t at = first; at < count; at += turn, ++last) {
      if (last > 0) fabric.load(mine, from, box_at(at, count));
      fabric.replace_sentinel(mine);
      for (std::uint32_t step = 1; step < fabric.size(); ++step)
        exchange_.put(fabric, call, right_of(fabric, step), mine, last);
    }
    exchange_.sent(fabric, call);
    fabric.launch_done();
    // Backwards, for the tile that was sent last is here still.
    WaitStatus status = WaitStatus::ok;
    const std::int64_t end = first + last * turn;
    for (std::int64_t index = last; index-- > 0 && status == WaitStatus::ok;) {
      const Box box = box_at(end - (last - index) * turn, count);
      if (index + 1 < last) {
        fabric.load(mine, from, box);
        fabric.replace_sentinel(mine);
      }
      status = add_up(fabric, call, index, mine, to, box, op);
    }
    return exchange_.end(fabric, call, status);
  }

  // This thread's status. Of two ranks' elements none needs a wider number on the way, where the
  // operator is one that rounds once; so they are added as they are, two at a time where they are
  // short.
  template <class F, class Tile, class To, class Op>
  MUSTER_FN WaitStatus add_up(F& fabric, std::uint32_t call, std::int64_t index, Tile& mine, To to,
                              Box box, Op op) const {
    const std::uint32_t ranks = fabric.size();
    WaitStatus status = WaitStatus::ok;
    if constexpr (known<Op> || std::is_same_v<T, Accumulator<T>>)
      if (ranks == 2) {
        auto theirs = fabric.template tile<T, 1, C>();
        status = exchange_.wait(fabric, call, right_of(fabric), theirs, index);
        if (fabric.rank() == Rank{0}) {
          mine.combine(theirs, op);
          fabric.store(mine, to, box);
        } else {
          theirs.combine(mine, op);
          fabric.store(theirs, to, box);
        }
        return status;
      }
    detail::Sums<T, C, F> sums(fabric);
    auto& total = sums.over_ranks(ranks, op, [&](Rank rank, auto& tile) {
      if (rank == fabric.rank())
        tile.assign(mine);
      else
        status = worst(status, exchange_.wait(fabric, call, rank, tile, index));
    });
    fabric.store(total, to, box);
    return status;
  }

  Exchange exchange_;
};

}  // namespace muster
