// The bootstrap of ranks whose launcher offers PMIx: mpirun of Open MPI, srun --mpi=pmix.
#pragma once

#include <memory>

#include "net/bootstrap.hpp"

namespace muster::detail::net {

// Is this process a client of a PMIx server, by its environment?
[[nodiscard]] bool has_pmix();

// Rank and size are those of PMIx. Errors: unavailable, where muster was built without PMIx, there
// is no library here, or the launcher's server does not answer.
[[nodiscard]] Result<std::unique_ptr<Bootstrap>> meet_by_pmix();

}  // namespace muster::detail::net
