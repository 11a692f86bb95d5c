// The network fabric: ranks on one host or on many, carried by UCX. Made by muster::ucx::Team.
//
// Signals are 32-bit words in registered memory; a notify is a put of 4 bytes or an atomic add, a
// wait polls the own cell and moves the network on. Its profile is `rdma`. What a rank does to
// itself is done by its processor.
//
// What UCX has not, and what stands in for it:
//   ordering of a deposit behind puts   a flush of that peer before a release notify, if anything
//                                       went to it since the last one (Traffic counts them)
//   atomics but on 32 and 64 bits       remote_add of other numbers is a message that the target
//                                       applies and acknowledges; flush, and every release notify,
//                                       waits for the answers
//   packets                             a message, which the target copies into the slots
//   hand                                compare-and-swap from afar, again and again
// A message takes effect while the target is inside of muster: in a wait, a transfer, a set-up call
// or progress(). Over TCP that holds for puts, gets and atomics, too.
//
// What is looked at in every build is what the host fabric looks at: that a rank, a cell and a
// window exist and that boxes and runs lie inside. What is wrong is an error of the lane.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "muster/fabric.hpp"
#include "muster/fabric/host.hpp"
#include "muster/fabric/ucx/context.hpp"
#include "muster/fabric/ucx/wire.hpp"

namespace muster::ucx {

class Fabric {
 public:
  static constexpr bool is_device = false;
  // A chunk that is no single run goes by tiles: one operation for each row either way, and the
  // tile's memory is free at once.
  static constexpr bool stages_transfers = false;

  template <class T, std::int64_t R, std::int64_t C>
  using Tile = host::Tile<T, R, C>;
  template <class T>
  using View = host::View<T>;
  using Request = ucx::Request;

  explicit Fabric(const LaneContext& context) : context_(context) {}

  // ---- identity and meeting: a lane is one thread

  [[nodiscard]] Rank rank() const { return context_.rank; }
  [[nodiscard]] std::uint32_t size() const { return context_.size; }
  [[nodiscard]] Lane lane() const { return context_.lane; }
  [[nodiscard]] std::uint32_t lanes() const { return context_.lanes; }
  [[nodiscard]] static constexpr std::uint32_t thread() { return 0; }
  [[nodiscard]] static constexpr std::uint32_t threads() { return 1; }
  [[nodiscard]] static constexpr Profile profile() { return Profile::rdma; }

  bool begin_call() { return call_.begin_call(); }
  void end_call(bool inner) { call_.end_call(inner); }

  void converge() { host::detail::complete_loads(); }
  // An expired wait may have failed the lane: the call that it was part of still says so.
  WaitStatus converge(WaitStatus said) {
    converge();
    const WaitStatus ended = status();
    if (said == WaitStatus::expired && ended == WaitStatus::aborted) return said;
    return worst(said, ended);
  }
  [[nodiscard]] WaitStatus status() const { return context_.wire->ended(); }
  void progress() { context_.wire->progress(); }
  template <class T>
  [[nodiscard]] T broadcast(T value) {
    host::detail::complete_loads();
    return value;
  }

  // ---- signals (fabric/ucx/signals.hpp)

  void notify(Signal signal, Rank peer, std::uint32_t value, NotifyOp op,
              Order order = Order::release, Scope = Scope::system);
  WaitStatus wait(Signal signal, Compare compare, std::uint32_t value, Order order = Order::acquire,
                  Scope = Scope::system);
  WaitStatus test(Signal signal, Compare compare, std::uint32_t value, Order order = Order::acquire,
                  Scope = Scope::system);
  AnyStatus wait_any(const Condition* conditions, std::uint32_t count, Order order = Order::acquire,
                     Scope = Scope::system);
  [[nodiscard]] std::uint32_t read(Signal signal, Order order = Order::relaxed,
                                   Scope = Scope::system);
  [[nodiscard]] std::uint32_t counter(Counter counter);
  void set_counter(Counter counter, std::uint32_t value);

  WaitStatus hand(Signal signal, Rank peer, Order order = Order::release);
  WaitStatus take(Signal signal, Order order = Order::acquire);
  Fetched fetch_add(Signal signal, Rank peer, std::uint32_t value, Order order = Order::acq_rel,
                    Scope = Scope::system);
  Fetched exchange(Signal signal, Rank peer, std::uint32_t value, Order order = Order::acq_rel,
                   Scope = Scope::system);
  Fetched compare_swap(Signal signal, Rank peer, std::uint32_t expected, std::uint32_t desired,
                       Order order = Order::acq_rel, Scope = Scope::system);

