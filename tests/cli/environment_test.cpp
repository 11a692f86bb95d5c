// Who started this process, by its environment.
#include "launch/environment.hpp"

#include <gtest/gtest.h>

#include <map>

namespace muster::launcher {
namespace {

using Variables = std::map<std::string, std::string>;

Result<std::optional<LaunchedBy>> detect_in(const Variables& variables) {
  return detect([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

LaunchedBy expect_rank(const Variables& variables) {
  auto self = detect_in(variables);
  EXPECT_TRUE(self) << (self ? "" : self.error().what);
  EXPECT_TRUE(self && self.value().has_value());
  return self && *self ? **self : LaunchedBy{};
}

std::string expect_error(const Variables& variables, ErrorCode code) {
  const auto self = detect_in(variables);
  EXPECT_FALSE(self);
  if (self) return {};
  EXPECT_EQ(self.error().code, code);
  return self.error().what;
}

Variables with(Variables variables, const Variables& more) {
  for (const auto& [name, value] : more) variables[name] = value;
  return variables;
}

Variables without(Variables variables, const std::string& name) {
  EXPECT_EQ(variables.erase(name), 1U) << name;
  return variables;
}

const Variables muster_run{{"MUSTER_JOB_FD", "0"}, {"MUSTER_RANK", "2"}, {"MUSTER_RANKS", "4"}};
const Variables mpirun{
    {"OMPI_COMM_WORLD_RANK", "1"},
    {"OMPI_COMM_WORLD_SIZE", "2"},
    {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
    {"PMIX_NAMESPACE", "1546584065"},
    {"OMPI_MCA_ess_base_jobid", "1546584065"},
    {"OMPI_MCA_orte_precondition_transports", "8c99d34a407d7325-bc061b13226fa36f"}};
const Variables srun{{"SLURM_PROCID", "3"},         {"SLURM_NTASKS", "4"},
                     {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_JOB_ID", "7"},
                     {"SLURM_STEP_ID", "0"},        {"SLURM_NNODES", "1"},
                     {"SLURM_STEP_NODELIST", "n1"}};
const Variables torchrun{{"RANK", "1"},
                         {"WORLD_SIZE", "8"},
                         {"LOCAL_RANK", "1"},
                         {"LOCAL_WORLD_SIZE", "8"},
                         {"MASTER_ADDR", "127.0.0.1"},
                         {"MASTER_PORT", "29500"},
                         {"TORCHELASTIC_RUN_ID", "none"},
                         {"TORCHELASTIC_RESTART_COUNT", "0"}};

TEST(Environment, NobodyStartedAPlainProcess) {
  for (const Variables& variables :
       {Variables{}, {{"PATH", "/bin"}}, {{"RANK", "1"}, {"WORLD_SIZE", "2"}}}) {
    const auto self = detect_in(variables);
    ASSERT_TRUE(self);
    EXPECT_FALSE(self.value().has_value());
  }
}

TEST(Environment, MusterRun) {
  const LaunchedBy self = expect_rank(muster_run);
  EXPECT_EQ(self.launcher, Launcher::muster);
  EXPECT_EQ(self.rank, 2U);
  EXPECT_EQ(self.ranks, 4U);
  EXPECT_EQ(self.job_fd, 0);
}

TEST(Environment, MusterRunInHalf) {
  for (const auto& [name, value] : muster_run) {
    const std::string what = expect_error(without(muster_run, name), ErrorCode::invalid_argument);
    EXPECT_EQ(what, name + " is not set, though other variables of muster run are");
  }
}

TEST(Environment, AJobsDescriptorThatIsClosed) {
  const std::string what =
      expect_error(with(muster_run, {{"MUSTER_JOB_FD", "1000000"}}), ErrorCode::invalid_argument);
  EXPECT_NE(what.find("MUSTER_JOB_FD is 1000000, but no such descriptor is open here"),
            std::string::npos);
}

// What a rank starts inherits the launcher's variables. With the rank's mark they count no more,
// until another launcher sets its own.
TEST(Environment, VariablesThatARankHasTaken) {
  const auto lookup_in = [](const Variables& variables) {
    return [&variables](const char* name) -> const char* {
      const auto found = variables.find(name);
      return found == variables.end() ? nullptr : found->second.c_str();
    };
  };
  for (const Variables& outer : {mpirun, srun, torchrun}) {
    const std::string mark = joined_mark(lookup_in(outer));
    ASSERT_FALSE(mark.empty());
    const Variables taken = with(outer, {{"MUSTER_JOINED", mark}});
    const auto self = detect_in(taken);
    ASSERT_TRUE(self);
    EXPECT_FALSE(self.value().has_value());
    EXPECT_EQ(expect_rank(with(taken, muster_run)).launcher, Launcher::muster);
    const Variables inner{
        {"RANK", "0"}, {"WORLD_SIZE", "1"}, {"MASTER_PORT", "1"}, {"LOCAL_WORLD_SIZE", "1"}};
    EXPECT_EQ(expect_rank(with(taken, inner)).launcher, Launcher::torchrun);
  }
  EXPECT_EQ(expect_rank(with(mpirun, {{"PMIX_NAMESPACE", "7"}, {"MUSTER_JOINED", "8"}})).rank, 1U);
  EXPECT_EQ(joined_mark(lookup_in(muster_run)), "");
}

TEST(Environment, OpenMpi) {
  const LaunchedBy self = expect_rank(mpirun);
  EXPECT_EQ(self.launcher, Launcher::open_mpi);
  EXPECT_EQ(self.rank, 1U);
  EXPECT_EQ(self.ranks, 2U);
  EXPECT_FALSE(self.job_fd.has_value());
  EXPECT_EQ(expect_rank(without(mpirun, "OMPI_MCA_ess_base_jobid")).ranks, 2U);
  EXPECT_EQ(expect_error(without(without(mpirun, "OMPI_MCA_ess_base_jobid"), "PMIX_NAMESPACE"),
                         ErrorCode::invalid_argument),
            "OMPI_COMM_WORLD_RANK is set, but neither PMIX_NAMESPACE nor OMPI_MCA_ess_base_jobid "
            "says of which job");
}

TEST(Environment, Slurm) {
  const LaunchedBy self = expect_rank(srun);
  EXPECT_EQ(self.launcher, Launcher::slurm);
  EXPECT_EQ(self.rank, 3U);
  EXPECT_EQ(self.ranks, 4U);
  // A step may have fewer tasks than the job.
  EXPECT_EQ(expect_rank(with(srun, {{"SLURM_NTASKS", "16"}})).ranks, 4U);
  EXPECT_EQ(expect_rank(without(srun, "SLURM_STEP_NUM_TASKS")).ranks, 4U);
}

TEST(Environment, ABatchScriptOfSlurmIsNoRank) {
  for (const Variables& variables :
       {without(srun, "SLURM_STEP_ID"), with(srun, {{"SLURM_STEP_ID", "4294967291"}})}) {
    const auto self = detect_in(variables);
    ASSERT_TRUE(self);
    EXPECT_FALSE(self.value().has_value());
  }
}

TEST(Environment, Torchrun) {
  const LaunchedBy self = expect_rank(torchrun);
  EXPECT_EQ(self.launcher, Launcher::torchrun);
  EXPECT_EQ(self.rank, 1U);
  EXPECT_EQ(self.ranks, 8U);
}

// One launcher's variables for rank 1 of 2, and for rank 2 of 3.
struct Set {
  std::string name;    // in complaints
  std::string choice;  // as MUSTER_LAUNCHER
  std::string says;
  Variables of_two;
  Variables of_three;
  bool joinable = true;
};

std::vector<Set> all_sets() {
  const auto set = [](std::string name, std::string choice, std::string rank, std::string ranks,
                      const Variables& more, const std::string& local = {}) {
    Set one{std::move(name), std::move(choice), rank + ", " + ranks, more, more};
    one.of_two[rank] = "1";
    one.of_three[rank] = "2";
    for (const std::string& number : {ranks, local}) {
      if (number.empty()) continue;
      one.of_two[number] = "2";
      one.of_three[number] = "3";
    }
    if (ranks.empty()) one.says = rank;
    return one;
  };
  std::vector<Set> all{
      set("muster run", "muster", "MUSTER_RANK", "MUSTER_RANKS", {{"MUSTER_JOB_FD", "0"}}),
      set("torchrun", "torchrun", "RANK", "WORLD_SIZE",
          {{"MASTER_ADDR", "localhost"}, {"MASTER_PORT", "23456"}}, "LOCAL_WORLD_SIZE"),
      set("mpirun (Open MPI)", "openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
          {{"PMIX_NAMESPACE", "77"}}, "OMPI_COMM_WORLD_LOCAL_SIZE"),
      set("srun (SLURM)", "slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS",
          {{"SLURM_JOB_ID", "7"}, {"SLURM_STEP_ID", "0"}}),
      set("mpiexec (MPICH)", "mpich", "PMI_RANK", "PMI_SIZE", {{"PMI_FD", "9"}}, "MPI_LOCALNRANKS"),
      set("a PMIx launcher", "pmix", "PMIX_RANK", "", {}),
  };
  all[4].joinable = all[5].joinable = false;
  return all;
}

void expect_chosen(const Variables& variables, const Set& one, std::uint32_t ranks) {
  SCOPED_TRACE(one.choice);
  const Variables choice = with(variables, {{"MUSTER_LAUNCHER", one.choice}});
  if (!one.joinable) {
    const std::string what = expect_error(choice, ErrorCode::unavailable);
    EXPECT_EQ(what.substr(0, one.name.size()), one.name);
    return;
  }
  const LaunchedBy self = expect_rank(choice);
  EXPECT_EQ(name_of(self.launcher), one.name);
  EXPECT_EQ(self.ranks, ranks);
}

void expect_nobody(const Variables& variables) {
  const auto self = detect_in(variables);
  ASSERT_TRUE(self) << self.error().what;
  EXPECT_FALSE(self.value().has_value());
}

TEST(Environment, LaunchersThatDisagreeAreNamedAndCanBeChosen) {
  for (const Set& left_over : all_sets()) {
    for (const Set& real : all_sets()) {
      if (left_over.name == real.name) continue;
      SCOPED_TRACE(left_over.name + " and " + real.name);
      const Variables both = with(left_over.of_two, real.of_three);
      const std::string what = expect_error(both, ErrorCode::invalid_argument);
      const auto holds = [&](const std::string& part) {
        EXPECT_NE(what.find(part), std::string::npos) << part << " in: " << what;
      };
      holds(left_over.name + " says rank 1" + (left_over.choice == "pmix" ? "" : " of 2"));
      holds(real.name + " says rank 2" + (real.choice == "pmix" ? "" : " of 3"));
      holds("(" + left_over.says + ")");
      holds("MUSTER_LAUNCHER=" + left_over.choice);
      holds("MUSTER_LAUNCHER=" + real.choice);
      expect_chosen(both, left_over, 2);
      expect_chosen(both, real, 3);
      expect_nobody(with(both, {{"MUSTER_LAUNCHER", "none"}}));
    }
  }
}

// As srun is around PMI, and mpirun around PMIx. Whose ranks can find each other goes first.
TEST(Environment, LaunchersThatAgreeAreOne) {
  for (const Set& one : all_sets()) {
    for (const Set& other : all_sets()) {
      if (!one.joinable && !other.joinable) continue;
      SCOPED_TRACE(one.name + " and " + other.name);
      const LaunchedBy self = expect_rank(with(one.of_three, other.of_three));
      EXPECT_TRUE(name_of(self.launcher) == one.name || name_of(self.launcher) == other.name);
      EXPECT_EQ(self.rank, 2U);
      EXPECT_EQ(self.ranks, 3U);
    }
  }
}

TEST(Environment, OneThatContradictsItselfDisagreesWithAll) {
  for (const Set& real : all_sets()) {
    if (real.choice == "torchrun") continue;
    const Variables left_over{{"RANK", "x"}, {"WORLD_SIZE", "1"}, {"MASTER_PORT", "1"}};
    const std::string what =
        expect_error(with(real.of_three, left_over), ErrorCode::invalid_argument);
    EXPECT_NE(what.find("torchrun says that RANK is 'x'; it must be a whole number"),
              std::string::npos)
        << what;
    expect_chosen(with(real.of_three, left_over), real, 3);
  }
}

TEST(Environment, AJobThatItsRanksCannotJoinIsRefused) {
  const auto sets = all_sets();
  EXPECT_EQ(expect_error(sets[4].of_three, ErrorCode::unavailable),
            "mpiexec (MPICH) started this program as rank 2 of 3 (PMI_RANK, PMI_SIZE), but its "
            "variables do not say of which job, so its ranks cannot find each other; start it with "
            "muster run, srun, torchrun or Open MPI's mpirun, or bare with MUSTER_LAUNCHER=none");
  const std::string what = expect_error(sets[5].of_three, ErrorCode::unavailable);
  EXPECT_EQ(what.find("a PMIx launcher started this program as rank 2 (PMIX_RANK), but"), 0U);
}

TEST(Environment, AChoiceThatCannotBe) {
  EXPECT_EQ(expect_error({{"MUSTER_LAUNCHER", "slurmm"}}, ErrorCode::invalid_argument),
            "MUSTER_LAUNCHER is 'slurmm'; it must be muster, torchrun, openmpi, slurm, mpich, pmix "
            "or none");
  EXPECT_EQ(
      expect_error(with(srun, {{"MUSTER_LAUNCHER", "torchrun"}}), ErrorCode::invalid_argument),
      "MUSTER_LAUNCHER is 'torchrun', but torchrun has not started this program: of RANK, "
      "WORLD_SIZE, not all are set");
}

TEST(Environment, RanksOfOneJobShareItsKeyAndNoOtherJobHasIt) {
  struct Case {
    Variables variables;
    const char* rank;
    std::vector<const char*> of_job;
  };
  const std::vector<Case> cases{
      {mpirun,
       "OMPI_COMM_WORLD_RANK",
       {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_precondition_transports"}},
      {srun, "SLURM_PROCID", {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
      {torchrun, "RANK", {"MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"}},
  };
  for (const Case& one : cases) {
    const std::string key = expect_rank(one.variables).job_key;
    EXPECT_FALSE(key.empty());
    EXPECT_EQ(expect_rank(with(one.variables, {{one.rank, "0"}})).job_key, key);
    for (const char* name : one.of_job) {
      EXPECT_NE(expect_rank(with(one.variables, {{name, "1"}})).job_key, key) << name;
    }
  }
}

TEST(Environment, RanksMustBeNumbersBelowTheirCount) {
  EXPECT_EQ(
      expect_error(with(mpirun, {{"OMPI_COMM_WORLD_RANK", "2"}}), ErrorCode::invalid_argument),
      "OMPI_COMM_WORLD_RANK is 2, but OMPI_COMM_WORLD_SIZE is 2: ranks are numbered from 0");
  for (const char* wrong : {"", "x", "-1", "1x"}) {
    EXPECT_EQ(expect_error(with(srun, {{"SLURM_PROCID", wrong}}), ErrorCode::invalid_argument),
              std::string("SLURM_PROCID is '") + wrong + "'; it must be a whole number");
  }
  EXPECT_EQ(expect_error(without(mpirun, "OMPI_COMM_WORLD_SIZE"), ErrorCode::invalid_argument),
            "OMPI_COMM_WORLD_SIZE is not set, though other variables of mpirun (Open MPI) are");
}

TEST(Environment, ThereAreNoMoreRanksThanAJobCanHave) {
  for (const char* many : {"1025", "4294967295", "4294967296", "99999999999999999999"}) {
    for (const auto& [variables, name] :
         {std::pair{muster_run, "MUSTER_RANKS"}, std::pair{mpirun, "OMPI_COMM_WORLD_SIZE"},
          std::pair{srun, "SLURM_STEP_NUM_TASKS"}, std::pair{torchrun, "WORLD_SIZE"},
          std::pair{all_sets()[4].of_two, "PMI_SIZE"}}) {
      EXPECT_EQ(expect_error(with(variables, {{name, many}}), ErrorCode::invalid_argument),
                std::string(name) + " is " + many + "; a job has at most 1024 ranks on one host");
    }
  }
  const Variables most{{"RANK", "1023"}, {"WORLD_SIZE", "1024"}, {"MASTER_PORT", "1"}};
  EXPECT_EQ(expect_rank(most).ranks, 1024U);
}

TEST(Environment, AJobMaySpanHostsWhereItsRanksFindEachOtherByANetwork) {
  const auto anywhere = [](const Variables& variables) {
    const auto self = detect(
        [&](const char* name) -> const char* {
          const auto found = variables.find(name);
          return found == variables.end() ? nullptr : found->second.c_str();
        },
        Reach::any_host);
    EXPECT_TRUE(self) << self.error().what;
    return self && *self ? **self : LaunchedBy{};
  };
  const LaunchedBy by_torchrun =
      anywhere(with(torchrun, {{"LOCAL_WORLD_SIZE", "4"}, {"GROUP_RANK", "1"}, {"RANK", "5"}}));
  EXPECT_FALSE(by_torchrun.one_host);
  EXPECT_EQ(by_torchrun.host_index, 1U);
  EXPECT_EQ(by_torchrun.rank, 5U);
  EXPECT_FALSE(anywhere(with(srun, {{"SLURM_NNODES", "2"}})).one_host);
  EXPECT_EQ(anywhere(with(torchrun, {{"LOCAL_WORLD_SIZE", "8"}, {"WORLD_SIZE", "5000"}})).ranks,
            5000U);
  EXPECT_TRUE(anywhere(torchrun).one_host);
  EXPECT_TRUE(anywhere(muster_run).one_host);
  EXPECT_EQ(anywhere(muster_run).job_fd, 0);
  const LaunchedBy by_muster = anywhere(without(
      with(muster_run, {{"MUSTER_NET_FD", "0"}, {"MUSTER_LOCAL_RANKS", "2"}}), "MUSTER_JOB_FD"));
  EXPECT_FALSE(by_muster.one_host);
  EXPECT_EQ(by_muster.net_fd, 0);
  EXPECT_FALSE(anywhere({{"PMIX_RANK", "3"}, {"PMIX_NAMESPACE", "x"}}).one_host);
}

TEST(Environment, SeveralHostsAreRefused) {
  EXPECT_EQ(
      expect_error(with(mpirun, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}}), ErrorCode::unavailable),
      "mpirun (Open MPI) started this job on several hosts (OMPI_COMM_WORLD_LOCAL_SIZE is 1, "
      "but OMPI_COMM_WORLD_SIZE is 2); muster::run wants its ranks on one");
  const Variables on_hosts =
      with(muster_run, {{"MUSTER_NET_FD", "0"}, {"MUSTER_LOCAL_RANKS", "2"}});
  EXPECT_EQ(expect_error(on_hosts, ErrorCode::unavailable),
            "muster run started this job on several hosts (MUSTER_LOCAL_RANKS is 2, but "
            "MUSTER_RANKS is 4); muster::run wants its ranks on one");
  EXPECT_EQ(expect_error(with(torchrun, {{"LOCAL_WORLD_SIZE", "4"}}), ErrorCode::unavailable),
            "torchrun started this job on several hosts (LOCAL_WORLD_SIZE is 4, but WORLD_SIZE is "
            "8); muster::run wants its ranks on one");
  EXPECT_EQ(
      expect_error(with(srun, {{"SLURM_NNODES", "2"}, {"SLURM_STEP_NODELIST", "n[1-2]"}}),
                   ErrorCode::unavailable),
      "srun (SLURM) started this job on several hosts (SLURM_NNODES is 2: n[1-2]); muster::run "
      "wants its ranks on one");
  EXPECT_EQ(expect_error(with(mpirun, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "3"}}),
                         ErrorCode::invalid_argument),
            "OMPI_COMM_WORLD_LOCAL_SIZE is 3, but OMPI_COMM_WORLD_SIZE is only 2");
}

}  // namespace
}  // namespace muster::launcher
