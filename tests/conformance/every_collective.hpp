// Every collective and algorithm, one call of each at a time on one lane, with numbers of which
// each element of each result tells where it comes from. For tests that make many of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "muster/collective.hpp"
#include "muster/fabric.hpp"
#include "muster/team.hpp"

namespace muster::conformance::every {

using T = std::uint32_t;  // sums wrap

inline constexpr std::int64_t tile = 16;
inline constexpr std::int64_t chunk = 64;  // many pieces
inline constexpr std::int64_t most = 5 * chunk + 7;

enum class Kind : std::uint32_t {
  one_shot,
  two_phase,
  ring,
  direct,
  reduce_scatter,
  all_gather,
  all_to_all,
  broadcast,
  reduce,
  gather,
  scatter,
  all_to_all_v,
  all_gather_v,
  reduce_scatter_v,
  send_receive,
  kinds
};
inline constexpr auto kinds = static_cast<std::uint32_t>(Kind::kinds);

// What a rank has at a place in a call.
inline T value(std::uint32_t rank, std::uint32_t call, std::int64_t at) {
  const T bits = (rank + 1) * 0x9e3779b1U ^ call * 0x85ebca77U ^ static_cast<T>(at) * 0xc2b2ae3dU;
  return bits ^ bits >> 15U;
}
inline T sum(std::uint32_t ranks, std::uint32_t call, std::int64_t at) {
  T all = 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) all += value(rank, call, at);
  return all;
}

inline MemoryRef<T> run_of(std::vector<T>& elements, std::int64_t count) {
  return {elements.data(), 1, count};
}

struct Objects {
  explicit Objects(Team& team)
      : one_shot(team, {.algorithm = Algorithm::one_shot, .chunk = chunk}),
        two_phase(team, {.algorithm = Algorithm::two_phase, .chunk = chunk}),
        ring(team, {.algorithm = Algorithm::ring, .chunk = chunk}),
        direct(team, {.algorithm = Algorithm::direct, .chunk = chunk}),
        reduce_scatter(team, {.chunk = chunk}),
        all_gather(team, {.chunk = chunk}),
        all_to_all(team, {.chunk = chunk}),
        broadcast(team, {.chunk = chunk}),
        reduce(team, {.chunk = chunk}),
        gather(team, {.chunk = chunk}),
        scatter(team, {.chunk = chunk}),
        all_to_all_v(team, {.chunk = chunk}),
        all_gather_v(team, {.chunk = chunk}),
        reduce_scatter_v(team, {.chunk = chunk}),
        pairs(team, {.chunk = chunk}),
        window(*team.window<T>({most})) {}

  AllReduce<T, tile> one_shot, two_phase, ring, direct;
  ReduceScatter<T, tile> reduce_scatter;
  AllGather<T, tile> all_gather;
  AllToAll<T, tile> all_to_all;
  Broadcast<T, tile> broadcast;
  Reduce<T, tile> reduce;
  Gather<T, tile> gather;
  Scatter<T, tile> scatter;
  AllToAllV<T, tile> all_to_all_v;
  AllGatherV<T, tile> all_gather_v;
  ReduceScatterV<T, tile> reduce_scatter_v;
  SendReceive<T, tile> pairs;
  WindowRef<T> window;
};