  // ---- windows and tiles (fabric/ucx/data.hpp)

  template <class T>
  [[nodiscard]] View<T> local(WindowRef<T> window);

  template <class T, std::int64_t R, std::int64_t C>
  [[nodiscard]] Tile<T, R, C> tile() {
    return {};
  }
  template <class U, class T, std::int64_t R, std::int64_t C>
  [[nodiscard]] Tile<U, R, C> tile_like(const Tile<T, R, C>& /*tile*/) {
    return {};
  }
  template <class T, std::int64_t R, std::int64_t C>
  void load(Tile<T, R, C>& tile, WindowRef<T> window, Box box) {
    (void)remote_load(tile, window, context_.rank, box);  // the lane has it: converge tells
  }
  template <class T, std::int64_t R, std::int64_t C>
  void store(Tile<T, R, C>& tile, WindowRef<T> window, Box box) {
    remote_store(tile, window, context_.rank, box);
  }
  template <class T, class U, std::int64_t R, std::int64_t C>
  requires std::is_same_v<std::remove_const_t<U>, T>
  void load(Tile<T, R, C>& tile, MemoryRef<U> memory, Box box);
  template <class T, std::int64_t R, std::int64_t C>
  void store(Tile<T, R, C>& tile, MemoryRef<T> memory, Box box);
  template <class T, std::int64_t R, std::int64_t C>
  WaitStatus remote_load(Tile<T, R, C>& tile, WindowRef<T> window, Rank peer, Box box);
  template <class T, std::int64_t R, std::int64_t C>
  void remote_store(Tile<T, R, C>& tile, WindowRef<T> window, Rank peer, Box box);
  template <class T, std::int64_t R, std::int64_t C>
  void remote_add(Tile<T, R, C>& tile, WindowRef<T> window, Rank peer, Box box);

  // ---- transfers

  template <class T>
  void put(WindowRef<T> to, Rank peer, std::int64_t to_at, WindowRef<T> from, std::int64_t from_at,
           std::int64_t count);
  template <class T>
  WaitStatus get(WindowRef<T> to, std::int64_t to_at, WindowRef<T> from, Rank peer,
                 std::int64_t from_at, std::int64_t count);
  // The payload is flushed before the deposit, as for a release notify.
  template <class T>
  void put_signal(WindowRef<T> to, Rank peer, std::int64_t to_at, WindowRef<T> from,
                  std::int64_t from_at, std::int64_t count, Signal signal, std::uint32_t value,
                  NotifyOp op) {
    put(to, peer, to_at, from, from_at, count);
    notify(signal, peer, value, op, Order::release);
  }
  template <class T>
  Request put_async(WindowRef<T> to, Rank peer, std::int64_t to_at, WindowRef<T> from,
                    std::int64_t from_at, std::int64_t count);
  template <class T>
  Request get_async(WindowRef<T> to, std::int64_t to_at, WindowRef<T> from, Rank peer,
                    std::int64_t from_at, std::int64_t count);
  WaitStatus complete(Request request) {
    converge();
    return request.number == 0 ? status() : context_.wire->complete(request);
  }
  WaitStatus flush(Rank peer);
  WaitStatus flush() {
    converge();
    return context_.wire->flush();
  }

  // ---- packets (fabric/ucx/packet.hpp): the tile's bytes, and behind them one flag

  template <class T, std::int64_t R, std::int64_t C>
  void put_packets(Slots slots, Rank peer, std::int64_t at, const Tile<T, R, C>& tile,
                   std::uint32_t flag);
  template <class T, std::int64_t R, std::int64_t C>
  WaitStatus wait_packets(Tile<T, R, C>& tile, Slots slots, std::int64_t at, std::uint32_t flag);
  void clear_packets(Slots slots, std::int64_t at, std::int64_t lines);

  [[nodiscard]] const Traffic& traffic() const { return context_.wire->traffic(); }

 private:
  [[nodiscard]] bool is_own(Rank peer) const { return peer == context_.rank; }
  [[nodiscard]] std::uint32_t& cell_of(std::uint32_t segment, std::uint32_t cell) const {
    std::byte* const base = context_.segments[segment].memory;
    return *reinterpret_cast<std::uint32_t*>(base + std::size_t{cell} * cell_stride);
  }
  [[nodiscard]] std::atomic_ref<std::uint32_t> word_of(Signal signal) const {
    return std::atomic_ref<std::uint32_t>(cell_of(signal.segment, signal.cell));
  }
  [[nodiscard]] Awaited awaited(Signal signal, Compare compare, std::uint32_t value) const {
    return {&cell_of(signal.segment, signal.cell), compare, value, signal};
  }
  [[nodiscard]] Fetched fetched(std::uint32_t found) const { return {status(), found}; }

