// `muster bench` from outside: its rows, its JSON, its exit codes. No time is judged here.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "ended.hpp"

namespace {

using muster::bench::Ended;
using muster::bench::has;
using muster::bench::run_to_end;

Ended bench(const std::string& arguments, const std::string& environment = "") {
  return run_to_end(environment + " '" MUSTER_PROGRAM "' bench " + arguments);
}

const std::string tiny = "--calls 20 --repeat 2 --rounds 2 ";

class JsonFile {
 public:
  JsonFile()
      : path_(std::filesystem::temp_directory_path() /
              ("muster-bench-test-" + std::to_string(getpid()) + ".json")) {}
  ~JsonFile() { std::filesystem::remove(path_); }
  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] nlohmann::json parsed() const {
    std::ifstream file(path_);
    return nlohmann::json::parse(file);
  }
  [[nodiscard]] std::string text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::filesystem::path path_;
};

const std::vector<std::string> own{"EpochBarrier", "CreditBarrier", "FlipBarrier", "CounterBarrier",
                                   "DisseminationBarrier"};

TEST(BenchBarrier, PrintsARowForEachContender) {
  const Ended ended = bench("barrier -n 2 --peer std,pthread " + tiny);
  EXPECT_EQ(ended.status, 0) << ended.output;
  for (const std::string& name : own) EXPECT_TRUE(has(ended.output, name)) << name << ended.output;
  for (const char* name : {"exchange floor", "bare yielding, flags", "bare yielding, counter",
                           "std::barrier", "pthread_barrier, process-shared", "/ best peer"})
    EXPECT_TRUE(has(ended.output, name)) << name << ended.output;
  EXPECT_FALSE(has(ended.output, "MPI_Barrier")) << ended.output;
  EXPECT_FALSE(has(ended.output, "failed")) << ended.output;
}

// The goals of the table: certificates where GenMC explores tens of thousands, 996 leaves for five
// ranks on one cell.
TEST(BenchCheck, PrintsTheSpeedAndTheTable) {
  const Ended ended = bench("check --seconds 0.05");
  EXPECT_EQ(ended.status, 0) << ended.output;
  for (const char* part : {"million steps a second", "certified", "996", "20,062 (5.9 s)"})
    EXPECT_TRUE(has(ended.output, part)) << part << ended.output;
  EXPECT_EQ(bench("check --seconds 0").status, 2);
}

TEST(BenchBarrier, RanksMayBeThreads) {
  const Ended ended = bench("barrier -n 3 --threads --peer std " + tiny);
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_TRUE(has(ended.output, "threads")) << ended.output;
  EXPECT_FALSE(has(ended.output, "processes")) << ended.output;
  EXPECT_FALSE(has(ended.output, "failed")) << ended.output;
}

TEST(BenchBarrier, JsonHoldsEveryTimeAndItsCircumstances) {
  const JsonFile file;
  const Ended ended = bench("barrier -n 2 --peer std --json " + file.path() + " " + tiny);
  ASSERT_EQ(ended.status, 0) << ended.output;
  const nlohmann::json all = file.parsed();
  EXPECT_EQ(all.at("ranks"), 2);
  EXPECT_EQ(all.at("as"), "processes");
  EXPECT_TRUE(has(all.at("command").get<std::string>(), "--json " + file.path()));
  EXPECT_TRUE(has(all.at("date").get<std::string>(), "T"));
  for (const char* key : {"cpu", "kernel"})
    EXPECT_NE(all.at("machine").at(key).get<std::string>(), "");
  EXPECT_GE(all.at("machine").at("cores").size(), 1U);
  for (const char* key : {"compiler", "commit"})
    EXPECT_NE(all.at("build").at(key).get<std::string>(), "");
  std::size_t measured = 0;
  for (const nlohmann::json& contender : all.at("contenders")) {
    if (contender.contains("why_not")) continue;  // the floor, on a machine with one core
    ++measured;
    const nlohmann::json& rounds = contender.at("blocks_ns");
    ASSERT_EQ(rounds.size(), 2U) << contender;
    for (const nlohmann::json& blocks : rounds) {
      ASSERT_EQ(blocks.size(), 2U) << contender;
      for (const nlohmann::json& ns : blocks) EXPECT_GT(ns.get<double>(), 0) << contender;
    }
    EXPECT_GT(contender.at("ratio_to_bare").get<double>(), 0) << contender;
    EXPECT_GT(contender.at("ratio_to_best_peer").get<double>(), 0) << contender;
  }
  EXPECT_GE(measured, own.size() + 3);
}

