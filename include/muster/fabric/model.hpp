// The model fabric: the face that protocols see while the checker runs them.
//
// One fiber runs per thread of each lane of each rank. Nothing here is executed as a machine would:
// signals are bags of deposits of which a wait takes a part, transfers are agents that carry a
// clock of their own, and window data is real memory with a shadow that knows who touched it last.
// docs/checking.md says what that finds; src/check/ does it.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "muster/fabric.hpp"
#include "muster/fabric/model/tile.hpp"
#include "muster/result.hpp"
#include "muster/types.hpp"

namespace muster::check::engine {
class Execution;
struct Thread;
}  // namespace muster::check::engine

namespace muster::model {

using Where = std::source_location;

enum class Access : std::uint8_t { read, write, remote_add };

// Who meets at a barrier: the same lane of every rank, all lanes of one rank, all lanes of all.
enum class BarrierScope : std::uint8_t { lane, rank, team };

// `count` elements of `element` bytes each, from `offset` bytes into a segment.
struct Span {
  std::uint32_t segment = 0;
  std::uint64_t offset = 0;
  std::int64_t count = 0;
  std::uint32_t element = 1;
};

class Fabric;

// An element of a window, which is what view[i] names while its expression lasts. It is read where
// it is converted to T and written where it is assigned to, as T& is on a host, and each access is
// recorded there; it is reported at `where`, the call of local() or address() that it comes from.
//
// What would be read or written at another place than on a host does not compile: an element has no
// name of its own (`auto v = view[i]` would be a copy there and is no copy here: name the type),
// and nothing refers to it (`const T& v = view[i]`, a parameter of that type, &view[i], iterators).
template <class T>
class Ref {
 public:
  Ref(Fabric* fabric, Rank rank, Span span, Where where)
      : fabric_(fabric), rank_(rank), span_(span), where_(where) {}
  Ref(const Ref&) = delete;
  Ref(Ref&&) = delete;
  ~Ref() = default;

  operator T() &&;  // NOLINT: stands for the element
  operator T() const& = delete;
  // Taken, and refused, where something is to refer to the element.
  template <class U>
  requires std::is_same_v<U, T>
  operator const U&() && = delete;  // NOLINT: see above

  // They return nothing: on a host it would be the element, to be read again.
  // NOLINTBEGIN(misc-unconventional-assign-operator, cppcoreguidelines-c-copy-assignment-signature)
  void operator=(T value) &&;
  void operator=(const Ref&) && = delete;
  void operator=(Ref&& other) && { std::move(*this) = T(std::move(other)); }
  void operator=(T value) const& = delete;
  // NOLINTEND(misc-unconventional-assign-operator, cppcoreguidelines-c-copy-assignment-signature)
  void operator+=(T value) && {
    change([&](T old) { return static_cast<T>(old + value); });
  }
  void operator-=(T value) && {
    change([&](T old) { return static_cast<T>(old - value); });
  }
  void operator*=(T value) && {
    change([&](T old) { return static_cast<T>(old * value); });
  }
  void operator++() && {
    change([&](T old) { return static_cast<T>(old + T(1)); });
  }
  void operator--() && {
    change([&](T old) { return static_cast<T>(old - T(1)); });
  }

 private:
  template <class Next>
  void change(Next&& next);

  Fabric* fabric_;
  Rank rank_;
  Span span_;
  Where where_;
};

// What local(window) and address(window, peer) return: view[i] is element i, row-major.
template <class T>
class View {
 public:
  View(Fabric* fabric, Rank rank, WindowRef<T> window, Where where)
      : fabric_(fabric), rank_(rank), window_(window), where_(where) {}
  [[nodiscard]] Ref<T> operator[](std::int64_t index) const;
  [[nodiscard]] std::int64_t size() const { return window_.size(); }

