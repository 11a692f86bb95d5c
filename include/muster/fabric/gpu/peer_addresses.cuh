// What one lane of a kernel reaches: addresses in every rank's memory, looked at before they are
// used where the team was made with checks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "muster/fabric/gpu/check.cuh"
#include "muster/fabric/gpu/coordinates.cuh"
#include "muster/fabric/gpu/handle.hpp"
#include "muster/fabric/gpu/tile.cuh"
#include "muster/types.hpp"

namespace muster::gpu::detail {

// What a lane does around a wait, its peers wait for: so what is rare is out of line, and checks
// are not even in the kernel unless it is compiled with them.
template <Ranks team, bool checks>
class PeerAddresses {
 public:
  // `within`: the team has such a rank and lane.
  template <class Coop>
  MUSTER_FN PeerAddresses(const Handle& handle, LaneCoordinates at, bool within, const Coop& coop)
      : handle_(handle),
        ranks_(handle.ranks),
        rank_(at.rank.value),
        lane_(at.lane.value),
        lanes_(at.lanes),
        checked_(checks && handle.verify != 0) {
    // More lanes than the rows were made for would deposit into other rows, more ranks than the
    // handle has addresses of anywhere. No path leads back from a refusal: what every kernel begins
    // with counts, and where paths join again the compiler gives up what it knows of the rank, that
    // it is the same in all threads.
    constexpr std::uint32_t most = team == Ranks::few ? near_ranks : ~0U;
    if (lanes_ <= handle.max_lanes && ranks_ <= most && within) [[likely]]
      if (fits(handle, coop)) [[likely]]
        return;
    settle(refuse_launch(handle, at, most, coop));
    checked_ = checks;  // on a host the thread goes on, and does no harm
    end_kernel<checks>();
  }

  [[nodiscard]] MUSTER_FN const Handle& handle() const { return handle_; }
  [[nodiscard]] MUSTER_FN std::uint32_t ranks() const { return ranks_; }
  [[nodiscard]] MUSTER_FN std::uint32_t rank() const { return rank_; }
  [[nodiscard]] MUSTER_FN std::uint32_t lane() const { return lane_; }
  [[nodiscard]] MUSTER_FN std::uint32_t lanes() const { return lanes_; }
  // Is there anything to look at, or has the lane failed?
  [[nodiscard]] MUSTER_FN bool careful() const { return checked_ || status_ != WaitStatus::ok; }
  [[nodiscard]] MUSTER_FN Place place(std::uint32_t thread) const { return {rank_, lane_, thread}; }

  // ---- the lane's status

  // Above `expired` it stays, and ends all later waits at once; the same to all threads. An expired
  // wait fails the lane, unless the world was made to go on after it: it says so itself, all later
  // ones are `aborted`.
  [[nodiscard]] MUSTER_FN WaitStatus status() const { return status_; }
  MUSTER_FN void become(WaitStatus status) {
    status_ = WaitStatus::ok;
    if (status == WaitStatus::ok) [[likely]]
      return;
    if (status == WaitStatus::expired && handle_.retries == 0) status = WaitStatus::aborted;
    if (status > WaitStatus::expired) status_ = status;
  }
  MUSTER_FN bool settle(WaitStatus status) {
    status_ = worst(status_, status);
    return status == WaitStatus::ok;
  }

  // ---- addresses

  [[nodiscard]] MUSTER_FN std::uint32_t* cell(std::uint32_t segment, std::uint32_t index,
                                              std::uint32_t owner) const {
    return reinterpret_cast<std::uint32_t*>(base(segment, owner)) + index;
  }
  [[nodiscard]] MUSTER_FN std::uint32_t* own(Counter counter) const {
    return cell(counter.segment, counter.cell, rank_);
  }
  template <class T>
  [[nodiscard]] MUSTER_FN T* data(WindowRef<T> window, Rank owner) const {
    return reinterpret_cast<T*>(base(window.segment, owner.value) + window.offset);
  }
  template <class T>
  [[nodiscard]] MUSTER_FN Patch<T> patch(WindowRef<T> window, Rank owner, Box box) const {
    return {data(window, owner) + window.at(box.row, box.col), window.cols, box.rows, box.cols};
  }
  [[nodiscard]] MUSTER_FN std::uint64_t* packets(Slots slots, Rank owner, std::int64_t at) const {
    return reinterpret_cast<std::uint64_t*>(data(slots, owner) + at);
  }

  [[nodiscard]] MUSTER_FN std::uint32_t* sentinels(SentinelSlots slots, Rank owner,
                                                   std::int64_t at) const {
    return reinterpret_cast<std::uint32_t*>(data(slots, owner) + at);
  }

  // ---- checks. A lane that broke the contract deposits nothing more; windows stay readable.

  // Is a wrong argument noticed?
  [[nodiscard]] MUSTER_FN bool watches() const { return checks && checked_; }

  [[nodiscard]] MUSTER_FN bool admit(std::uint32_t thread, Operation operation, Signal signal,
                                     Rank peer) {
    if (!watches()) [[likely]]
      return true;
    return status_ != WaitStatus::invalid &&
           settle(check_cell(handle_, place(thread), operation, signal, peer));
  }
  template <class T>
  [[nodiscard]] MUSTER_FN bool admit(std::uint32_t thread, Operation operation, WindowRef<T> window,
                                     Rank peer, Box box) {
    if (!watches()) [[likely]]
      return true;
    return settle(
        check_box(handle_, place(thread), operation, untyped(window), peer, box, sizeof(T)));
  }
  // A run of elements, as a box of the window laid out in one row.
  template <class T>
  [[nodiscard]] MUSTER_FN bool admit_run(std::uint32_t thread, WindowRef<T> window, Rank peer,
                                         std::int64_t at, std::int64_t count) {
    const WindowRef<T> row{window.offset, 1, window.size(), window.segment, window.team};
    return admit(thread, Operation::transfer, row, peer, Box{0, at, 1, count});
  }
  // Do the two ends of a transfer share no byte?
  [[nodiscard]] MUSTER_FN bool apart(std::uint32_t thread, const std::byte* to,
                                     const std::byte* from, std::int64_t to_at,
                                     std::int64_t from_at, std::int64_t count, std::int64_t bytes) {
    if (!watches() || to >= from + bytes || from >= to + bytes) [[likely]]
      return true;
    return settle(refuse_overlap(handle_, place(thread), to_at, from_at, count));
  }

 private:
  // Has the block the lane's threads? World::launch leaves their number in the handle: to ask for
  // it takes longer. A launch of another kind leaves 0.
  template <class Coop>
  [[nodiscard]] MUSTER_FN static bool fits(const Handle& handle, const Coop& coop) {
    if constexpr (Coop::static_threads <= 1) return true;  // any block
    const std::uint32_t threads = handle.threads;
    return coop.fits(threads != 0 ? threads : threads_in_block());
  }

  template <class T>
  [[nodiscard]] MUSTER_FN static WindowRef<std::byte> untyped(WindowRef<T> window) {
    return {window.offset, window.rows, window.cols, window.segment, window.team};
  }

  [[nodiscard]] MUSTER_FN std::byte* base(std::uint32_t segment, std::uint32_t owner) const {
    if constexpr (team == Ranks::few) return handle_.segments[segment].near[owner];
    return handle_.segments[segment].base(owner, ranks_);
  }

  const Handle& handle_;
  std::uint32_t ranks_;
  std::uint32_t rank_;
  std::uint32_t lane_;
  std::uint32_t lanes_;
  bool checked_;
  WaitStatus status_ = WaitStatus::ok;
};

}  // namespace muster::gpu::detail
