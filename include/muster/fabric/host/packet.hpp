// The host fabric's packets. Included by muster/fabric/host.hpp.
#pragma once

#include <algorithm>

#include "muster/fabric/host.hpp"

namespace muster::host {

namespace detail {

// The last word of a line is the flag, the others are 60 bytes of the tile.
inline constexpr std::int64_t flag_word = 15;
inline constexpr std::int64_t line_payload = flag_word * 4;

[[nodiscard]] constexpr std::int64_t lines_of(std::int64_t bytes) {
  return (bytes + line_payload - 1) / line_payload;
}

[[nodiscard]] inline std::size_t payload_of(std::int64_t line, std::int64_t bytes) {
  return static_cast<std::size_t>(std::min(line_payload, bytes - line * line_payload));
}

}  // namespace detail

template <class T, std::int64_t R, std::int64_t C>
void Fabric::put_packets(Slots slots, Rank peer, std::int64_t at, const Tile<T, R, C>& tile,
                         std::uint32_t flag) {
  static_assert(std::is_trivially_copyable_v<T>);
  constexpr auto bytes = R * C * static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t lines = detail::lines_of(bytes);
  if (!admits("put_packets", slots, peer, at, lines)) [[unlikely]]
    return;
  if (flag == 0) [[unlikely]]
    return reject_flag("put_packets");
  PacketLine* const target = &address(slots, peer)[at];
  const auto* source = reinterpret_cast<const std::byte*>(tile.elements_.get());
  for (std::int64_t line = 0; line < lines; ++line) {
    PacketLine& one = target[line];
    std::memcpy(&one.word[0], source + line * detail::line_payload,
                detail::payload_of(line, bytes));
    // Pairs with the acquire load in wait_packets.
    std::atomic_ref<std::uint32_t>(one.word[detail::flag_word])
        .store(flag, std::memory_order_release);
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);  // as in wake()
  if (context_.sleepers[peer.value]->load(std::memory_order_relaxed) != 0) [[unlikely]] {
    for (std::int64_t line = 0; line < lines; ++line)
      wake_sleepers(target[line].word[detail::flag_word]);
  }
}

template <class T, std::int64_t R, std::int64_t C>
WaitStatus Fabric::wait_packets(Tile<T, R, C>& tile, Slots slots, std::int64_t at,
                                std::uint32_t flag) {
  static_assert(std::is_trivially_copyable_v<T>);
  constexpr auto bytes = R * C * static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t lines = detail::lines_of(bytes);
  if (!admits("wait_packets", slots, context_.rank, at, lines)) [[unlikely]]
    return WaitStatus::invalid;
  if (flag == 0) [[unlikely]]
    return reject_flag("wait_packets"), WaitStatus::invalid;
  PacketLine* const source = &local(slots)[at];
  auto* target = reinterpret_cast<std::byte*>(tile.elements_.get());
  for (std::int64_t line = 0; line < lines; ++line) {
    PacketLine& one = source[line];
    const std::atomic_ref<std::uint32_t> arrived(one.word[detail::flag_word]);
    std::uint32_t polls = 0;
    // Pairs with the release store in put_packets.
    while (arrived.load(std::memory_order_acquire) != flag) {
      if (polls++ < context_.spins) continue;
      const WaitStatus status = wait_for_line(one.word[detail::flag_word], at + line, flag);
      if (status != WaitStatus::ok) return status;
    }
    std::memcpy(target + line * detail::line_payload, &one.word[0],
                detail::payload_of(line, bytes));
  }
  return WaitStatus::ok;
}

}  // namespace muster::host