 private:
  Fabric* fabric_;
  Rank rank_;
  WindowRef<T> window_;
  Where where_;
};

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
  template <class T>
  [[nodiscard]] T broadcast(T value, Where where = Where::current());

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
  void remote_load(Tile<T, R, C>& tile, WindowRef<T> window, Rank peer, Box box,
                   Where where = Where::current()) {
    move_tile(tile, window, peer, box, Move::remote_load, where);
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
  template <class T>
  void put_async(WindowRef<T> to, Rank peer, std::int64_t to_at, WindowRef<T> from,
                 std::int64_t from_at, std::int64_t count, Where where = Where::current()) {
    put_bytes(run_of(to, to_at, count, where), peer, run_of(from, from_at, count, where), true,
              where);
  }
  template <class T>
  void get(WindowRef<T> to, std::int64_t to_at, WindowRef<T> from, Rank peer, std::int64_t from_at,
           std::int64_t count, Where where = Where::current()) {
    get_bytes(run_of(to, to_at, count, where), run_of(from, from_at, count, where), peer, false,
              where);
  }
  template <class T>
  void get_async(WindowRef<T> to, std::int64_t to_at, WindowRef<T> from, Rank peer,
                 std::int64_t from_at, std::int64_t count, Where where = Where::current()) {
    get_bytes(run_of(to, to_at, count, where), run_of(from, from_at, count, where), peer, true,
              where);
  }
  template <class T>
  void put_signal(WindowRef<T> to, Rank peer, std::int64_t to_at, WindowRef<T> from,
                  std::int64_t from_at, std::int64_t count, Signal signal, std::uint32_t value,
                  NotifyOp op, Where where = Where::current()) {
    put_signal_bytes(run_of(to, to_at, count, where), peer, run_of(from, from_at, count, where),
                     signal, value, op, where);
  }
  void flush(Where where = Where::current());

  // A thread's share of a tile is one message with one flag; see src/check/packets.cpp.
  template <class T, std::int64_t R, std::int64_t C>
  void put_packets(Slots slots, Rank peer, std::int64_t at, Tile<T, R, C>& tile, std::uint32_t flag,
                   Where where = Where::current());
  template <class T, std::int64_t R, std::int64_t C>
  WaitStatus wait_packets(Tile<T, R, C>& tile, Slots slots, std::int64_t at, std::uint32_t flag,
                          Where where = Where::current());
  void clear_packets(Slots slots, std::int64_t at, std::int64_t lines,
                     Where where = Where::current());

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

  // Records the access by this thread and returns where the bytes are. A span outside its segment
  // is a finding, and the bytes returned are scratch.
  [[nodiscard]] void* touch(Rank rank, Span span, Access access, Where where);

 private:
  template <class T>
  friend class View;
  enum class Move : std::uint8_t { load, store, remote_load, remote_store, remote_add };

  template <class T, std::int64_t R, std::int64_t C>
  void move_tile(Tile<T, R, C>& tile, WindowRef<T> window, Rank peer, Box box, Move move,
                 Where where);
  template <class T>
  Span run_of(WindowRef<T> window, std::int64_t at, std::int64_t count, Where where);

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
  void put_bytes(Span to, Rank peer, Span from, bool async, Where where);
  void get_bytes(Span to, Span from, Rank peer, bool async, Where where);
  void put_signal_bytes(Span to, Rank peer, Span from, Signal signal, std::uint32_t value,
                        NotifyOp op, Where where);
  void broadcast_bytes(void* value, std::size_t size, Where where);

  check::engine::Thread* self_;
  Rank rank_;
  Lane lane_;
  std::uint32_t size_;
  std::uint32_t lanes_;
  std::uint32_t index_;
  std::uint32_t threads_;
  Profile profile_;
};

// Memory that every rank has, of `bytes` bytes.
struct Allocation {
  std::uint32_t segment = 0;
  std::uint64_t bytes = 0;
};

// The set-up side, as muster::Team: each rank runs the same body, the set-up calls of all ranks
// must match in order and in arguments.
class Team {
 public:
  explicit Team(check::engine::Thread& setup);

  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] std::uint32_t max_lanes() const { return max_lanes_; }
  [[nodiscard]] std::uint32_t calls() const { return calls_; }  // check::Options::calls
  [[nodiscard]] Profile profile() const { return profile_; }

  template <class T>
  Result<WindowRef<T>> window(std::initializer_list<std::int64_t> extents,
                              std::string_view name = {}, Where where = Where::current()) {
    return window<T>(std::vector<std::int64_t>(extents), name, where);
  }
  template <class T>
  Result<WindowRef<T>> window(const std::vector<std::int64_t>& extents, std::string_view name = {},
                              Where where = Where::current()) {
    return as_window<T>(
        make_window(extents, sizeof(T), std::is_same_v<T, PacketLine>, name, where));
  }
  template <class T>
  Result<WindowRef<T>> window(Allocation allocation, std::initializer_list<std::int64_t> extents,
                              Where where = Where::current()) {
    return as_window<T>(place_window(allocation, std::vector(extents), sizeof(T), where));
  }
  Result<Allocation> allocate(std::int64_t bytes, Where where = Where::current());
  Result<Rows> rows(Where where = Where::current()) { return rows(max_lanes_, where); }
  Result<Rows> rows(std::uint32_t lanes, Where where = Where::current());
  Result<Signals> signals(std::uint32_t count, Where where = Where::current());

