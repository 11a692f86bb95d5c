// AllReduce: every rank gets the operator over what all ranks have, element by element.
#pragma once

#include <cstdint>
#include <string>

#include "muster/collective/call.hpp"
#include "muster/collective/credit_exchange.hpp"
#include "muster/collective/halves.hpp"
#include "muster/collective/packets.hpp"
#include "muster/collective/ring.hpp"
#include "muster/collective/stage.hpp"
#include "muster/collective/sums.hpp"
#include "muster/fabric.hpp"

namespace muster {

enum class Algorithm : std::uint8_t {
  automatic,  // by the size of the message, and whether it lies in windows
  packets,    // everybody sends everything, in lines that need no meeting: short messages
  one_shot,   // everybody reads everything: one round
  two_phase,  // everybody reduces its share, then all collect the shares: two rounds
  ring,       // from neighbour to neighbour
  direct,     // as two_phase, on windows of the team alone: nothing is staged
};

struct AllReduceOptions {
  Algorithm algorithm = Algorithm::automatic;
  std::int64_t chunk = 0;  // as in CollectiveOptions
  // Shares of lanes, and tiles, begin at multiples of so many elements: a row, which then lies in
  // one tile of one lane. At most a tile, and a chunk; 0 is 16 bytes for shares, and any for tiles.
  std::int64_t grain = 0;
};

// to[i] = op over all ranks of from[i], 0 <= i < count: count elements x P ranks to count elements
// on each.
//
// Cost per rank and call, P ranks, n elements, pieces of at most a chunk (one each where n fits);
// a round is a Stage's:
//   packets    1 round a piece, in packets: (P-1) n elements written, and what fills their tiles
//   one_shot   1 round a piece,        (P-1) n elements read
//   two_phase  1 round a piece and 1 more (a shorter last piece 2; with hooks, and where there are
//              2 ranks, each),     2 (P-1)/P n elements read
//   ring       2 (P-1) messages a piece, 2 (P-1)/P n elements written
//   direct     2 rounds, 2 (P-1)/P n elements read or written, nothing staged
//
// The sum is taken in one order for all ranks (rank 0, 1, ...; ring: from the rank that follows a
// chunk's on), so results are the same bits everywhere and from run to run.
// float16 and bfloat16 are summed as floats and rounded once; an operator of one's own sees floats
// then. Max and Min: see muster/reduce.hpp for NaN.
//
// `to` and `from` are windows of the team (their part of this rank) or plain memory of the rank,
// read as one run of elements. They are the same, or do not overlap.
//
// The caller's own arithmetic costs no second pass over memory: before(tile, box) is called on what
// this rank is about to send, box being its place in `from` (in one row), and after(tile, box) on
// what it is about to store, box being its place in `to`: each element once, by all threads of the
// lane whose share it is. With `.grain` the length of a row, a tile holds whole rows. (The last may
// be shorter.) They may read and write what else the lane has, and converge; not communicate.
//
// Plain bytes: copy it into bodies and kernels. It owns its memory; calls of one object may follow
// each other at once. All ranks call it with the same count, operator and number of lanes; lanes
// share the elements. After a call that was not `ok`, `to` holds anything, and the next call
// returns `refused`.
//
// Peers reach the object's own memory, so that `to` and `from` are the rank's alone again after any
// call, a failed one too. Not so with direct, and with automatic where both are windows: a peer for
// which the call has not failed yet goes on reading this rank's part of `from` and writing its part
// of `to`. After a failed call nobody touches them before all ranks have left it: before
// Team::shrink, or another call in which they all meet, has returned.
//
// With Cells::credits all its cells are zero when all ranks have returned; not with ring, nor with
// packets.
template <class T, std::int64_t C = detail::collective_tile<T>, Cells cells = Cells::epochs>
class AllReduce {
 public:
  AllReduce() = default;
  template <SetUp Team>
  explicit AllReduce(Team& team, AllReduceOptions options = {}) : algorithm_(options.algorithm) {
    const std::int64_t chunk = detail::chunk_of<T>(options.chunk, detail::long_chunk(team));
    const std::int64_t grain = detail::grain_of<T>(options.grain, C, chunk);
    if (grain > 0) {
      grain_ = grain;
      in_a_tile_ = C / grain * grain;
    }
    piece_ = grain > 0 ? chunk / grain * grain : chunk;
    const bool is_ring = algorithm_ == Algorithm::ring;
    if (cells == Cells::credits && (is_ring || algorithm_ == Algorithm::packets))
      throw Failure(Error{ErrorCode::invalid_argument,
                          std::string("algorithm is ") + (is_ring ? "ring" : "packets") +
                              "; with credits it must be one_shot, two_phase, direct or "
                              "automatic"});
    if (has_packets(algorithm_)) packets_ = detail::Packets<T, C>(team, chunk);
    if (is_ring)
      ring_ = Ring<Accumulator<T>>(team, chunk, C, grain);
    else if (algorithm_ != Algorithm::packets)  // direct only meets there
      stage_ = Stage<T, ExchangeOf<cells>>(team, algorithm_ == Algorithm::direct ? 1 : chunk,
                                           Passing::between_two);
  }

