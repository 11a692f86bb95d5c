// The host fabric's packets. Included by muster/fabric/host.hpp.
//
// A message is the tile's bytes, and one flag in the last word of a line. A flag for every
// few bytes, as on a GPU, would be wrong here: the store of the flag is a release, so it says that
// all lines are there, and a reader that polled each line would take it away from the writer half
// written.
#pragma once

#include <cstring>

#include "muster/fabric/host.hpp"

namespace muster::host {

namespace detail {

// The line of the flag: with the data where one line holds both; otherwise the last of the tile's
// lines, as far from the data as can be. The reader looks at it again and again, and the processor
// fetches the lines beside it too: those that the writer is writing, were it next to them.
template <class T>
[[nodiscard]] constexpr std::int64_t flag_line(std::int64_t elements) {
  constexpr auto line = sizeof(PacketLine);
  const auto bytes = static_cast<std::size_t>(elements) * sizeof(T);
  return bytes + sizeof(std::uint32_t) <= line ? 0 : packet_lines<T>(elements) - 1;
}

[[nodiscard]] inline std::uint32_t& flag_in(PacketLine& last) {
  return last.word[sizeof(last.word) / sizeof(last.word[0]) - 1];
}

}  // namespace detail

template <class T, std::int64_t R, std::int64_t C>
inline void Fabric::put_packets(Slots slots, Rank peer, std::int64_t at, const Tile<T, R, C>& tile,
                                std::uint32_t flag) {
  static_assert(std::is_trivially_copyable_v<T>);
  constexpr auto bytes = R * C * static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t last = detail::flag_line<T>(R * C);
  static_assert(bytes <= last * static_cast<std::int64_t>(sizeof(PacketLine)) || last == 0);
  if (peer.value >= context_.size || !fits_at_once(slots, at, last + 1)) [[unlikely]] {
    if (!admits("put_packets", slots, peer, at, last + 1) || silenced(peer)) return;
  }
  if (flag == 0) [[unlikely]]
    return reject_flag("put_packets");
  PacketLine* const target = memory_of(slots, peer) + at;
  std::uint32_t& word = detail::flag_in(target[last]);
  tile.fill();
  detail::copy(static_cast<void*>(target), tile.elements_.get(), static_cast<std::size_t>(bytes));
  // Pairs with the acquire load in wait_packets.
  std::atomic_ref<std::uint32_t>(word).store(flag, std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst);  // as in wake()
  if (context_.sleepers[peer.value]->load(std::memory_order_relaxed) != 0) [[unlikely]]
    wake_line(word, peer);
}

template <class T, std::int64_t R, std::int64_t C>
inline WaitStatus Fabric::wait_packets(Tile<T, R, C>& tile, Slots slots, std::int64_t at,
                                       std::uint32_t flag) {
  static_assert(std::is_trivially_copyable_v<T>);
  constexpr auto bytes = R * C * static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t last = detail::flag_line<T>(R * C);
  if (!fits_at_once(slots, at, last + 1)) [[unlikely]] {
    if (!admits("wait_packets", slots, context_.rank, at, last + 1)) return WaitStatus::invalid;
    if (context_.verify && ending() != WaitStatus::ok) return ending();
  }
  if (flag == 0) [[unlikely]]
    return reject_flag("wait_packets"), WaitStatus::invalid;
  PacketLine* const source = memory_of(slots, context_.rank) + at;
  std::uint32_t& word = detail::flag_in(source[last]);
  const std::atomic_ref<std::uint32_t> arrived(word);
  // Pairs with the release store in put_packets.
  const bool seen = spin([&] { return arrived.load(std::memory_order_acquire) == flag; });
  if (!seen) {
    const WaitStatus status = wait_for_line(word, at + last, flag);
    if (status != WaitStatus::ok) return status;
  }
  detail::copy(static_cast<void*>(tile.elements_.get()), source, static_cast<std::size_t>(bytes));
  tile.filled_ = R * C;
  detail::complete_loads();  // what it reads is part of the wait
  return WaitStatus::ok;
}

}  // namespace muster::host
