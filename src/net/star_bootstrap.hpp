// The bootstrap over a Star of ranks: each rank is a member, rank 0 the hub.
#pragma once

#include <memory>

#include "net/bootstrap.hpp"
#include "net/star.hpp"

namespace muster::detail::net {

// Every rank calls it; returns when all have come. Rank 0 listens at the place, which nobody does
// any more when it returns. `options.self` is the rank among the ranks. Errors: those of Star::host
// and Star::join.
[[nodiscard]] Result<std::unique_ptr<Bootstrap>> meet_at(const HostPort& at, StarOptions options);
// The same on one host: processes of this user that know the key.
[[nodiscard]] Result<std::unique_ptr<Bootstrap>> meet_on_host(const std::string& key,
                                                              StarOptions options);

}  // namespace muster::detail::net
