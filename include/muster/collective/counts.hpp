// Counts: what each rank is about to send to each, told to all before anything moves, so that all
// come to the same verdict.
#pragma once

#include <cstdint>

#include "muster/collective/call.hpp"
#include "muster/collective/stage.hpp"
#include "muster/fabric.hpp"

namespace muster {

// The parts of a run of elements, one for each rank of the team: that of rank p is counts[p]
// elements, or has room for so many, from element places[p] on. Read by all threads of all lanes.
struct Parts {
  MemoryRef<const std::int64_t> counts;
  MemoryRef<const std::int64_t> places;
};

// Why a call with counts was `invalid`: the first fault in the order of the ranks, the same on all
// of them.
struct CountFault {
  enum class Kind : std::uint32_t {
    none,
    parts,    // `count` counts or places, where there are `capacity` ranks
    count,    // negative, or more than the `capacity` elements of the end from its place on
    place,    // `count` is where the part begins: negative, or behind the end's `capacity` elements
    overlap,  // `to` and `from` lie in one memory
    beyond,   // more than the `capacity` that the peer has for it
    differs,  // ReduceScatterV: rank 0 says `capacity`
  };
  // Of the call's arguments, the one that is wrong.
  enum class End : std::uint32_t { from, to, received };

  Kind kind = Kind::none;
  Rank rank{};  // whose it is
  Rank peer{};  // whose part it is about
  std::int64_t count = 0;
  std::int64_t capacity = 0;
  End end = End::from;
};

// In a round of its own every lane shows a row of 2 P + 4 words: P counts, P rooms, and what is
// wrong with them, if anything; all lanes keep all rows. It is a Stage: a count is not overwritten
// by the next call's while a slow reader still reads it.
//
// Cost per rank and call, P ranks: P-1 notifies, P-1 waits; 8 (P-1) (2 P + 4) bytes read.
class Counts {
 public:
  Counts() = default;
  // Takes 8 (P + 2) (2 P + 4) bytes for each lane of every rank.
  template <SetUp Team>
  explicit Counts(Team& team)
      : stage_(team, width_for(team.size())),
        table_(*team.template window<std::int64_t>(
            {stage_.rows().lanes, std::int64_t{team.size()} * stage_.elements()})) {}

  [[nodiscard]] MUSTER_FN Rows rows() const { return stage_.rows(); }

  // What this lane has kept of the last agreement. Called after it, until the lane's next call.
  template <Fabric F>
  class Table {
   public:
    MUSTER_FN Table(const Counts& counts, F& fabric) : counts_(counts), fabric_(fabric) {}

    // What `from` sends to `to`, and the room that `to` has for it.
    [[nodiscard]] MUSTER_FN std::int64_t count(Rank from, Rank to) const {
      return word(from, to.value);
    }
    [[nodiscard]] MUSTER_FN std::int64_t room(Rank to, Rank from) const {
      return word(to, fabric_.size() + from.value);
    }
    // The lane's share of it.
    template <class T>
    [[nodiscard]] MUSTER_FN Share share(Rank from, Rank to) const {
      return share_of<T>(count(from, to), fabric_.lane().value, fabric_.lanes());
    }
    // Of all such shares.
    template <class T>
    [[nodiscard]] MUSTER_FN std::int64_t longest() const {
      std::int64_t most = 0;
      each_pair([&](Rank from, Rank to) {
        const std::int64_t length = share<T>(from, to).count;
        most = length > most ? length : most;
        return true;
      });
      return most;
    }

    // The first fault; `alike`: all ranks must say the same counts.
    [[nodiscard]] MUSTER_FN CountFault fault(bool alike) const {
      using Kind = CountFault::Kind;
      const std::uint32_t ranks = fabric_.size();
      for (std::uint32_t rank = 0; rank < ranks; ++rank)
        if (word(Rank{rank}, 2 * ranks) != 0) return told_by(Rank{rank});
      CountFault found;
      each_pair([&](Rank from, Rank to) {
        const std::int64_t sent = count(from, to);
        if (alike && sent != count(Rank{0}, to))
          found = {Kind::differs, from, to, sent, count(Rank{0}, to)};
        else if (sent > room(to, from))
          found = {Kind::beyond, from, to, sent, room(to, from)};
        return found.kind == Kind::none;
      });
      return found;
    }

