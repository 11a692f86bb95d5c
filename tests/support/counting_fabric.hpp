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
#include <optional>
#include <utility>
#include <vector>

#include "muster/fabric.hpp"
#include "muster/types.hpp"
#include "support/counting_team.hpp"
#include "support/plain_tile.hpp"

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
  fetch_add,
  exchange,
  compare_swap,
  flush,
  complete,
  counter,
  set_counter,
  local_transfer,   // load, store
  remote_transfer,  // everything that moves bytes between ranks
  put_packets,
  wait_packets,
  clear_packets,
  put_sentinel,
  wait_sentinel,
  clear_sentinel,
  launch_wait,
  launch_done,
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
  // From now on the lane has this status: a transfer has failed, say.
  void become(WaitStatus status) { status_ = status; }

  // ---- identity and meeting
  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] std::uint32_t size() const { return ranks_; }
  [[nodiscard]] Lane lane() const { return lane_; }
  [[nodiscard]] std::uint32_t lanes() const { return lanes_; }
  [[nodiscard]] std::uint32_t thread() const { return 0; }
  [[nodiscard]] std::uint32_t threads() const { return 1; }
  [[nodiscard]] Profile profile() const { return profile_; }
  void converge() { log_.push_back({.op = Op::converge}); }
  WaitStatus converge(WaitStatus status) { return converge(), worst(status, status_); }
  [[nodiscard]] WaitStatus status() const { return status_; }
  void progress() {}
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
  // On the own cell as it stands; a peer's is like the own.
  Fetched fetch_add(Signal signal, Rank peer, std::uint32_t value, Order order = Order::acq_rel,
                    Scope scope = Scope::system) {
    const std::uint32_t found = cell(signal);
    return fetched({Op::fetch_add, signal, peer, value, NotifyOp::add, order, scope},
                   found + value);
  }
  Fetched exchange(Signal signal, Rank peer, std::uint32_t value, Order order = Order::acq_rel,
                   Scope scope = Scope::system) {
    return fetched({Op::exchange, signal, peer, value, NotifyOp::set, order, scope}, value);
  }
  Fetched compare_swap(Signal signal, Rank peer, std::uint32_t expected, std::uint32_t desired,
                       Order order = Order::acq_rel, Scope scope = Scope::system) {
    const std::uint32_t found = cell(signal);
    return fetched({Op::compare_swap, signal, peer, desired, NotifyOp::set, order, scope},
                   found == expected ? desired : found);
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
  WaitStatus remote_load(Tile& tile, WindowRef<T> window, Rank peer, Box box) {
    record(Op::remote_transfer, peer, box.rows * box.cols, sizeof(T), tile.id());
    fill(tile, window, peer, box);
    return status_;
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

  // ---- transfers. A request is the number of the asynchronous transfer, from 1 on.
  struct Request {
    std::uint32_t number = 0;
  };

  template <class T>
  void put(WindowRef<T> to, Rank peer, std::int64_t to_at, WindowRef<T> from, std::int64_t from_at,
           std::int64_t count) {
    record(Op::remote_transfer, peer, count, sizeof(T));
    for (std::int64_t i = 0; i < count; ++i)
      address(to, peer)[to_at + i] = local(from)[from_at + i];
  }
  template <class T>
  WaitStatus get(WindowRef<T> to, std::int64_t to_at, WindowRef<T> from, Rank peer,
                 std::int64_t from_at, std::int64_t count) {
    record(Op::remote_transfer, peer, count, sizeof(T));
    for (std::int64_t i = 0; i < count; ++i)
      local(to)[to_at + i] = address(from, peer)[from_at + i];
    return status_;
  }
  template <class T>
  Request put_async(WindowRef<T> to, Rank peer, std::int64_t to_at, WindowRef<T> from,
                    std::int64_t from_at, std::int64_t count) {
    put(to, peer, to_at, from, from_at, count);
    return {++requests_};
  }
  template <class T>
  Request get_async(WindowRef<T> to, std::int64_t to_at, WindowRef<T> from, Rank peer,
                    std::int64_t from_at, std::int64_t count) {
    (void)get(to, to_at, from, peer, from_at, count);  // the lane has it: complete tells
    return {++requests_};
  }
  template <class T>
  void put_signal(WindowRef<T> to, Rank peer, std::int64_t to_at, WindowRef<T> from,
                  std::int64_t from_at, std::int64_t count, Signal signal, std::uint32_t value,
                  NotifyOp op) {
    put(to, peer, to_at, from, from_at, count);
    notify(signal, peer, value, op);
  }
  WaitStatus complete(Request request) {
    log_.push_back({.op = Op::complete, .value = request.number});
    return status_;
  }
  WaitStatus flush(Rank peer) {
    log_.push_back({.op = Op::flush, .peer = peer});
    return status_;
  }
  WaitStatus flush() {
    log_.push_back({.op = Op::flush});
    return status_;
  }

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

  // ---- slots whose data is its own flag, as packets; and launches
  template <HasSentinel T, std::int64_t Rows, std::int64_t Cols>
  void replace_sentinel(PlainTile<T, Rows, Cols>& tile) {
    tile.each([](auto, auto, T& element) { element = without_sentinel(element); });
  }
  template <HasSentinel T, std::int64_t Rows, std::int64_t Cols>
  void put_sentinel(SentinelSlots, Rank peer, std::int64_t at, const PlainTile<T, Rows, Cols>&) {
    record_packets(Op::put_sentinel, peer, at, 0, Rows * Cols * sizeof(T));
  }
  template <HasSentinel T, std::int64_t Rows, std::int64_t Cols>
  WaitStatus wait_sentinel(PlainTile<T, Rows, Cols>&, SentinelSlots, std::int64_t at) {
    record_packets(Op::wait_sentinel, rank_, at, 0, Rows * Cols * sizeof(T));
    return outcome_;
  }
  template <HasSentinel T, std::int64_t Rows, std::int64_t Cols>
  void clear_sentinel(SentinelSlots, std::int64_t at, const PlainTile<T, Rows, Cols>&) {
    record_packets(Op::clear_sentinel, rank_, at, 0, Rows * Cols * sizeof(T));
  }
  void launch_wait() { log_.push_back({.op = Op::launch_wait}); }
  void launch_done() { log_.push_back({.op = Op::launch_done}); }

 private:
  std::uint32_t& cell(Signal signal) { return cells_.at(signal.cell); }
  Fetched fetched(const Event& event, std::uint32_t value) {
    log_.push_back(event);
    return {outcome_, std::exchange(cell(event.signal), value)};
  }

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
  WaitStatus status_ = WaitStatus::ok;
  std::uint32_t requests_ = 0;
  std::vector<std::byte> memory_;  // `bytes` for each rank
  std::array<std::uint32_t, cells> cells_{};
  std::array<std::uint32_t, cells> counters_{};
  std::vector<Event> log_;
};

static_assert(FabricAll<CountingFabric> && DirectFabricAll<CountingFabric>);
static_assert(HandoffFabric<CountingFabric> && AtomicFabric<CountingFabric>);
static_assert(PacketFabricAll<CountingFabric>);
static_assert(SentinelFabricAll<CountingFabric> && LaunchFabric<CountingFabric>);

}  // namespace muster::testing
