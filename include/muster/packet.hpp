// PacketExchange: small messages between all ranks, again and again, without a barrier.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "muster/barrier/epoch.hpp"
#include "muster/barrier/refusal.hpp"
#include "muster/fabric.hpp"
#include "muster/hints.hpp"

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
// Cost per rank and call, P ranks: 1 round, P-1 tiles in packets, no notify, no signal waited for.
//
// Slots: two for each lane and writer, between which calls alternate.
// A slot of call k is written again in call k+2, by a rank that has received the packets of call
// k+1 from its reader, which had read call k before it sent them. So nobody may be left out of a
// call: a rank with nothing to say sends its tile all the same.
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
  template <class Team>
  requires SetUp<Team>
  explicit PacketExchange(Team& team) : barrier_(team), counts_(*team.rows()) {
    const std::int64_t places = std::int64_t{2} * counts_.lanes * counts_.ranks;
    slots_ = *team.template window<PacketLine>({places * lines});
  }

  static constexpr std::uint32_t no_flag = 0;  // of a call that is refused

  // The flag of this call; called by all threads of the lane.
  template <PacketFabric F>
  [[nodiscard]] MUSTER_FN std::uint32_t begin(F& fabric, CallSite<F> site = {}) const {
    const Called called(fabric, site);
    describe(fabric, CallSignature{"PacketExchange",
                                   {counts_.first.cell, 0},
                                   {.rows = R, .cols = C, .element = element_code<T>}});
    begin_call(fabric);
    const std::uint32_t last = opaque(fabric.counter(counts_.epoch(fabric.lane())));
    if (last != last_flag) [[likely]]
      return last + 1;
    return outlined(fabric, [exchange = *this](F& lane) { return exchange.renew(lane); });
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

  [[nodiscard]] MUSTER_FN Slots slots() const { return slots_; }
  [[nodiscard]] MUSTER_FN Rows counts() const { return counts_; }

 private:
  static constexpr std::int64_t lines = packet_lines<T>(R * C);
  static constexpr std::uint32_t last_flag = ~0U;

  template <class F, class Tile>
  MUSTER_FN static constexpr void check_tile() {
    static_assert(std::is_same_v<std::remove_const_t<Tile>, TileOf<F, T, R, C>>,
                  "the tile is not fabric.tile<T, R, C>() of the exchange's T, R and C");
  }

  // Where the writer's tile of this call lies.
  [[nodiscard]] MUSTER_FN std::int64_t place(Lane lane, std::uint32_t flag, Rank writer) const {
    const std::int64_t pair = std::int64_t{lane.value} * counts_.ranks + writer.value;
    return (pair * 2 + (flag & 1U)) * lines;
  }

  template <PacketFabric F>
  MUSTER_FN std::uint32_t renew(F& fabric) const {
    if (Refusal::noted(fabric, counts_.refusal(fabric.lane()))) return no_flag;
    // What fails here fails again in the waits of the call: its status is not lost.
    (void)barrier_.sync(fabric);  // all have read the last packets
    fabric.clear_packets(slots_, place(fabric.lane(), 0, Rank{0}), 2 * lines * counts_.ranks);
    (void)barrier_.sync(fabric);  // all are cleared
    return 1;
  }

  EpochBarrier barrier_;
  Rows counts_;
  Slots slots_;
};

}  // namespace muster
