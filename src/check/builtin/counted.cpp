// The collectives whose counts vary: from rank to rank and from call to call, some of them 0.
#include <cstdint>
#include <vector>

#include "check/builtin/collective_values.hpp"
#include "muster/check.hpp"
#include "muster/collective.hpp"

namespace {

using namespace muster::check::collectives;
using muster::CountFault;
using muster::MemoryRef;
using muster::Rank;
using muster::WaitStatus;
using muster::WindowRef;

constexpr std::int64_t capacity = 5;  // of a part: more than a piece, and ragged

std::int64_t count_of(std::uint32_t from, std::uint32_t to, std::uint32_t call) {
  return (2 * from + 3 * to + 4 * call) % (capacity + 1);
}

// What a thread passes to a call, in memory of its own: parts of so many elements, each at a place
// of its own.
struct Plan {
  template <class Count>
  Plan(std::uint32_t ranks, Count&& count) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      counts.push_back(count(rank));
      places.push_back(std::int64_t{rank} * capacity);
    }
  }
  [[nodiscard]] muster::Parts parts() const {
    const auto size = static_cast<std::int64_t>(counts.size());
    return {{counts.data(), 1, size}, {places.data(), 1, size}};
  }

  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> places;
};

constexpr MemoryRef<std::int64_t> not_wanted{nullptr, 1, 0};

// Windows with a row for each call: where counts differ from call to call, so do the shares of
// lanes, which must not meet in one place.
struct Pages {
  Pages(Team& team, std::uint32_t calls, std::int64_t to_count, std::int64_t from_count)
      : to(*team.window<T>({calls, to_count}, "to")),
        from(*team.window<T>({calls, from_count}, "from")) {}

  static WindowRef<T> row(WindowRef<T> window, std::uint32_t call) {
    window.offset += static_cast<std::uint64_t>(call * window.cols) * sizeof(T);
    window.rows = 1;
    return window;
  }
  [[nodiscard]] Ends of(std::uint32_t call) const { return {row(to, call), row(from, call)}; }

  WindowRef<T> to;
  WindowRef<T> from;
};

// The lane's own share of a part of `count` elements from `first` on becomes make(i), or is that.
template <class F, class Make>
void each_of_part(F& fabric, WindowRef<T> window, std::int64_t first, std::int64_t count,
                  bool writes, Make&& make) {
  const muster::Share mine = part_of(fabric, count);
  auto element = fabric.template tile<T, 1, 1>();
  for (std::int64_t i = mine.first; i < mine.end(); ++i) {
    const muster::Box box{0, first + i, 1, 1};
    if (!writes) fabric.load(element, window, box);
    element.each([&](std::int64_t, std::int64_t, T& one) {
      if (writes)
        one = make(i);
      else
        muster::expect(fabric, one == make(i), "an element of a part");
    });
    if (writes) fabric.store(element, window, box);
  }
}

}  // namespace

MUSTER_CHECK(all_to_all_v,
             {.ranks = 3, .calls = 3, .about = "a part of any length of each rank's to each"}) {
  const muster::AllToAllV<T, tile> exchange(team, {.chunk = 2 * team.size()});
  const std::uint32_t ranks = team.size();
  const Pages pages(team, calls, capacity * ranks, capacity * ranks);
  each_call(team, lanes, calls, [&](auto& fabric, std::uint32_t call) {
    const auto [to, from] = pages.of(call);
    const std::uint32_t own = fabric.rank().value;
    const Plan sent(ranks, [&](std::uint32_t peer) { return count_of(own, peer, call); });
    const Plan rooms(ranks, [](std::uint32_t) { return capacity; });
    for (std::uint32_t peer = 0; peer < ranks; ++peer)
      each_of_part(fabric, from, peer * capacity, count_of(own, peer, call), true,
                   [&](std::int64_t i) { return value(own, call, 10 * peer + i); });
    const WaitStatus status =
        exchange.run(fabric, to, rooms.parts(), not_wanted, from, sent.parts());
    for (std::uint32_t peer = 0; peer < ranks && status == WaitStatus::ok; ++peer)
      each_of_part(fabric, to, peer * capacity, count_of(peer, own, call), false,
                   [&](std::int64_t i) { return value(peer, call, 10 * own + i); });
    return status;
  });
}

