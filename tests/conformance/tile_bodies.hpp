// Tiles: every shape up to 9 x 9 through tiles that do not divide it, with poison all around.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "conformance/cases.hpp"
#include "muster/barrier/epoch.hpp"

namespace muster::conformance {

inline constexpr std::int64_t largest = 9;
inline constexpr std::int64_t poison = 99;  // fits every element type, and is no pattern's value

// Small enough that a sum of two still fits an int8_t, different for neighbours and ranks.
template <class T>
[[nodiscard]] constexpr T pattern(Rank rank, std::int64_t row, std::int64_t col) {
  return static_cast<T>((static_cast<std::int64_t>(rank.value) * 5 + row * 11 + col) % 45 + 1);
}

// A tile shape that is ragged against most windows.
inline constexpr std::int64_t tile_rows = 4;
inline constexpr std::int64_t tile_cols = 3;

template <class T>
void visit_tiles(WindowRef<T> window, auto&& visit) {
  for (std::int64_t row = 0; row < window.rows; row += tile_rows)
    for (std::int64_t col = 0; col < window.cols; col += tile_cols)
      visit(clip(window, row, col, tile_rows, tile_cols));
}

// Two allocations, seen as windows of one shape and as flat memory that is larger than the shape.
template <class T>
struct Shape {
  WindowRef<T> source;
  WindowRef<T> target;
};

template <class T>
struct Shapes {
  std::vector<Shape<T>> shapes;
  WindowRef<T> flat;  // all bytes of the target
};

template <class T, class Team>
Shapes<T> make_shapes(Team& team) {
  constexpr std::int64_t elements = largest * largest + 16;
  constexpr auto bytes = static_cast<std::uint64_t>(elements) * sizeof(T);
  auto source = *team.allocate(bytes);
  auto target = *team.allocate(bytes);
  Shapes<T> made;
  for (std::int64_t rows = 1; rows <= largest; ++rows)
    for (std::int64_t cols = 1; cols <= largest; ++cols)
      made.shapes.push_back({*team.template window<T>(source, {rows, cols}),
                             *team.template window<T>(target, {rows, cols})});
  made.flat = *team.template window<T>(target, {elements});
  return made;
}

// For each shape: the source holds the own pattern, the target is poisoned, all meet; `move` runs;
// all meet; then the target holds what `expected(row, col)` says, and poison beyond.
template <class T, class F, class Move, class Expected>
Result<void> for_all_shapes(F& fabric, const Shapes<T>& made, EpochBarrier barrier, Move move,
                            Expected expected) {
  Checks checks;
  for (const Shape<T>& shape : made.shapes) {
    for (std::int64_t row = 0; row < shape.source.rows; ++row)
      for (std::int64_t col = 0; col < shape.source.cols; ++col)
        fabric.local(shape.source)[shape.source.at(row, col)] = pattern<T>(fabric.rank(), row, col);
    for (std::int64_t i = 0; i < made.flat.size(); ++i)
      fabric.local(made.flat)[i] = static_cast<T>(poison);
    checks.ok(barrier.sync(fabric), "the barrier before");
    move(shape);
    checks.ok(barrier.sync(fabric), "the barrier after");
    for (std::int64_t i = 0; i < made.flat.size(); ++i) {
      const bool inside = i < shape.target.size();
      const T wanted =
          inside ? expected(i / shape.target.cols, i % shape.target.cols) : static_cast<T>(poison);
      checks.equal<T>(fabric.local(made.flat)[i], wanted, "an element");
    }
    if (!checks.done()) break;
  }
  return checks.done();
}

template <class Team, class T>
Result<void> remote_store_shapes(Team& team) {
  const Shapes<T> made = make_shapes<T>(team);
  const EpochBarrier barrier(team);
  return team.lane([&](auto& fabric) -> Result<void> {
    auto tile = fabric.template tile<T, tile_rows, tile_cols>();
    return for_all_shapes(
        fabric, made, barrier,
        [&](const Shape<T>& shape) {
          visit_tiles(shape.source, [&](Box box) {
            fabric.load(tile, shape.source, box);
            fabric.remote_store(tile, shape.target, right_of(fabric), box);
          });
        },
        [&](std::int64_t row, std::int64_t col) { return pattern<T>(left_of(fabric), row, col); });
  });
}

template <class Team, class T>
Result<void> remote_load_shapes(Team& team) {
  const Shapes<T> made = make_shapes<T>(team);
  const EpochBarrier barrier(team);
  return team.lane([&](auto& fabric) -> Result<void> {
    auto tile = fabric.template tile<T, tile_rows, tile_cols>();
    return for_all_shapes(
        fabric, made, barrier,
        [&](const Shape<T>& shape) {
          visit_tiles(shape.source, [&](Box box) {
            (void)fabric.remote_load(tile, shape.source, right_of(fabric), box);
            fabric.store(tile, shape.target, box);
          });
        },
        [&](std::int64_t row, std::int64_t col) { return pattern<T>(right_of(fabric), row, col); });
  });
}

// Every rank adds its pattern to what rank 0 has: the sum, whatever the order.
template <class Team, class T>
Result<void> remote_add_shapes(Team& team) {
  const Shapes<T> made = make_shapes<T>(team);
  const EpochBarrier barrier(team);
  return team.lane([&](auto& fabric) -> Result<void> {
    auto tile = fabric.template tile<T, tile_rows, tile_cols>();
    return for_all_shapes(
        fabric, made, barrier,
        [&](const Shape<T>& shape) {
          visit_tiles(shape.source, [&](Box box) {
            fabric.load(tile, shape.source, box);
            fabric.remote_add(tile, shape.target, Rank{0}, box);
          });
        },
        [&](std::int64_t row, std::int64_t col) {
          std::int64_t sum = poison;
          if (fabric.rank() == Rank{0})
            for (std::uint32_t rank = 0; rank < fabric.size(); ++rank)
              sum += pattern<std::int64_t>(Rank{rank}, row, col);
          return static_cast<T>(sum);  // small integers wrap, as the additions do
        });
  });
}

// A box in the middle of a larger window: strided rows, nothing around it is touched.
template <class Team>
Result<void> boxes_leave_their_surroundings(Team& team) {
  constexpr std::int64_t size = 13;
  const auto window = *team.template window<float>({size, size});
  const EpochBarrier barrier(team);
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    auto tile = fabric.template tile<float, largest, largest>();
    tile.each([&](std::int64_t row, std::int64_t col, float& element) {
      checks.equal<float>(element, 0.0F, "an element of a new tile");
      element = pattern<float>(fabric.rank(), row, col);
    });
    for (std::int64_t rows = 1; rows <= largest; ++rows) {
      for (std::int64_t cols = 1; cols <= largest; ++cols) {
        const Box box{2, 3, rows, cols};
        for (std::int64_t i = 0; i < window.size(); ++i) fabric.local(window)[i] = poison;
        checks.ok(barrier.sync(fabric), "the barrier before");
        fabric.remote_store(tile, window, right_of(fabric), box);
        checks.ok(barrier.sync(fabric), "the barrier after");
        for (std::int64_t row = 0; row < size; ++row) {
          for (std::int64_t col = 0; col < size; ++col) {
            const bool inside = row >= 2 && row < 2 + rows && col >= 3 && col < 3 + cols;
            checks.equal<float>(fabric.local(window)[window.at(row, col)],
                                inside ? pattern<float>(left_of(fabric), row - 2, col - 3)
                                       : static_cast<float>(poison),
                                "an element");
          }
        }
        if (!checks.done()) return checks.done();
      }
    }
    return checks.done();
  });
}