  // Called by all threads of the lane; the same status to all. count >= 0.
  template <Fabric F, TransferEnd To, TransferEnd From, class Op = Sum>
  MUSTER_FN WaitStatus run(F& fabric, To to, From from, std::int64_t count, Op op = {}) const {
    return run(fabric, to, from, count, detail::NoHook{}, detail::NoHook{}, op);
  }

  // The same with hooks. Not direct, which stores to peers, nor packets, whose tiles are short:
  // automatic means another one then.
  template <Fabric F, TransferEnd To, TransferEnd From, class Before, class After, class Op = Sum>
  MUSTER_FN WaitStatus run(F& fabric, To to, From from, std::int64_t count, Before before,
                           After after, Op op = {}) const {
    const OneCall call(fabric);
    fabric.converge();         // other threads of the lane may have written what this one reads
    const auto refuse = [&] {  // told to the others in a verifying run
      detail::describe_collective<T>(fabric, "AllReduce", rows(), detail::operator_code(op), count,
                                     false);
      return WaitStatus::invalid;
    };
    if (!detail::holds_call(to, count, from, count, 0)) return refuse();
    const Share mine = share(count, fabric.lane().value, fabric.lanes());
    constexpr bool hooked = !unhooked<Before, After>;
    constexpr bool on_windows = detail::is_window<To> && detail::is_window<From> && !hooked;
    // Hooks get tiles of C elements, always.
    constexpr auto with_tile = [](std::int64_t most, auto&& act) {
      if constexpr (hooked)
        return act(std::integral_constant<std::int64_t, C>{});
      else
        return detail::with_tile<T, C>(most, act);
    };
    switch (chosen(count, on_windows, hooked)) {
      case Algorithm::packets:
        if constexpr (PacketFabric<F> && !hooked)
          return packets(fabric, detail::as_run(to), detail::as_run(from), mine, count, op);
        return WaitStatus::invalid;
      case Algorithm::ring:
        return ring(fabric, detail::as_run(to), detail::as_run(from), mine, count, op, before,
                    after);
      case Algorithm::one_shot:
        return with_tile(mine.count, [&](auto width) {
          return one_shot<decltype(width)::value>(fabric, detail::as_run(to), detail::as_run(from),
                                                  mine, count, op, before, after);
        });
      case Algorithm::direct:
        if constexpr (on_windows)
          return with_tile(mine.count / fabric.size(), [&](auto width) {
            return direct<decltype(width)::value>(fabric, detail::as_run(to), detail::as_run(from),
                                                  mine, count, op);
          });
        return refuse();  // peers cannot reach plain memory, nor run this rank's hooks
      default:
        return two_phase(fabric, detail::as_run(to), detail::as_run(from), mine, count, op, before,
                         after);
    }
  }

