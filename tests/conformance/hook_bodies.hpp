// The caller's arithmetic within an all_reduce: what is sent is scaled; a residual is added to what
// has arrived, and each row divided by the root of the mean of its squares, before it is stored.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <type_traits>
#include <vector>

#include "conformance/rooted_bodies.hpp"

namespace muster::conformance {

// The rows of a tile, by all threads of a lane, which know a part of each row alone.
template <std::int64_t width>
class NormByRows {
 public:
  static constexpr std::int64_t most_rows = collective_tile / width;
  static constexpr std::int64_t most_threads = 64;

  // partial: of each lane most_threads * most_rows elements.
  NormByRows(WindowRef<float> partial, const std::vector<float>& residual)
      : partial_(partial), residual_(residual) {}

  template <class F, class Tile>
  void operator()(F& fabric, Tile& tile, Box box) const {
    const auto row_of = [&](std::int64_t col) { return static_cast<std::size_t>(col / width); };
    std::array<float, most_rows> squares{};
    tile.each([&](std::int64_t, std::int64_t col, float& element) {
      if (col >= box.cols) return;
      element += residual_[static_cast<std::size_t>(box.col + col)];
      squares[row_of(col)] += element * element;
    });
    const auto place = [&](std::uint32_t thread, std::int64_t row) {
      return (fabric.lane().value * most_threads + thread) * most_rows + row;
    };
    for (std::int64_t row = 0; row < most_rows; ++row)
      fabric.local(partial_)[place(fabric.thread(), row)] = squares[static_cast<std::size_t>(row)];
    fabric.converge();
    squares = {};
    for (std::uint32_t thread = 0; thread < fabric.threads(); ++thread)
      for (std::int64_t row = 0; row < most_rows; ++row)
        squares[static_cast<std::size_t>(row)] += fabric.local(partial_)[place(thread, row)];
    fabric.converge();  // before the next tile's are written
    tile.each([&](std::int64_t, std::int64_t col, float& element) {
      if (col < box.cols)
        element /= std::sqrt(squares[row_of(col)] / static_cast<float>(width) + 1e-3F);
    });
  }

