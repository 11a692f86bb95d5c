// One all_gather, as the hub sees it: what each rank has brought so far.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/place.hpp"

namespace muster::detail::net {

class Round {
 public:
  explicit Round(std::uint32_t ranks) : entries_(ranks) {}

  // False where the rank has brought something already.
  [[nodiscard]] bool add(std::uint32_t rank, std::string_view bytes,
                         std::chrono::nanoseconds within) {
    if (entries_[rank]) return false;
    entries_[rank] = bytes;
    // The first to come waits longest, and decides.
    if (come_++ == 0) within_ = within, until_ = Clock::now() + within;
    return true;
  }

  [[nodiscard]] bool is_complete() const { return come_ == entries_.size(); }
  [[nodiscard]] std::optional<Clock::time_point> until() const { return until_; }
  [[nodiscard]] std::chrono::nanoseconds within() const { return within_; }
  [[nodiscard]] bool has_begun() const { return come_ > 0; }
  [[nodiscard]] bool has_come(std::uint32_t rank) const { return entries_[rank].has_value(); }

  // All entries as the bytes of a result; the next round begins.
  [[nodiscard]] std::string finish();

 private:
  std::vector<std::optional<std::string>> entries_;
  std::uint32_t come_ = 0;
  std::chrono::nanoseconds within_{0};
  std::optional<Clock::time_point> until_;
};

}  // namespace muster::detail::net
