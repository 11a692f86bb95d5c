// Rooted: messages between a root and all other ranks, one way or the other. What makes calls with
// a root safe back to back is here, once.
#pragma once

#include <cstdint>

#include "muster/barrier/refusal.hpp"
#include "muster/collective/call.hpp"
#include "muster/collective/share.hpp"
#include "muster/collective/straight.hpp"
#include "muster/fabric.hpp"

namespace muster {

enum class Way : std::uint8_t { from_root, to_root };

// What a call with a root is: the same to all ranks, but whether it is valid.
struct RootedCall {
  const char* name;
  Rank root{};
  Way way = Way::from_root;
  std::int64_t count = 0;  // of elements, which the lanes share
  std::int64_t most = 0;   // so many of them in a message
  bool is_valid = true;    // the rank's own ends hold what the call moves
  std::uint32_t op = detail::no_operator;
};

// Each rank and lane has `depth` slots of its own. Who writes (the root, or all others) shows its
// messages there in turn, and who reads loads them where they lie.
//
// Messages of a lane are counted over all calls, roots and ways, alike on all ranks. For message k
// a writer sets `shown` at its readers to k, with release; a reader waits for that, reads,
// converges, and, now and then and after the last, sets `read` at the writer to k. A writer writes
// message k of a call once its readers have read message k - depth of it, and ends once they have
// read the last. So nothing is in flight when a call ends, and the next may have another root.
//
// Each cell has one writer (a rank's own column) and, with epochs, only grows; the count lives in a
// counter. Both sides of `read` are relaxed: the converge before the notify stands behind the
// loads, and a wait comes before the later stores (contract 5).
//
// With Cells::credits a message adds 1 to `shown` and an answer 1 to `read`. The waiter takes back
// what it has awaited, as the only one who waits there, by an add, before its next wait: the cells
// are zero when all ranks have returned, and a fast peer's next deposit is not lost.
//
// Cost of m messages, P ranks: the root m (P-1) notifies and (m + 1) / 2 (P-1) answers, or the
// other way round; each peer one (P-1)th of that. (Where m > depth, a writer waits for answers more
// than once.) With credits as many more to the own rank as waits.
template <class T, Cells cells = Cells::epochs>
class Rooted {
 public:
  static constexpr std::uint32_t depth = 4;  // a power of 2: the count may wrap

  template <Fabric F>
  class Turn;

  Rooted() = default;
  // Messages of at most `elements` > 0. Takes depth * lanes * elements of T of every rank.
  template <SetUp Team>
  Rooted(Team& team, std::int64_t elements)
      : shown_(*team.rows()),
        read_(*team.rows()),
        slots_(*team.template window<T>({std::int64_t{depth} * shown_.lanes, elements})),
        around_from_(detail::shown_from(team)) {}

  [[nodiscard]] MUSTER_FN constexpr std::int64_t elements() const { return slots_.cols; }
  [[nodiscard]] MUSTER_FN Rows rows() const { return shown_; }
  [[nodiscard]] MUSTER_FN Rows answers() const { return read_; }

  // Called by all threads of the lane; the same status to all. message(turn, index, part) writes or
  // reads each message of the lane's share, `part` being the elements that it is about.
  //
  // `invalid`, before anything is sent, where the root does not exist or the call is not valid. A
  // rank that is refused alone leaves the others waiting for it, but in a verifying run, in which
  // all are told.
  template <Fabric F, class Message>
  MUSTER_FN WaitStatus run(F& fabric, const RootedCall& call, Message&& message) const {
    const OneCall one(fabric);
    fabric.converge();  // other threads of the lane may have written what this one reads
    const bool is_valid = call.root.value < fabric.size() && call.is_valid;
    detail::describe_collective<T>(fabric, call.name, shown_, call.op, call.count, is_valid,
                                   call.root.value);
    if (!is_valid) return WaitStatus::invalid;
    const Share mine = share_of<T>(call.count, fabric.lane().value, fabric.lanes());
    if (mine.count == 0) return WaitStatus::ok;  // on every rank alike: nobody meets for that
    Turn<F> turn(*this, fabric, call.root, call.way, mine, call.most);
    for (std::uint32_t index = 0; index < turn.messages(); ++index) {
      if (turn.begin(index) != WaitStatus::ok) break;
      message(turn, index, turn.part(index));
      turn.end(index);
    }
    return turn.end_all();
  }

