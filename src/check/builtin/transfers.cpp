// Transfers of rectangles: what a put, a get or a put_signal in chunks carries, through runs and
// through tiles, and when a source or a target may be used again.
#include <cstdint>

#include "muster/barrier/epoch.hpp"
#include "muster/check.hpp"
#include "muster/transfer.hpp"

namespace {

using muster::Chunks;
using muster::Path;
using muster::Rank;
using muster::Region;
using muster::WaitStatus;
using muster::WindowRef;
using Ints = WindowRef<std::int32_t>;

constexpr std::int64_t rows = 3;
constexpr std::int64_t cols = 3;
constexpr Chunks chunks{.chunk_rows = 2, .chunk_cols = 2, .pipeline = true};

std::int32_t value(Rank rank, std::uint32_t call, std::int64_t index) {
  return static_cast<std::int32_t>(rank.value * 1000 + call * 100) +
         static_cast<std::int32_t>(index);
}

struct Ends {
  Ints source;
  Ints target;
};

Ends make_ends(muster::model::Team& team, std::uint32_t lanes) {
  return {*team.window<std::int32_t>({lanes * rows, cols}, "source"),
          *team.window<std::int32_t>({lanes * rows, cols + 1}, "target")};
}

// The rows of a lane; the target has one column more, so that the region is no single run.
Region region_of(muster::Lane lane) {
  const std::int64_t first = lane.value * rows;
  return {{first, 1}, {first, 0}, rows, cols};
}

// Element by element, each by the thread whose turn it is.
template <class F, class Visit>
void each_own(F& fabric, Visit&& visit) {
  for (std::int64_t i = fabric.thread(); i < rows * cols; i += fabric.threads()) visit(i);
}

template <class F>
void fill(F& fabric, Ints source, std::uint32_t call) {
  const std::int64_t first = source.at(fabric.lane().value * rows, 0);
  each_own(fabric, [&](std::int64_t i) {
    fabric.local(source)[first + i] = value(fabric.rank(), call, i);
  });
}

// By another thread than the one that wrote or moved it.
template <class F>
void expect_from(F& fabric, Ints target, Rank rank, std::uint32_t call) {
  each_own(fabric, [&](std::int64_t i) {
    const std::int64_t index = rows * cols - 1 - i;
    const std::int64_t row = fabric.lane().value * rows + index / cols;
    muster::expect(
        fabric, fabric.local(target)[target.at(row, 1 + index % cols)] == value(rank, call, index),
        "the region holds this call's numbers");
  });
}

// put to the right neighbour, a barrier, and a look; the source is overwritten at once.
void put_barrier(muster::model::Team& team, std::uint32_t lanes, std::uint32_t calls, Path path) {
  const Ends ends = make_ends(team, lanes);
  const muster::EpochBarrier barrier(team);
  const muster::EpochBarrier tail(team);  // of its own: a relaxed deposit must not hide a release
  (void)team.lanes(lanes, [&](auto& fabric) {
    const auto transfer =
        *make_transfer(ends.target, ends.source, region_of(fabric.lane()), chunks);
    for (std::uint32_t call = 0; call < calls; ++call) {
      fill(fabric, ends.source, call);
      fabric.converge();
      muster::put<1, 2>(fabric, transfer, muster::right_of(fabric), path);
      fabric.converge();
      if (barrier.sync(fabric) != WaitStatus::ok) return;
      expect_from(fabric, ends.target, muster::left_of(fabric), call);
      // Before the next put of the same bytes (contract 8).
      if (fabric.flush() != WaitStatus::ok) return;
      if (tail.sync(fabric, muster::use::exit) != WaitStatus::ok) return;
    }
  });
}

// The right neighbour's region, behind a barrier.
void barrier_get(muster::model::Team& team, std::uint32_t lanes, std::uint32_t calls, Path path,
                 bool async) {
  const Ends ends = make_ends(team, lanes);
  const muster::EpochBarrier barrier(team);
  const muster::EpochBarrier tail(team);  // of its own: a relaxed deposit must not hide a release
  (void)team.lanes(lanes, [&](auto& fabric) {
    const auto transfer =
        *make_transfer(ends.target, ends.source, region_of(fabric.lane()), chunks);
    const Rank right = muster::right_of(fabric);
    for (std::uint32_t call = 0; call < calls; ++call) {
      fill(fabric, ends.source, call);
      if (barrier.sync(fabric) != WaitStatus::ok) return;
      const WaitStatus got =
          async ? muster::get_async<1, 2>(fabric, transfer, right, path).complete(fabric)
                : muster::get<1, 2>(fabric, transfer, right, path);
      if (fabric.converge(got) != WaitStatus::ok) return;
      expect_from(fabric, ends.target, right, call);
      if (tail.sync(fabric, muster::use::exit) != WaitStatus::ok) return;
    }
  });
}

}  // namespace

