// What the broken uses of slots whose data is its own flag share: tiles between all ranks.
#pragma once

#include "broken.hpp"

namespace muster::broken {

// `sets` sets of slots, each with one for every writer.
class SentinelSets {
 public:
  SentinelSets(Team& team, std::uint32_t sets)
      : ranks_(team.size()), slots_(*team.window<SentinelLine>({sets * ranks_ * lines}, "slots")) {}

  // This call's tile to all peers, and theirs; then done(peer) for each.
  template <class F>
  void put(F& fabric, std::uint32_t set, std::uint32_t call) const {
    auto tile = fabric.template tile<float, 1, 2>();
    tile.each([&](std::int64_t, std::int64_t, float& element) {
      element = static_cast<float>(call * 10 + fabric.rank().value);
    });
    for (std::uint32_t step = 1; step < fabric.size(); ++step)
      fabric.put_sentinel(slots_, right_of(fabric, step), place(set, fabric.rank()), tile);
  }
  template <class F>
  WaitStatus wait(F& fabric, std::uint32_t set) const {
    auto tile = fabric.template tile<float, 1, 2>();
    WaitStatus status = WaitStatus::ok;
    for (std::uint32_t step = 1; step < fabric.size(); ++step)
      status =
          worst(status, fabric.wait_sentinel(tile, slots_, place(set, right_of(fabric, step))));
    return status;
  }
  template <class F>
  void clear(F& fabric, std::uint32_t set) const {
    auto tile = fabric.template tile<float, 1, 2>();
    for (std::uint32_t step = 1; step < fabric.size(); ++step)
      fabric.clear_sentinel(slots_, place(set, right_of(fabric, step)), tile);
  }

 private:
  static constexpr std::int64_t lines = sentinel_lines<float>(1, 2);
  [[nodiscard]] std::int64_t place(std::uint32_t set, Rank writer) const {
    return (set * ranks_ + writer.value) * lines;
  }

  std::int64_t ranks_;
  SentinelSlots slots_;
};

}  // namespace muster::broken