TEST(BenchBarrier, MoreRanksThanCoresHaveNoFloor) {
  const Ended ended = bench("barrier -n 64 --peer std --calls 2 --repeat 1 --rounds 1");
  EXPECT_EQ(ended.status, 0) << ended.output;
  if (sysconf(_SC_NPROCESSORS_ONLN) < 64) {
    EXPECT_TRUE(has(ended.output, "not measured: exchange floor: it never yields")) << ended.output;
  }
}

TEST(BenchBarrier, APeerThatIsNotThereGetsOneLine) {
  // Without a PATH there is no mpirun.
  const Ended ended = bench("barrier --peer mpi " + tiny, "PATH=/nonexistent");
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_TRUE(has(ended.output, "not measured: MPI_Barrier: m")) << ended.output;
}

TEST(BenchBarrier, MpiRunsBesideMuster) {
#if !defined(MUSTER_HAS_PEER_MPI)
  GTEST_SKIP() << "CMake found no MPI";
#endif
  const Ended ended = bench("barrier -n 3 --peer mpi " + tiny);
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_TRUE(has(ended.output, "best peer: MPI_Barrier")) << ended.output;
}

// A directory like that of an installed MPI, whose launcher writes down how it was called.
class FakeMpi {
 public:
  explicit FakeMpi(const std::string& name)
      : above_(std::filesystem::temp_directory_path() /
               ("muster-bench-mpi-" + std::to_string(getpid()))),
        root_(above_ / name) {
    std::filesystem::create_directories(root_ / "bin");
    program("muster-peer-mpi", "exit 1");
    program("mpirun", "echo \"$I_MPI_ROOT $*\" >> " + (root_ / "calls").string() +
                          "; echo block 5; echo block 7");
  }
  ~FakeMpi() { std::filesystem::remove_all(above_); }
  void program(const std::string& name, const std::string& script) const {
    const std::filesystem::path path = root_ / "bin" / name;
    std::ofstream(path) << "#!/bin/sh\n" << script << '\n';
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  void without(const std::string& name) const { std::filesystem::remove(root_ / "bin" / name); }
  [[nodiscard]] std::string root() const { return root_.string(); }
  [[nodiscard]] std::string calls() const {
    std::ifstream file(root_ / "calls");
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::filesystem::path above_;
  std::filesystem::path root_;
};

TEST(BenchMpi, EachThatIsNamedIsAPeer) {
  const FakeMpi open("open");
  open.program("ompi_info", "exit 0");
  const FakeMpi other("other");
  const Ended ended =
      bench("barrier --peer mpi --mpi " + open.root() + " --mpi " + other.root() + "/ " + tiny);
  EXPECT_EQ(ended.status, 0) << ended.output;
  for (const char* name : {"MPI_Barrier, open", "MPI_Barrier, other"})
    EXPECT_TRUE(has(ended.output, name)) << ended.output;
  EXPECT_FALSE(has(ended.output, "not measured: MPI")) << ended.output;
  EXPECT_TRUE(has(open.calls(), " -n 2 --bind-to none --oversubscribe")) << open.calls();
  EXPECT_TRUE(has(other.calls(), other.root() + " -n 2 " + other.root() + "/bin/muster-peer-mpi"))
      << other.calls();
}

TEST(BenchMpi, WhatOneLacksIsSaid) {
  const FakeMpi mpi("half");
  mpi.without("muster-peer-mpi");
  const Ended ended = bench("barrier --peer mpi --mpi " + mpi.root() + " " + tiny);
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_TRUE(has(ended.output, "not measured: MPI_Barrier, half: there is no program " +
                                    mpi.root() + "/bin/muster-peer-mpi; bench/peers/mpis.sh"))
      << ended.output;
}

TEST(BenchCollectives, OnlyTheAlgorithmsThatAreNamed) {
  const Ended ended = bench("all_reduce --algorithm ring,direct --sizes 64 --mpi /tmp " + tiny);
  EXPECT_EQ(ended.status, 0) << ended.output;
  for (const char* name : {"\nring ", "\ndirect, in place on windows "})
    EXPECT_TRUE(has(ended.output, name)) << ended.output;
  for (const char* name : {"automatic", "packets", "one_shot", "two_phase"})
    EXPECT_FALSE(has(ended.output, name)) << ended.output;
}

TEST(BenchTransfers, MpiRunsBesideMuster) {
#if !defined(MUSTER_HAS_PEER_MPI)
  GTEST_SKIP() << "CMake found no MPI";
#endif
  for (const auto& [topic, peers] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"notify", {"MPI_Put of a flag"}},
           {"put --sizes 8", {"MPI_Put, flush, flag"}},
           {"get --sizes 4K", {"flag, MPI_Get, flush"}},
           {"remote_add --sizes 64", {"MPI_Accumulate, flush, flag"}},
           {"packet --sizes 64", {"MPI_Put, flush, MPI_Barrier", "MPI_Alltoall"}}}) {
    const Ended ended = bench(std::string(topic).append(" -n 3 --peer mpi ").append(tiny));
    EXPECT_EQ(ended.status, 0) << ended.output;
    EXPECT_TRUE(has(ended.output, "best peer: MPI_") || has(ended.output, "best peer: flag, MPI_"))
        << ended.output;
    for (const std::string& peer : peers)
      EXPECT_TRUE(has(ended.output, peer + "  ")) << peer << ended.output;
    EXPECT_FALSE(has(ended.output, "failed")) << ended.output;
  }
}

