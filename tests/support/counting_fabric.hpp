// The third fabric: one rank's view of a team that has no other members. It shows that nothing of a
// real machine leaks through the concept, and it counts: the cost cards of the protocols are
// asserted on it.
//
// Deposits to peers are recorded and go nowhere; waits succeed at once; transfers reach memory that
// stands for the peers', so that their data can be looked at.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "muster/fabric.hpp"
#include "muster/reduce.hpp"
#include "muster/result.hpp"
#include "muster/types.hpp"

namespace muster::testing {

enum class Op : std::uint8_t {
  converge,
  notify,
  wait,
  test,
  wait_any,
  read,
  hand,
  take,
  flush,
  counter,
  set_counter,
  local_transfer,   // load, store
  remote_transfer,  // everything that moves bytes between ranks
  put_packets,
  wait_packets,
  clear_packets,
};

// One operation, in program order. What an operation does not have stays at its default.
struct Event {
  Op op = Op::converge;
  Signal signal{};
  std::optional<Rank> peer{};
  std::uint32_t value = 0;
  NotifyOp notify = NotifyOp::set;
  Order order = Order::relaxed;
  Scope scope = Scope::system;
  std::int64_t bytes = 0;
  const void* tile = nullptr;  // which tile, where one takes part
};

template <class T>
class PlainView {
 public:
  PlainView(T* first, std::int64_t size) : first_(first), size_(size) {}
  [[nodiscard]] T& operator[](std::int64_t index) const { return first_[index]; }
  [[nodiscard]] std::int64_t size() const { return size_; }

 private:
  T* first_;
  std::int64_t size_;
};

template <class T, std::int64_t Rows, std::int64_t Cols>
class PlainTile : public muster::detail::TileArithmetic<PlainTile<T, Rows, Cols>> {
 public:
  using value_type = T;
  static constexpr std::int64_t rows = Rows;
  static constexpr std::int64_t cols = Cols;
  static constexpr std::int64_t most_per_thread = Rows * Cols;
  static constexpr int group_size = static_cast<int>(Cols);

  PlainTile() : elements_(static_cast<std::size_t>(Rows * Cols)) {}

  template <class Visit>
  void each(Visit&& visit) {
    for (std::int64_t row = 0; row < Rows; ++row)
      for (std::int64_t col = 0; col < Cols; ++col) visit(row, col, at(row, col));
  }
  template <class Visit>
  void each_group(Visit&& visit) {
    for (std::int64_t row = 0; row < Rows; ++row)
      visit(row, std::int64_t{0}, Group<T, group_size>(&at(row, 0)));
  }
  template <class U, class Visit>
  void zip(const PlainTile<U, Rows, Cols>& other, Visit&& visit) {
    for (std::size_t i = 0; i < elements_.size(); ++i) visit(elements_[i], other.elements_[i]);
  }
  [[nodiscard]] T& at(std::int64_t row, std::int64_t col) {
    return elements_[static_cast<std::size_t>(row * Cols + col)];
  }
  [[nodiscard]] const void* id() const { return elements_.data(); }
  void clear() { std::fill(elements_.begin(), elements_.end(), T{}); }

 private:
  template <class U, std::int64_t Rows2, std::int64_t Cols2>
  friend class PlainTile;
  friend muster::detail::TileArithmetic<PlainTile>;

  template <class Other, class Op>
  static constexpr bool packs = false;
  template <class U, class Next>
  void update(const PlainTile<U, Rows, Cols>& other, Next next) {
    zip(other, [&](T& mine, U theirs) { mine = next(mine, theirs); });
  }

  std::vector<T> elements_;
};

class CountingFabric {
 public:
  static constexpr std::size_t cells = 4096;
  static constexpr std::size_t bytes = std::size_t{1} << 16;

  CountingFabric(std::uint32_t ranks, Rank rank, Profile profile = Profile::direct,
                 std::uint32_t lanes = 1, Lane lane = {})
      : ranks_(ranks),
        rank_(rank),
        profile_(profile),
        lanes_(lanes),
        lane_(lane),
        memory_(ranks * bytes) {}

