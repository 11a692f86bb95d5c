// The Fabric concept: what a protocol may ask of the thing that carries it, and what it is
// promised.
//
// A Fabric value is ONE LANE OF ONE RANK as the running code sees it. Protocols take `F& fabric`,
// know nothing below this file, and run unchanged on host memory, on GPUs, across a network and in
// the checker.
//
// THE ORDERING CONTRACT
//
// It is the weakest that any fabric gives. A protocol relies on no more, unless it names a stronger
// profile.
//
//  1. A release notify to p carries: what this lane stored into its own windows, transfers to the
//     own rank among them; its puts, stores and adds addressed to p, the payload of put_signals and
//     put_asyncs too; and what this lane had itself acquired. It does not carry transfers to a
//     third rank: those need flush() first (the profile `direct` carries them), nor what other
//     lanes have under way. It never covers an unfinished get_async, nor the deposit of a
//     put_signal.
//  2. put_signal carries its own payload only.
//  3. An acquire wait sees what every deposit contained in the value it read carried. A relaxed one
//     sees nothing of it.
//  4. Plain notifies by one lane into one cell take effect in program order, relaxed ones too. The
//     deposits of its put_signals are unordered among themselves and with its plain notifies,
//     unless a flush or an acquired answer lies between.
//  5. A wait, relaxed or not, comes before the own later stores and notifies: wait, wait_any,
//     wait_packets, wait_sentinel, hand, take, and a test that said ok. Loads of window data and
//     of counters, read, and a test that said pending are loads: they come before a release notify,
//     but before a relaxed notify, hand, take, packet or sentinel only where a converge lies
//     between, with one thread too. flush, complete, put, get, put_signal and broadcast converge.
//     (PTX alone would allow load buffering here: this is an assumption of muster and of every
//     certificate of its checker.)
//  6. Nothing orders an own notify before an own later wait, test or get (store buffering).
//  7. Two adds to one cell commute and are atomic. A set and an add to one cell, or two sets,
//     unordered, are an error, though it may seem to work: on some fabrics they are not even atomic
//     towards each other. Fetched operations (11) and adds on one cell are atomic towards each
//     other; a set, hand or take beside a fetched operation, unordered, is an error. Signals are
//     touched by no other means than these operations.
//  8. Unordered access to window data, one of them a write, is an error, not a value. remote_adds
//     of one type commute with each other, those to the own rank too, and race with everything
//     else. A put followed by another transfer of the same remote bytes is unordered on `rdma`
//     without flush.
//  9. Where memory is not coherent, acquire also invalidates, release also writes back; nothing
//     else does.
// 10. The start of a kernel acquires, its end releases and flushes, for all lanes of the rank.
// 11. A fetched operation (AtomicFabric) has taken effect on return, at a peer too. All that change
//     a cell do so one after another: each reads what the one before has left, and the adds that
//     have come since, and nothing comes between its reading and its writing. Releasing, it carries
//     what a release notify to that peer would (1); acquiring, it sees what an acquire wait would
//     (3). What the value that it found carried, the value that it leaves carries as well. One that
//     leaves the value as it was (a compare_swap that fails, a fetch_add of 0, an exchange for an
//     equal value) is a read: it carries nothing, and what it sees may be as old as what a read of
//     the own cell may see. (For 7 it is a write, but for a compare_swap that fails.) For 5, a
//     fetched operation that does not acquire is a load. It comes after the lane's own earlier
//     plain notifies to that cell.
//
// A transfer to the own rank is a local access: done on return as a store is, and seen by other
// threads after a converge. The deposit of a put_signal to the own rank is not done on return.
//
// put_async and get_async are in flight until they are complete, on every profile but `sc`: until
// then the source of a put_async is not written, the targets of both are neither read nor written.
// complete() ends that for the target of a get_async, and for the source of a put_async; the target
// of a put_async takes a flush, or whatever else carries a put. The source may also be written
// again after an acknowledgement that was made after the payload had arrived: after a wait that
// acquires a release of whoever had acquired it.
//
// ERRORS
//
// Whatever waits, or brings data, says how it ended: a WaitStatus that is `ok` or a reason why
// nothing may be built on it. A put says nothing: that it has failed shows at its completion, at a
// flush, or at the next wait. A transfer that fails fails the lane, whatever becomes of an expired
// wait (OnExpiry): nobody knows when it still arrives. A lane that has failed goes on to the end of
// its body: its waits return its status at once, and what it would deposit or put is lost.
//
// THE RULES (each has cost somebody days)
//
//  - One writer per cell, or adds only, or hand and take. Epochs only grow and are kept in
//    counters.
//  - converge() before a notify that speaks for the lane, and after the waits.
//  - Data outlives its readers: before a target is written again, its readers have deposited to the
//    writer.
//  - A wait that did not return `ok` has acquired nothing. Leave the loop, but still reach every
//    converge.
//  - Credits are taken back by the only thread that waits for them, exactly as many as it waited
//    for. (So an add of a negative number is a take-back where the one thread that gives such adds
//    is the one that waits on the cell, or where the cell was promised to be zero at the end;
//    elsewhere it is an add as any other, as in a count that goes down.)
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "muster/fabric/call.hpp"
#include "muster/fabric/sentinel.hpp"
#include "muster/fabric/set_up.hpp"
#include "muster/reduce.hpp"
#include "muster/types.hpp"

