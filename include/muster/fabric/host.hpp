// The host fabric: threads and processes of one host on shared memory. Ranks differ only in how
// they were started.
//
// Signals are 32-bit words, one cache line apart; notify is a store or an atomic add, wait polls,
// then yields, then sleeps on a futex. The fabric is `direct`: every transfer takes effect at
// issue, a release carries all of them.
//
// Looked at in every build, before anything is touched: that a rank is one of the team's; that a
// cell lies where cells are; that a window is of this team or of one that it was split off, and
// lies inside its segment; that boxes and runs lie inside their windows. So nothing that an
// operation is given takes it out of the job's memory. Debug builds and MUSTER_VERIFY=1 look up
// besides, each time, that the cell or the window is one that the team has allocated and not freed,
// and that the window was made for such elements. What is wrong is an error of the lane
// (invalid_argument) and fails the team; it moves and deposits nothing, and the waits of that lane
// return `invalid` from then on.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <type_traits>

#include "muster/fabric.hpp"
#include "muster/fabric/host/context.hpp"
#include "muster/fabric/host/order.hpp"
#include "muster/fabric/host/runs.hpp"
#include "muster/fabric/host/tile.hpp"
#include "muster/fabric/host/view.hpp"
#include "muster/result.hpp"

namespace muster::host {

class Fabric : public detail::Runs<Fabric> {
 public:
  static constexpr bool is_device = false;

  explicit Fabric(const LaneContext& context) : context_(context) {
    if (context_.verify) look_at_all();
  }

  // ---- identity and meeting: a lane is one thread

  [[nodiscard]] Rank rank() const { return context_.rank; }
  [[nodiscard]] std::uint32_t size() const { return context_.size; }
  [[nodiscard]] Lane lane() const { return context_.lane; }
  [[nodiscard]] std::uint32_t lanes() const { return context_.lanes; }
  [[nodiscard]] static constexpr std::uint32_t thread() { return 0; }
  [[nodiscard]] static constexpr std::uint32_t threads() { return 1; }
  [[nodiscard]] static constexpr Profile profile() { return Profile::direct; }

  // Compares the call with what the peers make, in a verifying run; see muster::describe.
  void describe(const CallSignature& call) {
    if (context_.verify) [[unlikely]]
      compare_call(call);
  }

  // Waits between the two share one deadline: see OneCall.
  bool begin_call() { return call_.begin_call(); }
  void end_call(bool inner) { call_.end_call(inner); }

  void converge() {
    complete_stores();
    detail::complete_loads();
  }
  WaitStatus converge(WaitStatus status) {
    converge();
    if (context_.verify) [[unlikely]]
      return with_ending(status);
    return status;
  }
  [[nodiscard]] WaitStatus status() const { return context_.verify ? ending() : WaitStatus::ok; }
  static void progress() {}     // the memory does
  static void launch_wait() {}  // one run of a lane begins when the one before has ended
  static void launch_done() {}
  template <class T>
  [[nodiscard]] T broadcast(T value) {
    detail::complete_loads();
    return value;
  }

  // ---- signals

  void notify(Signal signal, Rank peer, std::uint32_t value, NotifyOp op,
              Order order = Order::release, Scope /*one host is one scope*/ = Scope::system) {
    if (!admits(signal, peer)) [[unlikely]]
      return;
    const std::atomic_ref<std::uint32_t> cell(cell_of(signal, peer));
    // Pairs with the acquire load of wait, test, wait_any or read on the same cell.
    if (op == NotifyOp::set) {
      detail::deposit(cell, value, order);
    } else {
      cell.fetch_add(value, detail::store_order(order));
    }
    wake(signal, peer);
  }

  WaitStatus wait(Signal signal, Compare compare, std::uint32_t value, Order order = Order::acquire,
                  Scope = Scope::system) {
    if (!admits(signal, context_.rank)) [[unlikely]]
      return ending();
    return block(signal, context_.rank, compare, value, detail::load_order(order));
  }

  WaitStatus test(Signal signal, Compare compare, std::uint32_t value, Order order = Order::acquire,
                  Scope = Scope::system) {
    if (!admits(signal, context_.rank)) [[unlikely]]
      return ending();
    // Pairs with the release of the notify that wrote the value.
    const std::uint32_t seen = load(signal, context_.rank, detail::load_order(order));
    return satisfies(seen, compare, value) ? WaitStatus::ok : failure_or_pending();
  }

