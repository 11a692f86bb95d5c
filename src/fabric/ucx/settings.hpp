// What a job on the network fabric is run with; the same on every rank.
#pragma once

#include <chrono>
#include <cstdint>

#include "muster/types.hpp"

namespace muster::ucx {

struct Settings {
  std::uint32_t max_lanes = 8;
  std::chrono::milliseconds timeout{600'000};  // of a wait, and of a set-up call
  OnExpiry on_expiry = OnExpiry::fail;
  // After how long a host that has vanished counts as lost: whole seconds, 3 or more.
  std::chrono::seconds keepalive{10};
};

}  // namespace muster::ucx