  // Everything in it must have been reached before: a transfer or deposit still in flight is a
  // race.
  template <class T>
  Result<void> free(WindowRef<T> window, Where where = Where::current()) {
    return free_segment(window.segment, where);
  }
  Result<void> free(Allocation allocation, Where where = Where::current()) {
    return free_segment(allocation.segment, where);
  }
  Result<void> free(Rows rows, Where where = Where::current()) {
    return free_cells(rows.first, rows.lanes * rows.ranks, where);
  }
  Result<void> free(Signals signals, Where where = Where::current()) {
    return free_cells(signals.first, signals.count, where);
  }

  // Runs `body` on one lane, or on `count` lanes at once; each is `threads` fibers. The start
  // acquires and the end releases for the rank (contract 10).
  template <class B>
  Result<void> lane(B&& body, Where where = Where::current()) {
    return lanes(1, std::forward<B>(body), where);
  }
  template <class B>
  Result<void> lanes(std::uint32_t count, B&& body, Where where = Where::current()) {
    return launch(
        count, [&body](Fabric& fabric) { return status_of(body, fabric); }, where);
  }

  Result<void> sync(Where where = Where::current());
  void abort(std::string_view reason, Where where = Where::current());

  // The cells are zero when the check ends, or there is a finding of kind `credits`.
  void promise_zero(Rows rows) { promise_cells(rows.first, rows.lanes * rows.ranks); }
  void promise_zero(Signals signals) { promise_cells(signals.first, signals.count); }
  void expect(bool holds, std::string_view what = "expectation", Where where = Where::current());
  // Appended to what this rank records in this execution; see check::Report::outcomes.
  void outcome(std::uint64_t value);

 private:
  struct Made {  // a window without its type
    std::uint32_t segment = 0;
    std::uint64_t offset = 0;
    std::int64_t rows = 0;
    std::int64_t cols = 0;
  };

  template <class T>
  static Result<WindowRef<T>> as_window(const Result<Made>& made);
  template <class B>
  static Result<void> status_of(B& body, Fabric& fabric);

  Result<Made> make_window(const std::vector<std::int64_t>& extents, std::size_t element,
                           bool slots, std::string_view name, Where where);
  Result<Made> place_window(Allocation allocation, const std::vector<std::int64_t>& extents,
                            std::size_t element, Where where);
  Result<void> launch(std::uint32_t count, const std::function<Result<void>(Fabric&)>& body,
                      Where where);
  Result<void> free_segment(std::uint32_t segment, Where where);
  Result<void> free_cells(Signal first, std::uint32_t count, Where where);
  void promise_cells(Signal first, std::uint32_t count);

  check::engine::Thread* self_;
  Rank rank_;
  std::uint32_t size_;
  std::uint32_t max_lanes_;
  std::uint32_t calls_;
  Profile profile_;
};

// ---- definitions

template <class T>
Ref<T>::operator T() && {
  static_assert(std::is_trivially_copyable_v<T>);
  return *static_cast<const T*>(fabric_->touch(rank_, span_, Access::read, where_));
}

// NOLINTBEGIN(misc-unconventional-assign-operator): see its declaration
template <class T>
void Ref<T>::operator=(T value) && {
  *static_cast<T*>(fabric_->touch(rank_, span_, Access::write, where_)) = value;
}
// NOLINTEND(misc-unconventional-assign-operator)

template <class T>
template <class Next>
void Ref<T>::change(Next&& next) {
  const T old = *static_cast<const T*>(fabric_->touch(rank_, span_, Access::read, where_));
  *static_cast<T*>(fabric_->touch(rank_, span_, Access::write, where_)) = next(old);
}

template <class T>
Ref<T> View<T>::operator[](std::int64_t index) const {
  Span span = {window_.segment, window_.offset, 1, sizeof(T)};
  if (index < 0 || index >= window_.size()) {
    fabric_->check_run(span, window_.team, index, 1, window_.size(), where_);
    span.count = 0;  // touch() answers with scratch
    return Ref<T>(fabric_, rank_, span, where_);
  }
  span.offset += static_cast<std::uint64_t>(index) * sizeof(T);
  return Ref<T>(fabric_, rank_, span, where_);
}

