// What every operation of a kernel's lane needs: who it is, where its threads meet, what has become
// of it. Included by muster/fabric/gpu/fabric.cuh.
#pragma once

#include <cstdint>

#include "muster/fabric/gpu/access.cuh"
#include "muster/fabric/gpu/check.cuh"
#include "muster/fabric/gpu/coop.cuh"
#include "muster/fabric/gpu/coordinates.cuh"
#include "muster/fabric/gpu/handle.hpp"
#include "muster/fabric/gpu/peer_addresses.cuh"
#include "muster/fabric/gpu/watch.cuh"
#include "muster/types.hpp"

namespace muster::gpu::detail {

template <class Coop, Ranks team, bool checks>
class LaneState {
 public:
  // ---- identity and meeting

  [[nodiscard]] MUSTER_FN Rank rank() const { return Rank{peers_.rank()}; }
  [[nodiscard]] MUSTER_FN std::uint32_t size() const { return peers_.ranks(); }
  [[nodiscard]] MUSTER_FN Lane lane() const { return Lane{peers_.lane()}; }
  [[nodiscard]] MUSTER_FN std::uint32_t lanes() const { return peers_.lanes(); }
  [[nodiscard]] MUSTER_FN std::uint32_t thread() const { return coop_.thread(); }
  [[nodiscard]] MUSTER_FN std::uint32_t threads() const { return coop_.threads(); }
  [[nodiscard]] MUSTER_FN static constexpr Profile profile() { return Profile::direct; }

  // Tiles that were loaded before are complete. A barrier of the block alone would let loads that
  // are under way pass a later relaxed notify; a release notify could do without.
  MUSTER_FN void converge() {
    complete_loads();
    coop_.meet();
  }

  MUSTER_FN WaitStatus converge(WaitStatus status) {
    complete_loads();
    status = coop_.meet(worst(status, peers_.status()));
    peers_.become(status);
    return status;
  }

  // As this thread knows it; converge makes it the lane's.
  [[nodiscard]] MUSTER_FN WaitStatus status() const { return peers_.status(); }
  MUSTER_FN static void progress() {}  // the hardware does

  // Nothing below sm_90, where kernels do not overlap; see LaunchFabric.
  MUSTER_FN static void launch_wait() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  }
  MUSTER_FN static void launch_done() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
  }

  template <Broadcastable T>
  [[nodiscard]] MUSTER_FN T broadcast(T value) {
    complete_loads();
    return coop_.broadcast(value);
  }

  // May a barrier have noted that it must not be called again? Not where a lane that has failed
  // does nothing more, as long as the team has not failed before this launch. See Refusal.
  [[nodiscard]] MUSTER_FN bool has_notes() const {
    return peers_.handle().notes != 0;
  }

  // Waits between the two share one deadline: see muster::OneCall. No clock is read before one of
  // them turns slow.
  MUSTER_FN bool begin_call() {
    const bool inner = since_ != no_call;
    if (!inner) since_ = not_slow;
    return inner;
  }
  MUSTER_FN void end_call(bool inner) {
    if (!inner) since_ = no_call;
  }

 protected:
  MUSTER_FN LaneState(const Handle& handle, LaneCoordinates at, Coop coop, bool within)
      : coop_(coop), peers_(handle, at, within, coop) {}

  [[nodiscard]] MUSTER_FN std::uint32_t* cell(Signal signal, Rank owner) const {
    return peers_.cell(signal.segment, signal.cell, owner.value);
  }
  [[nodiscard]] MUSTER_FN Place place() const {
    return peers_.place(thread());
  }
  // A lane that has failed deposits nothing more: its peers would take that for a call that is
  // well.
  [[nodiscard]] MUSTER_FN bool speaks() const {
    return peers_.status() == WaitStatus::ok;
  }

  // As converge(ok), where no thread has anything to say that the others do not know: status() was
  // voted on when the lane learned of it, and is the same in all its threads. So nobody asks again:
  // a vote in every get of 4 to 64 KiB took it 1.16 to 1.30 of the time (one H200). Where arguments
  // are checked, one thread alone may have been refused (a notify to no rank), and they do.
  MUSTER_FN WaitStatus converge_alike() {
    if (peers_.watches()) return converge(WaitStatus::ok);
    converge();
    return peers_.status();
  }

  [[nodiscard]] MUSTER_FN bool admit(Operation operation, Signal signal, Rank peer) {
    return peers_.admit(thread(), operation, signal, peer);
  }
  template <class T>
  [[nodiscard]] MUSTER_FN bool admit(Operation operation, WindowRef<T> window, Rank peer, Box box) {
    return peers_.admit(thread(), operation, window, peer, box);
  }
  // For operations that would block: not where the lane has failed.
  [[nodiscard]] MUSTER_FN bool ready(Operation operation, Signal signal) {
    return peers_.status() == WaitStatus::ok && admit(operation, signal, rank());
  }

  // A branch on the loaded words cannot be passed before they are there.
  MUSTER_FN void complete_loads() {
    if ((loading_ & peers_.handle().zero) != 0) trap();
    loading_ = 0;
  }

  [[no_unique_address]] Coop coop_;
  PeerAddresses<team, checks> peers_;
  std::uint32_t loading_ = 0;  // digest of what was loaded since the last converge
  std::uint64_t since_ = no_call;
};

}  // namespace muster::gpu::detail
