#include "launch/launchers.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "base/digest.hpp"

namespace muster::launcher {
namespace {

// Names of the variables that hold who a process is.
struct Names {
  const char* rank;
  const char* ranks;        // null: the launcher has none
  const char* local_ranks;  // ranks on this host; null: the launcher has none
};

struct Facts {
  const char* name;
  const char* choice;
  Names names;
  // What tells one process that it has started from any other.
  std::array<const char*, 6> marks;
};

constexpr std::array order{Launcher::muster, Launcher::torchrun, Launcher::open_mpi,
                           Launcher::slurm,  Launcher::mpich,    Launcher::pmix};

constexpr Facts facts_of(Launcher launcher) {
  switch (launcher) {
    case Launcher::muster:
      return {"muster run", "muster", {"MUSTER_RANK", "MUSTER_RANKS", "MUSTER_LOCAL_RANKS"}, {}};
    case Launcher::torchrun:
      return {"torchrun",
              "torchrun",
              {"RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"},
              {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID",
               "TORCHELASTIC_RESTART_COUNT"}};
    case Launcher::open_mpi:
      return {
          "mpirun (Open MPI)",
          "openmpi",
          {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
          {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE", "PMIX_SERVER_TMPDIR",
           "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_precondition_transports"}};
    case Launcher::slurm:
      return {"srun (SLURM)",
              "slurm",
              {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", nullptr},
              {"SLURM_PROCID", "SLURM_CLUSTER_NAME", "SLURM_JOB_ID", "SLURM_STEP_ID",
               "SLURM_STEPID", "SLURM_STEP_NUM_TASKS"}};
    case Launcher::mpich:
      return {"mpiexec (MPICH)",
              "mpich",
              {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"},
              {"PMI_RANK", "PMI_SIZE", "PMI_FD", "PMI_PORT", "PMI_ID", "PMI_JOBID"}};
    case Launcher::pmix:
      return {"a PMIx launcher",
              "pmix",
              {"PMIX_RANK", nullptr, nullptr},
              {"PMIX_RANK", "PMIX_NAMESPACE", "PMIX_SERVER_TMPDIR"}};
  }
  return {};
}

Error wrong(std::string what) {
  return Error{ErrorCode::invalid_argument, std::move(what)};
}

bool has(const Lookup& lookup, const char* name) {
  return name != nullptr && lookup(name) != nullptr;
}

std::string text(const Lookup& lookup, const char* name) {
  const char* value = lookup(name);
  return value != nullptr ? value : "";
}

Result<std::uint32_t> number(const Lookup& lookup, Launcher launcher, const char* name) {
  const char* value = lookup(name);
  if (value == nullptr) {
    return wrong(
        fmt::format("{} is not set, though other variables of {} are", name, name_of(launcher)));
  }
  const std::string_view digits(value);
  std::uint32_t parsed = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), parsed);
  if (end != digits.end() || (error != std::errc{} && error != std::errc::result_out_of_range)) {
    return wrong(fmt::format("{} is '{}'; it must be a whole number", name, digits));
  }
  if (error != std::errc{}) {
    return wrong(
        fmt::format("{} is {}; a job has at most {} ranks on one host", name, digits, most_ranks));
  }
  return parsed;
}

// Not every version of SLURM says how many tasks a step has, or calls its number alike.
Names names_of(const Lookup& lookup, Launcher launcher) {
  Names names = facts_of(launcher).names;
  if (launcher == Launcher::slurm && !has(lookup, names.ranks)) names.ranks = "SLURM_NTASKS";
  return names;
}

const char* step_of_slurm(const Lookup& lookup) {
  return has(lookup, "SLURM_STEP_ID") ? "SLURM_STEP_ID" : "SLURM_STEPID";
}

// SLURM sets much of a task's environment for a batch script too; only a task of a step of srun is
// one of several. The numbers of the steps that are no such step are the highest.
bool is_task_of_slurm(const Lookup& lookup) {
  constexpr std::uint32_t first_special_step = 0xffff'fff0U;
  const char* step = step_of_slurm(lookup);
  if (!has(lookup, "SLURM_PROCID") || !has(lookup, step)) return false;
  const auto parsed = number(lookup, Launcher::slurm, step);
  return parsed && *parsed < first_special_step;
}

Error too_many(const char* name, std::uint32_t ranks) {
  return wrong(
      fmt::format("{} is {}; a job has at most {} ranks on one host", name, ranks, most_ranks));
}

Error several_hosts(Launcher launcher, const std::string& found) {
  return Error{ErrorCode::unavailable,
               fmt::format("{} started this job on several hosts ({}); muster::run wants "
                           "its ranks on one",
                           name_of(launcher), found)};
}

// An error where the job has ranks on other hosts.
Result<void> on_one_host(const Lookup& lookup, Launcher launcher, std::uint32_t ranks) {
  const Names names = names_of(lookup, launcher);
  if (has(lookup, names.local_ranks)) {
    const auto here = number(lookup, launcher, names.local_ranks);
    if (!here) return here.error();
    const std::string found =
        fmt::format("{} is {}, but {} is", names.local_ranks, *here, names.ranks);
    if (*here < ranks) return several_hosts(launcher, fmt::format("{} {}", found, ranks));
    if (*here > ranks) return wrong(fmt::format("{} only {}", found, ranks));
  }
  const char* hosts_name =
      has(lookup, "SLURM_STEP_NUM_NODES") ? "SLURM_STEP_NUM_NODES" : "SLURM_NNODES";
  if (launcher != Launcher::slurm || !has(lookup, hosts_name)) return {};
  const auto hosts = number(lookup, launcher, hosts_name);
  if (!hosts) return hosts.error();
  if (*hosts == 1) return {};
  return several_hosts(launcher, fmt::format("{} is {}: {}", hosts_name, *hosts,
                                             text(lookup, "SLURM_STEP_NODELIST")));
}

Result<int> open_descriptor(const Lookup& lookup, const char* name) {
  const auto fd = number(lookup, Launcher::muster, name);
  if (!fd) return fd.error();
  const auto descriptor = static_cast<int>(*fd);
  if (fcntl(descriptor, F_GETFD) >= 0) return descriptor;
  return wrong(
      fmt::format("{} is {}, but no such descriptor is open here: what stands "
                  "between `muster run` and this program must not close it",
                  name, *fd));
}

// The same for all ranks of a job, and for no other job's.
Result<std::string> key_of(const Lookup& lookup, Launcher launcher, const std::string& said) {
  const auto joined = [&](const char* kind, std::initializer_list<const char*> names) {
    std::string key = kind;
    for (const char* name : names) key += "/" + text(lookup, name);
    return key;
  };
  switch (launcher) {
    case Launcher::muster: return std::string();
    case Launcher::torchrun:
      // The run's id is "none" unless the user gives one; a port is taken by one agent at a time.
      return joined("torchrun", {"TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT",
                                 "TORCHELASTIC_RESTART_COUNT"});
    case Launcher::open_mpi:
      if (!has(lookup, "PMIX_NAMESPACE") && !has(lookup, "OMPI_MCA_ess_base_jobid")) {
        return wrong(
            "OMPI_COMM_WORLD_RANK is set, but neither PMIX_NAMESPACE nor "
            "OMPI_MCA_ess_base_jobid says of which job");
      }
      // A job's number is a hash of mpirun's host and pid, and may come again; the third is random,
      // and the fourth has mpirun's pid where there is no third.
      return joined("openmpi", {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid",
                                "OMPI_MCA_orte_precondition_transports", "PMIX_SERVER_TMPDIR"});
    case Launcher::slurm:
      return joined("slurm", {"SLURM_CLUSTER_NAME", "SLURM_JOB_ID", step_of_slurm(lookup)});
    case Launcher::mpich:
    case Launcher::pmix: break;
  }
  return Error{ErrorCode::unavailable,
               fmt::format("{} started this program as {}, but its variables do not say of which "
                           "job, so its ranks cannot find each other; start it with muster run, "
                           "srun, torchrun or Open MPI's mpirun, or bare with MUSTER_LAUNCHER=none",
                           name_of(launcher), said)};
}

}  // namespace

std::span<const Launcher> all_launchers() {
  return order;
}

const char* name_of(Launcher launcher) {
  return facts_of(launcher).name;
}

const char* choice_of(Launcher launcher) {
  return facts_of(launcher).choice;
}

bool Kind::is_present() const {
  const Names names = facts_of(launcher_).names;
  const bool both = has(lookup_, names.rank) && has(lookup_, names.ranks);
  switch (launcher_) {
    case Launcher::muster:
      return has(lookup_, names.rank) || has(lookup_, names.ranks) || has(lookup_, "MUSTER_JOB_FD");
    case Launcher::torchrun: return both && has(lookup_, "MASTER_PORT");
    case Launcher::open_mpi: return has(lookup_, names.rank) || has(lookup_, names.ranks);
    case Launcher::slurm: return is_task_of_slurm(lookup_);
    case Launcher::mpich: return both;
    case Launcher::pmix: return has(lookup_, names.rank);
  }
  return false;
}

Result<Claim> Kind::claim() const {
  const Names names = names_of(lookup_, launcher_);
  const auto rank = number(lookup_, launcher_, names.rank);
  if (!rank) return rank.error();
  if (names.ranks == nullptr) return Claim{*rank, std::nullopt};
  const auto ranks = number(lookup_, launcher_, names.ranks);
  if (!ranks) return ranks.error();
  if (*ranks > most_ranks_on_hosts) return too_many(names.ranks, *ranks);
  if (*rank >= *ranks) {
    return wrong(fmt::format("{} is {}, but {} is {}: ranks are numbered from 0", names.rank, *rank,
                             names.ranks, *ranks));
  }
  return Claim{*rank, *ranks};
}

Result<LaunchedBy> Kind::identify(Reach reach) const {
  const auto said = claim();
  if (!said) return said.error();
  if (said->ranks.value_or(1) > most_ranks && reach == Reach::one_host)
    return too_many(names_of(lookup_, launcher_).ranks, *said->ranks);
  LaunchedBy self;
  self.launcher = launcher_;
  self.rank = said->rank;
  self.ranks = said->ranks.value_or(1);
  auto key = key_of(lookup_, launcher_, describe(*said) + " (" + where_it_says() + ")");
  if (!key && reach == Reach::one_host) return key.error();
  if (key) self.job_key = std::move(*key);
  const auto here = on_one_host(lookup_, launcher_, self.ranks);
  self.one_host = here.has_value() && key.has_value();
  if (!here && (reach == Reach::one_host || here.error().code != ErrorCode::unavailable))
    return here.error();
  if (const auto index = number(lookup_, launcher_, "GROUP_RANK");
      launcher_ == Launcher::torchrun && index)
    self.host_index = *index;
  if (launcher_ == Launcher::muster && has(lookup_, "MUSTER_NET_FD")) {
    const auto link = open_descriptor(lookup_, "MUSTER_NET_FD");
    if (!link) return link.error();
    self.net_fd = *link;
    self.one_host = false;
  } else if (launcher_ == Launcher::muster) {
    const auto job = open_descriptor(lookup_, "MUSTER_JOB_FD");
    if (!job) return job.error();
    self.job_fd = *job;
  }
  return self;
}

std::string Kind::where_it_says() const {
  const Names names = names_of(lookup_, launcher_);
  return names.ranks == nullptr ? names.rank : fmt::format("{}, {}", names.rank, names.ranks);
}

std::optional<std::string> Kind::digest() const {
  // Over names and values. It only has to change where a variable does.
  std::uint64_t hash = digest_of_nothing;
  bool any = false;
  const auto add = [&](std::string_view part) {
    hash = digest_of("\xff", digest_of(part, hash));  // 0xff is the end of a text
  };
  for (const char* name : facts_of(launcher_).marks) {
    if (!has(lookup_, name)) continue;
    any = true;
    add(name);
    add(lookup_(name));
  }
  if (!any) return std::nullopt;
  return fmt::format("{:016x}", hash);
}

void Kind::forget() const {
  const Names names = names_of(lookup_, launcher_);
  unsetenv(names.rank);
  if (names.ranks != nullptr) unsetenv(names.ranks);
  if (launcher_ != Launcher::muster) return;
  unsetenv("MUSTER_JOB_FD");
  unsetenv("MUSTER_TETHER");
  unsetenv("MUSTER_NET_FD");
  unsetenv("MUSTER_LOCAL_RANK");
  unsetenv("MUSTER_LOCAL_RANKS");
}

std::string describe(const Claim& claim) {
  return claim.ranks ? fmt::format("rank {} of {}", claim.rank, *claim.ranks)
                     : fmt::format("rank {}", claim.rank);
}

}  // namespace muster::launcher