template <class T>
T Fabric::broadcast(T value, Where where) {
  static_assert(std::is_trivially_copyable_v<T>);
  broadcast_bytes(&value, sizeof(T), where);
  return value;
}

template <class T>
Span Fabric::run_of(WindowRef<T> window, std::int64_t at, std::int64_t count, Where where) {
  static_assert(std::is_trivially_copyable_v<T>);
  Span span = {window.segment, window.offset, count, sizeof(T)};
  if (!check_run(span, window.team, at, count, window.size(), where)) {
    span.count = -1;
    return span;
  }
  span.offset += static_cast<std::uint64_t>(at) * sizeof(T);
  return span;
}

template <class T>
Span Fabric::packet_of(Span lines, std::int64_t index) {
  constexpr std::uint64_t stride = (sizeof(T) + 3) / 4 * 8;
  return {lines.segment, lines.offset + static_cast<std::uint64_t>(index) * stride, 1, sizeof(T)};
}

template <class T, std::int64_t R, std::int64_t C>
void Fabric::put_packets(Slots slots, Rank peer, std::int64_t at, Tile<T, R, C>& tile,
                         std::uint32_t flag, Where where) {
  const Span lines = run_of(slots, at, packet_lines<T>(R * C), where);
  if (index_ >= R * C || !begin_packets(lines, peer, flag, where)) return;
  tile.each([&](std::int64_t row, std::int64_t col, T& element) {
    *static_cast<T*>(put_packet(packet_of<T>(lines, row * C + col), peer)) = element;
  });
  end_packets(lines, peer, flag, where);
}

template <class T, std::int64_t R, std::int64_t C>
WaitStatus Fabric::wait_packets(Tile<T, R, C>& tile, Slots slots, std::int64_t at,
                                std::uint32_t flag, Where where) {
  const Span lines = run_of(slots, at, packet_lines<T>(R * C), where);
  if (index_ >= R * C) return WaitStatus::ok;
  const WaitStatus status = wait_for_packets(lines, flag, where);
  if (status != WaitStatus::ok) return status;
  tile.each([&](std::int64_t row, std::int64_t col, T& element) {
    const Span packet = packet_of<T>(lines, row * C + col);
    element = *static_cast<const T*>(read_packet(packet));
  });
  return status;
}

template <class T, std::int64_t R, std::int64_t C>
void Fabric::move_tile(Tile<T, R, C>& tile, WindowRef<T> window, Rank peer, Box box, Move move,
                       Where where) {
  const Span whole = {window.segment, window.offset, window.size(), sizeof(T)};
  if (!begin_move(whole, window.team, window.rows, window.cols, peer, box, R, C, move, where))
    return;
  if (!std::is_integral_v<T> && move == Move::remote_add) inexact();
  tile.each([&](std::int64_t row, std::int64_t col, T& element) {
    const bool inside = row < box.rows && col < box.cols;
    const bool loads = move == Move::load || move == Move::remote_load;
    if (!inside) {
      if (loads) element = T{};
      return;
    }
    const auto at = static_cast<std::uint64_t>(window.at(box.row + row, box.col + col));
    void* bytes =
        move_element({window.segment, window.offset + at * sizeof(T), 1, sizeof(T)}, peer, move);
    T& there = *static_cast<T*>(bytes);
    if (loads)
      element = there;
    else if (move == Move::remote_add)
      there = static_cast<T>(there + element);
    else
      there = element;
  });
}

template <class T>
Result<WindowRef<T>> Team::as_window(const Result<Made>& made) {
  if (!made) return made.error();
  WindowRef<T> window;
  window.offset = made->offset;
  window.rows = made->rows;
  window.cols = made->cols;
  window.segment = made->segment;
  return window;
}

template <class B>
Result<void> Team::status_of(B& body, Fabric& fabric) {
  using R = std::invoke_result_t<B&, Fabric&>;
  if constexpr (std::is_void_v<R>) {
    body(fabric);
    return {};
  } else if constexpr (std::is_same_v<R, WaitStatus>) {
    return result_of(body(fabric));
  } else {
    return body(fabric);
  }
}

static_assert(muster::Fabric<Fabric> && DirectFabric<Fabric> && HandoffFabric<Fabric>);
static_assert(PacketFabric<Fabric> && TilingAll<Fabric>);

}  // namespace muster::model