  // Where its ranks meet.
  [[nodiscard]] MUSTER_FN Rows rows() const {
    if (algorithm_ == Algorithm::packets) return packets_.rows();
    return algorithm_ == Algorithm::ring ? ring_.rows() : stage_.rows();
  }

  // What automatic means for this many elements, on windows or on plain memory, with hooks or not.
  [[nodiscard]] MUSTER_FN Algorithm chosen(std::int64_t count, bool on_windows,
                                           bool hooked = false) const {
    if (algorithm_ != Algorithm::automatic) return algorithm_;
    const std::uint64_t bytes = static_cast<std::uint64_t>(count) * sizeof(T);
    if (bytes <= most_in_packets && !hooked && has_packets(algorithm_)) return Algorithm::packets;
    if (on_windows) return bytes <= most_beside_direct ? Algorithm::one_shot : Algorithm::direct;
    return bytes <= most_in_one_shot / rows().ranks ? Algorithm::one_shot : Algorithm::two_phase;
  }

 private:
  // Where one is faster than the next, in bytes: 2 ranks on 2 cores, and 4 on 2, each where the
  // cores share a cache and where they do not; bench/results/collectives.md, 2026-12-01.
  static constexpr std::uint64_t most_in_packets = 64;      // packets are, than one_shot
  static constexpr std::uint64_t most_in_one_shot = 65536;  // of all ranks; than two_phase
  static constexpr std::uint64_t most_beside_direct = 512;  // than direct, on windows

  [[nodiscard]] MUSTER_FN static constexpr bool has_packets(Algorithm algorithm) {
    return algorithm == Algorithm::packets ||
           (algorithm == Algorithm::automatic && cells == Cells::epochs);
  }

  // Where automatic has several objects to call, one that has failed refuses for all of them.
  template <Fabric F>
  MUSTER_FN WaitStatus ended(F& fabric, WaitStatus status) const {
    if constexpr (PacketFabric<F>)
      if (status != WaitStatus::ok && has_packets(algorithm_)) [[unlikely]]
        packets_.refuse(fabric);
    return status;
  }

  template <PacketFabric F, class To, class From, class Op>
  MUSTER_FN WaitStatus packets(F& fabric, To to, From from, Share mine, std::int64_t count,
                               Op op) const {
    detail::describe_collective<T>(fabric, "AllReduce packets", packets_.rows(),
                                   detail::operator_code(op), count);
    const WaitStatus status = packets_.all_reduce(fabric, to, from, mine, op);
    if (algorithm_ == Algorithm::packets) return status;
    return Refusal::after(fabric, stage_.rows().refusal(fabric.lane()), status);
  }

  // By the grain; the usual one is a constant, for speed.
  [[nodiscard]] MUSTER_FN Share share(std::int64_t count, std::uint32_t part,
                                      std::uint32_t parts) const {
    if (grain_ == share_grain<T>) [[likely]]
      return share_of<T>(count, part, parts);
    return share_of<T>(count, part, parts, grain_);
  }

  // Hooks see piece after piece; without them the next one is under way early.
  template <class Before, class After>
  static constexpr bool unhooked =
      std::is_same_v<Before, detail::NoHook>&& std::is_same_v<After, detail::NoHook>;

  template <class F, class To, class From, class Op>
  static constexpr bool folds =
      Stage<T, ExchangeOf<cells>>::template Rounds<F>::template folds_straight<To, From, Op>;