TEST(BenchTransfers, APeerThatIsNotThereGetsOneLine) {
  const Ended ended = bench("put --sizes 8 " + tiny, "PATH=/nonexistent");
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_TRUE(has(ended.output, "not measured: MPI_Put, flush, flag: m")) << ended.output;
  EXPECT_TRUE(has(ended.output, "not measured: ucx_perftest ucp_put_lat: ucx_perftest is not on"))
      << ended.output;
}

TEST(BenchTransfers, UcxRunsBesideMuster) {
  if (std::system("command -v ucx_perftest >/dev/null") != 0)
    GTEST_SKIP() << "ucx_perftest is not installed";
  Ended ended = bench("put --sizes 64 --peer ucx " + tiny);
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_TRUE(has(ended.output, "best peer: ucx_perftest ucp_put_lat")) << ended.output;
  ended = bench("put --sizes 64 -n 3 --peer ucx " + tiny);
  EXPECT_TRUE(has(ended.output, "measures 2 ranks, not 3")) << ended.output;
}

TEST(BenchTransfers, JsonHoldsOneReportForEachSize) {
  const JsonFile file;
  const Ended ended =
      bench("packet --sizes 8:128:4,8K --peer mpi --json " + file.path() + " " + tiny);
  ASSERT_EQ(ended.status, 0) << ended.output;
  const nlohmann::json all = file.parsed();
  std::vector<std::uint64_t> sizes;
  for (const nlohmann::json& report : all) sizes.push_back(report.at("bytes"));
  EXPECT_EQ(sizes, (std::vector<std::uint64_t>{8, 32, 128, 8192}));
  for (const nlohmann::json& report : all)
    for (const nlohmann::json& contender : report.at("contenders"))
      EXPECT_FALSE(contender.value("failed", false)) << contender;
}

