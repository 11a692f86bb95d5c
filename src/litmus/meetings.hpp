// The barriers of a candidate: who meets whom.
#pragma once

#include "litmus/candidate.hpp"
#include "litmus/program.hpp"
#include "litmus/relation.hpp"

namespace muster::litmus {

// The n-th use of a barrier by one thread of a cta meets the n-th use by another, where both name
// it alike (all operands); a barrier that nobody else names waits for nobody. Adds to
// `synchronizes` who synchronizes with whom: every arrival with every bar.sync. False where they
// wait for each other in a circle, so that this candidate never ends.
[[nodiscard]] bool meet(const Program& program, const Candidate& candidate,
                        const Relation& program_order, Relation& synchronizes);

}  // namespace muster::litmus
