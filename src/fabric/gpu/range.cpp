// First fit over a sorted list of free pieces.
#include <algorithm>

#include "fabric/gpu/state.hpp"

namespace muster::gpu {

Range::Range(std::uint64_t begin, std::uint64_t end) : begin_(begin), size_(end - begin) {
  if (begin < end) free_.emplace(begin, end);
}

std::optional<std::uint64_t> Range::take(std::uint64_t length, std::uint64_t align) {
  length = std::max<std::uint64_t>(length, 1);
  for (const auto& [begin, end] : free_) {
    const std::uint64_t first = (begin + align - 1) / align * align;
    if (first > end || length > end - first) continue;
    const std::uint64_t last = end;
    if (first == begin)
      free_.erase(begin);
    else
      free_[begin] = first;
    if (first + length < last) free_.emplace(first + length, last);
    taken_.emplace(first, first + length);
    return first;
  }
  return std::nullopt;
}

bool Range::release(std::uint64_t begin) {
  const auto piece = taken_.find(begin);
  if (piece == taken_.end()) return false;
  std::uint64_t end = piece->second;
  taken_.erase(piece);
  auto next = free_.lower_bound(begin);
  if (next != free_.end() && next->first == end) {
    end = next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin() && std::prev(next)->second == begin)
    std::prev(next)->second = end;
  else
    free_.emplace(begin, end);
  return true;
}

std::optional<std::uint64_t> Range::length_at(std::uint64_t begin) const {
  const auto piece = taken_.find(begin);
  if (piece == taken_.end()) return std::nullopt;
  return piece->second - begin;
}

bool Range::has(std::uint64_t begin, std::uint64_t length) const {
  auto piece = taken_.upper_bound(begin);
  if (piece == taken_.begin()) return false;
  --piece;
  return begin <= piece->second && length <= piece->second - begin;
}

std::uint64_t Range::left() const {
  std::uint64_t sum = 0;
  for (const auto& [begin, end] : free_) sum += end - begin;
  return sum;
}

std::uint64_t Range::longest() const {
  std::uint64_t most = 0;
  for (const auto& [begin, end] : free_) most = std::max(most, end - begin);
  return most;
}

}  // namespace muster::gpu