MUSTER_CHECK(all_gather_v,
             {.ranks = 3, .calls = 3, .about = "what all ranks have, of any length, to each"}) {
  const muster::AllGatherV<T, tile> gather(team, {.chunk = 2});
  const std::uint32_t ranks = team.size();
  const Pages pages(team, calls, capacity * ranks, capacity);
  each_call(team, lanes, calls, [&](auto& fabric, std::uint32_t call) {
    const auto [to, from] = pages.of(call);
    const std::uint32_t own = fabric.rank().value;
    const Plan rooms(ranks, [](std::uint32_t) { return capacity; });
    const std::int64_t count = count_of(own, 0, call);
    each_of_part(fabric, from, 0, count, true, [&](std::int64_t i) { return value(own, call, i); });
    const WaitStatus status = gather.run(fabric, to, rooms.parts(), not_wanted, from, count);
    for (std::uint32_t peer = 0; peer < ranks && status == WaitStatus::ok; ++peer)
      each_of_part(fabric, to, peer * capacity, count_of(peer, 0, call), false,
                   [&](std::int64_t i) { return value(peer, call, i); });
    return status;
  });
}

MUSTER_CHECK(reduce_scatter_v,
             {.ranks = 3, .calls = 3, .about = "a part of the sums, of any length, to each rank"}) {
  const muster::ReduceScatterV<T, tile> sums(team, {.chunk = 2 * team.size()});
  const std::uint32_t ranks = team.size();
  const Pages pages(team, calls, capacity, capacity * ranks);
  each_call(team, lanes, calls, [&](auto& fabric, std::uint32_t call) {
    const auto [to, from] = pages.of(call);
    const std::uint32_t own = fabric.rank().value;
    const Plan parts(ranks, [&](std::uint32_t peer) { return count_of(0, peer, call); });
    for (std::uint32_t peer = 0; peer < ranks; ++peer)
      each_of_part(fabric, from, peer * capacity, count_of(0, peer, call), true,
                   [&](std::int64_t i) { return value(own, call, 10 * peer + i); });
    const WaitStatus status = sums.run(fabric, to, from, parts.parts());
    if (status == WaitStatus::ok)
      each_of_part(fabric, to, 0, count_of(0, own, call), false,
                   [&](std::int64_t i) { return sum_of_values(ranks, call, 10 * own + i); });
    return status;
  });
}

// In the second call the last rank sends more than the first has room for: all are told, nothing
// moves, and the third call is as good as the first.
MUSTER_CHECK(refused, {.ranks = 3,
                       .calls = 3,
                       .group = "all_to_all_v",
                       .about = "a count beyond the capacity is told to all ranks"}) {
  const muster::AllToAllV<T, tile> exchange(team, {.chunk = 2 * team.size()});
  const std::uint32_t ranks = team.size();
  const Rank last{ranks - 1};
  const Pages pages(team, calls, capacity * ranks, capacity * ranks + 1);
  each_call(team, lanes, calls, [&](auto& fabric, std::uint32_t call) {
    const auto [to, from] = pages.of(call);
    const bool is_wrong = call % 2 == 1;
    Plan sent(ranks, [](std::uint32_t) { return 1; });
    if (is_wrong && fabric.rank() == last) sent.counts[0] = capacity + 1;
    const Plan rooms(ranks, [](std::uint32_t) { return capacity; });
    for (std::uint32_t peer = 0; peer < ranks; ++peer)
      each_of_part(fabric, from, peer * capacity, 1, true,
                   [&](std::int64_t) { return value(fabric.rank().value, call, peer); });
    const WaitStatus status =
        exchange.run(fabric, to, rooms.parts(), not_wanted, from, sent.parts());
    if (!is_wrong) return status;
    const CountFault fault = exchange.fault(fabric);
    muster::expect(fabric, status == WaitStatus::invalid, "all ranks are refused");
    muster::expect(fabric,
                   fault.kind == CountFault::Kind::beyond && fault.rank == last &&
                       fault.peer == Rank{0} && fault.count == capacity + 1 &&
                       fault.capacity == capacity,
                   "all ranks are told why");
    return status == WaitStatus::invalid ? WaitStatus::ok : WaitStatus::invalid;
  });
}
