// What the templates of the model's lane and of its views do. Included by muster/fabric/model.hpp.
#pragma once

#include <cstdint>
#include <type_traits>

#include "muster/fabric/model/fabric.hpp"
#include "muster/fabric/model/span.hpp"
#include "muster/fabric/model/tile.hpp"
#include "muster/fabric/model/view.hpp"
#include "muster/types.hpp"

namespace muster::model {

template <class T>
Ref<T>::operator T() && {
  static_assert(std::is_trivially_copyable_v<T>);
  return *static_cast<const T*>(fabric_->touch(rank_, span_, Access::read, where_));
}

// NOLINTBEGIN(misc-unconventional-assign-operator): see its declaration
template <class T>
void Ref<T>::operator=(T value) && {
  *static_cast<T*>(fabric_->touch(rank_, span_, Access::write, where_)) = value;
}
// NOLINTEND(misc-unconventional-assign-operator)

template <class T>
template <class Next>
void Ref<T>::change(Next&& next) {
  const T old = *static_cast<const T*>(fabric_->touch(rank_, span_, Access::read, where_));
  *static_cast<T*>(fabric_->touch(rank_, span_, Access::write, where_)) = next(old);
}

template <class T>
Ref<T> View<T>::operator[](std::int64_t index) const {
  Span span = {window_.segment, window_.offset, 1, sizeof(T)};
  if (index < 0 || index >= window_.size()) {
    fabric_->check_run(span, window_.team, index, 1, window_.size(), where_);
    span.count = 0;  // touch() answers with scratch
    return Ref<T>(fabric_, rank_, span, where_);
  }
  span.offset += static_cast<std::uint64_t>(index) * sizeof(T);
  return Ref<T>(fabric_, rank_, span, where_);
}

template <class T>
T Fabric::broadcast(T value, Where where) {
  static_assert(std::is_trivially_copyable_v<T>);
  broadcast_bytes(&value, sizeof(T), where);
  return value;
}

template <class T>
Span Fabric::run_of(WindowRef<T> window, std::int64_t at, std::int64_t count, Where where) {
  static_assert(std::is_trivially_copyable_v<T>);
  Span span = {window.segment, window.offset, count, sizeof(T)};
  if (!check_run(span, window.team, at, count, window.size(), where)) {
    span.count = -1;
    return span;
  }
  span.offset += static_cast<std::uint64_t>(at) * sizeof(T);
  return span;
}

template <class T>
Span Fabric::packet_of(Span lines, std::int64_t index) {
  constexpr std::uint64_t stride = (sizeof(T) + 3) / 4 * 8;
  return {lines.segment, lines.offset + static_cast<std::uint64_t>(index) * stride, 1, sizeof(T)};
}

template <class T, std::int64_t R, std::int64_t C>
void Fabric::put_packets(Slots slots, Rank peer, std::int64_t at, Tile<T, R, C>& tile,
                         std::uint32_t flag, Where where) {
  const Span lines = run_of(slots, at, packet_lines<T>(R * C), where);
  if (index_ >= R * C || !begin_packets(lines, peer, flag, where)) return;
  tile.each([&](std::int64_t row, std::int64_t col, T& element) {
    *static_cast<T*>(put_packet(packet_of<T>(lines, row * C + col), peer)) = element;
  });
  end_packets(lines, peer, flag, where);
}

template <class T, std::int64_t R, std::int64_t C>
WaitStatus Fabric::wait_packets(Tile<T, R, C>& tile, Slots slots, std::int64_t at,
                                std::uint32_t flag, Where where) {
  const Span lines = run_of(slots, at, packet_lines<T>(R * C), where);
  if (index_ >= R * C) return WaitStatus::ok;
  const WaitStatus status = wait_for_packets(lines, flag, where);
  if (status != WaitStatus::ok) return status;
  tile.each([&](std::int64_t row, std::int64_t col, T& element) {
    const Span packet = packet_of<T>(lines, row * C + col);
    element = *static_cast<const T*>(read_packet(packet));
  });
  return status;
}

namespace detail {
// Element (row, col) of a tile of C columns in the lines of its slots.
template <class T>
Span in_slots(Span lines, std::int64_t index) {
  return {lines.segment, lines.offset + static_cast<std::uint64_t>(index) * sizeof(T), 1,
          sizeof(T)};
}
}  // namespace detail

template <HasSentinel T, std::int64_t R, std::int64_t C>
void Fabric::put_sentinel(SentinelSlots slots, Rank peer, std::int64_t at, Tile<T, R, C>& tile,
                          Where where) {
  const Span lines = run_of(slots, at, sentinel_lines<T>(R, C), where);
  if (index_ >= R * C || !begin_sentinel(lines, peer, where)) return;
  tile.each([&](std::int64_t row, std::int64_t col, T& element) {
    check_sentinel(is_sentinel(element), where);
    *static_cast<T*>(put_element(detail::in_slots<T>(lines, row * C + col), peer)) = element;
  });
  end_sentinel(lines, peer, where);
}

template <HasSentinel T, std::int64_t R, std::int64_t C>
WaitStatus Fabric::wait_sentinel(Tile<T, R, C>& tile, SentinelSlots slots, std::int64_t at,
                                 Where where) {
  const Span lines = run_of(slots, at, sentinel_lines<T>(R, C), where);
  if (index_ >= R * C) return WaitStatus::ok;
  const WaitStatus status = wait_for_sentinel(lines, where);
  if (status != WaitStatus::ok) return status;
  tile.each([&](std::int64_t row, std::int64_t col, T& element) {
    element = *static_cast<const T*>(read_packet(detail::in_slots<T>(lines, row * C + col)));
  });
  return status;
}

template <HasSentinel T, std::int64_t R, std::int64_t C>
void Fabric::clear_sentinel(SentinelSlots slots, std::int64_t at, Tile<T, R, C>& tile,
                            Where where) {
  const Span lines = run_of(slots, at, sentinel_lines<T>(R, C), where);
  if (index_ >= R * C || !begin_clearing(lines, where)) return;
  tile.each([&](std::int64_t row, std::int64_t col, T&) {
    clear_element(detail::in_slots<T>(lines, row * C + col));
  });
  end_clearing(lines, where);
}

template <class T, std::int64_t R, std::int64_t C>
void Fabric::move_tile(Tile<T, R, C>& tile, WindowRef<T> window, Rank peer, Box box, Move move,
                       Where where) {
  const Span whole = {window.segment, window.offset, window.size(), sizeof(T)};
  if (!begin_move(whole, window.team, window.rows, window.cols, peer, box, R, C, move, where))
    return;
  if (!std::is_integral_v<T> && move == Move::remote_add) inexact();
  tile.each([&](std::int64_t row, std::int64_t col, T& element) {
    const bool inside = row < box.rows && col < box.cols;
    const bool loads = move == Move::load || move == Move::remote_load;
    if (!inside) {
      if (loads) element = T{};
      return;
    }
    const auto at = static_cast<std::uint64_t>(window.at(box.row + row, box.col + col));
    void* bytes =
        move_element({window.segment, window.offset + at * sizeof(T), 1, sizeof(T)}, peer, move);
    T& there = *static_cast<T*>(bytes);
    if (loads)
      element = there;
    else if (move == Move::remote_add)
      there = static_cast<T>(there + element);
    else
      there = element;
  });
}

}  // namespace muster::model
