// A bootstrap over a team of one host, whose ranks read each other's memory.
#pragma once

#include <string>
#include <vector>

#include "muster/team.hpp"
#include "net/bootstrap.hpp"

namespace muster::ucx {

class TeamBootstrap final : public muster::detail::net::Bootstrap {
 public:
  explicit TeamBootstrap(muster::Team& team) : team_(team) {}

  [[nodiscard]] Rank rank() const override { return team_.rank(); }
  [[nodiscard]] std::uint32_t size() const override { return team_.size(); }
  // The team's own deadline holds.
  [[nodiscard]] Result<std::vector<std::string>> all_gather(
      std::string_view own, std::chrono::nanoseconds within) override;

 private:
  muster::Team& team_;
};

}  // namespace muster::ucx
