// How a wait polls, and what it does once it takes long: look for an abort and at its deadline.
#pragma once

#include <cstdint>
#include <thread>

#include "muster/fabric/gpu/access.cuh"
#include "muster/fabric/gpu/check.cuh"
#include "muster/fabric/gpu/coop.cuh"
#include "muster/fabric/gpu/handle.hpp"
#include "muster/types.hpp"

namespace muster::gpu::detail {

// A poll of the own memory takes some 0.2 us: a wait first looks around after some 6 us, and then
// every 30 us or so, because the abort word lies across the bus (about 2 us).
inline constexpr int polls_between_looks = 160;

// A look takes two turns: the abort word is asked for in one and judged in the next. To wait for it
// (2 us, and 100 us where 132 lanes ask at once) would keep the peers waiting, which would then
// look too and keep this rank waiting, and so on for ever.
//
// `since` is when the first wait of the lane's call turned slow, in ns, or one of these: the call
// has one deadline (muster::OneCall).
inline constexpr std::uint64_t no_call = 0;
inline constexpr std::uint64_t not_slow = 1;

class Watch {
 public:
  MUSTER_FN Watch(const Handle& handle, std::uint64_t since)
      : handle_(handle), since_(since), begin_(since > not_slow ? since : nanoseconds()) {}

  // What the call's next wait is given.
  [[nodiscard]] MUSTER_FN std::uint64_t since() const {
    return since_ == no_call ? no_call : begin_;
  }

  // ok: go on waiting.
  [[nodiscard]] MUSTER_FN WaitStatus look() {
#if !defined(__CUDA_ARCH__)
    std::this_thread::yield();  // on a host, lanes may outnumber cores
#endif
    if (stop_ != 0) return WaitStatus{stop_};
    // Relaxed: nothing follows from it but the end of the wait.
    if (handle_.stop != nullptr) stop_ = Relaxed::load(handle_.stop);
    if (handle_.deadline_ns > 0 && nanoseconds() - begin_ > handle_.deadline_ns)
      return WaitStatus::expired;
    return WaitStatus::ok;
  }

 private:
  const Handle& handle_;
  std::uint64_t since_;
  std::uint64_t begin_;
  std::uint32_t stop_ = 0;
};

// How a wait ended that took long.
struct LongWait {
  WaitStatus status;
  std::uint64_t since;
};

// What a test says that found nothing.
[[nodiscard, gnu::noinline]] MUSTER_FN inline WaitStatus failure_or_pending(const Handle& handle) {
#if !defined(__CUDA_ARCH__)
  std::this_thread::yield();
#endif
  // Relaxed: nothing follows from it but the end of the wait.
  const std::uint32_t stop = handle.stop != nullptr ? Relaxed::load(handle.stop) : 0;
  return stop != 0 ? WaitStatus{stop} : WaitStatus::pending;
}

// Blocks until poll() holds; failed(status) is told where it never did.
template <class Poll, class Failed>
MUSTER_FN WaitStatus wait_until(const Handle& handle, std::uint64_t& since, Poll&& poll,
                                Failed&& failed) {
  int polls = opaque(first_polls);
  for (int i = 0; i < polls; ++i)
    if (poll()) return WaitStatus::ok;
  polls = opaque(polls_between_looks);
  Watch watch(handle, since);
  since = watch.since();
  WaitStatus status = WaitStatus::ok;
  while (status == WaitStatus::ok) {
    for (int i = 0; i < polls; ++i)
      if (poll()) return WaitStatus::ok;
    status = watch.look();
  }
  failed(status);
  return status;
}

// Goes on where the first polls of a wait on one cell ended. `Poll` gives the order and the scope.
// Takes little more than what a wait has in registers: what it says of a failure it looks up.
template <class Poll, Operation operation>
[[gnu::noinline]] MUSTER_FN LongWait wait_longer(const Handle& handle, Place place,
                                                 std::uint32_t* word, Compare compare,
                                                 std::uint32_t value, std::uint64_t since) {
  Watch watch(handle, since);
  const int polls = opaque(polls_between_looks);
  std::uint32_t seen = 0;
  WaitStatus status = WaitStatus::ok;
  while (status == WaitStatus::ok) {
    for (int i = 0; i < polls; ++i) {
      seen = Poll::load(word);
      if (satisfies(seen, compare, value)) return {WaitStatus::ok, watch.since()};
    }
    status = watch.look();
  }
  Trouble trouble = about(handle, place.rank, operation, word);
  trouble.status = status;
  trouble.seen = seen;
  trouble.compare = static_cast<std::uint32_t>(compare);
  trouble.expected = value;
  give_up(handle, place, trouble);
  return {status, watch.since()};
}

// Blocks until the cell satisfies the condition.
template <class Poll, Operation operation>
[[nodiscard]] MUSTER_FN WaitStatus wait_for(const Handle& handle, Place place, std::uint32_t* word,
                                            Compare compare, std::uint32_t value,
                                            std::uint64_t& since) {
  const int polls = opaque(first_polls);
  for (int i = 0; i < polls; ++i)
    if (satisfies(Poll::load(word), compare, value)) return WaitStatus::ok;
  const LongWait end = wait_longer<Poll, operation>(handle, place, word, compare, value, since);
  since = end.since;
  return end.status;
}

}  // namespace muster::gpu::detail
