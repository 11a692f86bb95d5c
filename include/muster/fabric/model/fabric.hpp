// A lane of the model: the operations of the concept. Its templates are defined in operations.hpp.
// Included by muster/fabric/model.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "muster/fabric.hpp"
#include "muster/fabric/model/actor.hpp"
#include "muster/fabric/model/span.hpp"
#include "muster/fabric/model/tile.hpp"
#include "muster/fabric/model/view.hpp"
#include "muster/types.hpp"

namespace muster::check::engine {
class Execution;
struct Thread;
}  // namespace muster::check::engine

namespace muster::model {

class Part;

// One lane of one rank as one of its threads sees it.
class Fabric {
 public:
  explicit Fabric(check::engine::Thread& thread);

  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] Lane lane() const { return lane_; }
  [[nodiscard]] std::uint32_t lanes() const { return lanes_; }
  [[nodiscard]] std::uint32_t thread() const { return index_; }
  [[nodiscard]] std::uint32_t threads() const { return threads_; }
  [[nodiscard]] Profile profile() const { return profile_; }

  void converge(Where where = Where::current());
  WaitStatus converge(WaitStatus status, Where where = Where::current());
  [[nodiscard]] WaitStatus status() const;
  void progress(Where where = Where::current());
  template <class T>
  [[nodiscard]] T broadcast(T value, Where where = Where::current());

  // Parts of the lane. A warp is one thread here.
  template <class P>
  [[nodiscard]] bool in_part(std::uint32_t first) const {
    return index_ - first < P::count;
  }
  template <class P>
  [[nodiscard]] Part part(std::uint32_t first, Where where = Where::current());

  void notify(Signal signal, Rank peer, std::uint32_t value, NotifyOp op,
              Order order = Order::release, Scope scope = Scope::system,
              Where where = Where::current());
  WaitStatus wait(Signal signal, Compare compare, std::uint32_t value, Order order = Order::acquire,
                  Scope scope = Scope::system, Where where = Where::current());
  WaitStatus test(Signal signal, Compare compare, std::uint32_t value, Order order = Order::acquire,
                  Scope scope = Scope::system, Where where = Where::current());
  AnyStatus wait_any(const Condition* conditions, std::uint32_t count, Order order = Order::acquire,
                     Scope scope = Scope::system, Where where = Where::current());
  [[nodiscard]] std::uint32_t read(Signal signal, Order order = Order::relaxed,
                                   Scope scope = Scope::system, Where where = Where::current());
  WaitStatus hand(Signal signal, Rank peer, Order order = Order::release,
                  Where where = Where::current());
  WaitStatus take(Signal signal, Order order = Order::acquire, Where where = Where::current());
  Fetched fetch_add(Signal signal, Rank peer, std::uint32_t value, Order order = Order::acq_rel,
                    Scope scope = Scope::system, Where where = Where::current());
  Fetched exchange(Signal signal, Rank peer, std::uint32_t value, Order order = Order::acq_rel,
                   Scope scope = Scope::system, Where where = Where::current());
  Fetched compare_swap(Signal signal, Rank peer, std::uint32_t expected, std::uint32_t desired,
                       Order order = Order::acq_rel, Scope scope = Scope::system,
                       Where where = Where::current());

  [[nodiscard]] std::uint32_t counter(Counter counter, Where where = Where::current());
  void set_counter(Counter counter, std::uint32_t value, Where where = Where::current());

  template <class T>
  [[nodiscard]] View<T> local(WindowRef<T> window, Where where = Where::current()) {
    return View<T>(this, rank_, window, where);
  }
  // On the profiles `direct` and `sc`; elsewhere a finding of kind `contract`.
  template <class T>
  [[nodiscard]] View<T> address(WindowRef<T> window, Rank peer, Where where = Where::current()) {
    require_direct(peer, where);
    return View<T>(this, peer, window, where);
  }

