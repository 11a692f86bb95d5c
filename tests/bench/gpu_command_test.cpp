// `muster bench --fabric gpu` from outside, where there is no GPU: what it says without the
// programs that measure, and that it tabulates what stand-ins for them answer.
#include <gtest/gtest.h>
#include <unistd.h>

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
namespace fs = std::filesystem;

// A directory with muster and nothing beside it but the stand-ins that a test asks for.
class BenchGpu : public testing::Test {
 protected:
  BenchGpu() {
    fs::create_directories(place_);
    fs::copy_file(MUSTER_PROGRAM, place_ / "muster", fs::copy_options::overwrite_existing);
  }
  ~BenchGpu() override { fs::remove_all(place_); }

  void stand_in_for(const std::string& program) const {
    fs::copy_file(MUSTER_FAKE_GPU, place_ / program);
  }

  [[nodiscard]] Ended bench(const std::string& arguments,
                            const std::string& environment = "") const {
    return run_to_end(environment + " '" + (place_ / "muster").string() + "' bench " + arguments);
  }

  [[nodiscard]] std::string directory() const { return place_.string(); }
  [[nodiscard]] fs::path json() const { return place_ / "out.json"; }
  [[nodiscard]] nlohmann::json parsed() const {
    std::ifstream file(json());
    return nlohmann::json::parse(file);
  }

 private:
  fs::path place_ =
      fs::temp_directory_path() / ("muster-bench-gpu-test-" + std::to_string(getpid()));
};

const std::string quick = " --rounds 2 --repeat 2 --calls 10 ";

TEST_F(BenchGpu, WithoutItsProgramIsSkippedWithAWord) {
  const Ended ended = bench("--fabric gpu barrier --json " + json().string());
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_TRUE(has(ended.output, "SKIPPED: barrier is not measured on gpu: muster-bench-gpu is not"))
      << ended.output;
  EXPECT_TRUE(has(parsed().at("skipped").get<std::string>(), "nvcc"));
}

TEST_F(BenchGpu, WithoutAGpuIsSkippedWithAWord) {
  stand_in_for("muster-bench-gpu");
  for (const char* topic : {"barrier", "notify", "put", "get", "packet", "grid"}) {
    const Ended ended = bench(std::string(topic) + " --fabric gpu", "FAKE_GPU=no_gpu");
    EXPECT_EQ(ended.status, 0) << ended.output;
    EXPECT_TRUE(has(ended.output, "needs 2 GPUs, and this machine has none")) << ended.output;
  }
}

TEST_F(BenchGpu, TheFabricMayStandBeforeTheTopicOrAfterIt) {
  stand_in_for("muster-bench-gpu");
  for (const char* words : {"--fabric gpu notify", "notify --fabric gpu", "notify --fabric=gpu"}) {
    const Ended ended = bench(words + quick);
    EXPECT_EQ(ended.status, 0) << ended.output;
    EXPECT_TRUE(has(ended.output, "notify, relaxed on 2 x Imagined GPU")) << ended.output;
    EXPECT_TRUE(has(ended.output, "notify, release on 2 x Imagined GPU")) << ended.output;
  }
}

TEST_F(BenchGpu, TablesHaveRatiosToTheFloorAndToTheBestPeer) {
  stand_in_for("muster-bench-gpu");
  stand_in_for("muster-peer-nccl");
  const Ended ended = bench("--fabric gpu barrier" + quick);
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_TRUE(has(ended.output, "EpochBarrier              GPUs           150.0  150.0..150.0"))
      << ended.output;
  EXPECT_TRUE(has(ended.output, "1.50       -         0.75")) << ended.output;
  EXPECT_TRUE(has(ended.output, "best peer: muster-peer-nccl barrier")) << ended.output;
  EXPECT_TRUE(has(ended.output, "not measured: NVSHMEM: muster-peer-nvshmem is not beside muster"))
      << ended.output;
}

TEST_F(BenchGpu, OnlyThePeersThatAreAskedForRun) {
  stand_in_for("muster-bench-gpu");
  stand_in_for("muster-peer-nccl");
  const Ended ended = bench("--fabric gpu barrier --peer cas" + quick);
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_TRUE(has(ended.output, "best peer: compare-and-swap")) << ended.output;
  EXPECT_FALSE(has(ended.output, "nccl")) << ended.output;
  EXPECT_FALSE(has(ended.output, "NVSHMEM")) << ended.output;
}

TEST_F(BenchGpu, JsonHoldsATableForEachSizeAndVariant) {
  stand_in_for("muster-bench-gpu");
  const Ended ended =
      bench("--fabric gpu put --sizes 4096,65536 --json " + json().string() + quick);
  ASSERT_EQ(ended.status, 0) << ended.output;
  const nlohmann::json all = parsed();
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].at("variant"), "one way");
  EXPECT_EQ(all[1].at("variant"), "both ways");
  EXPECT_EQ(all[1].at("bytes"), 4096);
  EXPECT_EQ(all[3].at("bytes"), 65536);
  EXPECT_EQ(all[3].at("machine").at("devices"), "2 x Imagined GPU");
  for (const nlohmann::json& table : all) {
    ASSERT_EQ(table.at("contenders").size(), 2U);  // cas is no peer of put
    EXPECT_EQ(table.at("contenders")[1].at("ratio_to_floor"), 1.5);
    EXPECT_EQ(table.at("contenders")[1].at("blocks_ns").size(), 2U);
  }
}

