// Transfers: what make_transfer refuses and clamps, and what a fabric sees of chunks and buffers.
#include "muster/transfer.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "support/counting_fabric.hpp"

namespace muster {
namespace {

using testing::CountingFabric;
using testing::Event;
using testing::Op;

constexpr WindowRef<float> small{.offset = 0, .rows = 6, .cols = 10};
constexpr WindowRef<float> large{.offset = 1024, .rows = 8, .cols = 12};

template <class Made>
std::string refusal(const Result<Made>& made) {
  if (made) return "nothing was refused";
  EXPECT_EQ(made.error().code, ErrorCode::invalid_argument);
  return made.error().what;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Each wrong value has an error that names it.
TEST(Transfer, RefusesWhatCannotBeMeant) {
  const auto refused = [](Region region, Chunks chunks, const std::string& why) {
    const std::string said = refusal(make_transfer(large, small, region, chunks));
    EXPECT_TRUE(contains(said, why)) << said;
  };
  refused({.rows = 0, .cols = 3}, {}, "the number of rows is 0; it must be positive");
  refused({.rows = 2, .cols = -1}, {}, "the number of cols is -1; it must be positive");
  refused({.rows = dynamic, .cols = 1}, {.chunk_rows = 1}, "use make_dynamic_transfer");
  refused({.to = {-1, 0}, .rows = 2, .cols = 2}, {}, "rows of the target begin at -1");
  refused({.to = {0, -3}, .rows = 2, .cols = 2}, {}, "cols of the target begin at -3");
  refused({.from = {-2, 0}, .rows = 2, .cols = 2}, {}, "rows of the source begin at -2");
  refused({.from = {0, -1}, .rows = 2, .cols = 2}, {}, "cols of the source begin at -1");
  refused({.to = {7, 0}, .rows = 2, .cols = 2}, {}, "rows of the target are 2 from 7, but there");
  refused({.to = {0, 11}, .rows = 2, .cols = 2}, {}, "cols of the target are 2 from 11");
  refused({.from = {5, 0}, .rows = 2, .cols = 2}, {}, "rows of the source are 2 from 5");
  refused({.rows = 2, .cols = 11}, {}, "cols of the source are 11 from 0, but there are 10");
  refused({.rows = INT64_MAX, .cols = 1}, {}, "rows of the target are");
  refused({.rows = 2, .cols = 2}, {.chunk_rows = -1}, "chunk_rows is -1; it must not be negative");
  refused({.rows = 2, .cols = 2}, {.chunk_cols = -7}, "chunk_cols is -7; it must not be negative");
  refused({.rows = 2, .cols = 2}, {.pipeline = true}, "pipeline needs both");
  refused({.rows = 2, .cols = 2}, {.chunk_rows = 1, .pipeline = true}, "(they are 1 and 0)");
  refused({.rows = 2, .cols = 2}, {.chunk_cols = 1, .pipeline = true}, "(they are 0 and 1)");
  const std::string shapes = refusal(make_transfer(large, small));
  EXPECT_TRUE(contains(shapes, "without a region both must have the same shape")) << shapes;
}

TEST(Transfer, ADynamicExtentNeedsAChunk) {
  const auto refused = [](Region region, Chunks chunks) {
    return refusal(make_dynamic_transfer(large, small, region, chunks));
  };
  EXPECT_TRUE(
      contains(refused({.rows = dynamic, .cols = 3}, {.chunk_cols = 2}), "needs chunk_rows"));
  EXPECT_TRUE(
      contains(refused({.rows = 3, .cols = dynamic}, {.chunk_rows = 2}), "needs chunk_cols"));
  EXPECT_TRUE(contains(refused({.from = {7, 0}, .rows = dynamic, .cols = 1}, {.chunk_rows = 1}),
                       "rows of the source are 0 from 7"));
  EXPECT_TRUE(make_dynamic_transfer(large, small, {.rows = dynamic, .cols = 3}, {.chunk_rows = 2}));
  EXPECT_TRUE(make_dynamic_transfer(large, small, {.rows = 3, .cols = dynamic}, {.chunk_cols = 2}));
}

TEST(Transfer, ClampsDynamicExtentsToTheRoomLeft) {
  const auto made = *make_dynamic_transfer(
      large, small, {.to = {4, 0}, .from = {1, 3}, .rows = dynamic, .cols = dynamic},
      {.chunk_rows = 3, .chunk_cols = 5});
  const auto sized = [&](std::int64_t rows, std::int64_t cols) {
    const auto one = made.sized(rows, cols);
    return std::vector{one.region.rows, one.region.cols, one.chunks.chunk_rows,
                       one.chunks.chunk_cols};
  };
  EXPECT_EQ(sized(2, 4), (std::vector<std::int64_t>{2, 4, 2, 4}));
  EXPECT_EQ(sized(100, 100), (std::vector<std::int64_t>{4, 7, 3, 5}));
  EXPECT_EQ(sized(-5, 1), (std::vector<std::int64_t>{0, 1, 0, 1}));
  EXPECT_EQ(sized(0, 0), (std::vector<std::int64_t>{0, 0, 0, 0}));

  const auto half = *make_dynamic_transfer(large, small, {.rows = 2, .cols = dynamic},
                                           {.chunk_rows = 0, .chunk_cols = 4});
  EXPECT_EQ(half.sized(99, 3).region.rows, 2) << "a fixed extent stays";
  EXPECT_EQ(half.sized(99, 3).chunks.chunk_rows, 2);
}

TEST(Transfer, ClampsOversizedChunks) {
  const auto one = *make_transfer(large, small, {.rows = 3, .cols = 4},
                                  {.chunk_rows = 99, .chunk_cols = 4, .pipeline = true});
  EXPECT_EQ(one.chunks.chunk_rows, 3);
  EXPECT_EQ(one.chunks.chunk_cols, 4);
  const auto whole = *make_transfer(small, small);
  EXPECT_EQ(whole.chunks.chunk_rows, 6);
  EXPECT_EQ(whole.chunks.chunk_cols, 10);
}

std::vector<Event> moves(const CountingFabric& fabric, Op op) {
  std::vector<Event> chosen;
  for (const Event& event : fabric.log())
    if (event.op == op) chosen.push_back(event);
  return chosen;
}

std::vector<std::int64_t> sizes(const std::vector<Event>& events) {
  std::vector<std::int64_t> bytes;
  bytes.reserve(events.size());
  for (const Event& event : events) bytes.push_back(event.bytes / 4);
  return bytes;
}

using Counts = std::vector<std::int64_t>;

TEST(Transfer, AContiguousChunkIsOneRun) {
  CountingFabric fabric(2, Rank{0});
  put(fabric, *make_transfer(small, small), Rank{1});
  EXPECT_EQ(sizes(moves(fabric, Op::remote_transfer)), (Counts{60}));
  fabric.forget();
  put(fabric, *make_transfer(small, small, Chunks{.chunk_rows = 4}), Rank{1});
  EXPECT_EQ(sizes(moves(fabric, Op::remote_transfer)), (Counts{40, 20}));
  fabric.forget();
  const auto row = *make_transfer(small, small, {.rows = 1, .cols = 7}, {.chunk_cols = 3});
  EXPECT_EQ(get(fabric, row, Rank{1}), WaitStatus::ok);
  EXPECT_EQ(sizes(moves(fabric, Op::remote_transfer)), (Counts{3, 3, 1}));
}

TEST(Transfer, ARectangleIsARunForEachRow) {
  CountingFabric fabric(2, Rank{0});
  const auto one =
      *make_transfer(large, small, {.rows = 3, .cols = 5}, {.chunk_rows = 2, .chunk_cols = 4});
  put(fabric, one, Rank{1});
  EXPECT_EQ(sizes(moves(fabric, Op::remote_transfer)), (Counts{4, 4, 1, 1, 4, 1}));
  fabric.forget();
  EXPECT_EQ(get(fabric, one, Rank{1}), WaitStatus::ok);
  EXPECT_EQ(sizes(moves(fabric, Op::remote_transfer)), (Counts{4, 4, 1, 1, 4, 1}));
}

// Staged: each chunk passes once through a tile on its way, in both directions.
TEST(Transfer, StagedChunksPassThroughOneTile) {
  const auto one =
      *make_transfer(large, small, {.rows = 3, .cols = 5}, {.chunk_rows = 2, .chunk_cols = 4});
  for (const bool is_put : {true, false}) {
    CountingFabric fabric(2, Rank{0});
    if (is_put)
      put(fabric, one, Rank{1}, Path::staged);
    else
      EXPECT_EQ(get(fabric, one, Rank{1}, Path::staged), WaitStatus::ok);
    EXPECT_EQ(sizes(moves(fabric, Op::remote_transfer)), (Counts{8, 2, 4, 1}));
    EXPECT_EQ(sizes(moves(fabric, Op::local_transfer)), (Counts{8, 2, 4, 1}));
    std::set<const void*> tiles;
    for (const Event& event : fabric.log())
      if (event.tile != nullptr) tiles.insert(event.tile);
    EXPECT_EQ(tiles.size(), 1U);
  }
}

// Pipelined: two tiles in turn, and the next chunk is taken before the last one is given.
TEST(Transfer, PipelinedChunksAlternateBetweenTwoTiles) {
  for (const std::int64_t chunk_rows : {1, 2, 3, 4, 6}) {
    CountingFabric fabric(2, Rank{0});
    const auto one =
        *make_transfer(small, small, Region{.rows = 6, .cols = 10},
                       Chunks{.chunk_rows = chunk_rows, .chunk_cols = 7, .pipeline = true});
    put(fabric, one, Rank{1}, Path::staged);
    const auto taken = moves(fabric, Op::local_transfer);
    const auto given = moves(fabric, Op::remote_transfer);
    const auto chunks = static_cast<std::size_t>(2 * ((6 + chunk_rows - 1) / chunk_rows));
    ASSERT_EQ(taken.size(), chunks);
    EXPECT_EQ(sizes(taken), sizes(given));
    std::set<const void*> tiles;
    for (std::size_t i = 0; i < chunks; ++i) {
      EXPECT_EQ(taken[i].tile, given[i].tile);
      if (i > 0) {
        EXPECT_NE(taken[i].tile, taken[i - 1].tile);
      }
      tiles.insert(taken[i].tile);
    }
    EXPECT_EQ(tiles.size(), 2U);
    std::string order;
    for (const Event& event : fabric.log()) {
      if (event.op == Op::local_transfer) order += 't';
      if (event.op == Op::remote_transfer) order += 'g';
    }
    std::string expected = "t";
    for (std::size_t i = 1; i < chunks; ++i) expected += "tg";
    EXPECT_EQ(order, expected + "g");
  }
}

// Without tiles a pipelined transfer keeps at most two chunks in flight.
TEST(Transfer, PipelinedRunsCompleteTheChunkBeforeTheLast) {
  for (const std::int64_t chunk_rows : {1, 2, 5}) {
    CountingFabric fabric(2, Rank{0});
    put(fabric,
        *make_transfer(small, small,
                       Chunks{.chunk_rows = chunk_rows, .chunk_cols = 10, .pipeline = true}),
        Rank{1});
    std::uint32_t begun = 0;
    std::uint32_t complete = 0;  // the number of the last request that is
    for (const Event& event : fabric.log()) {
      if (event.op == Op::remote_transfer) {
        EXPECT_LE(++begun - complete, 2U);
      }
      if (event.op == Op::complete) {
        EXPECT_EQ(event.value, complete + 1) << "the one before the last, but for the last";
        complete = event.value;
      }
    }
    EXPECT_EQ(complete, begun) << "a put is complete on return";
    EXPECT_EQ(fabric.count(Op::flush), 0);
  }
}

TEST(Transfer, AChunkLargerThanTheTilePassesInPieces) {
  CountingFabric fabric(2, Rank{0});
  put<2, 4>(fabric, *make_transfer(large, small, {.rows = 3, .cols = 5}), Rank{1}, Path::staged);
  EXPECT_EQ(sizes(moves(fabric, Op::remote_transfer)), (Counts{8, 2, 4, 1}));
}

TEST(Transfer, PutSignalOfOneRunIsTheFabricsOwn) {
  const Signal signal{0, 3};
  CountingFabric fabric(2, Rank{0});
  put_signal(fabric, *make_transfer(small, small), Rank{1}, signal, 5);
  EXPECT_EQ(sizes(moves(fabric, Op::remote_transfer)), (Counts{60}));
  ASSERT_EQ(fabric.notifies_to_peers(), 1);
  EXPECT_EQ(fabric.count(Op::converge), 0);

  // Of several runs: a deposit behind all of them, which speaks for the lane.
  fabric.forget();
  put_signal(fabric, *make_transfer(small, small, {.rows = 3, .cols = 5}), Rank{1}, signal, 5,
             NotifyOp::add);
  EXPECT_EQ(sizes(moves(fabric, Op::remote_transfer)), (Counts{5, 5, 5}));
  ASSERT_EQ(fabric.notifies_to_peers(), 1);
  EXPECT_EQ(fabric.log().back().op, Op::notify);
  EXPECT_EQ(fabric.log().back().notify, NotifyOp::add);
  EXPECT_EQ(fabric.log().back().order, Order::release);
  EXPECT_EQ(fabric.count(Op::converge), 1);
}

TEST(Transfer, AsyncIsCompleteAtItsHandle) {
  CountingFabric fabric(2, Rank{0});
  Pending first = put_async(fabric, *make_transfer(small, small), Rank{1});
  Pending second = get_async(fabric, *make_transfer(small, small), Rank{1});
  EXPECT_FALSE(first.is_complete());
  EXPECT_EQ(fabric.count(Op::complete), 0);
  EXPECT_EQ(second.complete(fabric), WaitStatus::ok);
  EXPECT_TRUE(second.is_complete());
  EXPECT_EQ(fabric.count(Op::complete), 1);
  EXPECT_EQ(fabric.log().back().value, 2) << "its own request";
  EXPECT_EQ(second.complete(fabric), WaitStatus::ok);
  EXPECT_EQ(fabric.count(Op::complete), 1);
  fabric.become(WaitStatus::peer_lost);
  EXPECT_EQ(first.complete(fabric), WaitStatus::peer_lost);
  EXPECT_EQ(fabric.count(Op::complete), 2) << "a handle does not know of the others";
  EXPECT_EQ(fabric.count(Op::flush), 0);
}

}  // namespace
}  // namespace muster