  // The length of a message, where `chunk` elements are to be staged: a `depth`th of them, but not
  // less than `tile` where they allow it.
  [[nodiscard]] static constexpr std::int64_t message_of(std::int64_t chunk, std::int64_t tile) {
    const std::int64_t part = chunk / depth;
    if (part >= tile) return part;
    return chunk < tile ? chunk : tile;
  }

 private:
  Rows shown_;
  Rows read_;
  WindowRef<T> slots_;
  std::int64_t around_from_ = detail::never_around;  // bytes
};

// One call's messages, by their index 0, 1, ... messages() - 1, in order. After a wait that was not
// `ok` nothing more is shown or answered, and later calls are `refused`.
template <class T, Cells cells>
template <Fabric F>
class Rooted<T, cells>::Turn {
 public:
  MUSTER_FN Turn(const Rooted& rooted, F& fabric, Rank root, Way way, Share share,
                 std::int64_t most)
      : rooted_(rooted),
        fabric_(fabric),
        root_(root),
        writes_((fabric.rank() == root) == (way == Way::from_root)),
        share_(share),
        most_(most),
        count_(static_cast<std::uint32_t>((share.count + most - 1) / most)),
        before_{fabric.counter(rooted.shown_.epoch(fabric.lane()))} {
    if (Refusal::stands(fabric, note())) [[unlikely]]
      status_ = WaitStatus::refused;
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  [[nodiscard]] MUSTER_FN bool writes() const { return writes_; }
  [[nodiscard]] MUSTER_FN std::uint32_t messages() const { return count_; }
  // The elements of the share that a message is about.
  [[nodiscard]] MUSTER_FN Share part(std::uint32_t index) const {
    const std::int64_t at = index * most_;
    return Share{share_.first + at, share_.count - at < most_ ? share_.count - at : most_};
  }

  // Until the message may be written, by a writer, or is there, for a reader: the same status to
  // all threads.
  MUSTER_FN WaitStatus begin(std::uint32_t index) {
    if (!writes_) return hear(rooted_.shown_, number(index), 1, Order::acquire);
    // Of two messages one is answered: the wait before an even one is for the next one, too.
    if (index < depth || (index % 2 != 0 && cells == Cells::credits)) return status_;
    return hear_answers(number(index - depth), 1);
  }

  // A tile of the own message, from element `at` of the slot on.
  template <class Tile>
  MUSTER_FN void write(Tile& tile, std::uint32_t index, std::int64_t at, std::int64_t count) {
    if (status_ == WaitStatus::ok) [[likely]]
      detail::show_tile(
          fabric_, tile, rooted_.slots_, fabric_.rank(), slot(index, at, count),
          part(index).count * static_cast<std::int64_t>(sizeof(T)) >= rooted_.around_from_);
  }
  // The same of the writer's.
  template <class Tile>
  MUSTER_FN void read(Tile& tile, Rank writer, std::uint32_t index, std::int64_t at,
                      std::int64_t count) {
    if (status_ == WaitStatus::ok) [[likely]]
      // A load that fails fails the lane: the end of the call tells.
      (void)fabric_.remote_load(tile, rooted_.slots_, writer, slot(index, at, count));
  }

  MUSTER_FN void end(std::uint32_t index) {
    if (!writes_ && index % 2 == 0 && index + 1 != count_) return;
    fabric_.converge();  // all threads have written, or read
    if (status_ != WaitStatus::ok) [[unlikely]]
      return;
    // Pairs with hear() on the other side.
    if (writes_)
      tell(rooted_.shown_, number(index), Order::release);
    else
      tell(rooted_.read_, number(index), Order::relaxed);
  }

  // The status of the call, the same to all threads.
  MUSTER_FN WaitStatus end_all() {
    if (writes_ && status_ == WaitStatus::ok)
      (void)hear_answers(number(count_ - 1), answers_left());
    fabric_.converge();  // all threads have read the counters
    if (status_ == WaitStatus::refused) [[unlikely]]
      return status_;
    if (fabric_.thread() == 0)
      fabric_.set_counter(rooted_.shown_.epoch(fabric_.lane()), number(count_ - 1).value);
    (void)Refusal::after(fabric_, note(), status_);
    fabric_.converge();  // before any thread reads them again
    return status_;
  }

 private:
  [[nodiscard]] MUSTER_FN Counter note() const { return rooted_.shown_.refusal(fabric_.lane()); }
  [[nodiscard]] MUSTER_FN Epoch number(std::uint32_t index) const {
    return Epoch{before_.value + 1 + index};
  }
  [[nodiscard]] MUSTER_FN Box slot(std::uint32_t index, std::int64_t at, std::int64_t count) const {
    return Box{std::int64_t{depth} * fabric_.lane().value + number(index).value % depth, at, 1,
               count};
  }
  // Those that begin() has not awaited.
  [[nodiscard]] MUSTER_FN std::uint32_t answers_left() const {
    return (count_ + 1) / 2 - (count_ > depth ? (count_ - depth + 1) / 2 : 0);
  }

  // visit(peer) for those that this rank has messages with, shared out over the threads.
  template <class Visit>
  MUSTER_FN void each_partner(Visit&& visit) const {
    if (fabric_.rank() == root_)
      for_each_peer(fabric_, visit);
    else if (fabric_.thread() == 0)
      visit(root_);
  }

  MUSTER_FN void tell(Rows rows, Epoch message, Order order) {
    const Signal mine = rows.from(fabric_.lane(), fabric_.rank());
    each_partner([&](Rank peer) {
      if constexpr (cells == Cells::credits)
        fabric_.notify(mine, peer, 1, NotifyOp::add, order);
      else
        fabric_.notify(mine, peer, message.value, NotifyOp::set, order);
    });
  }

  MUSTER_FN WaitStatus hear_answers(Epoch message, std::uint32_t credits) {
    return hear(rooted_.read_, message, credits, Order::relaxed);
  }

  // Until all partners have told of the message, or have given so many credits since the last time.
  MUSTER_FN WaitStatus hear(Rows rows, Epoch message, [[maybe_unused]] std::uint32_t credits,
                            Order order) {
    if (status_ != WaitStatus::ok) [[unlikely]]
      return status_;
    WaitStatus status = WaitStatus::ok;
    each_partner([&](Rank peer) {
      const Signal theirs = rows.from(fabric_.lane(), peer);
      if constexpr (cells == Cells::credits) {
        const WaitStatus one = fabric_.wait(theirs, Compare::ge, credits, order);
        // To the own rank: it has taken effect on return. Relaxed: it speaks to nobody.
        if (one == WaitStatus::ok)
          fabric_.notify(theirs, fabric_.rank(), 0 - credits, NotifyOp::add, Order::relaxed);
        status = worst(status, one);
      } else {
        status = worst(status, fabric_.wait(theirs, Compare::ge, message.value, order));
      }
    });
    return status_ = fabric_.converge(status);
  }

  const Rooted& rooted_;
  F& fabric_;
  Rank root_;
  bool writes_;
  Share share_;
  std::int64_t most_;
  std::uint32_t count_;
  Epoch before_;
  WaitStatus status_ = WaitStatus::ok;
};

}  // namespace muster
