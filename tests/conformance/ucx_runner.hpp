// Runs conformance cases on the network fabric, between processes of this host: each one with the
// transports that the fabric must work with.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "conformance/cases.hpp"
#include "fabric/ucx/settings.hpp"
#include "muster/fabric/ucx/team.hpp"

namespace muster::conformance {

using UcxCases = std::vector<Case<ucx::Team>>;

// One GoogleTest test for each case and transport, named <topic>_<transport>.<case>.
bool add_ucx_cases(const std::string& topic, const UcxCases& cases);

// How forked ranks have ended.
struct UcxRun {
  bool well = true;
  std::string words;          // of all that did not end well, a line each
  std::vector<int> statuses;  // of wait(), by rank
};

// Forks `ranks` processes, which join a team over that transport (UCX_TLS) and run the body. A rank
// that the body kills has ended as that says.
UcxRun run_on_ucx(std::uint32_t ranks, const std::string& transport,
                  const std::function<Result<void>(ucx::Team&)>& body,
                  ucx::Settings settings = {4, std::chrono::seconds(20)});

}  // namespace muster::conformance