  // `width`: elements of a tile.
  template <std::int64_t width, Fabric F, class To, class From, class Op, class Before, class After>
  MUSTER_FN WaitStatus one_shot(F& fabric, To to, From from, Share mine, std::int64_t count, Op op,
                                Before before, After after) const {
    detail::describe_collective<T>(fabric, "AllReduce one_shot", stage_.rows(),
                                   detail::operator_code(op), count);
    detail::Sums<T, width, F> sums(fabric);
    auto rounds = stage_.rounds(fabric);
    const std::int64_t in_a_tile = width < in_a_tile_ ? width : in_a_tile_;
    const auto show = [&](std::int64_t first) {
      const std::int64_t left = mine.count - first;
      detail::show<width>(fabric, rounds, sums.tile(), from, mine.first + first,
                          left < piece_ ? left : piece_, 0, before, in_a_tile);
    };
    show(0);
    detail::each_piece(mine.count, piece_, [&](std::int64_t first, std::int64_t piece) {
      const std::int64_t start = mine.first + first;
      if (!unhooked<Before, After> && first > 0) show(first);
      if (!unhooked<Before, After>) rounds.flush_shown();
      if (rounds.meet() != WaitStatus::ok) return false;
      if (unhooked<Before, After>) show(first + piece);  // under way while this one is read
      if constexpr (folds<F, To, From, Op> && unhooked<Before, After>)
        if (fabric.size() == 2) {
          const Box box = detail::run_box(start, piece);
          return rounds.fold_to(to, box, from, box, 0, op), true;
        }
      detail::each_part(piece, in_a_tile, [&](std::int64_t at, std::int64_t length) {
        const Box box = detail::run_box(start + at, length);
        // Without a hook the own elements are still where they were.
        const auto is_here = [&](Rank rank) {
          return unhooked<Before, After> && rank == fabric.rank();
        };
        auto& total = sums.by_adding(
            fabric.size(),
            [&](Rank rank, auto& tile) {
              if (is_here(rank)) return fabric.load(tile, from, box);
              rounds.read(tile, rank, at, length);
            },
            [&](Rank rank, auto& all, auto& tile) {
              if (is_here(rank)) return detail::add_from(fabric, all, tile, from, rank, box, op);
              rounds.add(all, tile, rank, at, length, op);
            });
        after(total, box);
        fabric.store(total, to, box);
      });
      return true;
    });
    return ended(fabric, rounds.end());
  }

  // What a rank reduces itself it need not show: neither its own elements, which nobody else reads,
  // nor to itself what has become of them.
  template <Fabric F, class To, class From, class Op, class Before, class After>
  MUSTER_FN WaitStatus two_phase(F& fabric, To to, From from, Share mine, std::int64_t count, Op op,
                                 Before before, After after) const {
    detail::describe_collective<T>(fabric, "AllReduce two_phase", stage_.rows(),
                                   detail::operator_code(op), count);
    const std::uint32_t ranks = fabric.size();
    if (ranks == 2)
      return ended(fabric, detail::sum_halves<C>(fabric, stage_, to, from, mine,
                                                 {piece_, in_a_tile_}, grain_, op, before, after));
    detail::Sums<T, C, F> sums(fabric);
    auto rounds = stage_.rounds(fabric);
    const auto show = [&](std::int64_t start, std::int64_t piece, Share part) {
      detail::show<C>(fabric, rounds, sums.tile(), from, start, part.first, 0, before, in_a_tile_);
      detail::show<C>(fabric, rounds, sums.tile(), from, start + part.end(), piece - part.end(),
                      part.end(), before, in_a_tile_);
    };
    bool has_met = false;  // the piece was shown in the last round
    detail::each_piece(mine.count, piece_, [&](std::int64_t first, std::int64_t piece) {
      const std::int64_t start = mine.first + first;
      const Share part = share(piece, fabric.rank().value, ranks);
      if (!has_met) {
        show(start, piece, part);
        if (rounds.meet() != WaitStatus::ok) return false;
      }
      // A next piece as long as this one goes with what becomes of this one: it leaves that place
      // of the stage free.
      has_met = unhooked<Before, After> && piece > 0 && mine.count - first >= 2 * piece;
      if (has_met) show(start + piece, piece, part);
      detail::each_part(part.count, in_a_tile_, [&](std::int64_t at, std::int64_t length) {
        const std::int64_t stage_at = part.first + at;
        const Box box = detail::run_box(start + stage_at, length);
        const auto read = [&](Rank rank, auto& tile) {
          if (rank != fabric.rank()) return rounds.read(tile, rank, stage_at, length);
          fabric.load(tile, from, box);
          before(tile, box);
        };
        const auto add = [&](Rank rank, auto& all, auto& tile) {
          if (rank != fabric.rank()) return rounds.add(all, tile, rank, stage_at, length, op);
          if constexpr (unhooked<Before, After>)
            return detail::add_from(fabric, all, tile, from, rank, box, op);
          read(rank, tile);
          all.combine(tile, op);
        };
        auto& total = sums.by_adding(ranks, read, add);
        rounds.write(total, stage_at, length, part.count);
        after(total, box);
        fabric.store(total, to, box);
      });
      if (rounds.meet() != WaitStatus::ok) return false;
      for (std::uint32_t step = 1; step < ranks; ++step) {
        const Rank owner = right_of(fabric, step);
        const Share theirs = share(piece, owner.value, ranks);
        detail::collect<C>(fabric, rounds, sums.tile(), owner, theirs.first, to,
                           start + theirs.first, theirs.count, after, in_a_tile_);
      }
      return true;
    });
    return ended(fabric, rounds.end());
  }

