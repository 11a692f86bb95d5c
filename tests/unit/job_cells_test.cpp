// Where a job's memory has the cells of its ranks, with a core for each rank and without.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

#include "fabric/host/job.hpp"

namespace {

using namespace muster::host;

constexpr std::uint64_t some_cells = 40;
constexpr std::size_t line = 64;

std::byte* cell(const Job& job, std::uint32_t rank, std::uint64_t number) {
  return job.cells_of(rank) + number * cell_stride;
}

std::uintptr_t line_of(const std::byte* byte) {
  return reinterpret_cast<std::uintptr_t>(byte) / line;
}

Job make(std::uint32_t ranks, std::uint32_t cores) {
  auto job = create_job({.ranks = ranks, .cores = cores});
  if (!job) throw muster::Failure(job.error());
  return std::move(job).value();
}

class JobCells : public testing::TestWithParam<std::uint32_t> {};

TEST_P(JobCells, NoTwoOverlapAndNoneReachesIntoAHeap) {
  const std::uint32_t ranks = GetParam();
  for (const std::uint32_t cores : {ranks, ranks - 1, 1U}) {
    if (cores == 0) continue;
    const Job job = make(ranks, cores);
    std::set<std::byte*> words;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      for (std::uint64_t i = 0; i < some_cells; ++i) words.insert(cell(job, rank, i));
      std::byte* const last = cell(job, rank, job.header().cells - 1);
      for (std::uint32_t other = 0; other < ranks; ++other) {
        const bool below = last + sizeof(std::uint32_t) <= job.heap_of(other);
        const bool above = cell(job, rank, 0) >= job.heap_of(other) + job.header().heap_bytes;
        EXPECT_TRUE(below || above) << "rank " << rank << ", heap of " << other;
      }
    }
    EXPECT_EQ(words.size(), ranks * some_cells);
    for (const std::byte* word : words)
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(word) % sizeof(std::uint32_t), 0U);
  }
}

// With a core each, a line has one cell. Otherwise what a rank deposits to its peers, their copies
// of one cell, is as few lines as can be, and different cells are still on different lines.
TEST_P(JobCells, LinesAreSharedOnlyWhereCoresAre) {
  const std::uint32_t ranks = GetParam();
  for (const bool shared : {false, true}) {
    if (shared && ranks == 1) continue;
    const Job job = make(ranks, shared ? ranks - 1 : ranks);
    std::set<std::uintptr_t> all;
    for (std::uint64_t i = 0; i < some_cells; ++i) {
      std::set<std::uintptr_t> lines;
      for (std::uint32_t rank = 0; rank < ranks; ++rank) lines.insert(line_of(cell(job, rank, i)));
      EXPECT_EQ(lines.size(), shared ? (ranks + 15) / 16 : ranks) << "cell " << i;
      for (const std::uintptr_t one : lines) EXPECT_TRUE(all.insert(one).second) << "cell " << i;
    }
  }
}

TEST_P(JobCells, ClearingThoseOfARankLeavesTheOthers) {
  const std::uint32_t ranks = GetParam();
  for (const std::uint32_t cores : {ranks, 1U}) {
    const Job job = make(ranks, cores);
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      for (std::uint64_t i = 0; i < some_cells; ++i)
        std::memset(cell(job, rank, i), 0xee, sizeof(std::uint32_t));
    const std::uint32_t cleared = ranks / 2;
    job.clear_cells(cleared, 3, 7);
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      for (std::uint64_t i = 0; i < some_cells; ++i) {
        std::uint32_t word = 0;
        std::memcpy(&word, cell(job, rank, i), sizeof word);
        EXPECT_EQ(word, rank == cleared && i >= 3 && i < 10 ? 0 : 0xeeeeeeee)
            << "rank " << rank << ", cell " << i;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, JobCells, testing::Values(1, 2, 3, 8, 16, 17, 40));

}  // namespace
