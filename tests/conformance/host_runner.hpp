// Runs conformance cases on the host fabric: each one on threads and on processes, at its sizes.
#pragma once

#include <vector>

#include "conformance/cases.hpp"
#include "muster/team.hpp"

namespace muster::conformance {

using HostCases = std::vector<Case<Team>>;

// The main of a test program: one GoogleTest test for each case and way of running it, named
// threads.<case> and processes.<case>.
int run_host_cases(const HostCases& cases, int argc, char** argv);

}  // namespace muster::conformance
