// Collectives whose counts vary from rank to rank and from call to call: ragged, 0, 1, beyond the
// staging; what is refused, on all ranks alike; ranks delayed at random.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/rooted_bodies.hpp"

namespace muster::conformance {

// How many elements `from` has for `to` in a call, of which `most` is a bound: often none.
[[nodiscard]] inline std::int64_t ragged(std::uint32_t from, std::uint32_t to, std::uint32_t call,
                                         std::int64_t most) {
  const std::uint64_t draw = mixed(from * 977 + to * 31 + call * 7919 + 1);
  return draw % 4 == 0 ? 0 : static_cast<std::int64_t>((draw >> 8U) % (most + 1));
}

// Parts of a run, in the order of the ranks, `gap` elements between them.
class Layout {
 public:
  template <class Count>
  Layout(std::uint32_t ranks, std::int64_t gap, Count&& count) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      places_.push_back(size_ + gap);
      counts_.push_back(count(rank));
      size_ = places_.back() + counts_.back();
    }
  }
  [[nodiscard]] Parts parts() const {
    const auto ranks = static_cast<std::int64_t>(counts_.size());
    return {{counts_.data(), 1, ranks}, {places_.data(), 1, ranks}};
  }
  [[nodiscard]] std::int64_t& count(std::uint32_t rank) { return counts_[rank]; }
  [[nodiscard]] std::int64_t place(std::uint32_t rank) const { return places_[rank]; }
  [[nodiscard]] std::int64_t& place(std::uint32_t rank) { return places_[rank]; }
  [[nodiscard]] std::int64_t size() const { return size_; }

  // Element `at` of the run belongs to which part, or to none.
  template <class Visit>
  void each(Visit&& visit) const {
    for (std::uint32_t rank = 0; rank < counts_.size(); ++rank)
      for (std::int64_t i = 0; i < counts_[rank]; ++i) visit(rank, i, places_[rank] + i);
  }

 private:
  std::vector<std::int64_t> counts_;
  std::vector<std::int64_t> places_;
  std::int64_t size_ = 0;
};

// What was expected in parts, and what no call gives around them.
template <class T, class Expected>
[[nodiscard]] bool holds_parts(const std::vector<T>& to, const Layout& rooms,
                               const std::vector<std::int64_t>& counts, Expected&& expected) {
  std::vector<T> right = poisoned<T>(static_cast<std::int64_t>(to.size()));
  rooms.each([&](std::uint32_t rank, std::int64_t i, std::int64_t at) {
    if (i < counts[rank]) right[static_cast<std::size_t>(at)] = expected(rank, i);
  });
  return to == right;
}

template <class Team, class T>
Result<void> all_to_all_v_parts(Team& team) {
  const AllToAllV<T, collective_tile> exchange(team, {.chunk = collective_chunk});
  const std::uint32_t own = team.rank().value;
  const std::uint32_t ranks = team.size();
  Checks checks;
  each_size([&](std::uint32_t lanes, std::int64_t most, std::uint32_t call) {
    const Layout sent(ranks, 1, [&](std::uint32_t to) { return ragged(own, to, call, most); });
    const Layout rooms(ranks, 2, [&](std::uint32_t) { return most; });
    std::vector<T> from = poisoned<T>(sent.size());
    sent.each([&](std::uint32_t to, std::int64_t i, std::int64_t at) {
      from[static_cast<std::size_t>(at)] = element_of<T, Sum>(own * 64 + to, call, i);
    });
    std::vector<T> to = poisoned<T>(rooms.size());
    std::vector<std::int64_t> received(ranks, -1);
    checks.ok(delayed(team, lanes,
                      [&](auto& fabric) {
                        return exchange.run(fabric, memory_of(to), rooms.parts(),
                                            memory_of(received), memory_of(from), sent.parts());
                      }),
              "the call");
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      checks.equal(received[rank], ragged(rank, own, call, most), "what a rank has sent");
    checks.holds(holds_parts(to, rooms, received,
                             [&](std::uint32_t rank, std::int64_t i) {
                               return element_of<T, Sum>(rank * 64 + own, call, i);
                             }),
                 "the parts, and nothing beside them");
  });
  return checks.done();
}

template <class Team, class T>
Result<void> all_gather_v_parts(Team& team) {
  const AllGatherV<T, collective_tile> gather(team, {.chunk = collective_chunk});
  const std::uint32_t own = team.rank().value;
  const std::uint32_t ranks = team.size();
  Checks checks;
  each_size([&](std::uint32_t lanes, std::int64_t most, std::uint32_t call) {
    const Layout rooms(ranks, 1, [&](std::uint32_t) { return most; });
    const std::int64_t count = ragged(own, 0, call, most);
    std::vector<T> from = input_of<T, Sum>(own, call, count);
    std::vector<T> to = poisoned<T>(rooms.size());
    std::vector<std::int64_t> received(ranks, -1);
    checks.ok(delayed(team, lanes,
                      [&](auto& fabric) {
                        return gather.run(fabric, memory_of(to), rooms.parts(), memory_of(received),
                                          memory_of(from), count);
                      }),
              "the call");
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      checks.equal(received[rank], ragged(rank, 0, call, most), "what a rank has");
    checks.holds(holds_parts(to, rooms, received,
                             [&](std::uint32_t rank, std::int64_t i) {
                               return element_of<T, Sum>(rank, call, i);
                             }),
                 "the parts, and nothing beside them");
  });
  return checks.done();
}

