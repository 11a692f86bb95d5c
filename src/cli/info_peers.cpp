// The systems that muster can be measured beside.
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <memory>

#include "cli/find_program.hpp"
#include "cli/info_report.hpp"

namespace muster::cli {
namespace {

struct ClosePipe {
  void operator()(FILE* pipe) const { pclose(pipe); }
};

// The first line that `mpirun --version` writes: "mpirun (Open MPI) 4.1.4".
std::string version_of(const std::string& program) {
  std::string quoted = "'";
  for (const char c : program) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  const std::unique_ptr<FILE, ClosePipe> pipe(
      popen((quoted + "' --version 2>/dev/null </dev/null").c_str(), "r"));
  std::array<char, 256> line{};
  if (!pipe || std::fgets(line.data(), line.size(), pipe.get()) == nullptr) return {};
  std::string version = line.data();
  while (!version.empty() && (version.back() == '\n' || version.back() == ' ')) version.pop_back();
  return version;
}

}  // namespace

Section peers_section() {
  Section section{"peers", {}, {}};
  // Part of every system that muster runs on.
  section.findings.push_back(yes_or_no("std_barrier", {}));
  section.findings.push_back(yes_or_no("pthread_barrier", {}));
  section.findings.push_back(yes_or_no(
      "ucx_perftest", find_program("ucx_perftest") ? "" : "ucx_perftest is not on the PATH"));
  const auto mpirun = find_program("mpirun");
  if (!mpirun) {
    section.findings.push_back(yes_or_no("mpi", "mpirun is not on the PATH"));
    return section;
  }
  const std::string says = version_of(*mpirun);
  if (says.empty()) {
    section.findings.push_back(yes_or_no("mpi", *mpirun + " --version says nothing"));
    return section;
  }
  section.findings.push_back(
      {"mpi", {{"version", says}, {"path", *mpirun}}, fmt::format("{} at {}", says, *mpirun)});
  return section;
}

}  // namespace muster::cli
