#include "fabric/host/range_allocator.hpp"

#include <algorithm>

namespace muster::host {

void RangeAllocator::reset(std::uint64_t begin, std::uint64_t end) {
  List& list = idle();
  list.count = 0;
  list.add(begin, end);
  commit();
}

bool RangeAllocator::List::add(std::uint64_t begin, std::uint64_t end) {
  if (begin == end) return true;
  if (count == max_ranges) return false;
  ranges[count++] = Range{begin, end};
  return true;
}

std::optional<std::uint64_t> RangeAllocator::allocate(std::uint64_t length, std::uint64_t align) {
  const List& from = current();
  List& to = idle();
  to.count = 0;
  std::optional<std::uint64_t> found;
  for (std::uint32_t i = 0; i < from.count; ++i) {
    const Range range = from.ranges[i];
    const std::uint64_t start = (range.begin + align - 1) / align * align;
    const bool fits = !found && start <= range.end && range.end - start >= length;
    if (fits) found = start;
    const bool kept = fits ? to.add(range.begin, start) && to.add(start + length, range.end)
                           : to.add(range.begin, range.end);
    if (!kept) return std::nullopt;
  }
  if (found) commit();
  return found;
}

bool RangeAllocator::release(std::uint64_t begin, std::uint64_t length) {
  const List& from = current();
  List& to = idle();
  to.count = 0;
  Range freed{begin, begin + length};
  bool placed = false;
  for (std::uint32_t i = 0; i < from.count; ++i) {
    const Range range = from.ranges[i];
    if (range.end == freed.begin) {
      freed.begin = range.begin;  // joins its left neighbour
      continue;
    }
    if (freed.end == range.begin) {
      freed.end = range.end;  // joins its right neighbour
      continue;
    }
    if (!placed && freed.end < range.begin) {
      if (!to.add(freed.begin, freed.end)) return false;
      placed = true;
    }
    if (!to.add(range.begin, range.end)) return false;
  }
  if (!placed && !to.add(freed.begin, freed.end)) return false;
  commit();
  return true;
}

std::uint64_t RangeAllocator::longest() const {
  std::uint64_t length = 0;
  const List& list = current();
  for (std::uint32_t i = 0; i < list.count; ++i) {
    length = std::max(length, list.ranges[i].end - list.ranges[i].begin);
  }
  return length;
}

}  // namespace muster::host
