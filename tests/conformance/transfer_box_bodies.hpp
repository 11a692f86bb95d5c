// Transfers of rectangles: every shape up to 9 x 9 at every place, through every path, with poison
// all around; between windows, and between a window and plain memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "conformance/cases.hpp"
#include "muster/barrier/epoch.hpp"
#include "muster/transfer.hpp"

namespace muster::conformance {

inline constexpr std::int64_t edge = 11;         // of the target window
inline constexpr std::int64_t source_cols = 10;  // another width: rows are never at one distance
inline constexpr std::int64_t longest_side = 9;
inline constexpr std::int32_t untouched = -77;

// The target window has so many fields of edge x edge, one below the other, so that two barriers do
// for so many regions.
inline constexpr std::int64_t fields = 32;
inline constexpr std::int64_t field = edge * edge;

[[nodiscard]] constexpr std::int32_t content(Rank rank, std::int64_t index) {
  return static_cast<std::int32_t>(rank.value * 1000) + static_cast<std::int32_t>(index);
}

// The way that a region is cut and moved: a different one for each region, in turn.
struct Way {
  Chunks chunks;
  Path path;
};

[[nodiscard]] inline Way way_of(std::int64_t number) {
  constexpr Chunks cuts[] = {{},
                             {.chunk_rows = 1},
                             {.chunk_cols = 4},
                             {.chunk_rows = 2, .chunk_cols = 3},
                             {.chunk_rows = 2, .chunk_cols = 3, .pipeline = true},
                             {.chunk_rows = 1, .chunk_cols = 1, .pipeline = true},
                             {.chunk_rows = 100, .chunk_cols = 5, .pipeline = true}};
  constexpr Path paths[] = {Path::automatic, Path::staged, Path::runs};
  return {cuts[number % 7], paths[number % 3]};
}

// visit(region, number) for each shape up to 9 x 9 and each place in the target; the place in the
// source goes around with it.
template <class Visit>
void each_region(Visit&& visit) {
  std::int64_t number = 0;
  for (std::int64_t rows = 1; rows <= longest_side; ++rows)
    for (std::int64_t cols = 1; cols <= longest_side; ++cols)
      for (std::int64_t row = 0; row + rows <= edge; ++row)
        for (std::int64_t col = 0; col + cols <= edge; ++col) {
          const Place from{number % (edge - rows + 1), number % (source_cols - cols + 1)};
          if (!visit(Region{{row, col}, from, rows, cols}, number++)) return;
        }
}

// One field of the target holds the source's region of `rank` and is untouched elsewhere.
inline bool check_field(Checks& checks, const std::int32_t* target, const Region& region,
                        Rank rank) {
  bool right = true;
  for (std::int64_t row = 0; row < edge; ++row) {
    for (std::int64_t col = 0; col < edge; ++col) {
      const std::int64_t down = row - region.to.row;
      const std::int64_t along = col - region.to.col;
      const bool inside = down >= 0 && down < region.rows && along >= 0 && along < region.cols;
      const std::int64_t from = (region.from.row + down) * source_cols + region.from.col + along;
      right = checks.equal(target[row * edge + col], inside ? content(rank, from) : untouched,
                           "an element") &&
              right;
    }
  }
  return right;
}

using Ints = WindowRef<std::int32_t>;

struct Ends {
  Ints source;
  Ints target;
};

template <class Team>
Ends make_ends(Team& team) {
  return {*team.template window<std::int32_t>({edge, source_cols}),
          *team.template window<std::int32_t>({fields * edge, edge})};
}

// The first `count` elements.
template <class F>
std::vector<std::int32_t> copy_of(F& fabric, Ints window, std::int64_t count) {
  std::vector<std::int32_t> copy;
  for (std::int64_t i = 0; i < count; ++i) copy.push_back(fabric.local(window)[i]);
  return copy;
}

template <class F>
void fill_source(F& fabric, Ints source) {
  for (std::int64_t i = 0; i < source.size(); ++i)
    fabric.local(source)[i] = content(fabric.rank(), i);
}

template <class F>
void poison_target(F& fabric, Ints target, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) fabric.local(target)[i] = untouched;
}

