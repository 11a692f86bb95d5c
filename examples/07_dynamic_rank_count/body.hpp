// Step 7: nothing in the program says how many ranks there are, or how much each has to send.
//
// Rank r has r + 1 numbers. It puts them into row r of everybody's table, which is ranks x ranks;
// then all have all numbers. The same binary runs on 1 rank and on 100.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/barrier/automatic.hpp"
#include "muster/fabric.hpp"
#include "muster/result.hpp"
#include "muster/transfer.hpp"

namespace tutorial {

[[nodiscard]] constexpr std::int32_t item(std::uint32_t rank, std::int64_t index) {
  return static_cast<std::int32_t>(rank * 1000) + static_cast<std::int32_t>(index);
}

// Returns the own table, row-major: row r holds the r + 1 numbers of rank r, then zeros.
template <class Team>
muster::Result<std::vector<std::int32_t>> gather_all(Team& team) {
  using namespace muster;
  const std::int64_t ranks = team.size();

  // Windows, rows and barriers are made for the team at hand: extents are values, not constants.
  const auto numbers = *team.template window<std::int32_t>({1, ranks}, "numbers");
  const auto table = *team.template window<std::int32_t>({ranks, ranks}, "table");
  const Barrier barrier(team);  // flat or in rounds, whichever suits so many ranks

  // How many numbers a rank has is known when it runs. A chunk bounds what is in flight then.
  const Region row{{team.rank().value, 0}, {}, 1, dynamic};
  const auto most = *make_dynamic_transfer(table, numbers, row, {.chunk_cols = 16});

  std::vector<std::int32_t> result;
  const Result<void> ran = team.lane([&](auto& fabric) -> WaitStatus {
    const std::int64_t count = fabric.rank().value + 1;
    for_each_index(fabric, count, [&](std::int64_t i) {
      fabric.local(numbers)[i] = item(fabric.rank().value, i);
      fabric.local(table)[table.at(fabric.rank().value, i)] = item(fabric.rank().value, i);
    });
    fabric.converge();

    const auto mine = most.sized(1, count);
    for (std::uint32_t step = 1; step < fabric.size(); ++step)  // by the lane together
      put(fabric, mine, right_of(fabric, step));

    const WaitStatus met = barrier.sync(fabric);
    if (met != WaitStatus::ok) return met;
    for (std::int64_t i = 0; i < table.size() && fabric.thread() == 0; ++i)
      result.emplace_back(fabric.local(table)[i]);
    return met;
  });
  if (!ran) return ran.error();
  return result;
}

inline muster::Result<void> check_table(const std::vector<std::int32_t>& table,
                                        std::uint32_t ranks) {
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    for (std::uint32_t i = 0; i < ranks; ++i) {
      const std::int32_t seen = table.at(rank * ranks + i);
      const std::int32_t expected = i <= rank ? item(rank, i) : 0;
      if (seen != expected)
        return muster::Error{.code = muster::ErrorCode::mismatch,
                             .what = "number " + std::to_string(i) + " of rank " +
                                     std::to_string(rank) + " is " + std::to_string(seen) +
                                     ", expected " + std::to_string(expected)};
    }
  }
  return {};
}

}  // namespace tutorial