std::vector<std::uint64_t> sizes_in(const nlohmann::json& tables) {
  std::vector<std::uint64_t> sizes;
  for (const nlohmann::json& table : tables)
    if (sizes.empty() || sizes.back() != table.at("bytes")) sizes.push_back(table.at("bytes"));
  return sizes;
}

TEST_F(BenchGpu, SizesMayBeWordsAndRanges) {
  stand_in_for("muster-bench-gpu");
  const Ended ended =
      bench("--fabric gpu packet --sizes 1K:16K:4,128K --json " + json().string() + quick);
  ASSERT_EQ(ended.status, 0) << ended.output;
  EXPECT_EQ(sizes_in(parsed()), (std::vector<std::uint64_t>{1024, 4096, 16384, 131072}));
}

TEST_F(BenchGpu, TheSizesAreThoseOfTheFabricUnlessAskedFor) {
  stand_in_for("muster-bench-gpu");
  const Ended ended = bench("packet --fabric gpu --json " + json().string() + quick);
  ASSERT_EQ(ended.status, 0) << ended.output;
  EXPECT_EQ(sizes_in(parsed()), (std::vector<std::uint64_t>{1024, 4096, 16384, 65536, 131072}));
}

TEST_F(BenchGpu, APeerThatCannotRunGetsOneLine) {
  stand_in_for("muster-bench-gpu");
  stand_in_for("muster-peer-nvshmem");
  for (const auto& [mode, line] :
       {std::pair{"unavailable", "not measured: NVSHMEM: there is nothing to measure it with"},
        std::pair{"dies", "failed: NVSHMEM: system: muster-peer-nvshmem ended: no luck today"},
        std::pair{"dies_later",
                  "failed: muster-peer-nvshmem barrier: system: "
                  "muster-peer-nvshmem ended: the kernel fell over"}}) {
    const Ended ended = bench("--fabric gpu notify" + quick, "FAKE_PEER=" + std::string(mode));
    EXPECT_EQ(ended.status, 0) << ended.output;
    EXPECT_TRUE(has(ended.output, line)) << ended.output;
    EXPECT_TRUE(has(ended.output, "1.50")) << ended.output;  // the others are measured
  }
}

TEST_F(BenchGpu, OwnContendersThatFailAreAFailure) {
  stand_in_for("muster-bench-gpu");
  const Ended later = bench("--fabric gpu notify" + quick, "FAKE_GPU=dies_later");
  EXPECT_EQ(later.status, 1) << later.output;
  EXPECT_TRUE(
      has(later.output, "failed: bare: system: muster-bench-gpu ended: the kernel fell over"))
      << later.output;
  const Ended at_once = bench("--fabric gpu notify" + quick, "FAKE_GPU=dies");
  EXPECT_EQ(at_once.status, 1) << at_once.output;
  EXPECT_TRUE(has(at_once.output, "no luck today")) << at_once.output;
}

TEST_F(BenchGpu, NothingIsLeftRunning) {
  stand_in_for("muster-bench-gpu");
  stand_in_for("muster-peer-nvshmem");
  const Ended ended = bench("--fabric gpu notify" + quick);
  EXPECT_EQ(ended.status, 0) << ended.output;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline", std::ios::binary);
    const std::string words{std::istreambuf_iterator<char>(file), {}};
    EXPECT_FALSE(has(words, directory() + "/muster-")) << words;
  }
}

struct Refused {
  const char* arguments;
  const char* says;
};

TEST_F(BenchGpu, WhatCannotBeMeantIsAClearErrorAndExitsWith2) {
  for (const Refused& wrong :
       {Refused{"--fabric tin barrier", "tin"},
        Refused{"--fabric gpu", "A topic (all_gather, all_reduce, all_to_all, barrier"},
        Refused{"--fabric gpu remote_add", "remote_add is not measured on gpu, but on host"},
        Refused{"--fabric gpu barrier -n 4", "barrier on gpu chooses its ranks itself"},
        Refused{"--fabric gpu barrier --threads", "--threads"},
        Refused{"--fabric gpu barrier --peer mpi", "beside mpi; there are: cas, nccl"},
        Refused{"--fabric gpu packet --peer nccl", "there are: none"},
        Refused{"--fabric gpu grid -n 2", "-n"},
        Refused{"--fabric gpu barrier --sizes 8", "--sizes"},
        Refused{"--fabric gpu packet --sizes 100", "'100' is not a multiple of 1K from 1K to 128K"},
        Refused{"--fabric gpu packet --sizes 262144", "'262144' is not a multiple of 1K"},
        Refused{"--fabric gpu packet --sizes 1K:256K", "'256K' is not a multiple of 1K"},
        Refused{"--fabric gpu packet --sizes huge", "'huge' is not a size"},
        Refused{"--fabric gpu put --sizes 24", "'24' is not a multiple of 16 from 16 to 1G"},
        Refused{"--fabric gpu put --sizes 0", "'0' is not a multiple of 16"},
        Refused{"--fabric gpu put --json /nonexistent/x", "/nonexistent/x"}}) {
    const Ended ended = bench(wrong.arguments);
    EXPECT_EQ(ended.status, 2) << wrong.arguments << ended.output;
    EXPECT_TRUE(has(ended.output, wrong.says)) << wrong.arguments << ended.output;
  }
}

}  // namespace
