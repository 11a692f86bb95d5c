// Stage: bounded memory in which the ranks show each other what they have, round after round. What
// makes collectives safe back to back is here, once.
#pragma once

#include <cstdint>
#include <type_traits>

#include "muster/barrier/exchange.hpp"
#include "muster/barrier/refusal.hpp"
#include "muster/collective/straight.hpp"
#include "muster/fabric.hpp"

namespace muster {

// A round: every rank writes its own stage, all meet, every rank reads whatever stage it likes.
//
//   auto rounds = stage.rounds(fabric);
//   do {
//     rounds.write(tile, at, count);            // any number of tiles
//     if (rounds.meet() != WaitStatus::ok) break;
//     rounds.read(tile, peer, at, count);       // what the peer wrote before it met
//   } while (...);                              // equally often on all ranks
//   return rounds.end();
//
// Every lane has a stage and rounds of its own: lane b reads what the peers' lanes b wrote.
//
// Why nothing is overwritten too early: a stage has two halves, and rounds use them in turn, by the
// parity of their epoch, which lives in a counter and so goes on from call to call. The half of
// round k is written again in round k+2, by a rank that has met in round k+1; there it has heard
// from every peer, and each had read round k before it deposited (the converge before the notify
// is behind the loads).
//
// Cost of a round per rank, P ranks: P-1 notifies, P-1 waits; what is read is moved.
//
// Exchange says how they meet: EpochExchange, or CreditExchange, which leaves the cells zero.
//
// After a round that was not `ok` the ranks may be a round apart, and a later call could take one
// round for another: so the next call does nothing and returns `refused`.
template <class T, class Exchange = EpochExchange>
class Stage {
 public:
  template <Fabric F>
  class Rounds;

  Stage() = default;
  // `elements` > 0 for each lane and round. Takes 2 * lanes * elements of T of every rank.
  template <SetUp Team>
  Stage(Team& team, std::int64_t elements)
      : exchange_(*team.rows()),
        window_(*team.template window<T>({std::int64_t{2} * exchange_.rows().lanes, elements})),
        around_from_(detail::shown_from(team)) {}

  // What a lane can show in one round.
  [[nodiscard]] MUSTER_FN constexpr std::int64_t elements() const { return window_.cols; }
  [[nodiscard]] MUSTER_FN Rows rows() const { return exchange_.rows(); }

  // Called by all threads of the lane, as all of Rounds.
  template <Fabric F>
  [[nodiscard]] MUSTER_FN Rounds<F> rounds(F& fabric) const {
    return Rounds<F>(*this, fabric);
  }

 private:
  Exchange exchange_;
  WindowRef<T> window_;
  std::int64_t around_from_ = detail::never_around;  // bytes
};

template <class T, class Exchange>
template <Fabric F>
class Stage<T, Exchange>::Rounds {
 public:
  MUSTER_FN Rounds(const Stage& stage, F& fabric)
      : stage_(stage),
        fabric_(fabric),
        state_(stage.exchange_.at(fabric, stage.exchange_.last(fabric))) {
    if (Refusal::stands(fabric, note())) [[unlikely]]
      status_ = WaitStatus::refused;
  }
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;

  // The first `count` elements of the tile to the own stage of the round that comes, from element
  // `at` on. `of`: the elements of the run that it is a part of, and that all come in this round.
  template <class Tile>
  MUSTER_FN void write(Tile& tile, std::int64_t at, std::int64_t count, std::int64_t of) {
    if (status_ == WaitStatus::ok) [[likely]]
      detail::show_tile(fabric_, tile, stage_.window_, box(state_.epoch.next(), at, count),
                        goes_around(of));
  }
  template <class Tile>
  MUSTER_FN void write(Tile& tile, std::int64_t at, std::int64_t count) {
    write(tile, at, count, count);
  }

  // The same from where the elements lie, a box of one row; for fabrics that need no tile for it.
  template <class From>
  static constexpr bool writes_straight = detail::ShowsStraight<F, From, T>;
  template <class From>
  MUSTER_FN void write_from(From from, Box there, std::int64_t at) {
    if (status_ == WaitStatus::ok) [[likely]]
      fabric_.show(from, there, stage_.window_, box(state_.epoch.next(), at, there.cols),
                   goes_around(there.cols));
  }

  // The same status to all threads.
  MUSTER_FN WaitStatus meet() {
    if (status_ != WaitStatus::ok) [[unlikely]]
      return status_;
    state_.epoch = state_.epoch.next();
    // All threads have written, and have read the round before.
    fabric_.converge();
    stage_.exchange_.announce(fabric_, state_, Order::release);
    met_ = true;
    return status_ = stage_.exchange_.await(fabric_, state_, Order::acquire);
  }

  // From the peer's stage of the round that has met; the own is one of them. A load that fails
  // fails the lane: meet and end tell.
  template <class Tile>
  MUSTER_FN void read(Tile& tile, Rank peer, std::int64_t at, std::int64_t count) {
    (void)fabric_.remote_load(tile, stage_.window_, peer, box(state_.epoch, at, count));
  }

  // The same to where the elements shall be, a box of one row; for fabrics that need no tile.
  template <class To>
  static constexpr bool reads_straight = detail::FetchesStraight<F, T, To>;
  template <class To>
  MUSTER_FN void read_to(To to, Box there, Rank peer, std::int64_t at) {
    fabric_.fetch(stage_.window_, peer, box(state_.epoch, at, there.cols), to, there);
  }

  // sums = op(sums, what the peer wrote). The tile holds anything afterwards.
  template <class Sums, class Tile, class Op>
  MUSTER_FN void add(Sums& sums, Tile& tile, Rank peer, std::int64_t at, std::int64_t count,
                     Op op) {
    detail::add_from(fabric_, sums, tile, stage_.window_, peer, box(state_.epoch, at, count), op);
  }

  // The status of the call, the same to all threads.
  MUSTER_FN WaitStatus end() {
    if (!met_) {
      fabric_.converge();  // all threads have read the counters
      return status_;
    }
    stage_.exchange_.keep(fabric_, state_.epoch);
    status_ = fabric_.converge(status_);  // before any thread reads them again
    return Refusal::after(fabric_, note(), status_);
  }

 private:
  [[nodiscard]] MUSTER_FN bool goes_around(std::int64_t elements) const {
    return elements * static_cast<std::int64_t>(sizeof(T)) >= stage_.around_from_;
  }
  [[nodiscard]] MUSTER_FN Counter note() const { return stage_.rows().refusal(fabric_.lane()); }
  [[nodiscard]] MUSTER_FN Box box(Epoch epoch, std::int64_t at, std::int64_t count) const {
    return Box{std::int64_t{2} * fabric_.lane().value + (epoch.value & 1U), at, 1, count};
  }

  const Stage& stage_;
  F& fabric_;
  typename Exchange::template State<F> state_;
  WaitStatus status_ = WaitStatus::ok;
  bool met_ = false;
};

}  // namespace muster