  // ---- what the tests look at
  [[nodiscard]] const std::vector<Event>& log() const { return log_; }
  [[nodiscard]] std::int64_t count(Op op) const {
    return std::count_if(log_.begin(), log_.end(), [&](const Event& e) { return e.op == op; });
  }
  // Deposits into the cells of others, and into the own.
  [[nodiscard]] std::int64_t notifies_to_peers() const { return notifies() - notifies_to_self(); }
  [[nodiscard]] std::int64_t notifies_to_self() const {
    return std::count_if(log_.begin(), log_.end(),
                         [&](const Event& e) { return e.op == Op::notify && *e.peer == rank_; });
  }
  [[nodiscard]] std::int64_t notifies() const { return count(Op::notify); }
  [[nodiscard]] std::int64_t bytes_moved() const {
    std::int64_t sum = 0;
    for (const Event& event : log_) sum += event.op == Op::remote_transfer ? event.bytes : 0;
    return sum;
  }
  void forget() { log_.clear(); }
  // From now on each wait (and hand and take) ends with this status.
  void end_waits_with(WaitStatus status) { outcome_ = status; }

  // ---- identity and meeting
  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] std::uint32_t size() const { return ranks_; }
  [[nodiscard]] Lane lane() const { return lane_; }
  [[nodiscard]] std::uint32_t lanes() const { return lanes_; }
  [[nodiscard]] std::uint32_t thread() const { return 0; }
  [[nodiscard]] std::uint32_t threads() const { return 1; }
  [[nodiscard]] Profile profile() const { return profile_; }
  void converge() { log_.push_back({.op = Op::converge}); }
  WaitStatus converge(WaitStatus status) { return converge(), status; }
  template <class T>
  T broadcast(T value) {
    return converge(), value;
  }

  // ---- signals and counters
  void notify(Signal signal, Rank peer, std::uint32_t value, NotifyOp op,
              Order order = Order::release, Scope scope = Scope::system) {
    log_.push_back({Op::notify, signal, peer, value, op, order, scope});
    if (peer == rank_) cell(signal) = op == NotifyOp::set ? value : cell(signal) + value;
  }
  WaitStatus wait(Signal signal, Compare, std::uint32_t value, Order order = Order::acquire,
                  Scope scope = Scope::system) {
    log_.push_back(
        {.op = Op::wait, .signal = signal, .value = value, .order = order, .scope = scope});
    return outcome_;
  }
  WaitStatus test(Signal signal, Compare compare, std::uint32_t value, Order order = Order::acquire,
                  Scope = Scope::system) {
    log_.push_back({.op = Op::test, .signal = signal, .value = value, .order = order});
    return satisfies(cell(signal), compare, value) ? WaitStatus::ok : WaitStatus::pending;
  }
  AnyStatus wait_any(const Condition* conditions, std::uint32_t count, Order order = Order::acquire,
                     Scope = Scope::system) {
    log_.push_back({.op = Op::wait_any, .value = count, .order = order});
    for (std::uint32_t i = 0; i < count; ++i)
      if (satisfies(cell(conditions[i].signal), conditions[i].compare, conditions[i].value))
        return {outcome_, i};
    return {outcome_, 0};
  }
  std::uint32_t read(Signal signal, Order order = Order::relaxed, Scope = Scope::system) {
    log_.push_back({.op = Op::read, .signal = signal, .order = order});
    return cell(signal);
  }
  WaitStatus hand(Signal signal, Rank peer, Order order) {
    log_.push_back({.op = Op::hand, .signal = signal, .peer = peer, .order = order});
    return outcome_;
  }
  WaitStatus take(Signal signal, Order order) {
    log_.push_back({.op = Op::take, .signal = signal, .order = order});
    return outcome_;
  }
  std::uint32_t counter(Counter counter) {
    log_.push_back({.op = Op::counter});
    return counters_.at(counter.cell);
  }
  void set_counter(Counter counter, std::uint32_t value) {
    log_.push_back({.op = Op::set_counter, .value = value});
    counters_.at(counter.cell) = value;
  }

