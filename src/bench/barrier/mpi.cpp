// MPI_Barrier, in a program of its own (bench/peers/mpi.cpp) that mpirun starts.
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <sstream>

#include "bench/barrier/barrier.hpp"
#include "bench/machine.hpp"
#include "bench/ranks.hpp"

namespace muster::bench {

namespace {

// Open MPI's own advice where ranks share a core; otherwise it must spin, as the others do. Binding
// is off: the program pins its ranks itself, like every contender.
std::vector<std::string> command(const Plan& plan, const std::string& launcher,
                                 const std::string& program) {
  const bool crowded = plan.ranks > plan.cores.size();
  std::vector<std::string> words{launcher,
                                 "-n",
                                 std::to_string(plan.ranks),
                                 "--bind-to",
                                 "none",
                                 "--oversubscribe",
                                 "--mca",
                                 "mpi_yield_when_idle",
                                 crowded ? "1" : "0",
                                 program,
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

std::vector<Contender> mpi_barriers(const Request&) {
  const std::string launcher = on_path("mpirun");
  const std::string program = beside_this_program("muster-peer-mpi");
  Contender mpi{
      .name = "MPI_Barrier",
      .group = "mpi",
      .role = Role::peer,
      .as = As::processes,
  };
  if (program.empty())
    mpi.why_not = "muster-peer-mpi is not beside muster: it is built where CMake finds MPI";
  else if (launcher.empty())
    mpi.why_not = "mpirun is not on the PATH";
  mpi.run = [launcher, program](const Plan& plan) -> Result<Blocks> {
    // mpirun refuses to run as root unless told twice; this program does nothing but wait.
    if (geteuid() == 0) {
      setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
      setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    }
    const Result<std::string> output = run_program(command(plan, launcher, program), plan.limit);
    if (!output) return output.error();
    return parse(*output, plan.repeat);
  };
  return {mpi};
}

}  // namespace muster::bench
