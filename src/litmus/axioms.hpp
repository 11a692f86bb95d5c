// The axioms of the PTX memory model (PTX ISA 6.0, "Memory Consistency Model"; Lustig,
// Sahasrabuddhe, Giroux, "A Formal Analysis of the NVIDIA PTX Memory Consistency Model", ASPLOS
// 2019), judged on one candidate.
#pragma once

#include <cstdint>
#include <functional>

#include "litmus/candidate.hpp"
#include "litmus/program.hpp"
#include "litmus/relation.hpp"

namespace muster::litmus {

// Calls `visit` with every coherence order under which the candidate satisfies all axioms, one or
// more orders of its fence.sc given. The order is partial, transitive, and relates no more than it
// must: writes of which one causes the other, and morally strong ones. `visit` returns whether to
// go on; so does this. Each order that is tried, right or wrong, takes one of `left`: without any
// it does not go on; nor where the deadline is over.
bool for_each_coherence(const Program& program, const Candidate& candidate, std::uint64_t& left,
                        const std::function<bool(const Relation& coherence)>& visit,
                        Deadline* deadline = nullptr);

}  // namespace muster::litmus
