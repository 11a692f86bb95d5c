#include "launch/environment.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace muster::launcher {
namespace {

constexpr std::array of_muster{"MUSTER_JOB_FD", "MUSTER_RANK", "MUSTER_RANKS"};
constexpr const char* joined = "MUSTER_JOINED";

// What tells one process that another launcher has started from any other.
constexpr std::array of_others{"RANK",
                               "WORLD_SIZE",
                               "MASTER_ADDR",
                               "MASTER_PORT",
                               "TORCHELASTIC_RUN_ID",
                               "TORCHELASTIC_RESTART_COUNT",
                               "OMPI_COMM_WORLD_RANK",
                               "OMPI_COMM_WORLD_SIZE",
                               "PMIX_NAMESPACE",
                               "PMIX_SERVER_TMPDIR",
                               "OMPI_MCA_ess_base_jobid",
                               "OMPI_MCA_orte_precondition_transports",
                               "SLURM_PROCID",
                               "SLURM_CLUSTER_NAME",
                               "SLURM_JOB_ID",
                               "SLURM_STEP_ID",
                               "SLURM_STEPID"};

const char* look_up(const char* name) {
  return std::getenv(name);
}

Error wrong(std::string what) {
  return Error{ErrorCode::invalid_argument, std::move(what)};
}

// One launcher's variables, read with their names in every complaint.
class Variables {
 public:
  Variables(const Lookup& lookup, Launcher launcher) : lookup_(lookup), launcher_(launcher) {}

  [[nodiscard]] bool has(const char* name) const { return lookup_(name) != nullptr; }

  [[nodiscard]] std::string text(const char* name) const {
    const char* value = lookup_(name);
    return value != nullptr ? value : "";
  }

  [[nodiscard]] Result<std::uint32_t> number(const char* name) const {
    const char* value = lookup_(name);
    if (value == nullptr) {
      return wrong(
          fmt::format("{} is not set, though other variables of {} are", name, name_of(launcher_)));
    }
    const std::string_view digits(value);
    std::uint32_t parsed = 0;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), parsed);
    if (error != std::errc{} || end != digits.end()) {
      return wrong(fmt::format("{} is '{}'; it must be a whole number", name, digits));
    }
    return parsed;
  }

 private:
  const Lookup& lookup_;
  Launcher launcher_;
};

// Names of the variables that hold who a process is.
struct Names {
  const char* rank;
  const char* ranks;
  const char* local_ranks;  // ranks on this host; null: the launcher has none
};

Error several_hosts(Launcher launcher, const std::string& found) {
  return Error{
      ErrorCode::unavailable,
      fmt::format("{} started this job on several hosts ({}); muster runs on one host so far",
                  name_of(launcher), found)};
}

Result<LaunchedBy> identify(const Variables& variables, Launcher launcher, const Names& names) {
  const auto rank = variables.number(names.rank);
  if (!rank) return rank.error();
  const auto ranks = variables.number(names.ranks);
  if (!ranks) return ranks.error();
  if (*rank >= *ranks) {
    return wrong(fmt::format("{} is {}, but {} is {}: ranks are numbered from 0", names.rank, *rank,
                             names.ranks, *ranks));
  }
  if (names.local_ranks != nullptr && variables.has(names.local_ranks)) {
    const auto here = variables.number(names.local_ranks);
    if (!here) return here.error();
    if (*here < *ranks) {
      return several_hosts(launcher, fmt::format("{} is {}, but {} is {}", names.local_ranks, *here,
                                                 names.ranks, *ranks));
    }
    if (*here > *ranks) {
      return wrong(fmt::format("{} is {}, but {} is only {}", names.local_ranks, *here, names.ranks,
                               *ranks));
    }
  }
  LaunchedBy self;
  self.launcher = launcher;
  self.rank = *rank;
  self.ranks = *ranks;
  return self;
}

Result<LaunchedBy> by_muster(const Variables& variables) {
  auto self = identify(variables, Launcher::muster, {"MUSTER_RANK", "MUSTER_RANKS", nullptr});
  if (!self) return self;
  const auto fd = variables.number("MUSTER_JOB_FD");
  if (!fd) return fd.error();
  const auto job = static_cast<int>(*fd);
  if (fcntl(job, F_GETFD) < 0) {
    return wrong(
        fmt::format("MUSTER_JOB_FD is {}, but no such descriptor is open here: what stands "
                    "between `muster run` and this program must not close it",
                    *fd));
  }
  self->job_fd = job;
  return self;
}

Result<LaunchedBy> by_torchrun(const Variables& variables) {
  auto self = identify(variables, Launcher::torchrun, {"RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"});
  if (!self) return self;
  // The run's id is "none" unless the user gives one; the port is taken by one agent at a time.
  self->job_key = fmt::format("torchrun/{}/{}:{}/{}", variables.text("TORCHELASTIC_RUN_ID"),
                              variables.text("MASTER_ADDR"), variables.text("MASTER_PORT"),
                              variables.text("TORCHELASTIC_RESTART_COUNT"));
  return self;
}