template <class Team, class T, class Op>
Result<void> reduce_scatter_v_parts(Team& team) {
  const ReduceScatterV<T, collective_tile> sums(team, {.chunk = collective_chunk});
  const std::uint32_t own = team.rank().value;
  const std::uint32_t ranks = team.size();
  Checks checks;
  each_size([&](std::uint32_t lanes, std::int64_t most, std::uint32_t call) {
    // Places differ from rank to rank, counts do not.
    const Layout parts(ranks, own % 3, [&](std::uint32_t to) { return ragged(0, to, call, most); });
    std::vector<T> from = poisoned<T>(parts.size());
    parts.each([&](std::uint32_t to, std::int64_t i, std::int64_t at) {
      from[static_cast<std::size_t>(at)] = element_of<T, Op>(own, call, 1000 * to + i);
    });
    std::vector<T> to = poisoned<T>(most + 1);
    checks.ok(delayed(team, lanes,
                      [&](auto& fabric) {
                        return sums.run(fabric, memory_of(to), memory_of(from), parts.parts(),
                                        Op{});
                      }),
              "the call");
    const std::int64_t count = ragged(0, own, call, most);
    for (std::int64_t i = 0; i <= most; ++i) {
      const T seen = to[static_cast<std::size_t>(i)];
      checks.holds(
          i < count ? is_result<T, Op>(seen, ranks, call, 1000 * own + i) : seen == convert<T>(77),
          "an element of the part, or behind it");
    }
  });
  return checks.done();
}

// One rank is wrong: all are told the same, nothing moves, and the next call is as good as any.
template <class Team>
Result<void> counts_are_refused_alike(Team& team) {
  using Kind = CountFault::Kind;
  const AllToAllV<float, collective_tile> exchange(team, {.chunk = collective_chunk});
  const std::uint32_t ranks = team.size();
  const Rank wrong{ranks - 1};
  Checks checks;
  const auto call = [&](Kind kind, std::int64_t count, std::int64_t capacity, auto&& spoil) {
    Layout sent(ranks, 0, [](std::uint32_t) { return 4; });
    Layout rooms(ranks, 0, [](std::uint32_t) { return 5; });
    std::vector<float> from(static_cast<std::size_t>(sent.size() + 3), 1);
    std::vector<float> to = poisoned<float>(rooms.size());
    if (team.rank() == wrong) spoil(sent, rooms);
    for (const std::uint32_t lanes : {1U, 2U}) {
      std::vector<CountFault> told(lanes);
      std::vector<WaitStatus> ended(lanes);
      (void)team.lanes(lanes, [&](auto& fabric) {
        const std::uint32_t lane = fabric.lane().value;
        ended[lane] = exchange.run(fabric, memory_of(to), rooms.parts(), nothing<std::int64_t>(),
                                   memory_of(from), sent.parts());
        told[lane] = exchange.fault(fabric);
      });
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        checks.equal(ended[lane], kind == Kind::none ? WaitStatus::ok : WaitStatus::invalid,
                     "how a lane has ended");
        checks.equal(told[lane].kind, kind, "what is wrong");
        if (kind == Kind::none) continue;
        checks.equal(told[lane].rank, wrong, "whose it is");
        checks.equal(told[lane].peer, Rank{0}, "about whom");
        checks.equal(told[lane].count, count, "the count");
        checks.equal(told[lane].capacity, capacity, "the capacity");
        for (const float one : to) checks.equal(one, 77.0F, "what must not have been written");
      }
    }
  };
  const auto nothing_wrong = [&] { call(Kind::none, 0, 0, [](Layout&, Layout&) {}); };
  const std::int64_t held = 4 * std::int64_t{ranks} + 3;
  nothing_wrong();
  call(Kind::count, -1, held, [](Layout& sent, Layout&) { sent.count(0) = -1; });
  call(Kind::count, held + 1, held, [&](Layout& sent, Layout&) { sent.count(0) = held + 1; });
  call(Kind::count, 4, 0, [&](Layout& sent, Layout&) { sent.place(0) = -1; });
  nothing_wrong();
  call(Kind::room, 5, 0, [](Layout&, Layout& rooms) { rooms.place(0) = 1000; });
  call(Kind::room, -2, 5 * std::int64_t{ranks},
       [](Layout&, Layout& rooms) { rooms.count(0) = -2; });
  call(Kind::beyond, 6, 5, [](Layout& sent, Layout&) { sent.count(0) = 6; });
  nothing_wrong();
  return checks.done();
}

template <class Team>
std::vector<Case<Team>> counted_cases() {
  return {
      {"AllToAllVFloat", all_to_all_v_parts<Team, float>, Sizes::all},
      {"AllToAllVInt8", all_to_all_v_parts<Team, std::int8_t>, Sizes::few},
      {"AllToAllVDouble", all_to_all_v_parts<Team, double>, Sizes::few},
      {"AllGatherVFloat", all_gather_v_parts<Team, float>, Sizes::all},
      {"AllGatherVUint16", all_gather_v_parts<Team, std::uint16_t>, Sizes::few},
      {"ReduceScatterVFloat", reduce_scatter_v_parts<Team, float, Sum>, Sizes::all},
      {"ReduceScatterVBfloat16", reduce_scatter_v_parts<Team, bfloat16, Sum>, Sizes::few},
      {"ReduceScatterVInt64Max", reduce_scatter_v_parts<Team, std::int64_t, Max>, Sizes::few},
      {"CountsAreRefusedAlike", counts_are_refused_alike<Team>, Sizes::all},
  };
}

}  // namespace muster::conformance
