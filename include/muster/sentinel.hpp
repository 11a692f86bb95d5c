// SentinelExchange: small messages between all ranks, one call a kernel, in which the data says
// itself that it has come.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "muster/barrier/refusal.hpp"
#include "muster/expect.hpp"
#include "muster/fabric.hpp"
#include "muster/hints.hpp"
#include "muster/result.hpp"

namespace muster {

// In each call every rank sends as many tiles of R x C elements of T to every peer, and receives as
// many from each. ONE CALL OF A LANE IN ONE KERNEL (one run of a lane on a host), and that kernel
// has called launch_wait before:
//
//   fabric.launch_wait();
//   fabric.load(mine, from, exchange.box(index, count));  // together with what begin() loads
//   const auto call = exchange.begin(fabric, count);      // the same count on all ranks
//   fabric.replace_sentinel(mine);
//   for (each peer) exchange.put(fabric, call, peer, mine, index);
//   exchange.sent(fabric, call);
//   fabric.launch_done();
//   for (each peer) status = worst(status, exchange.wait(fabric, call, peer, theirs, index));
//   status = exchange.end(fabric, call, status);
//
// T is float, double, float16 or bfloat16. Integers have no number to spare: PacketExchange.
//
// Cost per rank and call, P ranks: 1 round, P-1 times as many tiles as the call has; no notify, no
// signal waited for.
//
// Why no message is lost, with two sets of slots between which calls alternate: in call k each
// thread clears the slots that it has just read. The peer writes them again in call k+2, which is
// another kernel, in which it knows what it had received in call k+1; and what it received then had
// been sent by a kernel after the one that cleared. (So the end of that kernel carries the
// clearing, and nothing within a kernel would: two calls in one kernel lose messages, and so does
// a put before launch_wait. broken/sentinel_two_calls_in_a_kernel, sentinel_put_before_wait.)
//
// With three sets the clearing is off the way of what is waited for: call k clears what it knows to
// have read in call k-1, which is the set of call k+2, for k+1 may be on its way into the third
// already (broken/sentinel_clears_the_next). It clears all that a call may have, as many tiles as
// the exchange was made for.
//
// Nobody may be left out of a call: a rank with nothing to say sends its tile all the same, and a
// call of no elements has one tile. A slot for each lane, writer, set and tile.
//
// Who counts: the calling lane, its own counter, once all threads have read it, while the messages
// are under way. It counts modulo a multiple of two and of three.
//
// After a call that was not `ok` the lane must not make another: see PacketExchange. From then on
// begin() returns no_call, and wait() and end() `refused`.
template <class T, std::int64_t R, std::int64_t C, std::uint32_t sets = 2>
class SentinelExchange {
  static_assert(HasSentinel<T>,
                "SentinelExchange: this type has no pattern of bits to spare; take PacketExchange");
  static_assert(sets == 2 || sets == 3, "two sets are cleared in place, three ahead");

 public:
  SentinelExchange() = default;
  // `elements`: the most of a call, which takes as many tiles as that fills. An error (Failure)
  // where they are negative, or more than memory has places for.
  template <SetUp Team>
  explicit SentinelExchange(Team& team, std::int64_t elements = R * C)
      : counts_(*team.rows()),
        most_tiles_(tiles_for(elements, places_of(team))),
        slots_(*team.template window<SentinelLine>({places_of(team) * most_tiles_ * lines})) {}

  static constexpr std::uint32_t no_call = ~0U;

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
  [[nodiscard]] MUSTER_FN constexpr std::int64_t most_tiles() const { return most_tiles_; }

  // Which call it is, for the others here: called by all threads of the lane. Where the elements
  // are negative or more than the exchange was made for, this call alone is refused.
  template <SentinelFabric F>
  [[nodiscard]] MUSTER_FN std::uint32_t begin(F& fabric, std::int64_t elements = R * C,
                                              CallSite<F> site = {}) const {
    const Called called(fabric, site);
    begin_call(fabric);
    const bool fits = elements >= 0 && tiles(elements) <= most_tiles_;
    expect(fabric, fits, "SentinelExchange: the call has no more elements than it was made for");
    describe(fabric, CallSignature{.name = "SentinelExchange",
                                   .detail = {counts_.first.cell, sets},
                                   .shape = {.rows = 1,
                                             .cols = elements,
                                             .chunk_rows = R,
                                             .chunk_cols = C,
                                             .element = element_code<T>}});
    const std::uint32_t count = opaque(fabric.counter(counts_.epoch(fabric.lane())));
    return fits ? count : no_call;
  }

  // Tile `index` of the call, which has been through replace_sentinel.
  template <SentinelFabric F, class Tile>
  MUSTER_FN void put(F& fabric, std::uint32_t call, Rank peer, Tile& tile, std::int64_t index = 0,
                     CallSite<F> site = {}) const {
    const Called called(fabric, site);
    check_tile<F, Tile>();
    if (call == no_call || !has(fabric, index)) [[unlikely]]
      return;
    fabric.put_sentinel(slots_, peer, place(fabric.lane(), call, fabric.rank(), index), tile);
  }