Result<LaunchedBy> by_open_mpi(const Variables& variables) {
  auto self =
      identify(variables, Launcher::open_mpi,
               {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"});
  if (!self) return self;
  if (!variables.has("PMIX_NAMESPACE") && !variables.has("OMPI_MCA_ess_base_jobid")) {
    return wrong(
        "OMPI_COMM_WORLD_RANK is set, but neither PMIX_NAMESPACE nor "
        "OMPI_MCA_ess_base_jobid says of which job");
  }
  // A job's number is a hash of mpirun's host and pid, and may come again; the third is random, and
  // the fourth has mpirun's pid where there is no third.
  self->job_key = fmt::format("openmpi/{}/{}/{}/{}", variables.text("PMIX_NAMESPACE"),
                              variables.text("OMPI_MCA_ess_base_jobid"),
                              variables.text("OMPI_MCA_orte_precondition_transports"),
                              variables.text("PMIX_SERVER_TMPDIR"));
  return self;
}

// SLURM sets much of a task's environment for a batch script too; only a task of a step of srun is
// one of several. The numbers of the steps that are no such step are the highest.
bool is_task_of_slurm(const Variables& variables) {
  constexpr std::uint32_t first_special_step = 0xffff'fff0U;
  const char* step = variables.has("SLURM_STEP_ID") ? "SLURM_STEP_ID" : "SLURM_STEPID";
  if (!variables.has("SLURM_PROCID") || !variables.has(step)) return false;
  const auto number = variables.number(step);
  return number && *number < first_special_step;
}

Result<LaunchedBy> by_slurm(const Variables& variables) {
  const bool of_step = variables.has("SLURM_STEP_NUM_TASKS");
  auto self =
      identify(variables, Launcher::slurm,
               {"SLURM_PROCID", of_step ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS", nullptr});
  if (!self) return self;
  const char* hosts_name =
      variables.has("SLURM_STEP_NUM_NODES") ? "SLURM_STEP_NUM_NODES" : "SLURM_NNODES";
  if (variables.has(hosts_name)) {
    const auto hosts = variables.number(hosts_name);
    if (!hosts) return hosts.error();
    if (*hosts != 1) {
      return several_hosts(Launcher::slurm, fmt::format("{} is {}: {}", hosts_name, *hosts,
                                                        variables.text("SLURM_STEP_NODELIST")));
    }
  }
  const char* step = variables.has("SLURM_STEP_ID") ? "SLURM_STEP_ID" : "SLURM_STEPID";
  self->job_key = fmt::format("slurm/{}/{}/{}", variables.text("SLURM_CLUSTER_NAME"),
                              variables.text("SLURM_JOB_ID"), variables.text(step));
  return self;
}

}  // namespace

const char* name_of(Launcher launcher) {
  switch (launcher) {
    case Launcher::muster: return "muster run";
    case Launcher::torchrun: return "torchrun";
    case Launcher::open_mpi: return "mpirun (Open MPI)";
    case Launcher::slurm: return "srun (SLURM)";
  }
  return "?";
}

Result<std::optional<LaunchedBy>> detect(const Lookup& lookup) {
  const auto present = [](Result<LaunchedBy> self) -> Result<std::optional<LaunchedBy>> {
    if (!self) return self.error();
    return std::optional(std::move(*self));
  };
  const Variables muster(lookup, Launcher::muster);
  if (std::ranges::any_of(of_muster, [&](const char* name) { return muster.has(name); })) {
    return present(by_muster(muster));
  }
  if (muster.has(joined) && muster.text(joined) == joined_mark(lookup)) {
    return std::optional<LaunchedBy>{};
  }
  // RANK and WORLD_SIZE alone may be anybody's.
  const Variables torch(lookup, Launcher::torchrun);
  if (torch.has("RANK") && torch.has("WORLD_SIZE") && torch.has("MASTER_PORT")) {
    return present(by_torchrun(torch));
  }
  const Variables open_mpi(lookup, Launcher::open_mpi);
  if (open_mpi.has("OMPI_COMM_WORLD_RANK") || open_mpi.has("OMPI_COMM_WORLD_SIZE")) {
    return present(by_open_mpi(open_mpi));
  }
  const Variables slurm(lookup, Launcher::slurm);
  if (is_task_of_slurm(slurm)) return present(by_slurm(slurm));
  return std::optional<LaunchedBy>{};
}

Result<std::optional<LaunchedBy>> detect() {
  return detect(look_up);
}

std::string joined_mark(const Lookup& lookup) {
  // FNV-1a over names and values. It only has to change where a variable does.
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325ULL;
  bool any = false;
  const auto add = [&](std::string_view text) {
    for (const char byte : text) {
      hash = (hash ^ static_cast<unsigned char>(byte)) * 0x0000'0100'0000'01b3ULL;
    }
    hash = (hash ^ 0xffU) * 0x0000'0100'0000'01b3ULL;  // the end of a text
  };
  for (const char* name : of_others) {
    const char* value = lookup(name);
    if (value == nullptr) continue;
    any = true;
    add(name);
    add(value);
  }
  return any ? fmt::format("{:016x}", hash) : "";
}

void hide_from_children() {
  for (const char* name : of_muster) unsetenv(name);
  const std::string mark = joined_mark(look_up);
  if (!mark.empty()) setenv(joined, mark.c_str(), 1);
}

}  // namespace muster::launcher