  // ---- windows and tiles
  template <class T>
  PlainView<T> local(WindowRef<T> window) {
    return address(window, rank_);
  }
  template <class T>
  PlainView<T> address(WindowRef<T> window, Rank peer) {
    std::byte* base = memory_.data() + peer.value * bytes + window.offset;
    return {reinterpret_cast<T*>(base), window.size()};
  }
  template <class T, std::int64_t Rows, std::int64_t Cols>
  PlainTile<T, Rows, Cols> tile() {
    return {};
  }
  template <class U, class T, std::int64_t Rows, std::int64_t Cols>
  PlainTile<U, Rows, Cols> tile_like(const PlainTile<T, Rows, Cols>&) {
    return {};
  }
  template <class Tile, class T>
  void load(Tile& tile, WindowRef<T> window, Box box) {
    record(Op::local_transfer, rank_, box.rows * box.cols, sizeof(T), tile.id());
    fill(tile, window, rank_, box);
  }
  template <class Tile, class T>
  void store(Tile& tile, WindowRef<T> window, Box box) {
    record(Op::local_transfer, rank_, box.rows * box.cols, sizeof(T), tile.id());
    drain(tile, window, rank_, box, [](T& to, T value) { to = value; });
  }
  // Plain memory is no window: not recorded.
  template <class Tile, class T>
  void load(Tile& tile, MemoryRef<T> memory, Box box) {
    tile.clear();
    for (std::int64_t row = 0; row < box.rows; ++row)
      for (std::int64_t col = 0; col < box.cols; ++col)
        tile.at(row, col) = memory.data[memory.at(box.row + row, box.col + col)];
  }
  template <class Tile, class T>
  void store(Tile& tile, MemoryRef<T> memory, Box box) {
    for (std::int64_t row = 0; row < box.rows; ++row)
      for (std::int64_t col = 0; col < box.cols; ++col)
        memory.data[memory.at(box.row + row, box.col + col)] = tile.at(row, col);
  }
  template <class Tile, class T>
  void remote_load(Tile& tile, WindowRef<T> window, Rank peer, Box box) {
    record(Op::remote_transfer, peer, box.rows * box.cols, sizeof(T), tile.id());
    fill(tile, window, peer, box);
  }
  template <class Tile, class T>
  void remote_store(Tile& tile, WindowRef<T> window, Rank peer, Box box) {
    record(Op::remote_transfer, peer, box.rows * box.cols, sizeof(T), tile.id());
    drain(tile, window, peer, box, [](T& to, T value) { to = value; });
  }
  template <class Tile, class T>
  void remote_add(Tile& tile, WindowRef<T> window, Rank peer, Box box) {
    record(Op::remote_transfer, peer, box.rows * box.cols, sizeof(T), tile.id());
    drain(tile, window, peer, box, [](T& to, T value) { to = static_cast<T>(to + value); });
  }

  // ---- transfers
  template <class T>
  void put(WindowRef<T> to, Rank peer, std::int64_t to_at, WindowRef<T> from, std::int64_t from_at,
           std::int64_t count) {
    record(Op::remote_transfer, peer, count, sizeof(T));
    for (std::int64_t i = 0; i < count; ++i)
      address(to, peer)[to_at + i] = local(from)[from_at + i];
  }
  template <class T>
  void get(WindowRef<T> to, std::int64_t to_at, WindowRef<T> from, Rank peer, std::int64_t from_at,
           std::int64_t count) {
    record(Op::remote_transfer, peer, count, sizeof(T));
    for (std::int64_t i = 0; i < count; ++i)
      local(to)[to_at + i] = address(from, peer)[from_at + i];
  }
  template <class T>
  void put_async(WindowRef<T> to, Rank peer, std::int64_t to_at, WindowRef<T> from,
                 std::int64_t from_at, std::int64_t count) {
    put(to, peer, to_at, from, from_at, count);
  }
  template <class T>
  void get_async(WindowRef<T> to, std::int64_t to_at, WindowRef<T> from, Rank peer,
                 std::int64_t from_at, std::int64_t count) {
    get(to, to_at, from, peer, from_at, count);
  }
  template <class T>
  void put_signal(WindowRef<T> to, Rank peer, std::int64_t to_at, WindowRef<T> from,
                  std::int64_t from_at, std::int64_t count, Signal signal, std::uint32_t value,
                  NotifyOp op) {
    put(to, peer, to_at, from, from_at, count);
    notify(signal, peer, value, op);
  }
  void flush() { log_.push_back({.op = Op::flush}); }

