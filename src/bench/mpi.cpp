#include "bench/mpi.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <sstream>
#include <utility>
#include <vector>

#include "bench/machine.hpp"
#include "bench/ranks.hpp"

namespace muster::bench {

namespace {

struct Programs {
  std::string launcher;
  std::string peer;
};

// Open MPI's own advice where ranks share a core; otherwise it must spin, as the others do. Binding
// is off: the program pins its ranks itself, like every contender.
std::vector<std::string> command(const Plan& plan, const Programs& programs,
                                 const std::string& operation, std::uint64_t bytes) {
  const bool crowded = plan.ranks > plan.cores.size();
  std::vector<std::string> words{programs.launcher,
                                 "-n",
                                 std::to_string(plan.ranks),
                                 "--bind-to",
                                 "none",
                                 "--oversubscribe",
                                 "--mca",
                                 "mpi_yield_when_idle",
                                 crowded ? "1" : "0",
                                 programs.peer,
                                 operation,
                                 std::to_string(bytes),
                                 std::to_string(plan.warm_up),
                                 std::to_string(plan.calls),
                                 std::to_string(plan.repeat)};
  for (const int core : plan.cores) words.push_back(std::to_string(core));
  return words;
}

Result<Blocks> parse(const std::string& output, std::uint32_t expected) {
  std::istringstream lines(output);
  Blocks blocks;
  std::string word;
  double ns = 0;
  while (lines >> word >> ns)
    if (word == "block") blocks.push_back(ns);
  if (blocks.size() == expected) return blocks;
  return Error{ErrorCode::system, fmt::format("it printed {} blocks, expected {}: {}",
                                              blocks.size(), expected, output)};
}

}  // namespace

Contender mpi_contender(std::string name, std::string operation, std::uint64_t bytes) {
  const Programs programs{on_path("mpirun"), beside_this_program("muster-peer-mpi")};
  Contender mpi{
      .name = std::move(name),
      .group = "mpi",
      .role = Role::peer,
      .as = As::processes,
  };
  if (programs.peer.empty())
    mpi.why_not = "muster-peer-mpi is not beside muster: it is built where CMake finds MPI";
  else if (programs.launcher.empty())
    mpi.why_not = "mpirun is not on the PATH";
  mpi.run = [programs, operation = std::move(operation),
             bytes](const Plan& plan) -> Result<Blocks> {
    // mpirun refuses to run as root unless told twice; this program does nothing but communicate.
    if (geteuid() == 0) {
      setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
      setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    }
    const Result<std::string> output =
        run_program(command(plan, programs, operation, bytes), plan.limit);
    if (!output) return output.error();
    return parse(*output, plan.repeat);
  };
  return mpi;
}

}  // namespace muster::bench
