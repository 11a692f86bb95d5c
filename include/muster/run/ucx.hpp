// ucx::run: as muster::run, for ranks on one host or on many.
//
// The body is a template over its team: it gets a muster::Team where the host fabric carries the
// ranks, and a muster::ucx::Team where the network does. MUSTER_FABRIC says which:
//
//   auto (or not set)   the host fabric where all ranks are on one host, else the network
//   host                the host fabric; an error where ranks are on several hosts
//   ucx                 the network, also on one host; ranks are processes
//
// Between ranks of one host UCX takes its own shared memory where UCX_TLS lets it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "muster/fabric/ucx/team.hpp"
#include "muster/result.hpp"
#include "muster/run.hpp"

namespace muster::ucx {

namespace detail {

enum class Carrier : std::uint8_t { host, network };

// By MUSTER_FABRIC and by where the launcher has started the ranks. Says on stderr what is wrong
// with these, and then has no value.
std::optional<Carrier> carrier();

int run_ranks(const RunOptions& options, const std::function<Result<int>(Team&)>& body);

}  // namespace detail

// Returns what main should return, as muster::run: 2 where the options or the environment are
// wrong. Leaving is a barrier of the team. Over the network a process runs once.
template <class Body>
int run(const RunOptions& options, Body&& body) {
  const auto carrier = detail::carrier();
  if (!carrier) return 2;
  if (*carrier == detail::Carrier::host) return muster::run(options, std::forward<Body>(body));
  return detail::run_ranks(options,
                           [&body](Team& team) { return muster::detail::outcome(body, team); });
}

}  // namespace muster::ucx
