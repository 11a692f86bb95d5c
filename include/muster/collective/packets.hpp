// Packets: short messages between all ranks, in lines that say themselves that they have come.
#pragma once

#include <cstdint>

#include "muster/barrier/refusal.hpp"
#include "muster/collective/call.hpp"
#include "muster/collective/sums.hpp"
#include "muster/fabric.hpp"
#include "muster/packet.hpp"

namespace muster::detail {

// An all_reduce of few elements: every rank sends what it has to every peer, and adds up what has
// come. There is no meeting before the data is looked at, so a call takes as long as one line's way
// from core to core. Longer calls are several of these, piece by piece.
//
// PacketExchange says why no slot is overwritten too early, and so why calls may follow each other.
// In place is sound: peers read their slots, never this rank's elements.
template <class T, std::int64_t C>
class Packets {
 public:
  // As many elements as a host's line holds beside its flag: data and flag come in one transfer.
  static constexpr std::int64_t in_a_line =
      sizeof(T) < 60 ? 60 / static_cast<std::int64_t>(sizeof(T)) : 1;
  static constexpr std::int64_t width = C < in_a_line ? C : in_a_line;
  using Exchange = PacketExchange<T, 1, width>;

  Packets() = default;
  // Pieces of at most `chunk` elements, fewer where there are many ranks: a lane's slots take no
  // more than 64 KiB, or one tile for each rank.
  template <SetUp Team>
  Packets(Team& team, std::int64_t chunk) : exchange_(team, most_for(team.size(), chunk)) {}

  // The most elements of a piece.
  [[nodiscard]] MUSTER_FN constexpr std::int64_t elements() const {
    return exchange_.most_tiles() * width;
  }
  [[nodiscard]] MUSTER_FN Rows rows() const { return exchange_.counts(); }

  // Called by all threads of the lane; the same status to all.
  template <PacketFabric F, class To, class From, class Op>
  MUSTER_FN WaitStatus all_reduce(F& fabric, To to, From from, Share mine, Op op) const {
    Sums<T, width, F> sums(fabric);
    WaitStatus status = WaitStatus::ok;
    each_piece(mine.count, elements(), [&](std::int64_t first, std::int64_t piece) {
      const std::uint32_t flag = exchange_.begin_part(fabric, piece);
      const Share part{mine.first + first, piece};
      status = exchange_.end(fabric, flag, pass(fabric, sums, flag, to, from, part, op));
      return status == WaitStatus::ok;
    });
    return status;
  }

  // From now on the lane's calls are refused: a call that was to go with theirs has failed.
  template <PacketFabric F>
  MUSTER_FN void refuse(F& fabric) const {
    exchange_.refuse(fabric);
  }

 private:
  [[nodiscard]] static constexpr std::int64_t most_for(std::uint32_t ranks, std::int64_t chunk) {
    constexpr std::int64_t tile_bytes =
        packet_lines<T>(width) * static_cast<std::int64_t>(sizeof(PacketLine));
    constexpr std::int64_t few = 1024 / static_cast<std::int64_t>(sizeof(T));
    const std::int64_t tiles = 32768 / (tile_bytes * ranks);  // of each of two sets
    const std::int64_t fit = (tiles > 0 ? tiles : 1) * width;
    const std::int64_t most = few < fit ? few : fit;
    return chunk < most ? chunk : most > 0 ? most : 1;
  }

  // This thread's status. All is sent before anything is waited for, and the tile that was sent
  // last is looked at first: where the others have come by then, nobody takes a line from its
  // writer by looking at it too early.
  template <class F, class To, class From, class Op>
  MUSTER_FN WaitStatus pass(F& fabric, Sums<T, width, F>& sums, std::uint32_t flag, To to,
                            From from, Share part, Op op) const {
    const std::uint32_t ranks = fabric.size();
    const auto box_of = [&](std::int64_t index) {
      const Box box = Exchange::box(index, part.count);
      return run_box(part.first + box.col, box.cols);
    };
    const std::int64_t tiles = Exchange::tiles(part.count);
    for (std::int64_t index = 0; index < tiles; ++index) {
      fabric.load(sums.tile(), from, box_of(index));
      for (std::uint32_t step = 1; step < ranks; ++step)
        exchange_.put(fabric, flag, right_of(fabric, step), sums.tile(), index);
    }
    WaitStatus status = WaitStatus::ok;
    for (std::int64_t index = tiles; index-- > 0 && status == WaitStatus::ok;) {
      auto& total = sums.over_ranks(ranks, op, [&](Rank rank, auto& tile) {
        if (rank == fabric.rank())
          fabric.load(tile, from, box_of(index));
        else
          status = worst(status, exchange_.wait(fabric, flag, rank, tile, index));
      });
      fabric.store(total, to, box_of(index));
    }
    return status;
  }

  Exchange exchange_;
};

}  // namespace muster::detail