// move(fabric, ends, region, way) moves to the right neighbour; what the own target then holds came
// from the left one.
template <class Team, class Move>
Result<void> all_regions_pushed(Team& team, Move move) {
  const Ends ends = make_ends(team);
  const EpochBarrier barrier(team);
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    fill_source(fabric, ends.source);
    std::vector<Region> batch;
    const auto move_batch = [&] {
      poison_target(fabric, ends.target, ends.target.size());
      checks.ok(barrier.sync(fabric), "the barrier before");
      for (std::size_t at = 0; at < batch.size(); ++at) {
        Region region = batch[at];
        region.to.row += static_cast<std::int64_t>(at) * edge;
        move(fabric, ends, region, way_of(region.to.row + region.to.col + region.cols));
      }
      checks.ok(barrier.sync(fabric), "the barrier after");
      const auto seen = copy_of(fabric, ends.target, ends.target.size());
      for (std::size_t at = 0; at < batch.size(); ++at)
        check_field(checks, seen.data() + at * field, batch[at], left_of(fabric));
      batch.clear();
    };
    each_region([&](const Region& region, std::int64_t) {
      batch.push_back(region);
      if (batch.size() == fields) move_batch();
      return static_cast<bool>(checks.done());
    });
    move_batch();
    return checks.done();
  });
}

template <class Team>
Result<void> put_regions(Team& team) {
  return all_regions_pushed(team, [](auto& fabric, Ends ends, const Region& region, Way way) {
    put<2, 4>(fabric, *make_transfer(ends.target, ends.source, region, way.chunks),
              right_of(fabric), way.path);
  });
}

// From plain memory, which may be overwritten at once.
template <class Team>
Result<void> put_regions_from_memory(Team& team) {
  return all_regions_pushed(team, [](auto& fabric, Ends ends, const Region& region, Way way) {
    auto memory = copy_of(fabric, ends.source, ends.source.size());
    const MemoryRef<const std::int32_t> source{memory.data(), edge, source_cols};
    put<2, 4>(fabric, *make_transfer(ends.target, source, region, way.chunks), right_of(fabric),
              way.path);
    std::fill(memory.begin(), memory.end(), -1);
  });
}

template <class Team>
Result<void> put_regions_async(Team& team) {
  return all_regions_pushed(team, [](auto& fabric, Ends ends, const Region& region, Way way) {
    (void)put_async<2, 4>(fabric, *make_transfer(ends.target, ends.source, region, way.chunks),
                          right_of(fabric), way.path)
        .complete(fabric);
  });
}

// Extents that are known only in the lane, with too large ones in between.
template <class Team>
Result<void> put_dynamic_regions(Team& team) {
  return all_regions_pushed(team, [](auto& fabric, Ends ends, Region region, Way way) {
    const std::int64_t rows = region.rows;
    const std::int64_t cols = region.cols;
    region.rows = dynamic;
    region.cols = dynamic;
    way.chunks.chunk_rows = way.chunks.chunk_rows == 0 ? 4 : way.chunks.chunk_rows;
    way.chunks.chunk_cols = way.chunks.chunk_cols == 0 ? 4 : way.chunks.chunk_cols;
    const auto made = *make_dynamic_transfer(ends.target, ends.source, region, way.chunks);
    put<2, 4>(fabric, made.sized(-3, cols), right_of(fabric), way.path);  // nothing
    put<2, 4>(fabric, made.sized(rows, 0), right_of(fabric), way.path);   // nothing
    put<2, 4>(fabric, made.sized(rows, cols), right_of(fabric), way.path);
  });
}

// put_signal: the deposit alone makes the region visible.
template <class Team>
Result<void> put_signal_regions(Team& team) {
  const Ends ends = make_ends(team);
  const Signals signals = *team.signals(2);
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    fill_source(fabric, ends.source);
    each_region([&](const Region& region, std::int64_t number) {
      const auto round = static_cast<std::uint32_t>(number + 1);
      poison_target(fabric, ends.target, field);
      fabric.notify(signals[1], left_of(fabric), round, NotifyOp::set);  // it may be written
      checks.ok(fabric.wait(signals[1], Compare::ge, round), "the wait for the reader");
      const Way way = way_of(number);
      put_signal<2, 4>(fabric, *make_transfer(ends.target, ends.source, region, way.chunks),
                       right_of(fabric), signals[0], 1, NotifyOp::add, way.path);
      checks.ok(fabric.wait(signals[0], Compare::ge, round), "the wait for the region");
      const auto seen = copy_of(fabric, ends.target, field);
      return check_field(checks, seen.data(), region, left_of(fabric));
    });
    return checks.done();
  });
}

// Where only the first field is used, the others must stay as they are.
template <class F>
void expect_others_untouched(F& fabric, Checks& checks, Ints target) {
  for (std::int64_t i = field; i < target.size(); ++i)
    checks.equal<std::int32_t>(fabric.local(target)[i], 0, "an element beyond the field");
}