  // ---- packets: recorded, and delivered nowhere; waits succeed at once
  template <class T, std::int64_t Rows, std::int64_t Cols>
  void put_packets(Slots, Rank peer, std::int64_t at, const PlainTile<T, Rows, Cols>&,
                   std::uint32_t flag) {
    record_packets(Op::put_packets, peer, at, flag, Rows * Cols * sizeof(T));
  }
  template <class T, std::int64_t Rows, std::int64_t Cols>
  WaitStatus wait_packets(PlainTile<T, Rows, Cols>&, Slots, std::int64_t at, std::uint32_t flag) {
    record_packets(Op::wait_packets, rank_, at, flag, Rows * Cols * sizeof(T));
    return outcome_;
  }
  void clear_packets(Slots, std::int64_t at, std::int64_t lines) {
    record_packets(Op::clear_packets, rank_, at, 0, static_cast<std::size_t>(lines) * 64);
  }

 private:
  std::uint32_t& cell(Signal signal) { return cells_.at(signal.cell); }

  void record(Op op, Rank peer, std::int64_t count, std::size_t size, const void* tile = nullptr) {
    log_.push_back(
        {.op = op, .peer = peer, .bytes = count * static_cast<std::int64_t>(size), .tile = tile});
  }
  // The event's signal is the first line.
  void record_packets(Op op, Rank peer, std::int64_t at, std::uint32_t flag, std::size_t size) {
    log_.push_back({.op = op,
                    .signal = Signal{0, static_cast<std::uint32_t>(at)},
                    .peer = peer,
                    .value = flag,
                    .bytes = static_cast<std::int64_t>(size)});
  }
  template <class Tile, class T>
  void fill(Tile& tile, WindowRef<T> window, Rank peer, Box box) {
    tile.clear();
    for (std::int64_t row = 0; row < box.rows; ++row)
      for (std::int64_t col = 0; col < box.cols; ++col)
        tile.at(row, col) = address(window, peer)[window.at(box.row + row, box.col + col)];
  }
  template <class Tile, class T, class Apply>
  void drain(Tile& tile, WindowRef<T> window, Rank peer, Box box, Apply apply) {
    for (std::int64_t row = 0; row < box.rows; ++row)
      for (std::int64_t col = 0; col < box.cols; ++col)
        apply(address(window, peer)[window.at(box.row + row, box.col + col)], tile.at(row, col));
  }

  std::uint32_t ranks_;
  Rank rank_;
  Profile profile_;
  std::uint32_t lanes_;
  Lane lane_;
  WaitStatus outcome_ = WaitStatus::ok;
  std::vector<std::byte> memory_;  // `bytes` for each rank
  std::array<std::uint32_t, cells> cells_{};
  std::array<std::uint32_t, cells> counters_{};
  std::vector<Event> log_;
};

static_assert(DirectFabric<CountingFabric>);
static_assert(HandoffFabric<CountingFabric>);
static_assert(PacketFabric<CountingFabric> && TilingAll<CountingFabric>);

// The set-up side of it: enough to make barriers and windows from.
class CountingTeam {
 public:
  explicit CountingTeam(std::uint32_t ranks, std::uint32_t lanes = 1)
      : ranks_(ranks), lanes_(lanes) {}

  Result<Rows> rows() {
    const Rows rows{Signal{0, next_cell_}, Counter{0, next_counter_}, lanes_, ranks_};
    next_cell_ += lanes_ * ranks_;
    next_counter_ += lanes_ * Rows::counters_of_lane;
    return rows;
  }
  Result<Signals> signals(std::uint32_t count) {
    const Signals signals{Signal{0, next_cell_}, count};
    next_cell_ += count;
    return signals;
  }
  template <class T>
  Result<WindowRef<T>> window(std::initializer_list<std::int64_t> extents) {
    WindowRef<T> window{.offset = next_byte_, .rows = 1, .cols = 1};
    for (const std::int64_t extent : extents) {
      window.rows *= window.cols;
      window.cols = extent;
    }
    next_byte_ += (static_cast<std::uint64_t>(window.size()) * sizeof(T) + 63) / 64 * 64;
    return window;
  }

 private:
  std::uint32_t ranks_;
  std::uint32_t lanes_;
  std::uint32_t next_cell_ = 0;
  std::uint32_t next_counter_ = 0;
  std::uint64_t next_byte_ = 0;
};

static_assert(SetUp<CountingTeam>);

}  // namespace muster::testing
