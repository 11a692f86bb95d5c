// How the survivors of a failed team agree on who they are.
#pragma once

#include <cstdint>
#include <optional>

#include "fabric/host/team_context.hpp"
#include "muster/result.hpp"

namespace muster::host {

// Collective over the ranks of the team that still live; returns the number of the team that takes
// its place. All survivors get the same one. Errors: expired, where a rank neither comes nor dies.
[[nodiscard]] Result<std::uint32_t> agree_on_survivors(TeamContext& team);

// For whoever watches the job from outside: have ranks failed, and the others agreed on a team of
// which all still live?
[[nodiscard]] bool survivors_stand(const Job& job);

// The rank that failed first, as the job saw it: it died, or it said so before it ended.
[[nodiscard]] std::optional<std::uint32_t> first_to_fail(const Job& job);

// Has the rank begun its body, and not come to its end? For one whose process has ended.
[[nodiscard]] bool left_body(const Job& job, std::uint32_t rank);

}  // namespace muster::host