namespace muster {

namespace detail {
struct AnyVisitor {
  template <class... Args>
  MUSTER_FN void operator()(Args&&...) const {}
};
}  // namespace detail

// ---- identity and meeting -----------------------------------------------------------------------
//
//   rank() size() lane() lanes()   which rank of how many, which lane of how many that run
//   thread() threads()             which thread of this lane; a host lane is one thread
//   profile()                      what the fabric promises beyond the contract; a constant but on
//                                  the model
//   converge()                     all threads of the lane meet: what each wrote before is seen by
//                                  all after, and the earlier loads of all are done
//   converge(status)               the same, and returns the worst of what the threads say and of
//                                  status(), the same to all. An `expired` that they say stays
//                                  one where it is the reason why the lane has failed
//   status()                       has the lane failed, by all that the calling thread has seen?
//                                  It never gets better, and is what later waits return: `ok`,
//                                  `aborted`, `peer_lost` or `invalid`
//   progress()                     a lane that computes for long calls it now and then, so that a
//                                  network moves on; wait, put and flush do so by themselves
//   broadcast(value)               thread 0's value, to all threads of the lane (it converges)
template <class F>
concept LaneIdentity = requires(F& fabric, const F& view, WaitStatus status, std::uint32_t word) {
  { view.rank() } -> std::same_as<Rank>;
  { view.size() } -> std::same_as<std::uint32_t>;
  { view.lane() } -> std::same_as<Lane>;
  { view.lanes() } -> std::same_as<std::uint32_t>;
  { view.thread() } -> std::same_as<std::uint32_t>;
  { view.threads() } -> std::same_as<std::uint32_t>;
  { view.profile() } -> std::same_as<Profile>;
  { fabric.converge() } -> std::same_as<void>;
  { fabric.converge(status) } -> std::same_as<WaitStatus>;
  { view.status() } -> std::same_as<WaitStatus>;
  { fabric.progress() } -> std::same_as<void>;
  { fabric.broadcast(word) } -> std::same_as<std::uint32_t>;
};

// ---- signals and counters -----------------------------------------------------------------------
//
// Called by one thread of the lane each.
//
//   notify(signal, peer, value, op, order = release, scope = system)
//       deposit into the peer's cell. A notify to the own rank has taken effect on return, for the
//       notifying lane: another lane may still see a later deposit without it
//   wait(signal, compare, value, order = acquire, scope = system) -> WaitStatus
//       block until the own cell satisfies the condition. A primitive, never a loop in a protocol:
//       the model blocks on it, a network progresses in it, GPU and host poll with a deadline
//   test(signal, compare, value, order, scope) -> ok, pending, or the team's failure
//   wait_any(conditions, count, order, scope) -> AnyStatus
//       block until one of the conditions holds; the lowest index of those that do
//   read(signal, order = relaxed, scope) -> the own cell's value
//   counter(c), set_counter(c, value)
//       the own lane's scalar; plain memory of the lane: converge orders it between the lane's
//       threads
template <class F>
concept Signalling = requires(F& fabric, Signal signal, Counter counter, Rank peer,
                              std::uint32_t value, const Condition* conditions) {
  fabric.notify(signal, peer, value, NotifyOp::set);
  fabric.notify(signal, peer, value, NotifyOp::add, Order::release, Scope::system);
  { fabric.wait(signal, Compare::ge, value) } -> std::same_as<WaitStatus>;
  {
    fabric.wait(signal, Compare::ge, value, Order::acquire, Scope::system)
    } -> std::same_as<WaitStatus>;
  {
    fabric.test(signal, Compare::ge, value, Order::acquire, Scope::system)
    } -> std::same_as<WaitStatus>;
  { fabric.wait_any(conditions, value, Order::acquire, Scope::system) } -> std::same_as<AnyStatus>;
  { fabric.read(signal, Order::relaxed, Scope::system) } -> std::same_as<std::uint32_t>;
  { fabric.counter(counter) } -> std::same_as<std::uint32_t>;
  fabric.set_counter(counter, value);
};

// ---- windows and tiles --------------------------------------------------------------------------
//
//   local(window) -> view       own memory: view[i] is element i of rows x cols, row-major;
//                               view.size()
//   tile<T, R, C>() -> tile     the lane's working set of R x C elements. Which thread holds which
//                               element depends on the tile's type and the index alone. Storage
//                               comes from the fabric, never from the stack. A new tile is all T{}.
//   tile_like<U>(tile) -> tile  one of elements of U, with the same elements in the same threads
//
// A tile, called by all threads that need what it does (none of it meets):
//
//   Tile::rows, Tile::cols      R and C, constants
//   Tile::most_per_thread       no thread holds more elements than that, a constant
//   each(f)                     f(row, col, element&) for each element that the calling thread
//                               holds
//   each_group(f)               f(row, col, group) for each run of Tile::group_size elements of a
//                               row, from (row, col) on, that it holds side by side: group[i] is
//                               one of them (muster::Group), for arithmetic on several at once
//   zip(other, f)               f(element&, other's element) for each, with a like of any type
//   combine(other, op)          element = op(element, other's element); muster/reduce.hpp has
//                               operators, op may be a ReduceOp
//   assign(other)               element = other's element, converted (muster::convert)
//
// Called by the lane together; box is the part of the window, its extents are the valid part of the
// tile (at most R x C, a ragged tail is smaller). A box outside the window is an error of the
// caller.
//
//   load(tile, window, box)                 own window to tile; elements beyond the box become T{}
//   store(tile, window, box)                tile to own window
//   load(tile, memory, box), store(...)     the same with plain memory, a MemoryRef<T>
//   remote_load(tile, window, peer, box)    the peer's window to tile -> WaitStatus of the calling
//                                           thread; not `ok`: the tile holds anything
//   remote_store(tile, window, peer, box)   tile to the peer's window
//   remote_add(tile, window, peer, box)     adds the tile's elements to the peer's, each atomically
template <class F, class T, class Tile, class Sums>
concept TilingWith = requires(F& fabric, Tile& tile, Sums& sums, WindowRef<T> window,
                              MemoryRef<T> memory, MemoryRef<const T> constant, Rank peer,
                              Box box) {
  requires std::same_as<typename Tile::value_type, T>;
  typename std::integral_constant<std::int64_t, Tile::rows * Tile::cols>;
  typename std::integral_constant<std::int64_t, Tile::most_per_thread>;
  typename std::integral_constant<int, Tile::group_size>;
  tile.each(detail::AnyVisitor{});
  tile.each_group(detail::AnyVisitor{});
  tile.zip(sums, detail::AnyVisitor{});
  tile.combine(tile, ReduceOp::sum);
  sums.combine(tile, Sum{});
  tile.assign(sums);
  fabric.load(tile, window, box);
  fabric.load(tile, memory, box);
  fabric.load(tile, constant, box);
  fabric.store(tile, window, box);
  fabric.store(tile, memory, box);
  { fabric.remote_load(tile, window, peer, box) } -> std::same_as<WaitStatus>;
  fabric.remote_store(tile, window, peer, box);
  fabric.remote_add(tile, window, peer, box);
};

// The tile's type is named outside a requires-expression: nvcc 13.0 stops with an internal error
// where a nested one names it by decltype of the outer one's parameter.
template <class F, class T = float, std::int64_t R = 2, std::int64_t C = 2>
using TileOf = decltype(std::declval<F&>().template tile<T, R, C>());
template <class F, class Tile, class U>
using LikeOf = decltype(std::declval<F&>().template tile_like<U>(std::declval<const Tile&>()));

template <class F, class T>
concept TilingOf = TilingWith<F, T, TileOf<F, T>, LikeOf<F, TileOf<F, T>, Accumulator<T>>>;

template <class F>
concept Tiling = TilingOf<F, float> && requires(F& fabric, WindowRef<float> window) {
  fabric.local(window);
};

// ---- transfers ----------------------------------------------------------------------------------
//
// Called by the lane together. `to_at`, `from_at` and `count` are in elements; a run is contiguous.
//
// Source and target of a transfer within one rank do not overlap. put, get, put_signal, complete
// and flush converge: the threads meet before anything is moved and after. Their WaitStatus is the
// lane's, as converge(ok) gives it: what all threads have agreed on before, or find alike in the
// arguments of this call. A fabric need not ask them again, so what one thread alone has seen (a
// wait that has failed) is told by converge(status), not by a get behind it.
//
//   put(to, peer, to_at, from, from_at, count)
//       own window to the peer's; the source is reusable on return
//   get(to, to_at, from, peer, from_at, count) -> WaitStatus
//       the peer's window to the own; where it is `ok`, the data is there
//   put_signal(to, peer, to_at, from, from_at, count, signal, value, op)
//       put, then a deposit that carries this payload alone
//   put_async, get_async -> Request
//       as put and get, but in flight until complete or flush, and they do not converge
//   complete(request) -> WaitStatus
//       of the transfer that returned it, and of the earlier asynchronous ones of this lane with
//       the same peer: the source of a put_async may be written again, the data of a get_async is
//       there. Later ones stay in flight. A Request is plain bytes, each thread has its own; one
//       that no transfer has returned is complete
//   flush(peer), flush() -> WaitStatus
//       all transfers and notifies of this lane to that peer, or to all, have taken effect at
//       their targets, for this lane and for whoever acquires a release that it makes afterwards;
//       and those from it are complete
template <class F, class T>
concept TransferringOf = requires(F& fabric, WindowRef<T> window, Rank peer, Signal signal,
                                  std::int64_t n, std::uint32_t value,
                                  typename F::Request request) {
  requires std::is_trivially_copyable_v<typename F::Request>;
  requires std::default_initializable<typename F::Request>;
  { fabric.put(window, peer, n, window, n, n) } -> std::same_as<void>;
  { fabric.get(window, n, window, peer, n, n) } -> std::same_as<WaitStatus>;
  fabric.put_signal(window, peer, n, window, n, n, signal, value, NotifyOp::set);
  { fabric.put_async(window, peer, n, window, n, n) } -> std::same_as<typename F::Request>;
  { fabric.get_async(window, n, window, peer, n, n) } -> std::same_as<typename F::Request>;
  { fabric.complete(request) } -> std::same_as<WaitStatus>;
  { fabric.flush(peer) } -> std::same_as<WaitStatus>;
  { fabric.flush() } -> std::same_as<WaitStatus>;
};

template <class F>
concept Transferring = TransferringOf<F, float>;

template <class F>
concept Fabric = LaneIdentity<F> && Signalling<F> && Tiling<F> && Transferring<F>;

// What Fabric is, with every other type of number. Each fabric asserts it of itself, so that no
// protocol needs to.
template <class F, class... Ts>
concept FabricOfEach = (TilingOf<F, Ts> && ...) && (TransferringOf<F, Ts> && ...);

template <class F>
concept FabricAll = Fabric<F> &&
    FabricOfEach<F, double, float16, bfloat16, std::int8_t, std::uint8_t, std::int16_t,
                 std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;

// ---- what every protocol needs ------------------------------------------------------------------

// The rank `steps` further, or back, round the ring of all ranks.
template <LaneIdentity F>
[[nodiscard]] MUSTER_FN Rank right_of(const F& fabric, std::uint32_t steps = 1) {
  const std::uint32_t ranks = fabric.size();
  const std::uint32_t sum = fabric.rank().value + (steps < ranks ? steps : steps % ranks);
  return Rank{sum < ranks ? sum : sum - ranks};
}
template <LaneIdentity F>
[[nodiscard]] MUSTER_FN Rank left_of(const F& fabric, std::uint32_t steps = 1) {
  const std::uint32_t ranks = fabric.size();
  return right_of(fabric, ranks - (steps < ranks ? steps : steps % ranks));
}

// visit(peer) for every other rank, strided over the threads of the lane (one thread a peer on a
// GPU, a loop on a host). Starts at the right neighbour, so that not all ranks hit one target at a
// time.
template <LaneIdentity F, class Visit>
MUSTER_FN void for_each_peer(const F& fabric, Visit&& visit) {
  const std::uint32_t ranks = fabric.size();
  for (std::uint32_t step = 1 + fabric.thread(); step < ranks; step += fabric.threads()) {
    const std::uint32_t sum = fabric.rank().value + step;
    visit(Rank{sum < ranks ? sum : sum - ranks});
  }
}

// visit(index) for 0 <= index < count, shared out over the threads of the lane: a loop on a host.
template <LaneIdentity F, class Visit>
MUSTER_FN void for_each_index(const F& fabric, std::int64_t count, Visit&& visit) {
  for (std::int64_t index = fabric.thread(); index < count; index += fabric.threads()) visit(index);
}

}  // namespace muster

#include "muster/fabric/refinements.hpp"
