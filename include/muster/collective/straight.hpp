// Elements that pass through a tile which nobody looks at, or are added to one: where a fabric can
// move them from where they lie to where they shall be, it does so at once.
#pragma once

#include <cstdint>

#include "muster/fabric.hpp"

namespace muster::detail {

// A fabric may offer these besides; each does what stands behind it, and no more is promised:
//
//   show(tile, window, peer, box, around)    remote_store(tile, window, peer, box), or store where
//                                            it is the own one
//   show(from, box, window, peer, at, around)   load(tile, from, box), and the same
//   fetch(window, peer, at, to, box)         remote_load(tile, window, peer, at), store(tile, to,
//                                            box)
//   carry(to, box, from, box)                load(tile, from, box), store(tile, to, box); they may
//                                            be one place
//   combine_from(sums, end, peer, box, op)   remote_load(tile, end, peer, box), or load where it is
//                                            the own one; sums.combine(tile, op)
//   fold(to, box, a, peer, at, b, peer, at, op)   the same of a and b, and store(sums, to, box)
//
// Boxes are of one row, and those without a tile of any length. `around` says that peers read next
// what is shown, and that their cores are far (shown_from).

inline constexpr std::int64_t never_around = INT64_MAX;

// From how many bytes on what is shown goes past the caches, which a team may have measured.
template <class Team>
[[nodiscard]] std::int64_t shown_from(Team& team) {
  if constexpr (requires { team.shown_from(); })
    return team.shown_from();
  else
    return never_around;
}

template <class F, class Tile, class T>
MUSTER_FN void show_tile(F& fabric, Tile& tile, WindowRef<T> to, Rank peer, Box box, bool around) {
  if constexpr (requires { fabric.show(tile, to, peer, box, true); })
    fabric.show(tile, to, peer, box, around);
  else if (peer == fabric.rank())
    fabric.store(tile, to, box);
  else
    fabric.remote_store(tile, to, peer, box);
}

template <class F, class From, class T>
concept ShowsStraight = requires(F& fabric, From from, WindowRef<T> window, Rank peer, Box box) {
  fabric.show(from, box, window, peer, box, true);
};
template <class F, class T, class To>
concept FetchesStraight = requires(F& fabric, To to, WindowRef<T> window, Rank peer, Box box) {
  fabric.fetch(window, peer, box, to, box);
};

template <class F, class To, class From>
concept CarriesStraight = requires(F& fabric, To to, From from, Box box) {
  fabric.carry(to, box, from, box);
};
template <class F, class T, class To, class From, class Op>
concept FoldsStraight = requires(F& fabric, To to, From from, WindowRef<T> window, Rank peer,
                                 Box box, Op op) {
  fabric.fold(to, box, from, peer, box, window, peer, box, op);
};

// sums = op(sums, what lies in the box of `from`, the peer's where it is a window).
template <class F, class Sums, class Tile, class From, class Op>
MUSTER_FN void add_from(F& fabric, Sums& sums, Tile& tile, From from, Rank peer, Box box, Op op) {
  if constexpr (requires { fabric.combine_from(sums, from, peer, box, op); }) {
    fabric.combine_from(sums, from, peer, box, op);
  } else {
    if constexpr (requires { fabric.remote_load(tile, from, peer, box); })
      (void)fabric.remote_load(tile, from, peer, box);  // fails the lane: the call's end tells
    else
      fabric.load(tile, from, box);
    sums.combine(tile, op);
  }
}

}  // namespace muster::detail
