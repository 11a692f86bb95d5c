// How the ranks of this process's job find each other, whoever started them.
#pragma once

#include <chrono>
#include <memory>

#include "launch/environment.hpp"
#include "net/bootstrap.hpp"

namespace muster::detail::net {

struct Found {
  launcher::LaunchedBy self;
  std::unique_ptr<Bootstrap> bootstrap;
};

// Collective over the ranks of the job that the environment names, once in a process:
//
//   muster run --rendezvous   by the launchers, which have met
//   mpirun, srun --mpi=pmix   by PMIx
//   one host                  by a socket of this host that its user alone may use
//   torchrun, srun            at MASTER_ADDR, with the job's token (MUSTER_TOKEN): at the port
//                             MUSTER_PORT, else MASTER_PORT, or the one after it where torchrun's
//                             own store listens there (TORCHELASTIC_USE_AGENT_STORE)
//
// No value where nobody started this process as a rank. Errors: those of launcher::detect; of the
// rendezvous, which name the ranks that have not come within `within`; a token that is missing.
// The process's environment is as after launcher::hide_from_children(), and it ends with its
// launcher (launch/hold.hpp).
[[nodiscard]] Result<std::optional<Found>> find_each_other(
    std::chrono::nanoseconds within = std::chrono::seconds(30));

}  // namespace muster::detail::net