MUSTER_CHECK(put, {.ranks = 3,
                   .calls = 2,
                   .group = "transfer",
                   .about = "a region in chunks, two in flight; the source is free at once"}) {
  put_barrier(team, lanes, calls, Path::runs);
}

MUSTER_CHECK(put_staged, {.ranks = 3,
                          .calls = 2,
                          .group = "transfer",
                          .about = "the same through two tiles in turn"}) {
  put_barrier(team, lanes, calls, Path::staged);
}

MUSTER_CHECK(get, {.ranks = 3,
                   .calls = 2,
                   .group = "transfer",
                   .about = "a peer's region in chunks, two in flight"}) {
  barrier_get(team, lanes, calls, Path::runs, false);
}

MUSTER_CHECK(get_staged, {.ranks = 3,
                          .calls = 2,
                          .group = "transfer",
                          .about = "the same through two tiles in turn"}) {
  barrier_get(team, lanes, calls, Path::staged, false);
}

MUSTER_CHECK(get_async, {.ranks = 3,
                         .calls = 2,
                         .group = "transfer",
                         .about = "a peer's region, complete at its handle"}) {
  barrier_get(team, lanes, calls, Path::runs, true);
}

MUSTER_CHECK(put_signal, {.ranks = 3,
                          .calls = 2,
                          .group = "transfer",
                          .about = "one deposit behind all chunks; the reader gives credit"}) {
  const Ends ends = make_ends(team, lanes);
  const muster::Rows arrived = *team.rows();
  const muster::Rows read = *team.rows();
  (void)team.lanes(lanes, [&](auto& fabric) {
    using namespace muster;
    const auto transfer =
        *make_transfer(ends.target, ends.source, region_of(fabric.lane()), chunks);
    const Rank right = muster::right_of(fabric);
    const Rank left = muster::left_of(fabric);
    for (std::uint32_t call = 0; call < calls; ++call) {
      fill(fabric, ends.source, call);
      fabric.converge();
      muster::put_signal<1, 2>(fabric, transfer, right, arrived.from(fabric.lane(), fabric.rank()),
                               call + 1);
      WaitStatus status = WaitStatus::ok;
      if (fabric.thread() == 0)
        status = fabric.wait(arrived.from(fabric.lane(), left), Compare::ge, call + 1);
      if (fabric.converge(status) != WaitStatus::ok) return;
      expect_from(fabric, ends.target, left, call);
      fabric.converge();
      // "I have read": the left neighbour may write again. Relaxed: nothing is said but that.
      if (fabric.thread() == 0) {
        fabric.notify(read.from(fabric.lane(), fabric.rank()), left, call + 1, NotifyOp::set,
                      Order::relaxed);
        status =
            fabric.wait(read.from(fabric.lane(), right), Compare::ge, call + 1, Order::relaxed);
      }
      // On rdma two puts to one place are unordered, however long the first is done.
      status = worst(status, fabric.flush());
      if (fabric.converge(status) != WaitStatus::ok) return;
    }
  });
}

MUSTER_CHECK(remote_add, {.ranks = 3,
                          .calls = 2,
                          .group = "transfer",
                          .about = "all ranks add to one region; a barrier orders the reader"}) {
  const Ends ends = make_ends(team, lanes);
  const muster::EpochBarrier barrier(team);
  const muster::EpochBarrier tail(team);  // of its own: a relaxed deposit must not hide a release
  (void)team.lanes(lanes, [&](auto& fabric) {
    const auto transfer =
        *make_transfer(ends.target, ends.source, region_of(fabric.lane()), chunks);
    std::int64_t total = 0;
    for (std::uint32_t call = 0; call < calls; ++call) {
      fill(fabric, ends.source, call);
      fabric.converge();
      // The lane together, so not for_each_peer, which strides over its threads.
      for (std::uint32_t step = 1; step < fabric.size(); ++step)
        muster::remote_add<2, 2>(fabric, transfer, muster::right_of(fabric, step));
      if (barrier.sync(fabric) != WaitStatus::ok) return;
      for (std::uint32_t rank = 0; rank < fabric.size(); ++rank)
        if (Rank{rank} != fabric.rank()) total += value(Rank{rank}, call, 0);
      if (fabric.thread() == 0)
        muster::expect(
            fabric,
            fabric.local(ends.target)[ends.target.at(fabric.lane().value * rows, 1)] == total,
            "the sum of all peers' numbers");
      if (tail.sync(fabric, muster::use::exit) != WaitStatus::ok) return;
    }
  });
}