  template <class T, std::int64_t R, std::int64_t C>
  [[nodiscard]] Tile<T, R, C> tile() {
    return Tile<T, R, C>(index_, threads_);
  }
  template <class U, class T, std::int64_t R, std::int64_t C>
  [[nodiscard]] Tile<U, R, C> tile_like(const Tile<T, R, C>& /*tile*/) {
    return Tile<U, R, C>(index_, threads_);
  }
  template <class T, std::int64_t R, std::int64_t C>
  void load(Tile<T, R, C>& tile, WindowRef<T> window, Box box, Where where = Where::current()) {
    move_tile(tile, window, rank_, box, Move::load, where);
  }
  template <class T, std::int64_t R, std::int64_t C>
  void store(Tile<T, R, C>& tile, WindowRef<T> window, Box box, Where where = Where::current()) {
    move_tile(tile, window, rank_, box, Move::store, where);
  }
  // Plain memory belongs to the body: nothing is recorded of it.
  template <class T, class U, std::int64_t R, std::int64_t C>
  requires std::is_same_v<std::remove_const_t<U>, T>
  void load(Tile<T, R, C>& tile, MemoryRef<U> memory, Box box, Where where = Where::current()) {
    if (!check_box(memory.rows, memory.cols, box, R, C, "the box lies outside the memory", where))
      return;
    tile.each([&](std::int64_t row, std::int64_t col, T& element) {
      const bool inside = row < box.rows && col < box.cols;
      element = inside ? memory.data[memory.at(box.row + row, box.col + col)] : T{};
    });
  }
  template <class T, std::int64_t R, std::int64_t C>
  void store(Tile<T, R, C>& tile, MemoryRef<T> memory, Box box, Where where = Where::current()) {
    if (!check_box(memory.rows, memory.cols, box, R, C, "the box lies outside the memory", where))
      return;
    tile.each([&](std::int64_t row, std::int64_t col, T& element) {
      if (row < box.rows && col < box.cols)
        memory.data[memory.at(box.row + row, box.col + col)] = element;
    });
  }
  template <class T, std::int64_t R, std::int64_t C>
  WaitStatus remote_load(Tile<T, R, C>& tile, WindowRef<T> window, Rank peer, Box box,
                         Where where = Where::current()) {
    move_tile(tile, window, peer, box, Move::remote_load, where);
    return status();
  }
  template <class T, std::int64_t R, std::int64_t C>
  void remote_store(Tile<T, R, C>& tile, WindowRef<T> window, Rank peer, Box box,
                    Where where = Where::current()) {
    move_tile(tile, window, peer, box, Move::remote_store, where);
  }
  template <class T, std::int64_t R, std::int64_t C>
  void remote_add(Tile<T, R, C>& tile, WindowRef<T> window, Rank peer, Box box,
                  Where where = Where::current()) {
    static_assert(sizeof(T) <= 8 && (sizeof(T) & (sizeof(T) - 1)) == 0 && !std::is_same_v<T, bool>,
                  "remote_add takes numbers of 1, 2, 4 or 8 bytes");
    move_tile(tile, window, peer, box, Move::remote_add, where);
  }

  template <class T>
  void put(WindowRef<T> to, Rank peer, std::int64_t to_at, WindowRef<T> from, std::int64_t from_at,
           std::int64_t count, Where where = Where::current()) {
    put_bytes(run_of(to, to_at, count, where), peer, run_of(from, from_at, count, where), false,
              where);
  }
  // The asynchronous transfers that a thread had begun when the call returned.
  struct Request {
    Rank peer;
    std::uint32_t begun = 0;
  };
  template <class T>
  Request put_async(WindowRef<T> to, Rank peer, std::int64_t to_at, WindowRef<T> from,
                    std::int64_t from_at, std::int64_t count, Where where = Where::current()) {
    return put_bytes(run_of(to, to_at, count, where), peer, run_of(from, from_at, count, where),
                     true, where);
  }
  template <class T>
  WaitStatus get(WindowRef<T> to, std::int64_t to_at, WindowRef<T> from, Rank peer,
                 std::int64_t from_at, std::int64_t count, Where where = Where::current()) {
    get_bytes(run_of(to, to_at, count, where), run_of(from, from_at, count, where), peer, false,
              where);
    return status();
  }
  template <class T>
  Request get_async(WindowRef<T> to, std::int64_t to_at, WindowRef<T> from, Rank peer,
                    std::int64_t from_at, std::int64_t count, Where where = Where::current()) {
    return get_bytes(run_of(to, to_at, count, where), run_of(from, from_at, count, where), peer,
                     true, where);
  }
  template <class T>
  void put_signal(WindowRef<T> to, Rank peer, std::int64_t to_at, WindowRef<T> from,
                  std::int64_t from_at, std::int64_t count, Signal signal, std::uint32_t value,
                  NotifyOp op, Where where = Where::current()) {
    put_signal_bytes(run_of(to, to_at, count, where), peer, run_of(from, from_at, count, where),
                     signal, value, op, where);
  }
  WaitStatus complete(Request request, Where where = Where::current());
  WaitStatus flush(Rank peer, Where where = Where::current());
  WaitStatus flush(Where where = Where::current());

  // A thread's share of a tile is one message with one flag; see src/check/packets.cpp.
  template <class T, std::int64_t R, std::int64_t C>
  void put_packets(Slots slots, Rank peer, std::int64_t at, Tile<T, R, C>& tile, std::uint32_t flag,
                   Where where = Where::current());
  template <class T, std::int64_t R, std::int64_t C>
  WaitStatus wait_packets(Tile<T, R, C>& tile, Slots slots, std::int64_t at, std::uint32_t flag,
                          Where where = Where::current());
  void clear_packets(Slots slots, std::int64_t at, std::int64_t lines,
                     Where where = Where::current());

