// Bulk transfers between the ranks: put, get, put_signal and remote_add of rectangles, whole or in
// chunks, between windows, or between a window and plain memory.
//
//   const auto half = *make_transfer(inbox, outbox, {.rows = 64, .cols = 32}, {.chunk_rows = 16});
//   team.lane([&](auto& fabric) {
//     put_signal(fabric, half, right, arrived, 1);
//     ...
//
// make_transfer checks everything on the host; the operations here are called by the lane together
// and run on any fabric. They differ from the fabric's own put and get in their shape alone: what
// these promise (include/muster/fabric.hpp, contract 1, 2 and 8), they promise.
#pragma once

#include <cstdint>
#include <type_traits>

#include "muster/fabric.hpp"
#include "muster/transfer/chunk.hpp"
#include "muster/transfer/make.hpp"
#include "muster/transfer/shape.hpp"

namespace muster {

// How the bytes travel.
enum class Path : std::uint8_t {
  automatic,  // staged where the fabric says that it stages and the chunk is no single run
  runs,       // as runs of elements, by the fabric's put and get
  staged,     // through tiles of the fabric: one, or two in turn where the transfer is pipelined
};

namespace detail {

template <class F>
[[nodiscard]] MUSTER_FN constexpr bool stages_transfers() {
  if constexpr (requires { F::stages_transfers; })
    return F::stages_transfers;
  else
    return false;
}

template <class F, class To, class From>
[[nodiscard]] MUSTER_FN bool goes_staged(const Transfer<To, From>& transfer, Path path) {
  if constexpr (is_memory<To> || is_memory<From>) return !PointerFabric<F> || path == Path::staged;
  if (path != Path::automatic) return path == Path::staged;
  return stages_transfers<F>() &&
         !is_run(transfer, Box{0, 0, transfer.chunks.chunk_rows, transfer.chunks.chunk_cols});
}

// Is all of it one chunk, and that one run of elements? Then it is one operation of the fabric.
template <class To, class From>
[[nodiscard]] MUSTER_FN constexpr bool is_whole_run(const Transfer<To, From>& transfer) {
  const Region& region = transfer.region;
  return transfer.chunks.chunk_rows == region.rows && transfer.chunks.chunk_cols == region.cols &&
         is_run(transfer, Box{0, 0, region.rows, region.cols});
}

// move(to_at, from_at, count) for such a one.
template <class To, class From, class Move>
MUSTER_FN constexpr void move_whole(const Transfer<To, From>& transfer, Move&& move) {
  const Region& region = transfer.region;
  move(transfer.to.at(region.to.row, region.to.col),
       transfer.from.at(region.from.row, region.from.col), region.rows * region.cols);
}

// Runs of all chunks.
template <class To, class From, class Move>
MUSTER_FN void move_runs(const Transfer<To, From>& transfer, Move&& move) {
  if (is_whole_run(transfer)) [[likely]]
    return move_whole(transfer, move);
  Pieces chunks = chunks_of(transfer);
  for (Box chunk; chunks.next(chunk);) each_run(transfer, chunk, move);
}

template <class To, class From>
[[nodiscard]] MUSTER_FN constexpr bool is_pipelined(const Transfer<To, From>& transfer) {
  return transfer.chunks.pipeline && !is_whole_run(transfer);
}

// Chunk by chunk by start(to_at, from_at, count), which returns the fabric's request: at most two
// chunks are in flight at a time, and on return the last one, whose request is returned. A chunk
// that fails fails the lane: completing the last one tells.
template <class F, class To, class From, class Start>
MUSTER_FN typename F::Request move_pipelined(F& fabric, const Transfer<To, From>& transfer,
                                             Start&& start) {
  typename F::Request last{};
  Pieces chunks = chunks_of(transfer);
  bool first = true;
  for (Box chunk; chunks.next(chunk); first = false) {
    const typename F::Request before = last;
    each_run(transfer, chunk, [&](std::int64_t to_at, std::int64_t from_at, std::int64_t count) {
      last = start(to_at, from_at, count);
    });
    if (!first) (void)fabric.complete(before);
  }
  return last;
}

// Without waiting for it: the request of the last run.
template <class F, class To, class From, class Start>
MUSTER_FN typename F::Request move_async(F& fabric, const Transfer<To, From>& transfer,
                                         Start&& start) {
  if (is_pipelined(transfer)) return move_pipelined(fabric, transfer, start);
  typename F::Request last{};
  move_runs(transfer, [&](std::int64_t to_at, std::int64_t from_at, std::int64_t count) {
    last = start(to_at, from_at, count);
  });
  return last;
}

// Between plain memory of this rank and a window of the peer's, by pointers to where the ends
// begin; `reached`: the peer's is one of them.
template <class F, class To, class From, class T>
MUSTER_FN WaitStatus copy_runs(F& fabric, const Transfer<To, From>& transfer, T* to, const T* from,
                               bool reached) {
  if (!reached) return fabric.status();  // the fabric has refused the peer
  fabric.converge();
  Pieces chunks = chunks_of(transfer);
  for (Box chunk; chunks.next(chunk);)
    each_run(transfer, chunk, [&](std::int64_t to_at, std::int64_t from_at, std::int64_t count) {
      fabric.copy(to + to_at, from + from_at, count);
    });
  return fabric.converge(WaitStatus::ok);
}

}  // namespace detail

// Says that every rank makes a transfer of this shape as its next described call on this lane: a
// halo that all of them push, a get from each neighbour. A put or get by itself is one-sided and
// need not match anything, so nobody but the protocol knows. Ranks whose elements, extents or
// chunks differ get an error that names both in a verifying run (muster::describe); elsewhere it is
// nothing at all. `name` is what the error calls the transfer.
template <Fabric F, class To, class From>
MUSTER_FN void describe(F& fabric, const char* name, const Transfer<To, From>& transfer,
                        CallSite<F> site = {}) {
  const Called called(fabric, site);
  using T = typename Transfer<To, From>::value_type;
  describe(fabric,
           CallSignature{name,
                         {CallSignature::no_cell, transfer.chunks.pipeline},
                         {transfer.region.rows, transfer.region.cols, transfer.chunks.chunk_rows,
                          transfer.chunks.chunk_cols, element_code<T>}});
}

// An asynchronous transfer that is not known to be complete. Until it is, the source of a put must
// not be written and the target of a get not be read.
template <Fabric F>
class [[nodiscard]] Pending {
 public:
  MUSTER_FN explicit Pending(typename F::Request last) : last_(last) {}
  // One that went through tiles, and is complete.
  Pending() = default;

