// PacketExchange: small messages between all ranks, again and again, without a barrier.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "muster/barrier/epoch.hpp"
#include "muster/barrier/refusal.hpp"
#include "muster/expect.hpp"
#include "muster/fabric.hpp"
#include "muster/hints.hpp"
#include "muster/result.hpp"

namespace muster {

// In each call every rank sends one tile of R x C elements of T to every peer, and receives one
// from each:
//
//   fabric.load(mine, ...);  // on a GPU before begin(): it and the count come in one trip
//   const std::uint32_t flag = exchange.begin(fabric);
//   for (each peer) exchange.put(fabric, flag, peer, mine);
//   for (each peer) status = worst(status, exchange.wait(fabric, flag, peer, theirs));
//   status = exchange.end(fabric, flag, status);
//
// Or any number of elements up to those that it was made for, in tiles of which the last is ragged:
//
//   const PacketExchange<float, 1, 256> exchange(team, most);
//   const std::uint32_t flag = exchange.begin(fabric, count);  // the same on all ranks
//   for (std::int64_t index = 0; index < exchange.tiles(count); ++index) {
//     fabric.load(mine, from, exchange.box(index, count));     // a run of 1 x count elements
//     for (each peer) exchange.put(fabric, flag, peer, mine, index);
//   }
//   ... and all of them are waited for, each with its index
//
// Cost per rank and call, P ranks: 1 round, P-1 times as many tiles as the call has, in packets; no
// notify, no signal waited for.
//
// Slots: two for each lane, writer and tile of a call, between which calls alternate. No two tiles
// of a call share one: its reader may not have read the first when the second overwrites it
// (broken/packet_tiles_share_a_slot).
// A slot of call k is written again in call k+2, by a rank that has received the packets of call
// k+1 from its reader, which had read call k before it sent them. So nobody may be left out of a
// call: a rank with nothing to say sends its tile all the same, and a call of no elements has one
// tile (broken/packet_call_without_tiles). Ragged tiles are sent whole, so that what holds for one
// thread's elements holds for all of its elements in all tiles.
//
// All ranks make the same exchange with tiles of the same shape and type. Where they differ, a
// verifying run names both (muster::describe).
//
// Who counts: the calling lane, its own counter, which is the flag of the last call. Flag 0 is
// what cleared slots hold. After 2^32 - 1 calls the count comes round: then begin() meets the
// ranks, clears the slots, meets them again, and starts from 1, since a slot that nobody has used
// for a while could hold any flag.
//
// After a call that was not `ok` the lane must not make another: it would write slots that a peer
// has not read, since it has not heard from all. From then on begin() returns no_flag, with which
// put() sends nothing and wait() and end() return `refused`, in later launches too; make a new
// exchange, where all ranks agree to.
template <class T, std::int64_t R, std::int64_t C>
class PacketExchange {
 public:
  PacketExchange() = default;
  // `elements`: the most of a call, which takes as many tiles as that fills. Takes two times so
  // many of every rank, for each lane and rank. An error (Failure) where they are negative, or more
  // than memory has places for.
  template <class Team>
  requires SetUp<Team>
  explicit PacketExchange(Team& team, std::int64_t elements = R * C)
      : PacketExchange(team, Set{set_for(elements, places_of(team))}) {}

  static constexpr std::uint32_t no_flag = 0;  // of a call that is refused

  // How many tiles a call of so many elements has: at least one.
  [[nodiscard]] MUSTER_FN static constexpr std::int64_t tiles(std::int64_t elements) {
    return elements > R * C ? 1 + (elements - 1) / (R * C) : 1;
  }
  // Where tile `index` of a call lies in memory of 1 x elements: the last is ragged, beyond the
  // last it is empty.
  [[nodiscard]] MUSTER_FN static constexpr Box box(std::int64_t index,
                                                   std::int64_t elements) requires(R == 1) {
    const std::int64_t left = elements - index * C;
    if (left <= 0) return Box{};
    return Box{0, index * C, 1, left < C ? left : C};
  }
  // The most of a call.
  [[nodiscard]] MUSTER_FN constexpr std::int64_t most_tiles() const { return set_ / lines; }