// A ragged load makes the rest of the tile zero, also where the tile held something before; each()
// visits each element once.
template <class Team>
Result<void> ragged_loads_clear_the_rest(Team& team) {
  const auto window = *team.template window<std::int32_t>({6, 6});
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    for (std::int64_t i = 0; i < window.size(); ++i)
      fabric.local(window)[i] = static_cast<std::int32_t>(i + 1);
    auto tile = fabric.template tile<std::int32_t, 4, 4>();
    for (const bool remote : {false, true}) {
      std::array<int, 16> visits{};
      tile.each([&](std::int64_t row, std::int64_t col, std::int32_t& element) {
        ++visits.at(static_cast<std::size_t>(row * 4 + col));
        element = -1;
      });
      for (const int count : visits) checks.equal(count, 1, "the visits of an element");
      const Box box = clip(window, 4, 3, 4, 4);  // 2 x 3
      if (remote)
        (void)fabric.remote_load(tile, window, fabric.rank(), box);
      else
        fabric.load(tile, window, box);
      tile.each([&](std::int64_t row, std::int64_t col, std::int32_t& element) {
        const bool inside = row < box.rows && col < box.cols;
        const auto expected = inside ? window.at(4 + row, 3 + col) + 1 : 0;
        checks.equal<std::int32_t>(element, static_cast<std::int32_t>(expected), "an element");
      });
    }
    return checks.done();
  });
}

template <class Team>
std::vector<Case<Team>> tile_cases() {
  return {
      {"RemoteStoreFloat", remote_store_shapes<Team, float>, Sizes::all},
      {"RemoteStoreInt8", remote_store_shapes<Team, std::int8_t>, Sizes::few},
      {"RemoteStoreInt16", remote_store_shapes<Team, std::int16_t>, Sizes::few},
      {"RemoteStoreDouble", remote_store_shapes<Team, double>, Sizes::few},
      {"RemoteLoadFloat", remote_load_shapes<Team, float>, Sizes::few},
      {"RemoteLoadUint8", remote_load_shapes<Team, std::uint8_t>, Sizes::few},
      {"RemoteLoadUint64", remote_load_shapes<Team, std::uint64_t>, Sizes::few},
      {"RemoteAddFloat", remote_add_shapes<Team, float>, Sizes::all},
      {"RemoteAddDouble", remote_add_shapes<Team, double>, Sizes::few},
      {"RemoteAddInt8", remote_add_shapes<Team, std::int8_t>, Sizes::few},
      {"RemoteAddInt16", remote_add_shapes<Team, std::int16_t>, Sizes::few},
      {"RemoteAddInt32", remote_add_shapes<Team, std::int32_t>, Sizes::few},
      {"RemoteAddUint64", remote_add_shapes<Team, std::uint64_t>, Sizes::few},
      {"BoxesLeaveTheirSurroundings", boxes_leave_their_surroundings<Team>, Sizes::few},
      {"RaggedLoadsClearTheRest", ragged_loads_clear_the_rest<Team>, Sizes::few},
  };
}

}  // namespace muster::conformance
