// Which threads make up a lane: Thread, Warp, Warps<N>, Block<N>.
//
// Each says how its threads meet, and how they wait and meet in one. Meeting orders memory between
// the threads of the lane; it does not reach beyond the block. fits(n) says whether a block of n
// threads has the lane's, and the calling one among them; first() is the thread of the block that
// the lane begins with.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "muster/fabric/gpu/access.cuh"
#include "muster/types.hpp"

namespace muster::gpu {

namespace detail {

inline constexpr std::uint32_t warp_threads = 32;
inline constexpr std::uint32_t named_barriers = 16;  // of a block; 0 is that of __syncthreads

template <class T>
concept Broadcastable = std::is_trivially_copyable_v<T> && sizeof(T) <= 16;

struct Words {
  std::uint32_t word[4] = {};
};

// ---- the first `count` threads of one warp

[[nodiscard]] MUSTER_FN constexpr std::uint32_t first_of_warp(std::uint32_t thread) {
  return thread / warp_threads * warp_threads;
}

[[nodiscard]] MUSTER_FN constexpr std::uint32_t mask_of(std::uint32_t count) {
  return count >= warp_threads ? ~0U : (1U << count) - 1;
}

MUSTER_FN inline void meet_in_warp([[maybe_unused]] std::uint32_t count) {
#if defined(__CUDA_ARCH__)
  __syncwarp(mask_of(count));
#else
  trap();
#endif
}

[[nodiscard]] MUSTER_FN inline WaitStatus worst_in_warp([[maybe_unused]] WaitStatus status,
                                                        [[maybe_unused]] std::uint32_t count) {
#if defined(__CUDA_ARCH__)
  const std::uint32_t mask = mask_of(count);
  const bool any = __any_sync(mask, status != WaitStatus::ok) != 0;
  __syncwarp(mask);  // a vote does not order memory
  if (!any) [[likely]]
    return WaitStatus::ok;
  return WaitStatus{__reduce_max_sync(mask, static_cast<std::uint32_t>(status))};
#else
  trap();
#endif
}

[[nodiscard]] MUSTER_FN inline bool whole_warp_is_here() {
#if defined(__CUDA_ARCH__)
  return __activemask() == ~0U;
#else
  trap();
#endif
}

// Of those threads of the warp that are here together. A vote, so that the compiler knows that all
// go one way.
[[nodiscard]] MUSTER_FN inline bool all_in_warp([[maybe_unused]] bool mine) {
#if defined(__CUDA_ARCH__)
  return __all_sync(__activemask(), static_cast<int>(mine)) != 0;
#else
  trap();
#endif
}

// How often a wait polls before it goes on out of line. A poll takes some 0.2 us.
inline constexpr int first_polls = 32;

// They poll in step until all of them see what they wait for; false after first_polls.
template <class Seen>
[[nodiscard]] MUSTER_FN bool await_in_warp(Seen&& seen, [[maybe_unused]] std::uint32_t count) {
#if defined(__CUDA_ARCH__)
  const std::uint32_t mask = mask_of(count);
  const int polls = opaque(first_polls);
  for (int i = 0; i < polls; ++i) {
    const bool mine = seen();
    if (__all_sync(mask, mine) == 0) continue;
    __syncwarp(mask);  // a vote does not order memory
    return true;
  }
  return false;
#else
  trap();
#endif
}

[[nodiscard]] MUSTER_FN inline Words broadcast_in_warp([[maybe_unused]] Words words,
                                                       [[maybe_unused]] std::uint32_t used,
                                                       [[maybe_unused]] std::uint32_t count) {
#if defined(__CUDA_ARCH__)
  const std::uint32_t mask = mask_of(count);
  for (std::uint32_t i = 0; i < used; ++i) words.word[i] = __shfl_sync(mask, words.word[i], 0);
  __syncwarp(mask);
  return words;
#else
  trap();
#endif
}

// ---- whole warps, at a named barrier

// Barrier 0 is met by all threads of the block, and as quickly as can be.
inline constexpr std::uint32_t whole_block = 0;

MUSTER_FN inline void meet_at([[maybe_unused]] std::uint32_t barrier,
                              [[maybe_unused]] std::uint32_t count) {
#if defined(__CUDA_ARCH__)
  if (barrier == whole_block) return __syncthreads();
  __syncwarp();  // the warp executes it as one
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(count) : "memory");
#else
  trap();
#endif
}

// They meet; whether any of them came with `flag`.
[[nodiscard]] MUSTER_FN inline bool any_at([[maybe_unused]] std::uint32_t barrier,
                                           [[maybe_unused]] std::uint32_t count,
                                           [[maybe_unused]] bool flag) {
#if defined(__CUDA_ARCH__)
  if (barrier == whole_block) return __syncthreads_or(static_cast<int>(flag)) != 0;
  __syncwarp();
  std::uint32_t any;
  asm volatile(
      "{\n"
      ".reg .pred mine, all;\n"
      "setp.ne.u32 mine, %1, 0;\n"
      "bar.red.or.pred all, %2, %3, mine;\n"
      "selp.u32 %0, 1, 0, all;\n"
      "}"
      : "=r"(any)
      : "r"(static_cast<std::uint32_t>(flag)), "r"(barrier), "r"(count)
      : "memory");
  return any != 0;
#else
  trap();
#endif
}

// As await_in_warp, where the lane has several warps: those poll in which a thread needs to.
template <class Seen>
[[nodiscard]] MUSTER_FN bool await_at(std::uint32_t barrier, std::uint32_t threads, bool polls,
                                      Seen&& seen, std::uint32_t in_warp) {
  const bool late = polls && !await_in_warp(seen, in_warp);
  return !any_at(barrier, threads, late);
}

[[nodiscard]] MUSTER_FN inline WaitStatus worst_at(std::uint32_t barrier, std::uint32_t count,
                                                   WaitStatus status) {
  if (!any_at(barrier, count, status != WaitStatus::ok)) [[likely]]
    return WaitStatus::ok;
  // Somebody failed: the time no longer matters. All threads of the lane take the same turns.
  auto level = static_cast<std::uint32_t>(WaitStatus::invalid);
  while (!any_at(barrier, count, static_cast<std::uint32_t>(status) >= level)) --level;
  return WaitStatus{level};
}

[[nodiscard]] MUSTER_FN inline Words broadcast_at([[maybe_unused]] std::uint32_t barrier,
                                                  [[maybe_unused]] std::uint32_t count,
                                                  [[maybe_unused]] Words words,
                                                  [[maybe_unused]] bool first) {
#if defined(__CUDA_ARCH__)
  __shared__ Words slots[named_barriers];
  if (first) slots[barrier] = words;
  meet_at(barrier, count);
  words = slots[barrier];
  meet_at(barrier, count);  // all have read it before the next broadcast writes it
  return words;
#else
  trap();
#endif
}

template <Broadcastable T>
[[nodiscard]] MUSTER_FN Words to_words(const T& value) {
  Words words;
  std::memcpy(&words, &value, sizeof(T));
  return words;
}

template <Broadcastable T>
[[nodiscard]] MUSTER_FN T from_words(const Words& words) {
  T value;
  std::memcpy(&value, &words, sizeof(T));
  return value;
}

template <class T>
inline constexpr std::uint32_t words_of = (sizeof(T) + 3) / 4;

}  // namespace detail

