// Runs conformance cases on the host fabric: each one on threads and on processes, at its sizes.
#pragma once

#include <string>
#include <vector>

#include "conformance/cases.hpp"
#include "muster/team.hpp"

namespace muster::conformance {

using HostCases = std::vector<Case<Team>>;

struct HostOptions {
  bool verify = false;  // with MUSTER_VERIFY=1
};

// One GoogleTest test for each case and way of running it, named <topic>_threads.<case> and
// <topic>_processes.<case>. Called while the program's globals are made; true, so that one can hold
// it.
bool add_host_cases(const std::string& topic, const HostCases& cases, HostOptions options = {});

}  // namespace muster::conformance
