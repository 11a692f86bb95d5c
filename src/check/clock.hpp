// A vector clock. Its components are threads, the loads of each thread, channels (one per thread
// and target rank, on the profile rdma), and one for each put_signal, each message of packets, and
// each get_async (on direct, each put_async too).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace muster::check::engine {

// An event: the `epoch`-th of a component.
struct Stamp {
  std::uint32_t component = 0;
  std::uint32_t epoch = 0;
  friend bool operator==(const Stamp&, const Stamp&) = default;
};

class Clock {
 public:
  [[nodiscard]] std::uint32_t at(std::uint32_t component) const {
    return component < epochs_.size() ? epochs_[component] : 0;
  }
  [[nodiscard]] bool has(Stamp stamp) const { return stamp.epoch <= at(stamp.component); }
  void raise(Stamp stamp) {
    if (stamp.component >= epochs_.size()) epochs_.resize(stamp.component + 1);
    epochs_[stamp.component] = std::max(epochs_[stamp.component], stamp.epoch);
  }
  void join(const Clock& other) {
    if (other.epochs_.size() > epochs_.size()) epochs_.resize(other.epochs_.size());
    const std::uint32_t* theirs = other.epochs_.data();
    std::uint32_t* mine = epochs_.data();
    for (std::size_t i = 0, n = other.epochs_.size(); i < n; ++i)
      mine[i] = std::max(mine[i], theirs[i]);
  }
  // Everything in `other` is in this.
  [[nodiscard]] bool covers(const Clock& other) const {
    for (std::uint32_t i = 0; i < other.epochs_.size(); ++i)
      if (other.epochs_[i] > at(i)) return false;
    return true;
  }
  void clear() { epochs_.clear(); }
  [[nodiscard]] std::size_t size() const { return epochs_.size(); }

 private:
  std::vector<std::uint32_t> epochs_;
};

}  // namespace muster::check::engine
