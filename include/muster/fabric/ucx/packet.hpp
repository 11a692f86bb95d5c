// The network fabric's packets. Included by muster/fabric/ucx.hpp.
//
// A put says nothing of the order in which its bytes arrive, so a flag beside the data says nothing
// of the data. A message stands in: the target copies it into the slots, then writes the flag.
#pragma once

#include <atomic>
#include <cstring>

#include "muster/fabric/ucx.hpp"

namespace muster::ucx {

template <class T, std::int64_t R, std::int64_t C>
void Fabric::put_packets(Slots slots, Rank peer, std::int64_t at, const Tile<T, R, C>& tile,
                         std::uint32_t flag) {
  static_assert(std::is_trivially_copyable_v<T>);
  constexpr auto bytes = static_cast<std::size_t>(R * C) * sizeof(T);
  constexpr std::int64_t last = host::detail::flag_line<T>(R * C);
  if (!admits("put_packets", slots, peer, at, last + 1)) return;
  if (flag == 0) [[unlikely]]
    return context_.wire->reject(
        "put_packets: the flag is 0, which cleared slots hold; count from 1");
  tile.fill();
  std::uint32_t& word = host::detail::flag_in(*memory_of(slots, at + last));
  if (is_own(peer)) {
    std::memcpy(static_cast<void*>(memory_of(slots, at)), tile.elements_.get(), bytes);
    // Pairs with the acquire load in wait_packets.
    std::atomic_ref<std::uint32_t>(word).store(flag, std::memory_order_release);
    return;
  }
  const std::byte* const base = context_.segments[slots.segment].memory;
  const auto flag_at = static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(&word) - base);
  context_.wire->packet(peer, place_of(slots, at), tile.elements_.get(), bytes,
                        {slots.segment, flag_at}, flag);
}

template <class T, std::int64_t R, std::int64_t C>
WaitStatus Fabric::wait_packets(Tile<T, R, C>& tile, Slots slots, std::int64_t at,
                                std::uint32_t flag) {
  static_assert(std::is_trivially_copyable_v<T>);
  constexpr auto bytes = static_cast<std::size_t>(R * C) * sizeof(T);
  constexpr std::int64_t last = host::detail::flag_line<T>(R * C);
  if (!admits("wait_packets", slots, context_.rank, at, last + 1)) return status();
  if (flag == 0) [[unlikely]] {
    context_.wire->reject("wait_packets: the flag is 0, which cleared slots hold; count from 1");
    return status();
  }
  std::uint32_t& word = host::detail::flag_in(*memory_of(slots, at + last));
  const Signal line{0, static_cast<std::uint32_t>(at + last)};
  // Pairs with the release store of the flag where the message was copied.
  const WaitStatus waited =
      context_.wire->wait({&word, Compare::eq, flag, line, true}, Order::acquire, call_);
  if (waited != WaitStatus::ok) return waited;
  std::memcpy(static_cast<void*>(tile.elements_.get()), memory_of(slots, at), bytes);
  tile.filled_ = R * C;
  host::detail::complete_loads();  // what it reads is part of the wait
  return waited;
}

inline void Fabric::clear_packets(Slots slots, std::int64_t at, std::int64_t lines) {
  if (!admits("clear_packets", slots, context_.rank, at, lines)) return;
  for (std::int64_t line = at; line < at + lines; ++line) *memory_of(slots, line) = PacketLine{};
}

}  // namespace muster::ucx
