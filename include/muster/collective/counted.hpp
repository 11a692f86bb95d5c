// Counted: what the collectives whose counts vary have alike. Who may begin, the counts told to
// all, and the rounds that follow, are here, once.
#pragma once

#include <cstdint>

#include "muster/collective/call.hpp"
#include "muster/collective/counts.hpp"
#include "muster/collective/stage.hpp"
#include "muster/fabric.hpp"

namespace muster::detail {

// What a call is, to all ranks alike.
struct CountedCall {
  const char* name;
  std::uint32_t op = no_operator;  // operator_code
  bool alike = false;              // all ranks say the same counts
  std::int64_t most = 0;           // of each part so many elements go in a round
  // Becomes what each rank sends to this one; empty where nobody wants to know.
  MemoryRef<std::int64_t> received{nullptr, 1, 0};
};

// The counts go round first (Counts), and then the elements through a Stage, in as many rounds as
// the longest part needs. The epochs of the two go on from call to call, so calls of one object may
// follow each other at once.
template <class T>
class Counted {
 public:
  Counted() = default;
  // `elements` > 0 are shown in a round.
  template <SetUp Team>
  Counted(Team& team, std::int64_t elements) : counts_(team), stage_(team, elements) {}

  // What a lane can show in one round.
  [[nodiscard]] MUSTER_FN constexpr std::int64_t elements() const { return stage_.elements(); }

  // Called by all threads of the lane; the same status to all. own() is what is wrong with what
  // this rank has given; count(p) is what it sends to rank p, and room(p) what it has room for of
  // rank p's. Where all is well, round(rounds, table, at) moves what lies from element `at` on in
  // the lane's share of each part: it shows, meets, and reads; false where the meeting has failed.
  template <Fabric F, class Own, class Count, class Room, class Round>
  MUSTER_FN WaitStatus run(F& fabric, const CountedCall& call, Own&& own, Count&& count,
                           Room&& room, Round&& round) const {
    const OneCall one(fabric);
    fabric.converge();  // other threads of the lane may have written what this one reads
    describe_collective<T>(fabric, call.name, counts_.rows(), call.op, 0);
    if (has_failed(fabric)) return WaitStatus::refused;
    const WaitStatus agreed = counts_.agree(fabric, own(), count, room, call.alike);
    if (agreed != WaitStatus::ok) return agreed;
    const auto table = counts_.table(fabric);
    if (fabric.lane() == Lane{0} && fabric.thread() == 0)
      for (std::int64_t rank = 0; rank < call.received.size(); ++rank)
        call.received.data[rank] =
            table.count(Rank{static_cast<std::uint32_t>(rank)}, fabric.rank());
    auto rounds = stage_.rounds(fabric);
    const std::int64_t longest = table.template longest<T>();
    for (std::int64_t at = 0; at < longest; at += call.most)
      if (!round(rounds, table, at)) break;
    return rounds.end();
  }

  // Why the last call of this lane was `invalid`: the same on all ranks.
  template <Fabric F>
  [[nodiscard]] MUSTER_FN CountFault fault(F& fabric, bool alike) const {
    return counts_.table(fabric).fault(alike);
  }

 private:
  // A call that failed in its data must not begin again with its counts.
  template <Fabric F>
  [[nodiscard]] MUSTER_FN bool has_failed(F& fabric) const {
    const bool failed = Refusal::stands(fabric, stage_.rows().refusal(fabric.lane()));
    fabric.converge();  // all threads have looked
    return failed;
  }

  Counts counts_;
  Stage<T> stage_;
};

// What is wrong with a rank's own parts of a run of `held` elements of `end`.
[[nodiscard]] MUSTER_FN constexpr CountFault fault_of(Parts parts, std::int64_t held,
                                                      CountFault::End end, Rank rank,
                                                      std::uint32_t ranks) {
  using Kind = CountFault::Kind;
  const auto lengths = [&](std::int64_t length) {
    return CountFault{Kind::parts, rank, rank, length, ranks, end};
  };
  if (parts.counts.size() != ranks) return lengths(parts.counts.size());
  if (parts.places.size() != ranks) return lengths(parts.places.size());
  for (std::uint32_t peer = 0; peer < ranks; ++peer) {
    const std::int64_t count = parts.counts.data[peer];
    const std::int64_t place = parts.places.data[peer];
    if (place < 0 || (place > held && count != 0))
      return {Kind::place, rank, Rank{peer}, place, held, end};
    const std::int64_t left = place > held ? 0 : held - place;
    if (count < 0 || count > left) return {Kind::count, rank, Rank{peer}, count, left, end};
  }
  return {};
}

// What is wrong with where a rank keeps what it gets, in the order of the arguments.
template <class To, class From>
[[nodiscard]] MUSTER_FN CountFault fault_of_rooms(To to, Parts rooms,
                                                  MemoryRef<std::int64_t> received, From from,
                                                  Rank rank, std::uint32_t ranks) {
  using Kind = CountFault::Kind;
  using End = CountFault::End;
  const CountFault kept = fault_of(rooms, to.size(), End::to, rank, ranks);
  if (kept.kind != Kind::none) return kept;
  if (received.size() != 0 && received.size() != ranks)
    return {Kind::parts, rank, rank, received.size(), ranks, End::received};
  if (!holds_call(to, to.size(), from, from.size(), nowhere))
    return {Kind::overlap, rank, rank, from.size(), to.size(), End::to};
  return {};
}

// The part of a share that goes in the round that begins at `at`, of at most `most` elements.
[[nodiscard]] MUSTER_FN constexpr std::int64_t piece_of(Share share, std::int64_t at,
                                                        std::int64_t most) {
  const std::int64_t left = share.count - at;
  return left < 0 ? 0 : left < most ? left : most;
}

}  // namespace muster::detail