  // Everybody reduces its share where it lies and stores it to everybody. In place is sound: a
  // share of any rank's windows is read and written by its one reducer alone, between two meetings.
  template <std::int64_t width, Fabric F, class Op>
  MUSTER_FN WaitStatus direct(F& fabric, WindowRef<T> to, WindowRef<T> from, Share mine,
                              std::int64_t count, Op op) const {
    detail::describe_collective<T>(fabric, "AllReduce direct", stage_.rows(),
                                   detail::operator_code(op), count);
    const std::uint32_t ranks = fabric.size();
    detail::Sums<T, width, F> sums(fabric);
    auto rounds = stage_.rounds(fabric);
    if (rounds.meet() == WaitStatus::ok) {
      const Share part = share_of<T>(mine.count, fabric.rank().value, ranks);
      detail::each_tile<width>(part.count, [&](std::int64_t at, std::int64_t length) {
        const Box box = detail::run_box(mine.first + part.first + at, length);
        auto& total = sums.by_adding(
            ranks,
            [&](Rank rank, auto& tile) {
              (void)fabric.remote_load(tile, from, rank, box);  // fails the lane: the meeting tells
            },
            [&](Rank rank, auto& all, auto& tile) {
              detail::add_from(fabric, all, tile, from, rank, box, op);
            });
        for (std::uint32_t step = 0; step < ranks; ++step)
          fabric.remote_store(total, to, right_of(fabric, step), box);
      });
      (void)rounds.meet();
    }
    return ended(fabric, rounds.end());
  }

  template <Fabric F, class To, class From, class Op, class Before, class After>
  MUSTER_FN WaitStatus ring(F& fabric, To to, From from, Share mine, std::int64_t count, Op op,
                            Before before, After after) const {
    detail::describe_collective<T>(fabric, "AllReduce ring", ring_.rows(),
                                   detail::operator_code(op), count);
    return ring_.template all_reduce<C>(fabric, to, from, mine, op, before, after);
  }

  Algorithm algorithm_ = Algorithm::automatic;
  std::int64_t grain_ = share_grain<T>;
  std::int64_t in_a_tile_ = C;
  std::int64_t piece_ = 0;
  detail::Packets<T, C> packets_;
  Stage<T, ExchangeOf<cells>> stage_;
  Ring<Accumulator<T>> ring_;
};

}  // namespace muster
