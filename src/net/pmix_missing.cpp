// Where muster is built without PMIx's headers.
#include "net/pmix_bootstrap.hpp"

namespace muster::detail::net {

bool has_pmix() {
  return false;
}

Result<std::unique_ptr<Bootstrap>> meet_by_pmix() {
  return Error{ErrorCode::unavailable, "this muster was built without PMIx (libpmix-dev)"};
}

}  // namespace muster::detail::net