   private:
    [[nodiscard]] MUSTER_FN std::int64_t word(Rank rank, std::uint32_t index) const {
      const std::int64_t width = counts_.stage_.elements();
      const std::int64_t row = std::int64_t{fabric_.lane().value} * fabric_.size() + rank.value;
      return fabric_.local(counts_.table_)[row * width + index];
    }
    [[nodiscard]] MUSTER_FN CountFault told_by(Rank rank) const {
      const std::uint32_t at = 2 * fabric_.size();
      const auto what = static_cast<std::uint32_t>(word(rank, at));
      return {static_cast<CountFault::Kind>(what / ends),
              rank,
              Rank{static_cast<std::uint32_t>(word(rank, at + 1))},
              word(rank, at + 2),
              word(rank, at + 3),
              static_cast<CountFault::End>(what % ends)};
    }
    // visit(from, to) until it says false.
    template <class Visit>
    MUSTER_FN void each_pair(Visit&& visit) const {
      for (std::uint32_t from = 0; from < fabric_.size(); ++from)
        for (std::uint32_t to = 0; to < fabric_.size(); ++to)
          if (!visit(Rank{from}, Rank{to})) return;
    }

    const Counts& counts_;
    F& fabric_;
  };

  template <Fabric F>
  [[nodiscard]] MUSTER_FN Table<F> table(F& fabric) const {
    return Table<F>(*this, fabric);
  }

  // Tells all ranks count(p) and room(p) of each rank p, unless `own` is a fault of this rank's.
  // Called by all threads of the lane; the same status to all: `invalid`, on all ranks, where
  // anything is wrong, and then the next call is as good as any.
  template <Fabric F, class Count, class Room>
  MUSTER_FN WaitStatus agree(F& fabric, const CountFault& own, Count&& count, Room&& room,
                             bool alike = false) const {
    constexpr std::int64_t words = 64;
    auto tile = fabric.template tile<std::int64_t, 1, words>();
    auto rounds = stage_.rounds(fabric);
    const std::int64_t ranks = fabric.size();
    const bool is_fine = own.kind == CountFault::Kind::none;
    const auto word = [&](std::int64_t index) -> std::int64_t {
      if (index < 2 * ranks) {
        if (!is_fine) return 0;
        const auto peer = static_cast<std::uint32_t>(index < ranks ? index : index - ranks);
        return index < ranks ? count(Rank{peer}) : room(Rank{peer});
      }
      switch (index - 2 * ranks) {
        case 0: return static_cast<std::int64_t>(own.kind) * ends + static_cast<int>(own.end);
        case 1: return own.peer.value;
        case 2: return own.count;
        default: return own.capacity;
      }
    };
    detail::each_tile<words>(stage_.elements(), [&](std::int64_t at, std::int64_t length) {
      tile.each([&](std::int64_t, std::int64_t col, std::int64_t& element) {
        element = col < length ? word(at + col) : 0;
      });
      rounds.write(tile, at, length);
    });
    if (rounds.meet() == WaitStatus::ok) {
      const std::int64_t first = fabric.lane().value * ranks;
      for (std::uint32_t step = 0; step < fabric.size(); ++step) {
        const Rank owner = right_of(fabric, step);
        detail::collect<words>(fabric, rounds, tile, owner, 0, detail::as_run(table_),
                               (first + owner.value) * stage_.elements(), stage_.elements());
      }
    }
    const WaitStatus status = rounds.end();  // all threads have stored the table
    if (status != WaitStatus::ok) return status;
    return table(fabric).fault(alike).kind == CountFault::Kind::none ? status : WaitStatus::invalid;
  }

 private:
  static constexpr std::int64_t ends = 3;  // of CountFault::End: kind and end travel in one word

  [[nodiscard]] static constexpr std::int64_t width_for(std::uint32_t ranks) {
    return 2 * std::int64_t{ranks} + 4;
  }

  Stage<std::int64_t> stage_;
  WindowRef<std::int64_t> table_;  // [lane][rank][width]
};

}  // namespace muster