 private:
  WindowRef<float> partial_;
  const std::vector<float>& residual_;
};

// The same by one thread, in double.
[[nodiscard]] inline std::vector<double> normed(std::uint32_t ranks, std::uint32_t call,
                                                const std::vector<float>& residual,
                                                std::int64_t width) {
  std::vector<double> rows(residual.begin(), residual.end());
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      rows[i] += 0.5 * element_of<float, Sum>(rank, call, static_cast<std::int64_t>(i));
  const auto length = static_cast<std::size_t>(width);
  for (std::size_t row = 0; row < rows.size(); row += length) {
    double squares = 0;
    for (std::size_t i = row; i < row + length; ++i) squares += rows[i] * rows[i];
    for (std::size_t i = row; i < row + length; ++i)
      rows[i] /= std::sqrt(squares / static_cast<double>(width) + 1e-3);
  }
  return rows;
}

template <class Team, Algorithm algorithm, std::int64_t width>
Result<void> norms_by_rows(Team& team) {
  using Norm = NormByRows<width>;
  const AllReduce<float, collective_tile> sums(
      team, {.algorithm = algorithm, .chunk = collective_chunk, .grain = width});
  const auto partial = *team.template window<float>({4 * Norm::most_threads * Norm::most_rows});
  const std::uint32_t rank = team.rank().value;
  Checks checks;
  std::uint32_t call = 0;
  for (const std::uint32_t lanes : {1U, 2U, 4U})
    for (const std::int64_t rows : {0, 1, 3, 41}) {
      const std::int64_t count = rows * width;
      std::vector<float> from = input_of<float, Sum>(rank, call, count);
      const std::vector<float> residual = input_of<float, Sum>(rank + 50, call, count);
      const Norm norm(partial, residual);
      const bool in_place = call % 2 == 1;
      std::vector<float> to = in_place ? from : poisoned<float>(count);
      const MemoryRef<float> source = memory_of(in_place ? to : from);
      checks.ok(
          team.lanes(lanes,
                     [&](auto& fabric) {
                       Random random = random_of(fabric);
                       random_delay(random);
                       const auto halve = [](auto& tile, Box) {
                         tile.each(
                             [](std::int64_t, std::int64_t, float& element) { element *= 0.5F; });
                       };
                       const auto after = [&](auto& tile, Box box) { norm(fabric, tile, box); };
                       return sums.run(fabric, memory_of(to), source, count, halve, after);
                     }),
          "the call");
      const std::vector<double> right = normed(team.size(), call, residual, width);
      for (std::size_t i = 0; i < to.size(); ++i)
        if (!checks.holds(std::abs(to[i] - right[i]) < 1e-4, "an element of a row")) break;
      ++call;
    }
  return checks.done();
}

// On windows, too, where automatic is not direct then; and what a grain must be.
template <class Team>
Result<void> hooks_on_windows(Team& team) {
  const AllReduce<std::int32_t, collective_tile> sums(team, {.chunk = collective_chunk});
  const AllReduce<std::int32_t, collective_tile> direct(
      team, {.algorithm = Algorithm::direct, .chunk = collective_chunk});
  constexpr std::int64_t count = 20'000;
  const auto window = *team.template window<std::int32_t>({count});
  const auto ranks = static_cast<std::int32_t>(team.size());
  Checks checks;
  const auto body = [&](auto& fabric) -> Result<void> {
    Checks lane;
    const auto add = [](auto& tile, Box) {
      tile.each([](std::int64_t, std::int64_t, std::int32_t& element) { element += 1; });
    };
    const Share mine = share_of<std::int32_t>(count, fabric.lane().value, fabric.lanes());
    for (std::int64_t i = mine.first; i < mine.end(); ++i) fabric.local(window)[i] = 2;
    lane.equal(direct.run(fabric, window, window, count, add, add), WaitStatus::invalid, "direct");
    lane.ok(sums.run(fabric, window, window, count, add, add), "the call");
    for (std::int64_t i = mine.first; i < mine.end(); ++i)
      lane.equal(std::int32_t{fabric.local(window)[i]}, 3 * ranks + 1, "an element");
    return lane.done();
  };
  checks.ok(team.lanes(2, body), "the lanes");
  const auto refused = [&](std::int64_t grain, std::int64_t chunk, const char* says) {
    try {
      (void)AllReduce<float, collective_tile>(team, {.chunk = chunk, .grain = grain});
      checks.holds(false, says);
    } catch (const Failure& failure) {
      checks.mentions(failure.error().what, says, "the error");
    }
  };
  refused(-3, 64, "grain is -3; it must be from 0 to the tile's 16 elements and the chunk's 64");
  refused(17, 64, "grain is 17; it must be from 0 to the tile's 16");
  refused(9, 8, "the chunk's 8");
  const auto refused_parts = [&](auto make, const char* says) {
    try {
      make();
      checks.holds(false, says);
    } catch (const Failure& failure) {
      checks.mentions(failure.error().what, says, "the error");
    }
  };
  refused_parts([&] { (void)AllGather<float, collective_tile>(team, {.chunk = 8, .grain = 9}); },
                "grain is 9; it must be from 0 to the tile's 16 elements and the chunk's 8");
  refused_parts([&] { (void)ReduceScatter<float, collective_tile>(team, {.grain = -1}); },
                "grain is -1; it must be from 0 to the tile's 16");
  return checks.done();
}

// Of each element, where it was seen: what a hook gets is a whole row, at its place, and each once.
class Places {
 public:
  Places(std::int64_t count, std::int64_t width) : width_(width), seen_(places(count)) {}
  void see(Box box) {
    is_right_ = is_right_ && box.row == 0 && box.rows == 1 && box.col % width_ == 0 &&
                (box.cols % width_ == 0 || box.col + box.cols == std::ssize(seen_));
    for (std::int64_t i = 0; i < box.cols; ++i) ++seen_[places(box.col + i)];
  }
  [[nodiscard]] bool each_once() const {
    return is_right_ && std::all_of(seen_.begin(), seen_.end(), [](int one) { return one == 1; });
  }

 private:
  static std::size_t places(std::int64_t index) { return static_cast<std::size_t>(index); }