  // The flag of this call; called by all threads of the lane.
  template <PacketFabric F>
  [[nodiscard]] MUSTER_FN std::uint32_t begin(F& fabric, CallSite<F> site = {}) const {
    const Called called(fabric, site);
    return next_flag(fabric, {.rows = R, .cols = C, .element = element_code<T>}, true);
  }
  // The same of a call of so many elements, on all ranks. Where they are negative or more than the
  // exchange was made for, this call alone is refused; on the checker it is an error.
  template <PacketFabric F>
  [[nodiscard]] MUSTER_FN std::uint32_t begin(F& fabric, std::int64_t elements,
                                              CallSite<F> site = {}) const {
    const Called called(fabric, site);
    const bool fits = elements >= 0 && tiles(elements) <= most_tiles();
    expect(fabric, fits, "PacketExchange: the call has no more elements than it was made for");
    const TransferShape shape{
        .rows = 1, .cols = elements, .chunk_rows = R, .chunk_cols = C, .element = element_code<T>};
    return next_flag(fabric, shape, fits);
  }
  // The same for a part of a call that its protocol has told of (muster::describe). It is not told
  // of by itself: where one part fails, the ranks do not all come to the next.
  template <PacketFabric F>
  [[nodiscard]] MUSTER_FN std::uint32_t begin_part(F& fabric, std::int64_t elements) const {
    const bool fits = elements >= 0 && tiles(elements) <= most_tiles();
    expect(fabric, fits, "PacketExchange: the part has no more elements than it was made for");
    begin_call(fabric);
    return flag_after(fabric, last_of(fabric), fits);
  }

  template <PacketFabric F, class Tile>
  MUSTER_FN void put(F& fabric, std::uint32_t flag, Rank peer, Tile& tile,
                     CallSite<F> site = {}) const {
    const Called called(fabric, site);
    check_tile<F, Tile>();
    if (flag == no_flag) [[unlikely]]
      return;
    fabric.put_packets(slots_, peer, place(fabric.lane(), flag, fabric.rank()), tile, flag);
  }
  // Tile `index` of the call. One that the exchange has no slots for is not sent.
  template <PacketFabric F, class Tile>
  MUSTER_FN void put(F& fabric, std::uint32_t flag, Rank peer, Tile& tile, std::int64_t index,
                     CallSite<F> site = {}) const {
    const Called called(fabric, site);
    check_tile<F, Tile>();
    if (flag == no_flag || !has(fabric, index)) [[unlikely]]
      return;
    const std::int64_t at = place(fabric.lane(), flag, fabric.rank()) + index * lines;
    fabric.put_packets(slots_, peer, at, tile, flag);
  }

  // This thread's status: go on to end() with the worst of them.
  template <PacketFabric F, class Tile>
  MUSTER_FN WaitStatus wait(F& fabric, std::uint32_t flag, Rank peer, Tile& tile,
                            CallSite<F> site = {}) const {
    const Called called(fabric, site);
    check_tile<F, Tile>();
    if (flag == no_flag) [[unlikely]]
      return WaitStatus::refused;
    return fabric.wait_packets(tile, slots_, place(fabric.lane(), flag, peer), flag);
  }
  // Of tile `index` of the call; `invalid` where the exchange has no slots for it.
  template <PacketFabric F, class Tile>
  MUSTER_FN WaitStatus wait(F& fabric, std::uint32_t flag, Rank peer, Tile& tile,
                            std::int64_t index, CallSite<F> site = {}) const {
    const Called called(fabric, site);
    check_tile<F, Tile>();
    if (flag == no_flag) [[unlikely]]
      return WaitStatus::refused;
    if (!has(fabric, index)) [[unlikely]]
      return WaitStatus::invalid;
    const std::int64_t at = place(fabric.lane(), flag, peer) + index * lines;
    return fabric.wait_packets(tile, slots_, at, flag);
  }

  // The lane's status, the same to all threads.
  template <PacketFabric F>
  MUSTER_FN WaitStatus end(F& fabric, std::uint32_t flag, WaitStatus status,
                           CallSite<F> site = {}) const {
    const Called called(fabric, site);
    end_call(fabric);
    if (flag == no_flag) [[unlikely]]
      return WaitStatus::refused;
    status = fabric.converge(status);  // all threads have read the count
    // A count that comes round makes begin() look whether the exchange is refused.
    if (fabric.thread() == 0)
      fabric.set_counter(counts_.epoch(fabric.lane()), status == WaitStatus::ok ? flag : last_flag);
    if (fabric.threads() > 1) fabric.converge();  // before any thread reads it again
    return Refusal::after(fabric, counts_.refusal(fabric.lane()), status);
  }

