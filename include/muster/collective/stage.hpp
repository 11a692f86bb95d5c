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

// Whether two ranks pass their stages to and fro.
enum class Passing : std::uint8_t { none, between_two };

// A round: every rank writes its stage, all meet, every rank reads whatever stage it likes.
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
// Two ranks can pass their stages to and fro (Passing::between_two): where one has read a half,
// there it writes when that half comes again, so that the two take turns in each other's memory.
// (Who writes where has no part in the argument above.) Then no line that a core writes has to be
// fetched back from the other that has read it: what is shown goes from core to core once, and that
// is all. 16 KiB shown and read by both: 2.1 us where it was 11 (AMD EPYC 9004, cores that share no
// cache; past the caches 3.0). What a rank has shown itself it reads only behind flush_shown().
//
// Cost of a round per rank, P ranks: P-1 notifies, P-1 waits; what is read is moved. (Two ranks: in
// every other round of each half what is written is.)
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
  Stage(Team& team, std::int64_t elements, Passing passing = Passing::none)
      : exchange_(*team.rows()),
        window_(*team.template window<T>({std::int64_t{2} * exchange_.rows().lanes, elements})),
        passes_(passing == Passing::between_two && team.size() == 2),
        around_from_(passes_ ? detail::never_around : detail::shown_from(team)) {}

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
  bool passes_ = false;
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

  // The first `count` elements of the tile to the stage of the round that comes, from element
  // `at` on. `of`: the elements of the run that it is a part of, and that all come in this round.
  template <class Tile>
  MUSTER_FN void write(Tile& tile, std::int64_t at, std::int64_t count, std::int64_t of) {
    if (status_ == WaitStatus::ok) [[likely]]
      detail::show_tile(fabric_, tile, stage_.window_, holder(fabric_.rank(), state_.epoch.next()),
                        box(state_.epoch.next(), at, count), goes_around(of));
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
      fabric_.show(from, there, stage_.window_, holder(fabric_.rank(), state_.epoch.next()),
                   box(state_.epoch.next(), at, there.cols), goes_around(there.cols));
  }

  // Before a meeting behind which this rank reads what it has shown itself.
  MUSTER_FN void flush_shown() {
    const Rank lies_at = holder(fabric_.rank(), state_.epoch.next());
    if (lies_at != fabric_.rank()) (void)fabric_.flush(lies_at);  // fails the lane: meet tells
  }

  // The same status to all threads.
  MUSTER_FN WaitStatus meet() {
    return meet([] {});
  }
  // The same; `meanwhile` is called once the others are told, before they are waited for: for what
  // is about neither stages nor what others have.
  template <class Meanwhile>
  MUSTER_FN WaitStatus meet(Meanwhile&& meanwhile) {
    return meet_as(state_.epoch.next(), meanwhile);
  }

  // Of two ranks that pass their stages each may answer, in the place of what it has read, and meet
  // again: then read(), of its own rank, gives what has become of what it had shown. Three epochs
  // on, so that the next round has the same half and each writes where it has written, and where it
  // alone reads then (broken/stage_passed_back_early).
  template <class Tile>
  MUSTER_FN void answer(Tile& tile, std::int64_t at, std::int64_t count) {
    detail::show_tile(fabric_, tile, stage_.window_, holder(right_of(fabric_), shown_),
                      box(shown_, at, count), false);
  }
  // From where the elements lie, for fabrics that need no tile for it.
  template <class From>
  MUSTER_FN void answer_from(From from, Box there, std::int64_t at) {
    fabric_.show(from, there, stage_.window_, holder(right_of(fabric_), shown_),
                 box(shown_, at, there.cols), false);
  }
  MUSTER_FN WaitStatus meet_answered() {
    const Epoch shown = shown_;
    (void)meet_as(Epoch{shown.value + 3}, [] {});
    shown_ = shown;
    return status_;
  }

  // What the peer has shown in the round that has met; this rank is one of them. A load that fails
  // fails the lane: meet and end tell.
  template <class Tile>
  MUSTER_FN void read(Tile& tile, Rank peer, std::int64_t at, std::int64_t count) {
    (void)fabric_.remote_load(tile, stage_.window_, holder(peer, shown_), box(shown_, at, count));
  }

  // The same to where the elements shall be, a box of one row; for fabrics that need no tile.
  template <class To>
  static constexpr bool reads_straight = detail::FetchesStraight<F, T, To>;
  template <class To>
  MUSTER_FN void read_to(To to, Box there, Rank peer, std::int64_t at) {
    fabric_.fetch(stage_.window_, holder(peer, shown_), box(shown_, at, there.cols), to, there);
  }

  // sums = op(sums, what the peer wrote). The tile holds anything afterwards.
  template <class Sums, class Tile, class Op>
  MUSTER_FN void add(Sums& sums, Tile& tile, Rank peer, std::int64_t at, std::int64_t count,
                     Op op) {
    detail::add_from(fabric_, sums, tile, stage_.window_, holder(peer, shown_),
                     box(shown_, at, count), op);
  }

  // to = op over two ranks, in their order: the own elements lie in `from`, the other has shown its
  // own at element `at`. Boxes of one row; for fabrics that need no tile, and two ranks.
  template <class To, class From, class Op>
  static constexpr bool folds_straight = detail::FoldsStraight<F, T, To, From, Op>;
  template <class To, class From, class Op>
  MUSTER_FN void fold_to(To to, Box there, From from, Box here, std::int64_t at, Op op) {
    const Rank me = fabric_.rank();
    const Rank lies_at = holder(right_of(fabric_), shown_);
    const Box shown = box(shown_, at, there.cols);
    if (me.value == 0)
      fabric_.fold(to, there, from, me, here, stage_.window_, lies_at, shown, op);
    else
      fabric_.fold(to, there, stage_.window_, lies_at, shown, from, me, here, op);
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
  template <class Meanwhile>
  MUSTER_FN WaitStatus meet_as(Epoch epoch, Meanwhile&& meanwhile) {
    if (status_ != WaitStatus::ok) [[unlikely]]
      return status_;
    state_.epoch = epoch;
    shown_ = epoch;
    // All threads have written, and have read the round before.
    fabric_.converge();
    stage_.exchange_.announce(fabric_, state_, Order::release);
    met_ = true;
    meanwhile();
    return status_ = stage_.exchange_.await(fabric_, state_, Order::acquire);
  }
  [[nodiscard]] MUSTER_FN bool goes_around(std::int64_t elements) const {
    return elements * static_cast<std::int64_t>(sizeof(T)) >= stage_.around_from_;
  }
  [[nodiscard]] MUSTER_FN Counter note() const { return stage_.rows().refusal(fabric_.lane()); }
  // In whose memory lies what that rank shows in the round: of two ranks the other's, each second
  // time that the half comes.
  [[nodiscard]] MUSTER_FN Rank holder(Rank rank, Epoch epoch) const {
    if (!stage_.passes_) return rank;
    return Rank{rank.value ^ (epoch.value >> 1U & 1U)};
  }
  [[nodiscard]] MUSTER_FN Box box(Epoch epoch, std::int64_t at, std::int64_t count) const {
    return Box{std::int64_t{2} * fabric_.lane().value + (epoch.value & 1U), at, 1, count};
  }

  const Stage& stage_;
  F& fabric_;
  typename Exchange::template State<F> state_;
  Epoch shown_{};  // of the round in which was shown what is read
  WaitStatus status_ = WaitStatus::ok;
  bool met_ = false;
};

}  // namespace muster