  // All tiles of the call are sent: called by all threads of the lane, before the first wait.
  template <SentinelFabric F>
  MUSTER_FN void sent(F& fabric, std::uint32_t call, CallSite<F> site = {}) const {
    const Called called(fabric, site);
    if (call == no_call) [[unlikely]]
      return;
    fabric.converge();  // all threads have read the count
    if (fabric.thread() == 0)
      fabric.set_counter(counts_.epoch(fabric.lane()), call + 1 == calls ? 0 : call + 1);
    if constexpr (sets == 3) clear_ahead(fabric, call);
  }

  // This thread's status: go on to end() with the worst of them.
  template <SentinelFabric F, class Tile>
  [[nodiscard]] MUSTER_FN WaitStatus wait(F& fabric, std::uint32_t call, Rank peer, Tile& tile,
                                          std::int64_t index = 0, CallSite<F> site = {}) const {
    const Called called(fabric, site);
    check_tile<F, Tile>();
    if (call == no_call) [[unlikely]]
      return WaitStatus::refused;
    if (!has(fabric, index)) [[unlikely]]
      return WaitStatus::invalid;
    const std::int64_t at = place(fabric.lane(), call, peer, index);
    const WaitStatus status = fabric.wait_sentinel(tile, slots_, at);
    if constexpr (sets == 2)
      if (status == WaitStatus::ok) [[likely]]
        fabric.clear_sentinel(slots_, at, tile);
    return status;
  }

  // The lane's status, the same to all threads.
  template <SentinelFabric F>
  MUSTER_FN WaitStatus end(F& fabric, std::uint32_t call, WaitStatus status,
                           CallSite<F> site = {}) const {
    const Called called(fabric, site);
    end_call(fabric);
    if (call == no_call) [[unlikely]]
      return WaitStatus::refused;
    status = fabric.converge(status);
    if (status == WaitStatus::ok) [[likely]]
      return status;
    if (fabric.thread() == 0) fabric.set_counter(counts_.epoch(fabric.lane()), no_call);
    return Refusal::after(fabric, counts_.refusal(fabric.lane()), status);
  }

  [[nodiscard]] MUSTER_FN SentinelSlots slots() const { return slots_; }
  [[nodiscard]] MUSTER_FN Rows counts() const { return counts_; }

 private:
  static constexpr std::int64_t lines = sentinel_lines<T>(R, C);
  static constexpr std::uint32_t calls = 3U << 30U;  // then they are counted from 0 again

  // How many messages of one tile a rank has room for, of each tile of a call.
  template <class Team>
  [[nodiscard]] static std::int64_t places_of(const Team& team) {
    return std::int64_t{sets} * team.max_lanes() * team.size();
  }
  [[nodiscard]] static std::int64_t tiles_for(std::int64_t elements, std::int64_t places) {
    if (elements >= 0 && tiles(elements) <= INT64_MAX / lines / places) return tiles(elements);
    throw Failure(Error{ErrorCode::invalid_argument,
                        "SentinelExchange: elements is " + std::to_string(elements) +
                            "; it must be from 0 to what " + std::to_string(places) +
                            " sets of slots have room for in memory"});
  }

  template <class F, class Tile>
  MUSTER_FN static constexpr void check_tile() {
    static_assert(std::is_same_v<std::remove_const_t<Tile>, TileOf<F, T, R, C>>,
                  "the tile is not fabric.tile<T, R, C>() of the exchange's T, R and C");
  }

  template <class F>
  [[nodiscard]] MUSTER_FN bool has(F& fabric, std::int64_t index) const {
    const bool has = index >= 0 && index < most_tiles_;
    expect(fabric, has, "SentinelExchange: the tile is one of those that it was made for");
    return has;
  }

  // The slots of a lane, set by set and writer by writer.
  [[nodiscard]] MUSTER_FN std::int64_t place(Lane lane, std::uint32_t call, Rank writer,
                                             std::int64_t index) const {
    const std::int64_t set = std::int64_t{lane.value} * sets + call % sets;
    return ((set * counts_.ranks + writer.value) * most_tiles_ + index) * lines;
  }

  // What was read in the call before, by the same threads.
  template <SentinelFabric F>
  MUSTER_FN void clear_ahead(F& fabric, std::uint32_t call) const {
    auto shape = fabric.template tile<T, R, C>();
    for (std::uint32_t step = 1; step < fabric.size(); ++step)
      for (std::int64_t index = 0; index < most_tiles_; ++index)
        fabric.clear_sentinel(slots_, place(fabric.lane(), call + 2, right_of(fabric, step), index),
                              shape);
  }

  Rows counts_;
  std::int64_t most_tiles_ = 1;
  SentinelSlots slots_;
};

}  // namespace muster