// One thread: whichever of the block makes the fabric. The others take no part.
struct Thread {
  static constexpr std::uint32_t static_threads = 1;

  [[nodiscard]] MUSTER_FN std::uint32_t thread() const { return 0; }
  [[nodiscard]] MUSTER_FN std::uint32_t threads() const { return 1; }
  [[nodiscard]] MUSTER_FN static bool fits(std::uint32_t) { return true; }
  [[nodiscard]] MUSTER_FN std::uint32_t first() const { return 0; }
  MUSTER_FN void meet() const { asm volatile("" ::: "memory"); }
  [[nodiscard]] MUSTER_FN WaitStatus meet(WaitStatus status) const { return status; }
  template <class Seen>
  [[nodiscard]] MUSTER_FN bool await(std::uint32_t, Seen&& seen) const {
    const int polls = detail::opaque(detail::first_polls);
    for (int i = 0; i < polls; ++i)
      if (seen()) return true;
    return false;
  }
  template <detail::Broadcastable T>
  [[nodiscard]] MUSTER_FN T broadcast(T value) const {
    meet();
    return value;
  }
};

// A whole warp of the block.
struct Warp {
  static constexpr std::uint32_t static_threads = detail::warp_threads;

  [[nodiscard]] MUSTER_FN std::uint32_t thread() const { return detail::thread_in_warp(); }
  [[nodiscard]] MUSTER_FN std::uint32_t threads() const { return static_threads; }
  // Where the last warp of the block is short, the others. One whose threads are all here is whole.
  [[nodiscard]] MUSTER_FN bool fits(std::uint32_t block) const {
    return detail::whole_warp_is_here() || detail::all_in_warp(first() + static_threads <= block);
  }
  [[nodiscard]] MUSTER_FN std::uint32_t first() const {
    return detail::first_of_warp(detail::thread_in_block());
  }
  MUSTER_FN void meet() const { detail::meet_in_warp(static_threads); }
  [[nodiscard]] MUSTER_FN WaitStatus meet(WaitStatus status) const {
    return detail::worst_in_warp(status, static_threads);
  }
  template <class Seen>
  [[nodiscard]] MUSTER_FN bool await(std::uint32_t, Seen&& seen) const {
    return detail::await_in_warp(seen, static_threads);
  }
  template <detail::Broadcastable T>
  [[nodiscard]] MUSTER_FN T broadcast(T value) const {
    return detail::from_words<T>(
        detail::broadcast_in_warp(detail::to_words(value), detail::words_of<T>, static_threads));
  }
};

