// How the members of a job that may span hosts find each other.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "muster/result.hpp"

namespace muster::detail::net {

/// How the members of a job find each other: each brings bytes and gets everybody's.
class Bootstrap {
 public:
  virtual ~Bootstrap() = default;
  [[nodiscard]] virtual Rank rank() const = 0;
  [[nodiscard]] virtual std::uint32_t size() const = 0;
  /// Collective over all ranks: brings `own`, returns size() entries in rank order. An error names
  /// host and rank that did not come.
  [[nodiscard]] virtual Result<std::vector<std::string>> all_gather(
      std::string_view own, std::chrono::nanoseconds within) = 0;
};

}  // namespace muster::detail::net
