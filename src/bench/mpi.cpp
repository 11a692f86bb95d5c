#include "bench/mpi.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bench/machine.hpp"
#include "bench/ranks.hpp"

namespace muster::bench {

namespace {

namespace fs = std::filesystem;

struct Mpi {
  std::string name{};  // empty: the one on the PATH
  std::string root{};  // where it was installed
  std::string launcher;
  std::string peer;
  std::string why_not{};
};

bool is_open_mpi(const Mpi& mpi) {
  return mpi.name.empty() || fs::exists(fs::path(mpi.root) / "bin" / "ompi_info");
}

Mpi on_the_path() {
  Mpi mpi{.launcher = on_path("mpirun"), .peer = beside_this_program("muster-peer-mpi")};
  if (mpi.peer.empty())
    mpi.why_not = "muster-peer-mpi is not beside muster: it is built where CMake finds MPI";
  else if (mpi.launcher.empty())
    mpi.why_not = "mpirun is not on the PATH";
  return mpi;
}

Mpi in_directory(const std::string& directory) {
  const fs::path bin = (fs::absolute(directory) / "bin").lexically_normal();
  const fs::path root = bin.parent_path();
  Mpi mpi{.name = root.filename(),
          .root = root,
          .launcher = bin / "mpirun",
          .peer = bin / "muster-peer-mpi"};
  for (const std::string& program : {mpi.launcher, mpi.peer})
    if (access(program.c_str(), X_OK) != 0 && mpi.why_not.empty())
      mpi.why_not = fmt::format("there is no program {}; bench/peers/mpis.sh makes it", program);
  return mpi;
}

// Open MPI's own advice where ranks share a core; otherwise it must spin, as the others do. Binding
// is off: the program pins its ranks itself, like every contender. Intel MPI finds its own programs
// by I_MPI_ROOT and the PATH.
std::vector<std::string> launcher_of(const Mpi& mpi, const Plan& plan) {
  const std::string ranks = std::to_string(plan.ranks);
  const bool crowded = plan.ranks > plan.cores.size();
  if (is_open_mpi(mpi))
    return {mpi.launcher,
            "-n",
            ranks,
            "--bind-to",
            "none",
            "--oversubscribe",
            "--mca",
            "mpi_yield_when_idle",
            crowded ? "1" : "0"};
  const char* const path = std::getenv("PATH");
  return {"/usr/bin/env",
          fmt::format("PATH={}/bin:{}", mpi.root, path == nullptr ? "" : path),
          "I_MPI_ROOT=" + mpi.root,
          "I_MPI_PIN=0",
          mpi.launcher,
          "-n",
          ranks};
}

std::vector<std::string> command(const Plan& plan, const Mpi& mpi, const std::string& operation,
                                 std::uint64_t bytes) {
  std::vector<std::string> words = launcher_of(mpi, plan);
  for (const std::string& word :
       {mpi.peer, operation, std::to_string(bytes), std::to_string(plan.warm_up),
        std::to_string(plan.calls), std::to_string(plan.repeat)})
    words.push_back(word);
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

Contender contender(const Mpi& mpi, const std::string& name, const std::string& operation,
                    std::uint64_t bytes) {
  const auto run = [mpi, operation, bytes](const Plan& plan) -> Result<Blocks> {
    // mpirun refuses to run as root unless told twice; this program does nothing but communicate.
    if (geteuid() == 0) {
      setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
      setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    }
    const Result<std::string> output =
        run_program(command(plan, mpi, operation, bytes), plan.limit);
    if (!output) return output.error();
    return parse(*output, plan.repeat);
  };
  return {.name = mpi.name.empty() ? name : fmt::format("{}, {}", name, mpi.name),
          .group = "mpi",
          .role = Role::peer,
          .as = As::processes,
          .why_not = mpi.why_not,
          .run = run};
}

}  // namespace

std::vector<Contender> mpi_contenders(const Request& request, const std::string& name,
                                      const std::string& operation, std::uint64_t bytes) {
  std::vector<Contender> all;
  if (request.mpis.empty()) all.push_back(contender(on_the_path(), name, operation, bytes));
  for (const std::string& directory : request.mpis)
    all.push_back(contender(in_directory(directory), name, operation, bytes));
  return all;
}

std::vector<Contender> beside_mpi(const Request& request, std::vector<Contender> contenders,
                                  const std::string& name, const std::string& operation,
                                  std::uint64_t bytes) {
  for (Contender& mpi : mpi_contenders(request, name, operation, bytes))
    contenders.push_back(std::move(mpi));
  return contenders;
}

}  // namespace muster::bench
