// The bootstrap of a rank whose launcher has a link to the launchers of the other hosts.
#pragma once

#include <cstdint>
#include <memory>

#include "base/fd.hpp"
#include "net/bootstrap.hpp"

namespace muster::detail::net {

// `link` is the rank's end (MUSTER_NET_FD).
[[nodiscard]] std::unique_ptr<Bootstrap> meet_by_launcher(Fd link, std::uint32_t rank,
                                                          std::uint32_t ranks);

}  // namespace muster::detail::net
