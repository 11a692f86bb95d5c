// What the checks of collectives share: numbers of which no two are the same, and how lanes fill in
// and look at their part of a window. Tiles of 2 elements, and staging so small that a call takes
// several pieces.
#pragma once

#include <cstdint>

#include "muster/check.hpp"
#include "muster/collective.hpp"

namespace muster::check::collectives {

using model::Team;
using T = std::int32_t;

inline constexpr std::int64_t tile = 2;

// What rank `rank` has at `index` in a call: no two are the same, nor are their sums.
inline T value(std::uint32_t rank, std::uint32_t call, std::int64_t index) {
  return static_cast<T>(1000 * (rank + 1) + 100'000 * (call + 1)) + static_cast<T>(index);
}
inline T sum_of_values(std::uint32_t ranks, std::uint32_t call, std::int64_t index) {
  T sum = 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) sum += value(rank, call, index);
  return sum;
}

// The part of the lane in a block of `count` elements.
template <class F>
Share part_of(const F& fabric, std::int64_t count) {
  return share_of<T>(count, fabric.lane().value, fabric.lanes());
}

// visit(tile, box, first index) for the lane's part of each block of `count` elements.
template <class F, class Visit>
void each_own(F& fabric, WindowRef<T> window, std::int64_t count, Visit&& visit) {
  auto elements = fabric.template tile<T, 1, tile>();
  const Share part = part_of(fabric, count);
  for (std::int64_t block = 0; block < window.size(); block += count) {
    for (std::int64_t at = part.first; at < part.end(); at += tile) {
      const std::int64_t length = part.end() - at < tile ? part.end() - at : tile;
      visit(elements, Box{0, block + at, 1, length});
    }
  }
}

// Element i of the lane's part becomes make(i).
template <class F, class Make>
void fill(F& fabric, WindowRef<T> window, std::int64_t count, Make&& make) {
  each_own(fabric, window, count, [&](auto& elements, Box box) {
    elements.each(
        [&](std::int64_t, std::int64_t col, T& element) { element = make(box.col + col); });
    fabric.store(elements, window, box);
  });
}

template <class F, class Make>
void look(F& fabric, WindowRef<T> window, std::int64_t count, Make&& make) {
  each_own(fabric, window, count, [&](auto& elements, Box box) {
    fabric.load(elements, window, box);
    elements.each([&](std::int64_t, std::int64_t col, T element) {
      if (col < box.cols)
        expect(fabric, element == make(box.col + col), "an element of the result");
    });
  });
}

struct Ends {
  WindowRef<T> to;
  WindowRef<T> from;
};
inline Ends make_ends(Team& team, std::int64_t to, std::int64_t from) {
  return {*team.window<T>({to}, "to"), *team.window<T>({from}, "from")};
}

// For each lane two tiles, the last of which is ragged, and more than a piece.
inline std::int64_t count_for(std::uint32_t lanes) {
  return share_grain<T> * (lanes - 1) + 3;
}

// body(fabric, call) call after call, with nothing in between. After a call that has failed, too:
// the next ones are refused. A body that must not write then what peers may still read asks for a
// third argument: has a call failed?
template <class Body>
void each_call(Team& team, std::uint32_t lanes, std::uint32_t calls, Body&& body) {
  (void)team.lanes(lanes, [&](auto& fabric) -> WaitStatus {
    WaitStatus first = WaitStatus::ok;  // that is not ok
    for (std::uint32_t call = 0; call < calls; ++call) {
      const bool failed = first != WaitStatus::ok;
      const WaitStatus status = [&] {
        if constexpr (requires { body(fabric, call, failed); })
          return body(fabric, call, failed);
        else
          return body(fabric, call);
      }();
      expect(fabric, !failed || status == WaitStatus::refused,
             "a call after one that has failed is refused");
      if (!failed) first = status;
    }
    return first;
  });
}

}  // namespace muster::check::collectives