  // Called by the lane together; the lane's status. Completes this one and the lane's earlier
  // asynchronous transfers with the same peer, as the fabric's complete does: a put's source may
  // be written again, a get's data is there. Later ones stay in flight.
  MUSTER_FN WaitStatus complete(F& fabric, CallSite<F> site = {}) {
    const Called called(fabric, site);
    if (complete_) return fabric.status();
    complete_ = true;
    return fabric.complete(last_);
  }
  [[nodiscard]] MUSTER_FN bool is_complete() const { return complete_; }

 private:
  typename F::Request last_{};
  bool complete_ = false;
};

template <std::int64_t R = 8, std::int64_t C = 64, Fabric F, class T>
MUSTER_FN Pending<F> put_async(F& fabric, const Transfer<WindowRef<T>, WindowRef<T>>& transfer,
                               Rank peer, Path path = Path::automatic, CallSite<F> site = {});
template <std::int64_t R = 8, std::int64_t C = 64, Fabric F, class T>
MUSTER_FN Pending<F> get_async(F& fabric, const Transfer<WindowRef<T>, WindowRef<T>>& transfer,
                               Rank peer, Path path = Path::automatic, CallSite<F> site = {});

// ---- put ----------------------------------------------------------------------------------------

// The own `from`, a window or plain memory, to the peer's `to`. The source is reusable on return.
// R x C is the tile of a staged transfer; larger chunks pass through it piece by piece.
template <std::int64_t R = 8, std::int64_t C = 64, Fabric F, class T, class From>
MUSTER_FN void put(F& fabric, const Transfer<WindowRef<T>, From>& transfer, Rank peer,
                   Path path = Path::automatic, CallSite<F> site = {}) {
  const Called called(fabric, site);
  if (detail::goes_staged<F>(transfer, path)) {
    detail::stage<R, C>(fabric, transfer, transfer.from, detail::PeerWindow<T>{transfer.to, peer});
    fabric.converge();  // and all may go on with what was moved
  } else if constexpr (detail::is_window<From>) {
    if (detail::is_pipelined(transfer)) {
      // That a put has failed shows later.
      (void)put_async<R, C>(fabric, transfer, peer, path).complete(fabric);
      return;
    }
    detail::move_runs(transfer, [&](std::int64_t to_at, std::int64_t from_at, std::int64_t count) {
      fabric.put(transfer.to, peer, to_at, transfer.from, from_at, count);
    });
  } else if constexpr (detail::PointerFabric<F>) {
    const auto there = fabric.address(transfer.to, peer);
    const T* const own = transfer.from.data;
    (void)detail::copy_runs(fabric, transfer, there.data(), own, there.size() > 0);
  }
}

// The source is not reusable before completion.
template <std::int64_t R, std::int64_t C, Fabric F, class T>
MUSTER_FN Pending<F> put_async(F& fabric, const Transfer<WindowRef<T>, WindowRef<T>>& transfer,
                               Rank peer, Path path, CallSite<F> site) {
  const Called called(fabric, site);
  if (detail::goes_staged<F>(transfer, path)) {
    put<R, C>(fabric, transfer, peer, path);
    return {};
  }
  const auto start = [&](std::int64_t to_at, std::int64_t from_at, std::int64_t count) {
    return fabric.put_async(transfer.to, peer, to_at, transfer.from, from_at, count);
  };
  return Pending<F>(detail::move_async(fabric, transfer, start));
}

// put, then a deposit into the peer's signal that carries all of it. A transfer of a single run is
// the fabric's put_signal (contract 2); otherwise the deposit is a release notify behind the
// chunks, which carries every earlier transfer to this peer as well (contract 1).
template <std::int64_t R = 8, std::int64_t C = 64, Fabric F, class T>
MUSTER_FN void put_signal(F& fabric, const Transfer<WindowRef<T>, WindowRef<T>>& transfer,
                          Rank peer, Signal signal, std::uint32_t value,
                          NotifyOp op = NotifyOp::set, Path path = Path::automatic,
                          CallSite<F> site = {}) {
  const Called called(fabric, site);
  if (path != Path::staged && detail::is_whole_run(transfer)) [[likely]] {
    detail::move_whole(transfer, [&](std::int64_t to_at, std::int64_t from_at, std::int64_t count) {
      fabric.put_signal(transfer.to, peer, to_at, transfer.from, from_at, count, signal, value, op);
    });
    return;
  }
  put<R, C>(fabric, transfer, peer, path);
  fabric.converge();  // the notifying thread speaks for what all threads have put
  if (fabric.thread() == 0) fabric.notify(signal, peer, value, op, Order::release);
}

// ---- get ----------------------------------------------------------------------------------------

// The peer's `from` to the own `to`, a window or plain memory. The lane's status: where it is `ok`,
// the data is there, for all threads of the lane.
template <std::int64_t R = 8, std::int64_t C = 64, Fabric F, class T, class To>
MUSTER_FN WaitStatus get(F& fabric, const Transfer<To, WindowRef<T>>& transfer, Rank peer,
                         Path path = Path::automatic, CallSite<F> site = {}) {
  const Called called(fabric, site);
  if (detail::goes_staged<F>(transfer, path)) {
    detail::stage<R, C>(fabric, transfer, detail::PeerWindow<T>{transfer.from, peer}, transfer.to);
    return fabric.converge(WaitStatus::ok);  // and all may go on with what was moved
  } else if constexpr (detail::is_window<To>) {
    if (detail::is_pipelined(transfer))
      return get_async<R, C>(fabric, transfer, peer, path).complete(fabric);
    WaitStatus status = WaitStatus::ok;  // the lane's: it never gets better
    detail::move_runs(transfer, [&](std::int64_t to_at, std::int64_t from_at, std::int64_t count) {
      status = fabric.get(transfer.to, to_at, transfer.from, peer, from_at, count);
    });
    return status;
  } else if constexpr (detail::PointerFabric<F>) {
    const auto there = fabric.address(transfer.from, peer);
    const T* const theirs = there.data();
    return detail::copy_runs(fabric, transfer, transfer.to.data, theirs, there.size() > 0);
  } else {
    return fabric.status();  // not reached: such a fabric stages what goes to plain memory
  }
}

// The data is there after completion.
template <std::int64_t R, std::int64_t C, Fabric F, class T>
MUSTER_FN Pending<F> get_async(F& fabric, const Transfer<WindowRef<T>, WindowRef<T>>& transfer,
                               Rank peer, Path path, CallSite<F> site) {
  const Called called(fabric, site);
  if (detail::goes_staged<F>(transfer, path)) {
    (void)get<R, C>(fabric, transfer, peer, path);  // the lane has it: complete tells
    return {};
  }
  const auto start = [&](std::int64_t to_at, std::int64_t from_at, std::int64_t count) {
    return fabric.get_async(transfer.to, to_at, transfer.from, peer, from_at, count);
  };
  return Pending<F>(detail::move_async(fabric, transfer, start));
}

// ---- remote_add ---------------------------------------------------------------------------------

// Adds the own `from`, a window or plain memory, to the peer's `to`, each element atomically:
// concurrent remote_adds of one type commute and lose nothing; they race with everything else
// (contract 8). Every arithmetic type of up to 8 bytes, float16 and bfloat16; integers wrap.
template <std::int64_t R = 8, std::int64_t C = 64, Fabric F, class T, class From>
MUSTER_FN void remote_add(F& fabric, const Transfer<WindowRef<T>, From>& transfer, Rank peer,
                          CallSite<F> site = {}) {
  const Called called(fabric, site);
  detail::stage<R, C>(fabric, transfer, transfer.from, detail::AddedWindow<T>{transfer.to, peer});
  fabric.converge();  // and all may go on with what was moved
}

}  // namespace muster
