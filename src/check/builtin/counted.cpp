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

// Who has parts, and who gets some: a gather has one, for all, and a reduction gets one, of all.
enum class Kind { exchange, gather, reduction };

// Call after call with other counts and other elements. call(fabric, ends, rooms, sent) makes it.
template <Kind kind, class Call>
void counted(Team& team, std::uint32_t lanes, std::uint32_t calls, Call&& call_once) {
  const std::uint32_t ranks = team.size();
  const std::uint32_t given = kind == Kind::gather ? 1 : ranks;
  const std::uint32_t kept = kind == Kind::reduction ? 1 : ranks;
  const Pages pages(team, calls, capacity * kept, capacity * given);
  each_call(team, lanes, calls, [&](auto& fabric, std::uint32_t call) {
    const auto [to, from] = pages.of(call);
    const std::uint32_t own = fabric.rank().value;
    const auto count = [&](std::uint32_t source, std::uint32_t target) {
      return count_of(kind == Kind::reduction ? 0 : source, kind == Kind::gather ? 0 : target,
                      call);
    };
    const auto first = [](std::uint32_t target) { return kind == Kind::gather ? 0 : 10 * target; };
    for (std::uint32_t peer = 0; peer < given; ++peer)
      each_of_part(fabric, from, peer * capacity, count(own, peer), true,
                   [&](std::int64_t i) { return value(own, call, first(peer) + i); });
    const Plan sent(ranks, [&](std::uint32_t peer) { return count(own, peer); });
    const Plan rooms(ranks, [](std::uint32_t) { return capacity; });
    const WaitStatus status = call_once(fabric, Ends{to, from}, rooms.parts(), sent.parts());
    for (std::uint32_t peer = 0; peer < kept && status == WaitStatus::ok; ++peer)
      each_of_part(fabric, to, peer * capacity, count(peer, own), false, [&](std::int64_t i) {
        return kind == Kind::reduction ? sum_of_values(ranks, call, first(own) + i)
                                       : value(peer, call, first(own) + i);
      });
    return status;
  });
}

}  // namespace

MUSTER_CHECK(all_to_all_v,
             {.ranks = 3, .calls = 3, .about = "a part of any length of each rank's to each"}) {
  const muster::AllToAllV<T, tile> exchange(team, {.chunk = 2 * team.size()});
  counted<Kind::exchange>(team, lanes, calls, [&](auto& fabric, Ends ends, auto rooms, auto sent) {
    return exchange.run(fabric, ends.to, rooms, not_wanted, ends.from, sent);
  });
}

MUSTER_CHECK(all_gather_v,
             {.ranks = 3, .calls = 3, .about = "what all ranks have, of any length, to each"}) {
  const muster::AllGatherV<T, tile> gather(team, {.chunk = 2});
  counted<Kind::gather>(team, lanes, calls, [&](auto& fabric, Ends ends, auto rooms, auto sent) {
    return gather.run(fabric, ends.to, rooms, not_wanted, ends.from, sent.counts.data[0]);
  });
}

MUSTER_CHECK(reduce_scatter_v,
             {.ranks = 3, .calls = 3, .about = "a part of the sums, of any length, to each rank"}) {
  const muster::ReduceScatterV<T, tile> sums(team, {.chunk = 2 * team.size()});
  counted<Kind::reduction>(team, lanes, calls, [&](auto& fabric, Ends ends, auto, auto parts) {
    return sums.run(fabric, ends.to, ends.from, parts);
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