TEST(BenchTransfers, JsonOfOneReportIsItself) {
  const JsonFile file;
  const Ended ended = bench("put --sizes 8 --peer mpi --json " + file.path() + " " + tiny);
  ASSERT_EQ(ended.status, 0) << ended.output;
  EXPECT_EQ(file.parsed().at("bytes"), 8);
}

TEST(BenchTransfers, WhatCannotBeWrittenIsAStatusOfItsOwn) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  const Ended ended = bench("put --sizes 8,64 --peer mpi --json /dev/full " + tiny);
  EXPECT_EQ(ended.status, 4) << ended.output;
  EXPECT_TRUE(has(ended.output, "/dev/full could not be written in full")) << ended.output;
}

TEST(BenchBarrier, SeveralNumbersOfRanksAreOneTableEach) {
  const JsonFile file;
  const Ended ended = bench("barrier -n 2,3 --peer std --json " + file.path() + " " + tiny);
  ASSERT_EQ(ended.status, 0) << ended.output;
  EXPECT_TRUE(has(ended.output, "barrier on 2 ranks")) << ended.output;
  EXPECT_TRUE(has(ended.output, "\n\nbarrier on 3 ranks")) << ended.output;
  const nlohmann::json all = file.parsed();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].at("ranks"), 3);
}

struct Wrong {
  const char* arguments;
  const char* says;
  friend void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.arguments; }
};

class BenchUsage : public testing::TestWithParam<Wrong> {};

TEST_P(BenchUsage, IsAClearErrorAndExitsWith2) {
  const Ended ended = bench(GetParam().arguments);
  EXPECT_EQ(ended.status, 2) << ended.output;
  EXPECT_TRUE(has(ended.output, GetParam().says)) << ended.output;
}

INSTANTIATE_TEST_SUITE_P(
    Arguments, BenchUsage,
    testing::Values(Wrong{"", "A topic (all_gather, all_reduce, all_to_all, barrier"},
                    Wrong{"nonsense", "nonsense"},
                    Wrong{"barrier -n 1", "Value 1 not in range 2 to 1024"},
                    Wrong{"barrier -n 0", "Value 0 not in range 2 to 1024"},
                    Wrong{"barrier -n -3", "Value -3 not in range 2 to 1024"},
                    Wrong{"barrier -n two", "two"}, Wrong{"barrier -n 5000", "5000"},
                    Wrong{"barrier --peer mpi,xyz", "xyz"}, Wrong{"barrier --rounds 0", "--rounds"},
                    Wrong{"barrier --repeat 65", "--repeat"}, Wrong{"barrier --calls 0", "--calls"},
                    Wrong{"barrier --fabric tin", "tin"}, Wrong{"barrier --nonsense", "--nonsense"},
                    Wrong{"put --sizes 6", "'6' is not a multiple of 4"},
                    Wrong{"put --sizes 8,huge", "'huge' is not a size"},
                    Wrong{"get --sizes 64:8", "'64:8' falls"},
                    Wrong{"packet --sizes 8:64:0", "factor of '8:64:0' is '0'"},
                    Wrong{"put --sizes", "--sizes"}, Wrong{"barrier --sizes 8", "--sizes"},
                    Wrong{"get --peer ucx", "ucx"},
                    Wrong{"all_reduce --algorithm star",
                          "no algorithm 'star'; it has all, automatic, packets, one_shot"},
                    Wrong{"put --algorithm ring", "--algorithm"},
                    Wrong{"barrier --mpi /nonexistent", "/nonexistent"},
                    Wrong{"barrier -n 2,1 --rounds 1", "Value 1 not in range 2 to 1024"},
                    Wrong{"barrier --json /nonexistent/x.json", "/nonexistent/x.json"}));

}  // namespace