  // Is there such a rank and such a cell? Rejects it where not; false, too, where the lane has
  // ended.
  [[nodiscard]] bool admits(Signal signal, Rank peer) {
    if (peer.value >= context_.size || !is_cell(signal.segment, signal.cell)) [[unlikely]]
      return refuse(signal, peer), false;
    return status() == WaitStatus::ok;
  }
  [[nodiscard]] bool is_cell(std::uint32_t segment, std::uint32_t cell) const {
    if (segment >= max_segments) return false;
    const Segment& there = context_.segments[segment];
    return there.cells && std::uint64_t{cell} < there.bytes / cell_stride &&
           context_.teams[there.team];
  }
  void refuse(Signal signal, Rank peer);
  void refuse_peer(const char* what, Rank peer);

  // The size of a window that is there and of a team whose windows this lane may use; else below 0.
  template <class T>
  [[nodiscard]] std::int64_t elements_of(WindowRef<T> window) const;
  template <class T>
  [[nodiscard]] bool admits(const char* what, WindowRef<T> window);
  [[nodiscard]] bool admits_peer(const char* what, Rank peer) {
    if (peer.value < context_.size) [[likely]]
      return true;
    return refuse_peer(what, peer), false;
  }
  template <class T>
  [[nodiscard]] bool admits(const char* what, WindowRef<T> window, Rank peer, Box box,
                            std::int64_t rows, std::int64_t cols);
  template <class T>
  [[nodiscard]] bool admits(const char* what, WindowRef<T> window, Rank peer, std::int64_t at,
                            std::int64_t count);
  [[nodiscard]] bool fits(const char* what, std::int64_t rows, std::int64_t cols, Box box,
                          std::int64_t tile_rows, std::int64_t tile_cols);
  // Both ends of a put or a get; and is there anything to move?
  template <class T>
  [[nodiscard]] bool admits_move(const char* const (&names)[2], WindowRef<T> to, Rank to_rank,
                                 std::int64_t to_at, WindowRef<T> from, Rank from_rank,
                                 std::int64_t from_at, std::int64_t count);
  template <class T>
  void move_here(T* target, std::int64_t to_at, const T* source, std::int64_t from_at,
                 std::int64_t count);

  template <class T>
  [[nodiscard]] T* memory_of(WindowRef<T> window, std::int64_t at) const {
    std::byte* const base = context_.segments[window.segment].memory + window.offset;
    return reinterpret_cast<T*>(base) + at;
  }
  template <class T>
  [[nodiscard]] static Place place_of(WindowRef<T> window, std::int64_t at) {
    return {window.segment, window.offset + static_cast<std::uint64_t>(at) * sizeof(T)};
  }
  template <class T, std::int64_t R, std::int64_t C>
  [[nodiscard]] static Strides strides_of(WindowRef<T> window, Box box);
  template <class T, std::int64_t R, std::int64_t C>
  static void read(Tile<T, R, C>& tile, const T* memory, std::int64_t stride, Box box);
  template <class T, std::int64_t R, std::int64_t C>
  static void write(const Tile<T, R, C>& tile, T* memory, std::int64_t stride, Box box);
  // What a load leaves beyond its box.
  template <class T, std::int64_t R, std::int64_t C>
  static void clear_beyond(Tile<T, R, C>& tile, Box box);

  LaneContext context_;
  host::CallClock call_;
};

}  // namespace muster::ucx

#include "muster/fabric/ucx/data.hpp"
#include "muster/fabric/ucx/packet.hpp"
#include "muster/fabric/ucx/signals.hpp"

static_assert(muster::FabricAll<muster::ucx::Fabric>);
static_assert(muster::HandoffFabric<muster::ucx::Fabric>);
static_assert(muster::AtomicFabric<muster::ucx::Fabric>);
static_assert(muster::PacketFabricAll<muster::ucx::Fabric>);
// Load and store do not reach a peer: what uses address() does not compile.
static_assert(!muster::DirectFabric<muster::ucx::Fabric>);
static_assert(!muster::PartFabric<muster::ucx::Fabric>);
