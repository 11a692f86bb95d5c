// AllReduce: every rank gets the operator over what all ranks have, element by element.
#pragma once

#include <cstdint>

#include "muster/collective/call.hpp"
#include "muster/collective/ring.hpp"
#include "muster/collective/stage.hpp"
#include "muster/collective/sums.hpp"
#include "muster/fabric.hpp"

namespace muster {

enum class Algorithm : std::uint8_t {
  automatic,  // by the size of the message, and whether it lies in windows
  one_shot,   // everybody reads everything: one round
  two_phase,  // everybody reduces its share, then all collect the shares: two rounds
  ring,       // from neighbour to neighbour
  direct,     // as two_phase, on windows of the team alone: nothing is staged
};

struct AllReduceOptions {
  Algorithm algorithm = Algorithm::automatic;
  std::int64_t chunk = 0;  // as in CollectiveOptions
};

// to[i] = op over all ranks of from[i], 0 <= i < count: count elements x P ranks to count elements
// on each.
//
// Cost per rank and call, P ranks, n elements, pieces of at most a chunk (one each where n fits);
// a round is a Stage's:
//   one_shot   1 round a piece,        (P-1) n elements read
//   two_phase  2 rounds a piece,   2 (P-1)/P n elements read
//   ring       2 (P-1) messages a piece, 2 (P-1)/P n elements written
//   direct     2 rounds, 2 (P-1)/P n elements read or written, nothing staged
//
// The sum is taken in one order for all ranks (one_shot and two_phase: rank 0, 1, ...), so results
// are the same bits everywhere and from run to run (ring: from the rank that follows a chunk's on).
// float16 and bfloat16 are summed as floats and rounded once; an operator of one's own sees floats
// then. Max and Min: see muster/reduce.hpp for NaN.
//
// `to` and `from` are windows of the team (their part of this rank) or plain memory of the rank,
// read as one run of elements. They are the same, or do not overlap.
//
// Plain bytes: copy it into bodies and kernels. It owns its memory; calls of one object may follow
// each other at once. All ranks call it with the same count, operator and number of lanes; lanes
// share the elements. After a call that was not `ok`, `to` holds anything, and the next call
// returns `refused`.
template <class T, std::int64_t C = detail::collective_tile<T>>
class AllReduce {
 public:
  AllReduce() = default;
  template <SetUp Team>
  explicit AllReduce(Team& team, AllReduceOptions options = {}) : algorithm_(options.algorithm) {
    const std::int64_t chunk = detail::chunk_of<T>(options.chunk);
    if (algorithm_ == Algorithm::ring)
      ring_ = Ring<Accumulator<T>>(team, chunk, C);
    else  // direct only meets there
      stage_ = Stage<T>(team, algorithm_ == Algorithm::direct ? 1 : chunk);
  }

  // Called by all threads of the lane; the same status to all. count >= 0.
  template <Fabric F, TransferEnd To, TransferEnd From, class Op = Sum>
  MUSTER_FN WaitStatus run(F& fabric, To to, From from, std::int64_t count, Op op = {}) const {
    const OneCall call(fabric);
    fabric.converge();  // other threads of the lane may have written what this one reads
    if (!detail::holds_call(to, count, from, count, 0)) return WaitStatus::invalid;
    const Share mine = share_of<T>(count, fabric.lane().value, fabric.lanes());
    constexpr bool on_windows = detail::is_window<To> && detail::is_window<From>;
    switch (chosen(count, on_windows)) {
      case Algorithm::ring:
        return ring(fabric, detail::as_run(to), detail::as_run(from), mine, count, op);
      case Algorithm::one_shot:
        return detail::with_tile<T, C>(mine.count, [&](auto width) {
          return one_shot<width()>(fabric, detail::as_run(to), detail::as_run(from), mine, count,
                                   op);
        });
      case Algorithm::direct:
        if constexpr (on_windows)
          return direct(fabric, detail::as_run(to), detail::as_run(from), mine, count, op);
        return WaitStatus::invalid;  // peers cannot reach plain memory
      default: return two_phase(fabric, detail::as_run(to), detail::as_run(from), mine, count, op);
    }
  }

  // What automatic means for this many elements, on windows or on plain memory.
  [[nodiscard]] MUSTER_FN Algorithm chosen(std::int64_t count, bool on_windows) const {
    if (algorithm_ != Algorithm::automatic) return algorithm_;
    if (static_cast<std::uint64_t>(count) * sizeof(T) <= one_shot_bytes) return Algorithm::one_shot;
    return on_windows ? Algorithm::direct : Algorithm::two_phase;
  }

 private:
  // Not measured yet: one round less against (P-2)/P of the bytes.
  static constexpr std::uint64_t one_shot_bytes = 16384;

