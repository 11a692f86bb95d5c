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

// Who has a part for each rank, and who gets one of each: a gather has one part, for all, and a
// reduction gets one, of all.
enum class CountedShape { exchange, gather, reduction };

// The three of them, called alike: run(fabric, to, rooms, received, from, parts).
template <class T>
struct CountedExchange {
  static constexpr CountedShape shape = CountedShape::exchange;
  using Op = Sum;
  AllToAllV<T, collective_tile> object;

  template <class F>
  WaitStatus run(F& fabric, MemoryRef<T> to, Parts rooms, MemoryRef<std::int64_t> received,
                 MemoryRef<T> from, Parts parts) const {
    return object.run(fabric, to, rooms, received, from, parts);
  }
};
template <class T>
struct Gathering {
  static constexpr CountedShape shape = CountedShape::gather;
  using Op = Sum;
  AllGatherV<T, collective_tile> object;

  template <class F>
  WaitStatus run(F& fabric, MemoryRef<T> to, Parts rooms, MemoryRef<std::int64_t> received,
                 MemoryRef<T> from, Parts parts) const {
    return object.run(fabric, to, rooms, received, from, parts.counts.data[0]);
  }
};
template <class T, class Operator>
struct Reduction {
  static constexpr CountedShape shape = CountedShape::reduction;
  using Op = Operator;
  ReduceScatterV<T, collective_tile> object;

  template <class F>
  WaitStatus run(F& fabric, MemoryRef<T> to, Parts /*rooms*/, MemoryRef<std::int64_t> /*received*/,
                 MemoryRef<T> from, Parts parts) const {
    return object.run(fabric, to, from, parts, Op{});
  }
};

template <class Team, class T, class Collective>
Result<void> counted_parts(Team& team) {
  constexpr CountedShape shape = Collective::shape;
  using Op = typename Collective::Op;
  const Collective collective{decltype(Collective::object)(team, {.chunk = collective_chunk})};
  const std::uint32_t own = team.rank().value;
  const std::uint32_t ranks = team.size();
  Checks checks;
  each_size([&](std::uint32_t lanes, std::int64_t most, std::uint32_t call) {
    const auto count = [&](std::uint32_t source, std::uint32_t target) {
      return ragged(shape == CountedShape::reduction ? 0 : source,
                    shape == CountedShape::gather ? 0 : target, call, most);
    };
    const auto first = [](std::uint32_t to) {
      return Collective::shape == CountedShape::gather ? 0 : 1000 * std::int64_t{to};
    };
    // Places differ from rank to rank.
    const Layout sent(shape == CountedShape::gather ? 1 : ranks,
                      shape == CountedShape::gather ? 0 : 1 + own % 3,
                      [&](std::uint32_t to) { return count(own, to); });
    const Layout rooms(shape == CountedShape::reduction ? 1 : ranks,
                       shape == CountedShape::reduction ? 0 : 2,
                       [&](std::uint32_t) { return most; });
    std::vector<T> from = poisoned<T>(sent.size());
    sent.each([&](std::uint32_t to, std::int64_t i, std::int64_t at) {
      from[static_cast<std::size_t>(at)] = element_of<T, Op>(own, call, first(to) + i);
    });
    std::vector<T> to = poisoned<T>(rooms.size() + 1);
    std::vector<std::int64_t> received(ranks, -1);
    checks.ok(delayed(team, lanes,
                      [&](auto& fabric) {
                        return collective.run(fabric, memory_of(to), rooms.parts(),
                                              memory_of(received), memory_of(from), sent.parts());
                      }),
              "the call");
    for (std::uint32_t rank = 0; rank < ranks && shape != CountedShape::reduction; ++rank)
      checks.equal(received[rank], count(rank, own), "what a rank has sent");
    std::vector<bool> is_part(to.size());
    rooms.each([&](std::uint32_t rank, std::int64_t i, std::int64_t at) {
      if (i >= count(rank, own)) return;
      const auto place = static_cast<std::size_t>(at);
      is_part[place] = true;
      if constexpr (shape == CountedShape::reduction)
        checks.holds(is_result<T, Op>(to[place], ranks, call, first(own) + i), "a result");
      else
        checks.holds(to[place] == element_of<T, Op>(rank, call, first(own) + i), "an element");
    });
    for (std::size_t at = 0; at < to.size(); ++at)
      checks.holds(is_part[at] || to[at] == convert<T>(77), "what lies beside the parts");
  });
  return checks.done();
}

// One rank is wrong: all are told the same, nothing moves, and the next call is as good as any.
template <class Team, class Collective>
class RefusedAlike {
 public:
  using Kind = CountFault::Kind;
  using End = CountFault::End;
  static constexpr CountedShape shape = Collective::shape;

  explicit RefusedAlike(Team& team)
      : team_(team), collective_{decltype(Collective::object)(team, {.chunk = collective_chunk})} {}