  // From now on the lane's calls are refused, as after one that has failed: for a protocol of which
  // the exchange is a part, and which has failed elsewhere. Called by all threads of the lane.
  template <PacketFabric F>
  MUSTER_FN void refuse(F& fabric) const {
    if (fabric.thread() == 0) fabric.set_counter(counts_.epoch(fabric.lane()), last_flag);
    (void)Refusal::after(fabric, counts_.refusal(fabric.lane()), WaitStatus::refused);
  }

  [[nodiscard]] MUSTER_FN Slots slots() const { return slots_; }
  [[nodiscard]] MUSTER_FN Rows counts() const { return counts_; }

 private:
  static constexpr std::int64_t lines = packet_lines<T>(R * C);
  static constexpr std::uint32_t last_flag = ~0U;

  struct Set {
    std::int64_t lines;  // of a call, from one rank on one lane
  };
  template <class Team>
  PacketExchange(Team& team, Set set)
      : barrier_(team),
        counts_(*team.rows()),
        slots_(*team.template window<PacketLine>({places_of(team) * set.lines})),
        set_(set.lines) {}

  // How many such sets a rank has.
  template <class Team>
  [[nodiscard]] static std::int64_t places_of(const Team& team) {
    return std::int64_t{2} * team.max_lanes() * team.size();
  }
  [[nodiscard]] static std::int64_t set_for(std::int64_t elements, std::int64_t places) {
    if (elements >= 0 && tiles(elements) <= INT64_MAX / lines / places)
      return tiles(elements) * lines;
    throw Failure(Error{ErrorCode::invalid_argument,
                        "PacketExchange: elements is " + std::to_string(elements) +
                            "; it must be from 0 to what " + std::to_string(places) +
                            " sets of packets have room for in memory"});
  }

  template <class F, class Tile>
  MUSTER_FN static constexpr void check_tile() {
    static_assert(std::is_same_v<std::remove_const_t<Tile>, TileOf<F, T, R, C>>,
                  "the tile is not fabric.tile<T, R, C>() of the exchange's T, R and C");
  }

  template <PacketFabric F>
  MUSTER_FN std::uint32_t next_flag(F& fabric, const TransferShape& shape, bool fits) const {
    begin_call(fabric);
    const std::uint32_t last = last_of(fabric);
    describe(fabric, CallSignature{.name = "PacketExchange",
                                   .detail = {counts_.first.cell, 0},
                                   .shape = shape,
                                   .number = last != last_flag ? last + 1 : 1});
    return flag_after(fabric, last, fits);
  }

  template <PacketFabric F>
  [[nodiscard]] MUSTER_FN std::uint32_t last_of(F& fabric) const {
    return opaque(fabric.counter(counts_.epoch(fabric.lane())));
  }

  template <PacketFabric F>
  [[nodiscard]] MUSTER_FN std::uint32_t flag_after(F& fabric, std::uint32_t last, bool fits) const {
    if (!fits) [[unlikely]]
      return no_flag;
    if (last != last_flag) [[likely]]
      return last + 1;
    return outlined(fabric, [exchange = *this](F& lane) { return exchange.renew(lane); });
  }

  template <class F>
  [[nodiscard]] MUSTER_FN bool has(F& fabric, std::int64_t index) const {
    const bool has = index >= 0 && index < most_tiles();
    expect(fabric, has, "PacketExchange: the tile is one of those that it was made for");
    return has;
  }

  // Where the writer's first tile of this call lies.
  [[nodiscard]] MUSTER_FN std::int64_t place(Lane lane, std::uint32_t flag, Rank writer) const {
    const std::int64_t pair = std::int64_t{lane.value} * counts_.ranks + writer.value;
    return (pair * 2 + (flag & 1U)) * set_;
  }

  template <PacketFabric F>
  MUSTER_FN std::uint32_t renew(F& fabric) const {
    if (Refusal::noted(fabric, counts_.refusal(fabric.lane()))) return no_flag;
    // What fails here fails again in the waits of the call: its status is not lost.
    (void)barrier_.sync(fabric);  // all have read the last packets
    fabric.clear_packets(slots_, place(fabric.lane(), 0, Rank{0}), 2 * set_ * counts_.ranks);
    (void)barrier_.sync(fabric);  // all are cleared
    return 1;
  }

  EpochBarrier barrier_;
  Rows counts_;
  Slots slots_;
  std::int64_t set_ = lines;  // the lines of a call
};

}  // namespace muster
