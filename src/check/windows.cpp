#include "check/windows.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace muster::check::engine {

std::uint32_t Windows::make(std::uint64_t bytes, std::uint32_t grain, const std::string& name) {
  if (count_ == all_.size()) all_.emplace_back();
  Segment& segment = all_[count_];
  segment.name = name.empty() ? fmt::format("window {}", count_) : name;
  segment.make(ranks_, bytes, grain);
  segment.flags = ~0U;
  return count_++;
}

bool Windows::has(const std::string& name) const {
  for (std::uint32_t i = 0; i < count_; ++i)
    if (all_[i].name == name && !all_[i].freed) return true;
  return false;
}

std::string Windows::location(std::uint32_t segment, std::uint64_t grain,
                              std::uint32_t rank) const {
  return fmt::format("{}[{}] of rank {}", all_[segment].name, grain, rank);
}

std::uint32_t Counters::make(std::uint32_t count) {
  const std::uint32_t first = numbers_;
  numbers_ += count;
  const std::size_t all = std::size_t{numbers_} * ranks_;
  values_.resize(all);
  shadows_.resize(all);
  for (std::size_t at = std::size_t{first} * ranks_; at < all; ++at) {
    values_[at] = 0;
    shadows_[at] = {};
  }
  return first;
}

Memory memory_of(const Windows& windows, const Counters& counters) {
  Memory all;
  for (std::uint32_t i = 0; i < windows.count(); ++i) all.windows.push_back(windows[i].data);
  all.counters = counters.values();
  return all;
}

std::string first_difference(const Windows& windows, const Counters& counters, const Memory& then) {
  for (std::uint32_t i = 0; i < windows.count() && i < then.windows.size(); ++i)
    for (std::uint32_t rank = 0; rank < windows[i].data.size(); ++rank) {
      const auto& here = windows[i].data[rank];
      const auto& there = then.windows[i][rank];
      const auto at = std::mismatch(here.begin(), here.end(), there.begin(), there.end()).first;
      if (at == here.end()) continue;
      const auto byte = static_cast<std::uint64_t>(at - here.begin());
      return windows.location(i, byte / windows[i].grain, rank);
    }
  return counters.values() == then.counters ? "" : "a counter";
}

}  // namespace muster::check::engine
