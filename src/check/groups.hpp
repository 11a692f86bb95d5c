// Which threads have anything to do with each other.
//
// Threads that share no cell, no element of a window and no converge cannot influence each other
// within one launch, so the search tries the ways of one group while the others take their first.
// Sharing is noted as it happens and kept over all executions of one exploration; where it turns
// out late, the search begins again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace muster::check::engine {

class Groups {
 public:
  void reset(std::size_t threads) {
    parent_.resize(threads);
    std::iota(parent_.begin(), parent_.end(), 0U);
  }
  [[nodiscard]] std::uint32_t of(std::uint32_t thread) const {
    while (parent_[thread] != thread) thread = parent_[thread];
    return thread;
  }
  void merge(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t first = of(a);
    const std::uint32_t second = of(b);
    if (first == second) return;
    parent_[std::max(first, second)] = std::min(first, second);
    changed_ = true;
  }
  // `toucher` remembers who was here last, as its number + 1.
  void touch(std::uint32_t& toucher, std::uint32_t thread) {
    if (toucher == thread + 1) return;
    if (toucher != 0) merge(toucher - 1, thread);
    toucher = thread + 1;
  }
  void merge_all() {
    if (all_) return;
    all_ = true;
    for (std::uint32_t thread = 1; thread < parent_.size(); ++thread) merge(0, thread);
  }

  [[nodiscard]] bool changed() const { return changed_; }
  void settle() { changed_ = false; }

 private:
  std::vector<std::uint32_t> parent_;
  bool changed_ = false;
  bool all_ = false;
};

}  // namespace muster::check::engine
