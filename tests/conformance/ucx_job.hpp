// Conformance cases in a job that spans hosts: this program, started as its ranks, runs each case
// on a team of all of them (tests/multihost/ucx_on_hosts_test.cpp).
#pragma once

#include <functional>

#include "muster/fabric/ucx/team.hpp"

namespace muster::conformance {

// Has a launcher started this process as a rank of a job on several hosts?
[[nodiscard]] bool in_ucx_job();

// Joins a team of all ranks of the job, runs the body, and leaves the team. Every rank calls it for
// the same bodies in the same order.
[[nodiscard]] Result<void> run_in_ucx_job(const std::function<Result<void>(ucx::Team&)>& body);

// A team that has been joined: the body, and the way out. What a rank does in either kind of run.
[[nodiscard]] Result<void> run_and_close(ucx::Team& team,
                                         const std::function<Result<void>(ucx::Team&)>& body);

}  // namespace muster::conformance