// `warps` whole warps from `first_warp` on, which meet at the named barrier `barrier` (1 to 15; no
// other code of the block may use it). One warp needs none.
template <std::uint32_t warps>
struct Warps {
  static_assert(warps >= 1 && warps <= 32, "a block has at most 32 warps");
  static constexpr std::uint32_t static_threads = warps * detail::warp_threads;
  static constexpr bool one_warp = warps == 1;

  std::uint32_t first_warp = 0;
  std::uint32_t barrier = 1;

  [[nodiscard]] MUSTER_FN std::uint32_t thread() const {
    return detail::thread_in_block() - first();
  }
  [[nodiscard]] MUSTER_FN std::uint32_t threads() const { return static_threads; }
  [[nodiscard]] MUSTER_FN bool fits(std::uint32_t block) const {
    return thread() < static_threads && first() + static_threads <= block &&
           (one_warp || (barrier != detail::whole_block && barrier < detail::named_barriers));
  }
  [[nodiscard]] MUSTER_FN std::uint32_t first() const { return first_warp * detail::warp_threads; }
  MUSTER_FN void meet() const {
    if constexpr (one_warp) return detail::meet_in_warp(static_threads);
    detail::meet_at(barrier, static_threads);
  }
  [[nodiscard]] MUSTER_FN WaitStatus meet(WaitStatus status) const {
    if constexpr (one_warp) return detail::worst_in_warp(status, static_threads);
    return detail::worst_at(barrier, static_threads, status);
  }
  template <class Seen>
  [[nodiscard]] MUSTER_FN bool await(std::uint32_t count, Seen&& seen) const {
    if constexpr (one_warp) return detail::await_in_warp(seen, static_threads);
    return detail::await_at(barrier, static_threads, detail::first_of_warp(thread()) < count, seen,
                            detail::warp_threads);
  }
  template <detail::Broadcastable T>
  [[nodiscard]] MUSTER_FN T broadcast(T value) const {
    const detail::Words words = detail::to_words(value);
    if constexpr (one_warp)
      return detail::from_words<T>(
          detail::broadcast_in_warp(words, detail::words_of<T>, static_threads));
    return detail::from_words<T>(
        detail::broadcast_at(barrier, static_threads, words, thread() == 0));
  }
};

// The block. Block<N> knows its size when it is compiled, so that tiles fit into registers; Block<>
// takes it from the launch.
template <std::uint32_t count = 0>
struct Block {
  static_assert(count <= 1024, "a block has at most 1024 threads");
  static constexpr std::uint32_t static_threads = count;

  [[nodiscard]] MUSTER_FN std::uint32_t thread() const { return detail::thread_in_block(); }
  [[nodiscard]] MUSTER_FN std::uint32_t threads() const {
    if constexpr (count > 0) return count;
    return detail::threads_in_block();
  }
  [[nodiscard]] MUSTER_FN static bool fits(std::uint32_t block) {
    return count == 0 || block == count;
  }
  [[nodiscard]] MUSTER_FN std::uint32_t first() const { return 0; }
  MUSTER_FN void meet() const {
    // A block of one warp need not go through the block's barrier unit.
    if (threads() <= detail::warp_threads) return detail::meet_in_warp(threads());
    detail::meet_at(detail::whole_block, whole_warps());
  }
  [[nodiscard]] MUSTER_FN WaitStatus meet(WaitStatus status) const {
    if (threads() <= detail::warp_threads) return detail::worst_in_warp(status, threads());
    return detail::worst_at(detail::whole_block, whole_warps(), status);
  }
  template <class Seen>
  [[nodiscard]] MUSTER_FN bool await(std::uint32_t awaiting, Seen&& seen) const {
    if (threads() <= detail::warp_threads) return detail::await_in_warp(seen, threads());
    const std::uint32_t first = detail::first_of_warp(thread());
    // The last warp may be short.
    return detail::await_at(detail::whole_block, whole_warps(), first < awaiting, seen,
                            threads() - first);
  }
  template <detail::Broadcastable T>
  [[nodiscard]] MUSTER_FN T broadcast(T value) const {
    const detail::Words words = detail::to_words(value);
    if (threads() <= detail::warp_threads)
      return detail::from_words<T>(
          detail::broadcast_in_warp(words, detail::words_of<T>, threads()));
    return detail::from_words<T>(
        detail::broadcast_at(detail::whole_block, whole_warps(), words, thread() == 0));
  }

 private:
  // Barriers count whole warps.
  [[nodiscard]] MUSTER_FN std::uint32_t whole_warps() const {
    return (threads() + detail::warp_threads - 1) / detail::warp_threads * detail::warp_threads;
  }
};

}  // namespace muster::gpu