// move(checks, fabric, ends, region, way) brings a region of the right neighbour's source.
template <class Team, class Move>
Result<void> all_regions_pulled(Team& team, Move move) {
  const Ends ends = make_ends(team);
  const EpochBarrier barrier(team);
  const EpochBarrier tail(team);
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    fill_source(fabric, ends.source);
    checks.ok(barrier.sync(fabric), "the barrier before");
    each_region([&](const Region& region, std::int64_t number) {
      const auto seen = move(checks, fabric, ends, region, way_of(number));
      return check_field(checks, seen.data(), region, right_of(fabric));
    });
    expect_others_untouched(fabric, checks, ends.target);
    checks.ok(tail.sync(fabric, use::exit), "the barrier after");
    return checks.done();
  });
}

template <class Team>
Result<void> get_regions(Team& team) {
  return all_regions_pulled(
      team, [](Checks& checks, auto& fabric, Ends ends, const Region& region, Way way) {
        poison_target(fabric, ends.target, field);
        const auto made = *make_transfer(ends.target, ends.source, region, way.chunks);
        checks.ok(get<2, 4>(fabric, made, right_of(fabric), way.path), "get");
        return copy_of(fabric, ends.target, field);
      });
}

template <class Team>
Result<void> get_regions_to_memory(Team& team) {
  return all_regions_pulled(
      team, [](Checks& checks, auto& fabric, Ends ends, const Region& region, Way way) {
        std::vector<std::int32_t> memory(static_cast<std::size_t>(edge * edge), untouched);
        const MemoryRef<std::int32_t> target{memory.data(), edge, edge};
        const auto made = *make_transfer(target, ends.source, region, way.chunks);
        checks.ok(get<2, 4>(fabric, made, right_of(fabric), way.path), "get");
        return memory;
      });
}

template <class Team>
Result<void> get_regions_async(Team& team) {
  return all_regions_pulled(
      team, [](Checks& checks, auto& fabric, Ends ends, const Region& region, Way way) {
        poison_target(fabric, ends.target, field);
        const auto made = *make_transfer(ends.target, ends.source, region, way.chunks);
        checks.ok(get_async<2, 4>(fabric, made, right_of(fabric), way.path).complete(fabric),
                  "get_async");
        return copy_of(fabric, ends.target, field);
      });
}

// Three lanes at once, each with rows of its own in one window.
template <class Team>
Result<void> lanes_share_a_window(Team& team) {
  constexpr std::int64_t rows = 4;
  constexpr std::int64_t lanes = 3;
  const auto source = *team.template window<std::int16_t>({lanes * rows, 7});
  const auto target = *team.template window<std::int16_t>({lanes * rows, 9});
  const EpochBarrier barrier(team);
  const EpochBarrier tail(team);
  const std::uint32_t rounds = 12;
  return team.lanes(lanes, [&](auto& fabric) -> Result<void> {
    Checks checks;
    const std::int64_t first = rows * fabric.lane().value;
    const auto value = [&](Rank rank, std::uint32_t round, std::int64_t row, std::int64_t col) {
      return static_cast<std::int16_t>(rank.value * 500 + round * 100 +
                                       static_cast<std::uint32_t>(row * 8 + col));
    };
    for (std::uint32_t round = 0; round < rounds && checks.done(); ++round) {
      for (std::int64_t row = first; row < first + rows; ++row)
        for (std::int64_t col = 0; col < 7; ++col)
          fabric.local(source)[source.at(row, col)] = value(fabric.rank(), round, row, col);
      const Region region{{first, 1}, {first, 0}, rows, 7};
      const Way way = way_of(round);
      put<2, 4>(fabric, *make_transfer(target, source, region, way.chunks), right_of(fabric),
                way.path);
      checks.ok(barrier.sync(fabric), "the barrier after");
      for (std::int64_t row = first; row < first + rows; ++row)
        for (std::int64_t col = 0; col < 9; ++col)
          checks.equal<std::int16_t>(
              fabric.local(target)[target.at(row, col)],
              col == 0 || col == 8 ? std::int16_t{0} : value(left_of(fabric), round, row, col - 1),
              "an element");
      checks.ok(tail.sync(fabric, use::exit), "the barrier before the next round");
    }
    return checks.done();
  });
}

template <class Team>
std::vector<Case<Team>> transfer_box_cases() {
  return {
      {"PutRegions", put_regions<Team>, Sizes::few},
      {"PutRegionsFromMemory", put_regions_from_memory<Team>, Sizes::few},
      {"PutRegionsAsync", put_regions_async<Team>, Sizes::few},
      {"PutDynamicRegions", put_dynamic_regions<Team>, Sizes::few},
      {"PutSignalRegions", put_signal_regions<Team>, Sizes::few},
      {"GetRegions", get_regions<Team>, Sizes::all},
      {"GetRegionsToMemory", get_regions_to_memory<Team>, Sizes::few},
      {"GetRegionsAsync", get_regions_async<Team>, Sizes::few},
      {"LanesShareAWindow", lanes_share_a_window<Team>, Sizes::all},
  };
}

}  // namespace muster::conformance
