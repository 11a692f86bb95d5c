// Halves: two ranks' sums in two phases, of which each rank takes half.
#pragma once

#include <cstdint>

#include "muster/collective/call.hpp"
#include "muster/collective/share.hpp"
#include "muster/collective/stage.hpp"
#include "muster/collective/sums.hpp"
#include "muster/fabric.hpp"

namespace muster::detail {

// At most so many elements in a round, and in a tile.
struct PieceLimits {
  std::int64_t piece;
  std::int64_t tile;
};

// to[i] = op over both ranks' from[i], for the lane's share of the elements. A piece takes two
// rounds: each shows the other what it shall sum, and answers with the sums where that lay. So a
// line of the stage goes over and comes back, and is never fetched by a core to be written.
//
// In place is sound: this rank's half of `from` is read by itself alone, before it stores to it,
// and the other half has been shown before the first round.
template <std::int64_t C, class T, class Exchange, Fabric F, class To, class From, class Op,
          class Before, class After>
MUSTER_FN WaitStatus sum_halves(F& fabric, const Stage<T, Exchange>& stage, To to, From from,
                                Share mine, PieceLimits most, std::int64_t grain, Op op,
                                Before before, After after) {
  Sums<T, C, F> sums(fabric);
  auto rounds = stage.rounds(fabric);
  const Rank me = fabric.rank();
  const Rank other = right_of(fabric);
  each_piece(mine.count, most.piece, [&](std::int64_t first, std::int64_t piece) {
    const std::int64_t start = mine.first + first;
    const Share own = share_of<T>(piece, me.value, 2, grain);
    const Share theirs = share_of<T>(piece, other.value, 2, grain);
    show<C>(fabric, rounds, sums.tile(), from, start + theirs.first, theirs.count, 0, before,
            most.tile);
    if (rounds.meet() != WaitStatus::ok) return false;
    each_part(own.count, most.tile, [&](std::int64_t at, std::int64_t length) {
      const Box box = run_box(start + own.first + at, length);
      if constexpr (decltype(rounds)::template folds_straight<To, From, Op> &&
                    !hooked<Before, After>) {
        rounds.fold_to(to, box, from, box, at, op);
        rounds.answer_from(to, box, at);
      } else {
        const auto read = [&](Rank rank, auto& tile) {
          if (rank != me) return rounds.read(tile, rank, at, length);
          fabric.load(tile, from, box);
          before(tile, box);
        };
        auto& total = sums.over_ranks(2, op, read);
        rounds.answer(total, at, length);
        after(total, box);
        fabric.store(total, to, box);
      }
    });
    if (rounds.meet_answered() != WaitStatus::ok) return false;
    collect<C>(fabric, rounds, sums.tile(), me, 0, to, start + theirs.first, theirs.count, after,
               most.tile);
    return true;
  });
  return rounds.end();
}

}  // namespace muster::detail
