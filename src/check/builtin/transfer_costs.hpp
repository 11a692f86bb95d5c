// Bodies whose cost depends on a size, for `muster cost`: each is one call of one transfer, with
// nothing around it that a user might do otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/fabric/model.hpp"

namespace muster::check {

struct SizedBody {
  const char* name;
  const char* about;  // what one call is
  void (*body)(model::Team& team, std::uint64_t bytes);
};

[[nodiscard]] const std::vector<SizedBody>& sized_bodies();
[[nodiscard]] const std::vector<SizedBody>& collective_bodies();  // part of them
[[nodiscard]] const SizedBody* find_sized(const std::string& name);

// Why this one cannot be run with so many bytes; empty where it can.
[[nodiscard]] std::string objection(const SizedBody& sized, std::uint64_t bytes);

}  // namespace muster::check