  // The lowest index among the conditions that hold.
  AnyStatus wait_any(const Condition* conditions, std::uint32_t count, Order order = Order::acquire,
                     Scope = Scope::system);

  [[nodiscard]] std::uint32_t read(Signal signal, Order order = Order::relaxed,
                                   Scope = Scope::system) {
    // A lane that has ended still sees its own cells.
    if (!admits(signal, context_.rank) && !may_read(signal)) [[unlikely]]
      return 0;
    return load(signal, context_.rank, detail::load_order(order));
  }

  [[nodiscard]] std::uint32_t counter(Counter counter) {
    return admits(counter) ? word_of(counter) : 0;
  }
  void set_counter(Counter counter, std::uint32_t value) {
    if (admits(counter)) word_of(counter) = value;
  }

  // ---- reads that also write (fabric/host/fetched.hpp)
  WaitStatus hand(Signal signal, Rank peer, Order order = Order::release);
  WaitStatus take(Signal signal, Order order = Order::acquire);
  Fetched fetch_add(Signal signal, Rank peer, std::uint32_t value, Order order = Order::acq_rel,
                    Scope = Scope::system);
  Fetched exchange(Signal signal, Rank peer, std::uint32_t value, Order order = Order::acq_rel,
                   Scope = Scope::system);
  Fetched compare_swap(Signal signal, Rank peer, std::uint32_t expected, std::uint32_t desired,
                       Order order = Order::acq_rel, Scope = Scope::system);

  // ---- windows and tiles (fabric/host/data.hpp)
  template <class T>
  [[nodiscard]] View<T> local(WindowRef<T> window) {
    return address(window, context_.rank);
  }
  template <class T>
  [[nodiscard]] View<T> address(WindowRef<T> window, Rank peer);

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

  // ---- transfers: complete at issue, so that a request says nothing
  struct Request {};

  template <class T>
  void put(WindowRef<T> to, Rank peer, std::int64_t to_at, WindowRef<T> from, std::int64_t from_at,
           std::int64_t count);
  template <class T>
  WaitStatus get(WindowRef<T> to, std::int64_t to_at, WindowRef<T> from, Rank peer,
                 std::int64_t from_at, std::int64_t count);
  template <class T>
  void put_signal(WindowRef<T> to, Rank peer, std::int64_t to_at, WindowRef<T> from,
                  std::int64_t from_at, std::int64_t count, Signal signal, std::uint32_t value,
                  NotifyOp op) {
    put(to, peer, to_at, from, from_at, count);
    notify(signal, peer, value, op, Order::release);
  }
  template <class T>
  Request put_async(WindowRef<T> to, Rank peer, std::int64_t to_at, WindowRef<T> from,
                    std::int64_t from_at, std::int64_t count) {
    put(to, peer, to_at, from, from_at, count);
    return {};
  }
  template <class T>
  Request get_async(WindowRef<T> to, std::int64_t to_at, WindowRef<T> from, Rank peer,
                    std::int64_t from_at, std::int64_t count) {
    (void)get(to, to_at, from, peer, from_at, count);  // the lane has it: complete tells
    return {};
  }
  WaitStatus complete(Request /*request*/) { return flush(); }
  WaitStatus flush(Rank peer) {
    if (peer.value >= context_.size) [[unlikely]]
      reject_peer("flush", peer);
    return flush();
  }
  WaitStatus flush() { return converge(WaitStatus::ok); }

  // `count` elements between memories that this lane reaches.
  template <class T>
  void copy(T* to, const T* from, std::int64_t count) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
  }

  // ---- packets (fabric/host/packet.hpp): the tile's bytes, and behind them one flag
  template <class T, std::int64_t R, std::int64_t C>
  void put_packets(Slots slots, Rank peer, std::int64_t at, const Tile<T, R, C>& tile,
                   std::uint32_t flag);
  template <class T, std::int64_t R, std::int64_t C>
  WaitStatus wait_packets(Tile<T, R, C>& tile, Slots slots, std::int64_t at, std::uint32_t flag);
  void clear_packets(Slots slots, std::int64_t at, std::int64_t lines);

