// The set-up side: what protocols take from the team that they are made from. Included by
// muster/fabric.hpp.
#pragma once

#include <concepts>
#include <cstdint>

#include "muster/fabric/sentinel.hpp"
#include "muster/half.hpp"
#include "muster/types.hpp"

namespace muster {

// A host team, the model's team, a GPU world, a network team. Every rank makes the same of these
// calls in the same order, outside of lanes and kernels; what they make is zero before any peer can
// reach it. They return a Result<T>, whose error names the argument.
//
//   size()             how many ranks the team has
//   max_lanes()        the most lanes of a rank that will run: what rows() are made for
//   window<T>({e...})  memory of `e...` elements of T on every rank, a WindowRef<T>; a window of
//                      PacketLine is Slots, of SentinelLine SentinelSlots
//   rows()             a cell for each lane and each writer, and a counter for each lane
//   signals(count)     `count` cells
//   sync()             a barrier of the team: whoever passes it sees what every rank did before,
//                      what its lanes and kernels have put and stored included
template <class T, class Element>
concept SetUpOf = requires(T& team, std::int64_t extent) {
  { *team.template window<Element>({extent}) } -> std::convertible_to<WindowRef<Element>>;
  { *team.template window<Element>({extent, extent}) } -> std::convertible_to<WindowRef<Element>>;
};

template <class T>
concept SetUp = SetUpOf<T, float> && SetUpOf<T, PacketLine> && SetUpOf<T, SentinelLine> &&
    requires(T& team, const T& view, std::uint32_t count) {
  { view.size() } -> std::same_as<std::uint32_t>;
  { view.max_lanes() } -> std::same_as<std::uint32_t>;
  { *team.rows() } -> std::convertible_to<Rows>;
  { *team.signals(count) } -> std::convertible_to<Signals>;
  {static_cast<bool>(team.sync())};
};

// What SetUp is, with windows of every other type of number. Each team asserts it of itself, so
// that no protocol needs to.
template <class T>
concept SetUpAll = SetUp<T> && SetUpOf<T, double> && SetUpOf<T, float16> && SetUpOf<T, bfloat16> &&
    SetUpOf<T, std::int8_t> && SetUpOf<T, std::uint8_t> && SetUpOf<T, std::int16_t> &&
    SetUpOf<T, std::uint16_t> && SetUpOf<T, std::int32_t> && SetUpOf<T, std::uint32_t> &&
    SetUpOf<T, std::int64_t> && SetUpOf<T, std::uint64_t>;

}  // namespace muster