  std::int64_t width_;
  std::vector<int> seen_;
  bool is_right_ = true;
};

// What is sent is doubled, by its place; 1 is added to what arrives, by its place.
template <class Team, std::int64_t width, bool reduces>
Result<void> parts_by_rows(Team& team) {
  using Collective = std::conditional_t<reduces, ReduceScatter<std::int32_t, collective_tile>,
                                        AllGather<std::int32_t, collective_tile>>;
  const Collective collective(team, {.chunk = collective_chunk, .grain = width});
  const std::uint32_t rank = team.rank().value;
  const std::uint32_t ranks = team.size();
  Checks checks;
  const auto element = [](std::uint32_t owner, std::uint32_t call, std::int64_t index) {
    return static_cast<std::int32_t>(100'000 * (call + 1) + 1000 * owner + index);
  };
  std::uint32_t call = 0;
  for (const std::uint32_t lanes : {1U, 2U, 4U})
    for (const std::int64_t rows : {0, 1, 3, 41}) {
      const std::int64_t count = rows * width;
      const std::int64_t from_count = reduces ? count * ranks : count;
      const std::int64_t to_count = reduces ? count : count * ranks;
      std::vector<std::int32_t> from(static_cast<std::size_t>(from_count));
      for (std::int64_t i = 0; i < from_count; ++i)
        from[static_cast<std::size_t>(i)] = element(rank, call, i);
      std::vector<std::int32_t> to = poisoned<std::int32_t>(to_count);
      Places sent(from_count, width);
      Places kept(to_count, width);
      // Lanes touch elements of their own; threads of one lane those that they hold.
      std::mutex one_at_a_time;
      checks.ok(delayed(team, lanes,
                        [&](auto& fabric) {
                          const auto with = [&](Places& places, auto&& change) {
                            return [&, change](auto& tile, Box box) {
                              if (fabric.thread() == 0) {
                                const std::lock_guard lock(one_at_a_time);
                                places.see(box);
                              }
                              tile.each([&](std::int64_t, std::int64_t col, std::int32_t& one) {
                                if (col < box.cols) one = change(one, box.col + col);
                              });
                            };
                          };
                          const auto before = with(sent, [](std::int32_t one, std::int64_t at) {
                            return 2 * one + static_cast<std::int32_t>(at % 7);
                          });
                          const auto after = with(kept, [](std::int32_t one, std::int64_t at) {
                            return one + static_cast<std::int32_t>(at);
                          });
                          return collective.run(fabric, memory_of(to), memory_of(from), count,
                                                before, after);
                        }),
                "the call");
      const auto right = [&](std::int64_t at) {
        const auto doubled = [&](std::uint32_t owner, std::int64_t index) {
          return 2 * element(owner, call, index) + static_cast<std::int32_t>(index % 7);
        };
        std::int32_t sum = 0;
        if (reduces)
          for (std::uint32_t owner = 0; owner < ranks; ++owner)
            sum += doubled(owner, rank * count + at);
        else
          sum = doubled(static_cast<std::uint32_t>(at / count), at % count);
        return sum + static_cast<std::int32_t>(at);
      };
      for (std::int64_t at = 0; at < to_count; ++at)
        checks.equal(to[static_cast<std::size_t>(at)], right(at), "an element");
      checks.holds(sent.each_once(), "what is sent is seen once, row by row");
      checks.holds(kept.each_once(), "what is kept is seen once, row by row");
      ++call;
    }
  return checks.done();
}

template <class Team>
std::vector<Case<Team>> hook_cases() {
  using enum Algorithm;
  return {
      {"NormOneShot", norms_by_rows<Team, one_shot, 16>, Sizes::all},
      {"NormTwoPhase", norms_by_rows<Team, two_phase, 16>, Sizes::all},
      {"NormRing", norms_by_rows<Team, ring, 16>, Sizes::all},
      {"NormOfShortRows", norms_by_rows<Team, two_phase, 5>, Sizes::few},
      {"NormOfShortRowsOneShot", norms_by_rows<Team, one_shot, 5>, Sizes::few},
      {"NormOfShortRowsRing", norms_by_rows<Team, ring, 5>, Sizes::few},
      {"GatheredRows", parts_by_rows<Team, 16, false>, Sizes::all},
      {"GatheredShortRows", parts_by_rows<Team, 5, false>, Sizes::few},
      {"ReducedRows", parts_by_rows<Team, 16, true>, Sizes::all},
      {"ReducedShortRows", parts_by_rows<Team, 5, true>, Sizes::few},
      {"HooksOnWindows", hooks_on_windows<Team>, Sizes::few},
  };
}

}  // namespace muster::conformance