  // ---- slots whose data is its own flag (fabric/host/sentinel.hpp)
  template <HasSentinel T, std::int64_t R, std::int64_t C>
  static void replace_sentinel(Tile<T, R, C>& tile);
  template <HasSentinel T, std::int64_t R, std::int64_t C>
  void put_sentinel(SentinelSlots slots, Rank peer, std::int64_t at, const Tile<T, R, C>& tile);
  template <HasSentinel T, std::int64_t R, std::int64_t C>
  WaitStatus wait_sentinel(Tile<T, R, C>& tile, SentinelSlots slots, std::int64_t at);
  template <HasSentinel T, std::int64_t R, std::int64_t C>
  void clear_sentinel(SentinelSlots slots, std::int64_t at, const Tile<T, R, C>& tile);

 private:
  friend detail::Runs<Fabric>;

  [[nodiscard]] std::uint32_t& cell_of(Signal signal, Rank peer) const {
    std::byte* base = context_.segments[signal.segment].cells[peer.value];
    return *reinterpret_cast<std::uint32_t*>(base + std::size_t{signal.cell} * cell_stride);
  }
  [[nodiscard]] std::uint32_t& word_of(Counter counter) const {
    return cell_of(Signal{counter.segment, counter.cell}, context_.rank);
  }
  [[nodiscard]] std::uint32_t load(Signal signal, Rank owner, std::memory_order order) const {
    return std::atomic_ref<std::uint32_t>(cell_of(signal, owner)).load(order);
  }

  // Polls as long as a peer on another core may be expected to answer: within some hundred polls,
  // so a pause instruction, which costs as much as its answer, comes after those.
  template <class Holds>
  [[nodiscard]] bool spin(Holds&& holds) const {
    constexpr std::uint32_t eager = 256;
    for (std::uint32_t poll = 0; poll <= context_.spins; ++poll) {
      if (holds()) return true;
      if (poll >= eager) detail::relax();
    }
    return false;
  }

  [[nodiscard]] WaitStatus block(Signal signal, Rank owner, Compare compare, std::uint32_t value,
                                 std::memory_order order) {
    const bool seen = spin([&] { return satisfies(load(signal, owner, order), compare, value); });
    if (seen) return WaitStatus::ok;
    return wait_slowly(signal, owner, compare, value, order);
  }