  // `width`: elements of a tile.
  template <std::int64_t width, Fabric F, class To, class From, class Op>
  MUSTER_FN WaitStatus one_shot(F& fabric, To to, From from, Share mine, std::int64_t count,
                                Op op) const {
    detail::describe_collective<T>(fabric, "AllReduce one_shot", stage_.rows(),
                                   detail::operator_code(op), count);
    detail::Sums<T, width, F> sums(fabric);
    auto rounds = stage_.rounds(fabric);
    detail::each_piece(mine.count, stage_.elements(), [&](std::int64_t first, std::int64_t piece) {
      const std::int64_t start = mine.first + first;
      detail::show<width>(fabric, rounds, sums.tile(), from, start, piece, 0);
      if (rounds.meet() != WaitStatus::ok) return false;
      detail::each_tile<width>(piece, [&](std::int64_t at, std::int64_t length) {
        const Box box = detail::run_box(start + at, length);
        fabric.store(reduce(fabric, rounds, sums, op, from, box, at), to, box);
      });
      return true;
    });
    return rounds.end();
  }

  // What a rank reduces itself it need not show: neither its own elements, which nobody else reads,
  // nor to itself what has become of them.
  template <Fabric F, class To, class From, class Op>
  MUSTER_FN WaitStatus two_phase(F& fabric, To to, From from, Share mine, std::int64_t count,
                                 Op op) const {
    detail::describe_collective<T>(fabric, "AllReduce two_phase", stage_.rows(),
                                   detail::operator_code(op), count);
    const std::uint32_t ranks = fabric.size();
    detail::Sums<T, C, F> sums(fabric);
    auto rounds = stage_.rounds(fabric);
    detail::each_piece(mine.count, stage_.elements(), [&](std::int64_t first, std::int64_t piece) {
      const std::int64_t start = mine.first + first;
      const Share part = share_of<T>(piece, fabric.rank().value, ranks);
      detail::show<C>(fabric, rounds, sums.tile(), from, start, part.first, 0);
      detail::show<C>(fabric, rounds, sums.tile(), from, start + part.end(), piece - part.end(),
                      part.end());
      if (rounds.meet() != WaitStatus::ok) return false;
      detail::each_tile<C>(part.count, [&](std::int64_t at, std::int64_t length) {
        const Box box = detail::run_box(start + part.first + at, length);
        auto& total = reduce(fabric, rounds, sums, op, from, box, part.first + at);
        fabric.store(total, to, box);
        rounds.write(total, part.first + at, length);
      });
      if (rounds.meet() != WaitStatus::ok) return false;
      for (std::uint32_t step = 1; step < ranks; ++step) {
        const Rank owner = right_of(fabric, step);
        const Share theirs = share_of<T>(piece, owner.value, ranks);
        detail::collect<C>(fabric, rounds, sums.tile(), owner, theirs.first, to,
                           start + theirs.first, theirs.count);
      }
      return true;
    });
    return rounds.end();
  }

  // The tile of the operator over the own elements, at `box` of `from`, and what the others have
  // shown at stage_at.
  template <class F, class Rounds, class Sums, class Op, class From>
  MUSTER_FN static auto& reduce(F& fabric, Rounds& rounds, Sums& sums, Op op, From from, Box box,
                                std::int64_t stage_at) {
    return sums.over_ranks(fabric.size(), op, [&](Rank rank, auto& tile) {
      if (rank == fabric.rank())
        fabric.load(tile, from, box);
      else
        rounds.read(tile, rank, stage_at, box.cols);
    });
  }

  // Everybody reduces its share where it lies and stores it to everybody. In place is sound: a
  // share of any rank's windows is read and written by its one reducer alone, between two meetings.
  template <Fabric F, class Op>
  MUSTER_FN WaitStatus direct(F& fabric, WindowRef<T> to, WindowRef<T> from, Share mine,
                              std::int64_t count, Op op) const {
    detail::describe_collective<T>(fabric, "AllReduce direct", stage_.rows(),
                                   detail::operator_code(op), count);
    const std::uint32_t ranks = fabric.size();
    detail::Sums<T, C, F> sums(fabric);
    auto rounds = stage_.rounds(fabric);
    if (rounds.meet() == WaitStatus::ok) {
      const Share part = share_of<T>(mine.count, fabric.rank().value, ranks);
      detail::each_tile<C>(part.count, [&](std::int64_t at, std::int64_t length) {
        const Box box = detail::run_box(mine.first + part.first + at, length);
        auto& total = sums.over_ranks(
            ranks, op, [&](Rank rank, auto& tile) { fabric.remote_load(tile, from, rank, box); });
        for (std::uint32_t step = 0; step < ranks; ++step)
          fabric.remote_store(total, to, right_of(fabric, step), box);
      });
      (void)rounds.meet();
    }
    return rounds.end();
  }

  template <Fabric F, class To, class From, class Op>
  MUSTER_FN WaitStatus ring(F& fabric, To to, From from, Share mine, std::int64_t count,
                            Op op) const {
    detail::describe_collective<T>(fabric, "AllReduce ring", ring_.rows(),
                                   detail::operator_code(op), count);
    return ring_.template all_reduce<C>(fabric, to, from, mine, op);
  }

  Algorithm algorithm_ = Algorithm::automatic;
  Stage<T> stage_;
  Ring<Accumulator<T>> ring_;
};

}  // namespace muster
