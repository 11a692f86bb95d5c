// How a transfer is cut up and moved: chunk by chunk, as runs of elements or through tiles.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "muster/fabric.hpp"
#include "muster/transfer/shape.hpp"

namespace muster::detail {

// Walks over a rows x cols region in pieces of at most piece_rows x piece_cols, row-major.
class Pieces {
 public:
  MUSTER_FN constexpr Pieces(Box region, std::int64_t piece_rows, std::int64_t piece_cols)
      : region_(region), piece_rows_(piece_rows), piece_cols_(piece_cols) {
    if (region.rows <= 0 || region.cols <= 0) row_ = region.rows;
  }

  // The next piece, placed as `region` is; false where there is none left.
  MUSTER_FN constexpr bool next(Box& piece) {
    if (row_ >= region_.rows) return false;
    piece = Box{region_.row + row_, region_.col + col_, least(piece_rows_, region_.rows - row_),
                least(piece_cols_, region_.cols - col_)};
    col_ += piece_cols_;
    if (col_ >= region_.cols) {
      col_ = 0;
      row_ += piece_rows_;
    }
    return true;
  }

 private:
  Box region_;
  std::int64_t piece_rows_;
  std::int64_t piece_cols_;
  std::int64_t row_ = 0;
  std::int64_t col_ = 0;
};

// The same piece in the coordinates of one end.
[[nodiscard]] MUSTER_FN constexpr Box placed(Box piece, Place place) {
  return Box{place.row + piece.row, place.col + piece.col, piece.rows, piece.cols};
}

template <class To, class From>
[[nodiscard]] MUSTER_FN constexpr Pieces chunks_of(const Transfer<To, From>& transfer) {
  return Pieces(Box{0, 0, transfer.region.rows, transfer.region.cols}, transfer.chunks.chunk_rows,
                transfer.chunks.chunk_cols);
}

// Is the chunk one run of elements at both ends?
template <class To, class From>
[[nodiscard]] MUSTER_FN constexpr bool is_run(const Transfer<To, From>& transfer, Box chunk) {
  return chunk.rows == 1 || (chunk.cols == transfer.to.cols && chunk.cols == transfer.from.cols);
}

// move(to_at, from_at, count) for each run of a chunk.
template <class To, class From, class Move>
MUSTER_FN void each_run(const Transfer<To, From>& transfer, Box chunk, Move&& move) {
  const Region& region = transfer.region;
  const bool one = is_run(transfer, chunk);
  const std::int64_t runs = one ? 1 : chunk.rows;
  const std::int64_t count = one ? chunk.rows * chunk.cols : chunk.cols;
  for (std::int64_t run = 0; run < runs; ++run)
    move(transfer.to.at(region.to.row + chunk.row + run, region.to.col + chunk.col),
         transfer.from.at(region.from.row + chunk.row + run, region.from.col + chunk.col), count);
}

// ---- through tiles

// The peer's end of a transfer; or of one that adds to what is there. The own end is a window or
// plain memory.
template <class T>
struct PeerWindow {
  WindowRef<T> window;
  Rank peer;
};
template <class T>
struct AddedWindow {
  WindowRef<T> window;
  Rank peer;
};

// A tile from an end, and to one, whichever it is.
template <class F, class Tile, class End>
MUSTER_FN void load_end(F& fabric, Tile& tile, const End& own, Box box) {
  fabric.load(tile, own, box);
}
template <class F, class Tile, class T>
MUSTER_FN void load_end(F& fabric, Tile& tile, const PeerWindow<T>& from, Box box) {
  // A load that fails fails the lane: the converge behind the transfer tells.
  (void)fabric.remote_load(tile, from.window, from.peer, box);
}
template <class F, class Tile, class End>
MUSTER_FN void store_end(F& fabric, Tile& tile, const End& own, Box box) {
  fabric.store(tile, own, box);
}
template <class F, class Tile, class T>
MUSTER_FN void store_end(F& fabric, Tile& tile, const PeerWindow<T>& to, Box box) {
  fabric.remote_store(tile, to.window, to.peer, box);
}
template <class F, class Tile, class T>
MUSTER_FN void store_end(F& fabric, Tile& tile, const AddedWindow<T>& to, Box box) {
  fabric.remote_add(tile, to.window, to.peer, box);
}

// take(tile, piece) then give(tile, piece), for each piece; the tile is the staging buffer.
template <class Tile, class Take, class Give>
MUSTER_FN void stage_one(Pieces& pieces, Tile& tile, Take&& take, Give&& give) {
  for (Box piece; pieces.next(piece);) {
    take(tile, piece);
    give(tile, piece);
  }
}

// The same through two tiles: the next piece is taken before the last one is given, so that the two
// overlap where the fabric lets them.
template <class Tile, class Take, class Give>
MUSTER_FN void stage_two(Pieces& pieces, Tile& even, Tile& odd, Take&& take, Give&& give) {
  Box now;
  Box next;
  if (!pieces.next(now)) return;
  take(even, now);
  while (true) {
    const bool more = pieces.next(next);
    if (more) take(odd, next);
    give(even, now);
    if (!more) return;
    const bool and_more = pieces.next(now);
    if (and_more) take(even, now);
    give(odd, next);
    if (!and_more) return;
  }
}

// Moves a transfer from one end to the other through tiles of R x C: each chunk in pieces of at
// most a tile. The caller converges afterwards.
template <std::int64_t R, std::int64_t C, class F, class To, class From, class Source, class Target>
MUSTER_FN void stage(F& fabric, const Transfer<To, From>& transfer, const Source& from,
                     const Target& to) {
  using T = typename To::value_type;
  const auto take = [&](auto& tile, Box piece) {
    load_end(fabric, tile, from, placed(piece, transfer.region.from));
  };
  const auto give = [&](auto& tile, Box piece) {
    store_end(fabric, tile, to, placed(piece, transfer.region.to));
  };
  const auto pieces_of = [&](Box chunk) { return Pieces(chunk, R, C); };
  auto even = fabric.template tile<T, R, C>();
  fabric.converge();  // what any thread of the lane has written is moved
  Pieces chunks = chunks_of(transfer);
  if (!transfer.chunks.pipeline) {
    for (Box chunk; chunks.next(chunk);) {
      Pieces pieces = pieces_of(chunk);
      stage_one(pieces, even, take, give);
    }
  } else {
    auto odd = fabric.template tile<T, R, C>();
    if (transfer.chunks.chunk_rows <= R && transfer.chunks.chunk_cols <= C) {
      stage_two(chunks, even, odd, take, give);
    } else {
      for (Box chunk; chunks.next(chunk);) {
        Pieces pieces = pieces_of(chunk);
        stage_two(pieces, even, odd, take, give);
      }
    }
  }
}

// ---- plain memory

// Does load and store reach a peer's memory on every run, as pointers? Known at compile time, so
// not of a fabric that models several.
template <class F>
concept PointerFabric = DirectFabric<F> && requires(F& fabric, WindowRef<float> window, Rank peer) {
  typename std::bool_constant<(F::profile() >= Profile::direct)>;
  { fabric.address(window, peer).data() } -> std::same_as<float*>;
  fabric.copy(static_cast<float*>(nullptr), static_cast<const float*>(nullptr), 1);
};

}  // namespace muster::detail