  // Wakes whoever sleeps on the cell, and who watches it. The sleeper counts itself, then makes
  // every core pass a full barrier (membarrier), then looks at the cell once more: so either it
  // sees the deposit, or this load sees the count.
  void wake(Signal signal, Rank owner) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (context_.sleepers[owner.value]->load(std::memory_order_relaxed) != 0) [[unlikely]] {
      wake_sleepers(signal, owner);
    }
  }

  // Is there such a rank and such a cell? Reports it where not. Of what passes at once `cells` is
  // the number, which is 0 where each cell is looked up.
  [[nodiscard]] bool admits(Signal signal, Rank peer) {
    if (peer.value >= context_.size || number_of(signal.segment, signal.cell) >= context_.cells)
        [[unlikely]]
      return admits_slowly(signal, peer);
    return true;
  }
  [[nodiscard]] bool admits(Counter counter) {
    if (number_of(counter.segment, counter.cell) >= context_.cells) [[unlikely]]
      return admits_slowly(counter);
    return true;
  }
  // Those of segment 0, where all cells are, come first.
  [[nodiscard]] static std::uint64_t number_of(std::uint32_t segment, std::uint32_t cell) {
    return std::uint64_t{segment} << 32U | cell;
  }

  // The size of a window that lies in memory that is there, and is of a team whose windows this one
  // may use; else less than 0. That is all that can be told without asking what is allocated.
  template <class T>
  [[nodiscard]] std::int64_t elements_of(WindowRef<T> window) const;
  // Is there such a window; in a verifying run, is it allocated? Reports it where not.
  template <class T>
  [[nodiscard]] bool admits(const char* what, WindowRef<T> window);
  // And is this a transfer of a part of it, with the peer's number in range?
  template <class T>
  [[nodiscard]] bool admits(const char* what, WindowRef<T> window, Rank peer, Box box,
                            std::int64_t rows, std::int64_t cols);
  template <class T>
  [[nodiscard]] bool admits(const char* what, WindowRef<T> window, Rank peer, std::int64_t at,
                            std::int64_t count);

  [[nodiscard]] bool fits(const char* what, std::int64_t rows, std::int64_t cols, Box box,
                          std::int64_t tile_rows, std::int64_t tile_cols);

  // A tile from and to memory that is there and large enough.
  template <class T, std::int64_t R, std::int64_t C>
  static void read(Tile<T, R, C>& tile, const T* memory, std::int64_t stride, Box box);
  template <class T, std::int64_t R, std::int64_t C>
  static void write(const Tile<T, R, C>& tile, T* memory, std::int64_t stride, Box box);

  // The rank's part of a window that is there.
  template <class T>
  [[nodiscard]] T* memory_of(WindowRef<T> window, Rank peer) const;
  template <class T>
  [[nodiscard]] bool fits_at_once(WindowRef<T> window, std::int64_t at, std::int64_t count) const;
  template <class T>
  void move(T* target, std::int64_t to_at, const T* source, std::int64_t from_at,
            std::int64_t count);
  template <class T>
  void move_slowly(const char* const (&names)[2], WindowRef<T> to, Rank to_rank, std::int64_t to_at,
                   WindowRef<T> from, Rank from_rank, std::int64_t from_at, std::int64_t count);

  void compare_call(const CallSignature& call);
  [[nodiscard]] bool admits_slowly(Signal signal, Rank peer);
  [[nodiscard]] bool admits_slowly(Counter counter);
  // What the lane's waits return once it has ended (LaneWatch::ended), and how one of them has
  // ended: from then on what it does has to be looked at, or dropped.
  [[nodiscard]] WaitStatus ending() const;
  [[nodiscard]] WaitStatus with_ending(WaitStatus status) const;
  [[nodiscard]] WaitStatus settle(WaitStatus status);
  // Would it write to a peer, after it has ended?
  [[nodiscard]] bool silenced(Rank peer) const {
    return context_.verify && !(peer == context_.rank) && ending() != WaitStatus::ok;
  }
  void look_at_all() {
    context_.verify = true;
    context_.cells = 0;
  }
  [[nodiscard]] bool may_read(Signal signal) {
    return ending() != WaitStatus::invalid && holds_cell(signal.segment, signal.cell);
  }
  [[nodiscard]] bool holds_cell(std::uint32_t segment, std::uint32_t cell);
  [[nodiscard]] bool knows(const char* what, const UntypedWindow& window);
  // This lane broke the contract: see LaneWatch::reject.
  void reject(std::string what);
  void reject_peer(const char* what, Rank peer);
  // Memory that belongs to nobody: what a view of a window that does not exist points to, so that
  // the lane lives to report it. Null where there is not so much.
  [[nodiscard]] static std::byte* nowhere(std::uint64_t bytes);
  template <class T>
  [[nodiscard]] static View<T> no_memory(WindowRef<T> window);
  void reject_box(const char* what, std::int64_t window_rows, std::int64_t window_cols, Box box,
                  std::int64_t rows, std::int64_t cols);
  void reject_run(const char* what, std::int64_t size, std::int64_t at, std::int64_t count);
  void reject_overlap(std::int64_t to_at, std::int64_t from_at, std::int64_t count);
  void reject_flag(const char* what);
  [[nodiscard]] WaitStatus wait_for_line(std::uint32_t& flag, std::int64_t line,
                                         std::uint32_t expected);
  [[nodiscard]] WaitStatus wait_for_word(std::uint64_t& word, std::int64_t line);
  [[nodiscard]] WaitStatus wait_slowly(Signal signal, Rank owner, Compare compare,
                                       std::uint32_t value, std::memory_order order);
  [[nodiscard]] WaitStatus failure_or_pending();
  [[nodiscard]] Fetched fetched(Signal signal, Rank peer, std::uint32_t found, bool changed);
  void wake_sleepers(Signal signal, Rank owner);
  void wake_line(std::uint32_t& flag, Rank owner);

  LaneContext context_;
  CallClock call_;
};

}  // namespace muster::host

#include "muster/fabric/host/data.hpp"
#include "muster/fabric/host/fetched.hpp"
#include "muster/fabric/host/packet.hpp"
#include "muster/fabric/host/sentinel.hpp"

namespace muster::host {
static_assert(FabricAll<Fabric> && DirectFabricAll<Fabric> && LaunchFabric<Fabric>);
static_assert(HandoffFabric<Fabric> && AtomicFabric<Fabric>);
static_assert(PacketFabricAll<Fabric> && SentinelFabricAll<Fabric>);
// A lane is one thread here, and has no parts: what needs them does not compile.
static_assert(!PartFabric<Fabric>);
}  // namespace muster::host