  // A thread's share of a tile is one message; see src/check/sentinels.cpp.
  template <HasSentinel T, std::int64_t R, std::int64_t C>
  void replace_sentinel(Tile<T, R, C>& tile) {
    tile.each([](auto, auto, T& element) { element = without_sentinel(element); });
  }
  template <HasSentinel T, std::int64_t R, std::int64_t C>
  void put_sentinel(SentinelSlots slots, Rank peer, std::int64_t at, Tile<T, R, C>& tile,
                    Where where = Where::current());
  template <HasSentinel T, std::int64_t R, std::int64_t C>
  WaitStatus wait_sentinel(Tile<T, R, C>& tile, SentinelSlots slots, std::int64_t at,
                           Where where = Where::current());
  template <HasSentinel T, std::int64_t R, std::int64_t C>
  void clear_sentinel(SentinelSlots slots, std::int64_t at, Tile<T, R, C>& tile,
                      Where where = Where::current());

  // See src/check/launches.cpp.
  void launch_wait(Where where = Where::current());
  void launch_done(Where where = Where::current());

  // Ranks whose calls of one number differ, on one lane, are a finding of kind `divergence`.
  void describe(const CallSignature& call);

  // For muster::Called: from here on operations belong to the call at `where`. False where they
  // belong to another one already, which is passed to returned().
  bool called_from(Where where);
  void returned(bool outermost);

  // For check::barrier_call and the bodies of checks; see muster/check.hpp.
  void enter_call(std::uint32_t barrier, BarrierScope scope = BarrierScope::lane,
                  Where where = Where::current());
  void leave_call(std::uint32_t barrier, WaitStatus status, Where where = Where::current());
  void expectation(bool holds, std::string_view what, Where where);  // muster::expect
  void outcome(std::uint64_t value);

 protected:
  // The part of `count` threads of the lane, from its thread `first` on; the calling one alone,
  // with a finding, where it is none of them.
  Fabric(const Fabric& lane, std::uint32_t first, std::uint32_t count, Where where);

 private:
  template <class T>
  friend class Ref;
  template <class T>
  friend class View;
  enum class Move : std::uint8_t { load, store, remote_load, remote_store, remote_add };

  template <class T, std::int64_t R, std::int64_t C>
  void move_tile(Tile<T, R, C>& tile, WindowRef<T> window, Rank peer, Box box, Move move,
                 Where where);
  template <class T>
  Span run_of(WindowRef<T> window, std::int64_t at, std::int64_t count, Where where);

  // Records the access by this thread and returns where the bytes are. A span outside its segment
  // is a finding, and the bytes returned are scratch.
  [[nodiscard]] void* touch(Rank rank, Span span, Access access, Where where);
  void require_direct(Rank peer, Where where);
  // False, with a finding, where the window, peer or box does not exist.
  bool begin_move(Span window, std::uint32_t team, std::int64_t rows, std::int64_t cols, Rank peer,
                  Box box, std::int64_t tile_rows, std::int64_t tile_cols, Move move, Where where);
  bool check_box(std::int64_t rows, std::int64_t cols, Box box, std::int64_t tile_rows,
                 std::int64_t tile_cols, const char* outside, Where where);
  // The sum of what is added depends on the order of adding.
  void inexact();
  // One element of a tile operation: returns the bytes in the window.
  void* move_element(Span span, Rank peer, Move move);
  bool check_run(Span window, std::uint32_t team, std::int64_t at, std::int64_t count,
                 std::int64_t size, Where where);
  // Where element `index` of a tile lies in its lines, in units of a packet.
  template <class T>
  static Span packet_of(Span lines, std::int64_t index);
  bool begin_packets(Span lines, Rank peer, std::uint32_t flag, Where where);
  void* put_packet(Span element, Rank peer);
  void* read_packet(Span element);
  void end_packets(Span lines, Rank peer, std::uint32_t flag, Where where);
  WaitStatus wait_for_packets(Span lines, std::uint32_t flag, Where where);
  bool begin_sentinel(Span lines, Rank peer, Where where);
  void check_sentinel(bool is_one, Where where);
  void* put_element(Span element, Rank peer);
  void end_sentinel(Span lines, Rank peer, Where where);
  WaitStatus wait_for_sentinel(Span lines, Where where);
  bool begin_clearing(Span lines, Where where);
  void clear_element(Span element);
  void end_clearing(Span lines, Where where);
  Request put_bytes(Span to, Rank peer, Span from, bool async, Where where);
  Request get_bytes(Span to, Span from, Rank peer, bool async, Where where);
  void put_signal_bytes(Span to, Rank peer, Span from, Signal signal, std::uint32_t value,
                        NotifyOp op, Where where);
  void broadcast_bytes(void* value, std::size_t size, Where where);

  Actor self_;
  Rank rank_;
  Lane lane_;
  std::uint32_t size_;
  std::uint32_t lanes_;
  std::uint32_t index_;
  std::uint32_t threads_;
  Profile profile_;
};

}  // namespace muster::model
