// Hands out ranges of a symmetric address space. Lives in shared memory; one at a time may use it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

namespace muster::host {

// First fit over a sorted list of free ranges. Two copies of the list: a change is made on the idle
// one and takes effect with one store, so that a process that dies in between leaves the list as it
// was.
class RangeAllocator {
 public:
  static constexpr std::uint32_t max_ranges = 4096;

  void reset(std::uint64_t begin, std::uint64_t end);

  // `length` units at a multiple of `align`; nothing where no free range is long enough.
  [[nodiscard]] std::optional<std::uint64_t> allocate(std::uint64_t length, std::uint64_t align);

  // Takes back what allocate() gave. False where the list is full; then the range stays taken.
  bool release(std::uint64_t begin, std::uint64_t length);

  // Units in the longest free range.
  [[nodiscard]] std::uint64_t longest() const;

 private:
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
  };
  struct List {
    std::uint32_t count;
    std::array<Range, max_ranges> ranges;
    bool add(std::uint64_t begin, std::uint64_t end);
  };

  [[nodiscard]] const List& current() const {
    return lists_[active_.load(std::memory_order_relaxed)];
  }
  // Relaxed: the caller's lock orders everything; the store only has to be one piece.
  void commit() {
    active_.store(1 - active_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  [[nodiscard]] List& idle() { return lists_[1 - active_.load(std::memory_order_relaxed)]; }

  std::array<List, 2> lists_;
  std::atomic<std::uint32_t> active_;
};

}  // namespace muster::host