// One lane's calls. What is drawn is drawn alike on all ranks, but for the delays.
template <class F>
class Caller {
 public:
  Caller(F& fabric, const Objects& objects)
      : fabric_(fabric),
        objects_(objects),
        ranks_(fabric.size()),
        rank_(fabric.rank().value),
        to_(static_cast<std::size_t>(most) * ranks_),
        from_(to_.size()),
        counts_(ranks_),
        places_(ranks_),
        rooms_(ranks_, most) {
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) places_[rank] = rank * most;
  }

  WaitStatus make(Kind kind, std::uint32_t call, std::int64_t count, Rank root) {
    call_ = call;
    std::fill(to_.begin(), to_.end(), 77U);
    for (std::size_t at = 0; at < from_.size(); ++at)
      from_[at] = value(rank_, call, static_cast<std::int64_t>(at));
    if (kind == Kind::direct) return in_window(count);
    if (kind >= Kind::all_to_all_v && kind <= Kind::reduce_scatter_v) return counted(kind, count);
    if (kind == Kind::send_receive) return round_the_ring(count);
    return plain(kind, count, root);
  }
  [[nodiscard]] bool is_right() const { return is_right_; }

 private:
  void look(T seen, T right) { is_right_ = is_right_ && seen == right; }
  void look_at(std::int64_t at, T right) { look(to_[static_cast<std::size_t>(at)], right); }

  WaitStatus plain(Kind kind, std::int64_t count, Rank root) {
    const bool is_root = root == fabric_.rank();
    const std::int64_t all = count * ranks_;
    const auto one = [&](std::vector<T>& memory) { return run_of(memory, count); };
    const auto each = [&](std::vector<T>& memory) { return run_of(memory, all); };
    const auto of_sums = [&](std::int64_t first) {
      for (std::int64_t i = 0; i < count; ++i) look_at(i, sum(ranks_, call_, first + i));
    };
    const auto rows = [&](bool turned) {
      for (std::int64_t i = 0; i < all; ++i)
        look_at(i, value(static_cast<std::uint32_t>(i / count), call_,
                         i % count + (turned ? rank_ * count : 0)));
    };
    switch (kind) {
      case Kind::one_shot:
        return then(objects_.one_shot.run(fabric_, one(to_), one(from_), count),
                    [&] { of_sums(0); });
      case Kind::two_phase:
        return then(objects_.two_phase.run(fabric_, one(to_), one(from_), count),
                    [&] { of_sums(0); });
      case Kind::ring:
        return then(objects_.ring.run(fabric_, one(to_), one(from_), count), [&] { of_sums(0); });
      case Kind::reduce_scatter:
        return then(objects_.reduce_scatter.run(fabric_, one(to_), each(from_), count),
                    [&] { of_sums(rank_ * count); });
      case Kind::all_gather:
        return then(objects_.all_gather.run(fabric_, each(to_), one(from_), count),
                    [&] { rows(false); });
      case Kind::all_to_all:
        return then(objects_.all_to_all.run(fabric_, each(to_), each(from_), count),
                    [&] { rows(true); });
      case Kind::broadcast:
        return then(objects_.broadcast.run(fabric_, one(to_), one(from_), count, root), [&] {
          for (std::int64_t i = 0; i < count; ++i) look_at(i, value(root.value, call_, i));
        });
      case Kind::reduce:
        return then(objects_.reduce.run(fabric_, one(to_), one(from_), count, root), [&] {
          if (is_root) of_sums(0);
        });
      case Kind::gather:
        return then(objects_.gather.run(fabric_, each(to_), one(from_), count, root), [&] {
          if (is_root) rows(false);
        });
      default:
        return then(objects_.scatter.run(fabric_, one(to_), each(from_), count, root), [&] {
          for (std::int64_t i = 0; i < count; ++i)
            look_at(i, value(root.value, call_, rank_ * count + i));
        });
    }
  }

  WaitStatus in_window(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
      fabric_.local(objects_.window)[i] = value(rank_, call_, i);
    return then(objects_.direct.run(fabric_, objects_.window, objects_.window, count), [&] {
      for (std::int64_t i = 0; i < count; ++i)
        look(fabric_.local(objects_.window)[i], sum(ranks_, call_, i));
    });
  }

  // Counts that differ from rank to rank, some of them 0.
  WaitStatus counted(Kind kind, std::int64_t count) {
    const auto length = [&](std::uint32_t from, std::uint32_t to) -> std::int64_t {
      if (kind == Kind::all_gather_v) to = 0;
      if (kind == Kind::reduce_scatter_v) from = 0;
      return (count + 7 * from + 13 * to) % (count + 1);
    };
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) counts_[rank] = length(rank_, rank);
    const auto parts = [&](const std::vector<std::int64_t>& counts) {
      return Parts{{counts.data(), 1, ranks_}, {places_.data(), 1, ranks_}};
    };
    const MemoryRef<T> to = run_of(to_, std::ssize(to_));
    const MemoryRef<T> from = run_of(from_, std::ssize(from_));
    const MemoryRef<std::int64_t> not_wanted{nullptr, 1, 0};
    const auto look_at_parts = [&](std::int64_t first) {
      for (std::uint32_t rank = 0; rank < ranks_; ++rank)
        for (std::int64_t i = 0; i < most; ++i)
          look_at(rank * most + i, i < length(rank, rank_) ? value(rank, call_, first + i) : T{77});
    };
    if (kind == Kind::all_to_all_v)
      return then(
          objects_.all_to_all_v.run(fabric_, to, parts(rooms_), not_wanted, from, parts(counts_)),
          [&] { look_at_parts(rank_ * most); });
    if (kind == Kind::all_gather_v)
      return then(
          objects_.all_gather_v.run(fabric_, to, parts(rooms_), not_wanted, from, counts_[0]),
          [&] { look_at_parts(0); });
    return then(objects_.reduce_scatter_v.run(fabric_, to, from, parts(counts_)), [&] {
      for (std::int64_t i = 0; i < most; ++i)
        look_at(i, i < length(0, rank_) ? sum(ranks_, call_, rank_ * most + i) : T{77});
    });
  }

  WaitStatus round_the_ring(std::int64_t count) {
    if (ranks_ == 1) return WaitStatus::ok;  // there is no neighbour
    const Rank left = left_of(fabric_);
    const bool sends_first = rank_ % 2 == 0;
    WaitStatus status = WaitStatus::ok;
    if (sends_first)
      status = objects_.pairs.send(fabric_, right_of(fabric_), run_of(from_, count), count);
    if (status == WaitStatus::ok)
      status = objects_.pairs.receive(fabric_, left, run_of(to_, count), count);
    if (status == WaitStatus::ok && !sends_first)
      status = objects_.pairs.send(fabric_, right_of(fabric_), run_of(from_, count), count);
    return then(status, [&] {
      for (std::int64_t i = 0; i < count; ++i) look_at(i, value(left.value, call_, i));
    });
  }

  template <class Look>
  static WaitStatus then(WaitStatus status, Look&& look) {
    if (status == WaitStatus::ok) look();
    return status;
  }

  F& fabric_;
  const Objects& objects_;
  std::uint32_t ranks_;
  std::uint32_t rank_;
  std::uint32_t call_ = 0;
  std::vector<T> to_;
  std::vector<T> from_;
  std::vector<std::int64_t> counts_;
  std::vector<std::int64_t> places_;
  std::vector<std::int64_t> rooms_;
  bool is_right_ = true;
};

}  // namespace muster::conformance::every