  Result<void> done() {
    const std::int64_t held = 4 * std::int64_t{team_.size()} + 3;
    const std::int64_t kept = 5 * std::int64_t{team_.size()};
    nothing_wrong();
    if constexpr (shape != CountedShape::gather) {
      call({Kind::count, wrong_, {}, -1, held, End::from},
           [](auto& sent, auto&) { sent.count(0) = -1; });
      call({Kind::count, wrong_, {}, held + 1, held, End::from},
           [&](auto& sent, auto&) { sent.count(0) = held + 1; });
      for (const std::int64_t place : {std::int64_t{-1}, INT64_MIN, held + 1, INT64_MAX})
        call({Kind::place, wrong_, {}, place, held, End::from},
             [&](auto& sent, auto&) { sent.place(0) = place; });
    }
    nothing_wrong();
    if constexpr (shape != CountedShape::reduction) {
      for (const std::int64_t place : {std::int64_t{-1}, INT64_MIN, kept + 1, INT64_MAX})
        call({Kind::place, wrong_, {}, place, kept, End::to},
             [&](auto&, auto& rooms) { rooms.place(0) = place; });
      call({Kind::count, wrong_, {}, -2, kept, End::to},
           [](auto&, auto& rooms) { rooms.count(0) = -2; });
    } else if (team_.size() > 1) {
      call({Kind::differs, wrong_, {}, 3, 4, End::from},
           [](auto& sent, auto&) { sent.count(0) = 3; });
    }
    if constexpr (shape == CountedShape::exchange)
      call({Kind::beyond, wrong_, {}, 6, 5, End::from},
           [](auto& sent, auto&) { sent.count(0) = 6; });
    nothing_wrong();
    return checks_.done();
  }

 private:
  void nothing_wrong() {
    call({}, [](auto&, auto&) {});
  }

  template <class Spoil>
  void call(CountFault right, Spoil&& spoil) {
    const std::uint32_t ranks = team_.size();
    Layout sent(ranks, 0, [](std::uint32_t) { return 4; });
    Layout rooms(ranks, 0, [](std::uint32_t) { return 5; });
    std::vector<float> from(static_cast<std::size_t>(sent.size() + 3), 1);
    std::vector<float> to = poisoned<float>(rooms.size());
    if (team_.rank() == wrong_) spoil(sent, rooms);
    for (const std::uint32_t lanes : {1U, 2U}) {
      std::vector<CountFault> told(lanes);
      std::vector<WaitStatus> ended(lanes);
      (void)team_.lanes(lanes, [&](auto& fabric) {
        const std::uint32_t lane = fabric.lane().value;
        ended[lane] = collective_.run(fabric, memory_of(to), rooms.parts(), nothing<std::int64_t>(),
                                      memory_of(from), sent.parts());
        told[lane] = collective_.object.fault(fabric);
      });
      for (std::uint32_t lane = 0; lane < lanes; ++lane) judge(right, ended[lane], told[lane], to);
    }
  }

  void judge(const CountFault& right, WaitStatus ended, const CountFault& told,
             const std::vector<float>& to) {
    const bool is_fine = right.kind == Kind::none;
    checks_.equal(ended, is_fine ? WaitStatus::ok : WaitStatus::invalid, "how a lane has ended");
    checks_.equal(told.kind, right.kind, "what is wrong");
    if (is_fine) return;
    checks_.equal(told.rank, right.rank, "whose it is");
    checks_.equal(told.peer, right.peer, "about whom");
    checks_.equal(told.count, right.count, "the count, or the place");
    checks_.equal(told.capacity, right.capacity, "the capacity");
    checks_.equal(told.end, right.end, "the end");
    for (const float one : to) checks_.equal(one, 77.0F, "what must not have been written");
  }

  Team& team_;
  Collective collective_;
  Rank wrong_{team_.size() - 1};
  Checks checks_;
};

template <class Team, class Collective>
Result<void> counts_are_refused_alike(Team& team) {
  return RefusedAlike<Team, Collective>(team).done();
}

template <class Team>
std::vector<Case<Team>> counted_cases() {
  return {
      {"AllToAllVFloat", counted_parts<Team, float, CountedExchange<float>>, Sizes::all},
      {"AllToAllVInt8", counted_parts<Team, std::int8_t, CountedExchange<std::int8_t>>, Sizes::few},
      {"AllToAllVDouble", counted_parts<Team, double, CountedExchange<double>>, Sizes::few},
      {"AllGatherVFloat", counted_parts<Team, float, Gathering<float>>, Sizes::all},
      {"AllGatherVUint16", counted_parts<Team, std::uint16_t, Gathering<std::uint16_t>>,
       Sizes::few},
      {"ReduceScatterVFloat", counted_parts<Team, float, Reduction<float, Sum>>, Sizes::all},
      {"ReduceScatterVBfloat16", counted_parts<Team, bfloat16, Reduction<bfloat16, Sum>>,
       Sizes::few},
      {"ReduceScatterVInt64Max", counted_parts<Team, std::int64_t, Reduction<std::int64_t, Max>>,
       Sizes::few},
      {"AllToAllVRefusesAlike", counts_are_refused_alike<Team, CountedExchange<float>>, Sizes::all},
      {"AllGatherVRefusesAlike", counts_are_refused_alike<Team, Gathering<float>>, Sizes::few},
      {"ReduceScatterVRefusesAlike", counts_are_refused_alike<Team, Reduction<float, Sum>>,
       Sizes::few},
  };
}

}  // namespace muster::conformance
