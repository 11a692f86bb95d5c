// Where the lanes of a check run: what Scope::device reaches, and what is atomic towards what.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/result.hpp"

namespace muster::check {

// Whose read-modify-writes are atomic towards each other on every machine. Between two of these
// that takes a link which carries atomics, and not every machine has one.
enum class Domain : std::uint8_t {
  host,  // the processor's atomic instructions
  gpu,   // kernels, of one GPU or of several
  nic,   // atomics that a network adapter makes where the memory is
};
[[nodiscard]] const char* name_of(Domain domain);

// Where some lanes run.
struct Placed {
  std::optional<std::uint32_t> rank{};  // none: every rank
  std::optional<std::uint32_t> lane{};  // none: every lane
  Domain domain{};
  std::optional<std::uint32_t> gpu{};  // its number; none: one that the rank shares with no other
};

// Of two that speak of one lane the later counts. Empty: each rank is a device of its own, and all
// are in one domain.
using Placement = std::vector<Placed>;

// "0=gpu0,1=gpu1": comma by comma WHO=WHERE. WHO is a rank, a lane of a rank (1.0), `all`, or a
// lane of all (all.1); WHERE is `host`, `gpuN`, `gpu` (each rank has its own) or `nic`. An error
// (invalid_argument) names what is no such thing.
[[nodiscard]] Result<Placement> placement_of(std::string_view text);

// The same text again, for this placement.
[[nodiscard]] std::string to_string(const Placement& placement);

// What of it does not fit so many ranks and lanes: one that does not exist, or that has no place
// where others have. Nothing where all is well.
[[nodiscard]] std::optional<std::string> misplaced(const Placement& placement, std::uint32_t ranks,
                                                   std::uint32_t lanes);

}  // namespace muster::check
