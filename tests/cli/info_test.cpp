// `muster info`: it answers, and what it says is so.
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "launch/binding.hpp"

namespace muster::testing {
namespace {

using nlohmann::json;

json info(const CommandOptions& options = {}, std::vector<std::string> before = {}) {
  for (const std::string& word : muster({"info", "--json"})) before.push_back(word);
  Command command(before, options);
  EXPECT_EQ(command.wait(), 0) << command.err();
  return json::parse(command.out());
}

TEST(Info, NamesEveryPart) {
  Command command(muster({"info"}));
  EXPECT_EQ(command.wait(), 0);
  for (const char* part : {"\nhost ", "\ngpu ", "\nucx ", "\nchecker ", "\npeers "}) {
    EXPECT_EQ(count(command.out(), part), 1) << part;
  }
}

TEST(Info, DescribesThisHost) {
  const json host = info().at("host");
  // The tests of this build run ranks here, so there is nothing that they miss.
  EXPECT_EQ(host.at("available"), true);
  for (const char* needed : {"memfd", "futex", "robust_futex", "pidfd_open"})
    EXPECT_EQ(host.at(needed), true);
  EXPECT_EQ(host.at("cores").at("allowed"), json(launcher::allowed_cores()));
  EXPECT_EQ(host.at("cores").at("online"), sysconf(_SC_NPROCESSORS_ONLN));
  const auto total = host.at("memory_total").get<std::uint64_t>();
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  EXPECT_EQ(total / 1024, pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) / 1024);
  EXPECT_LT(host.at("memory_available").get<std::uint64_t>(), total);
}

TEST(Info, TellsCoresThatMayBeUsedFromCoresThatAreThere) {
  const int last = launcher::allowed_cores().back();
  const json host = info({}, {"taskset", "-c", std::to_string(last)}).at("host");
  EXPECT_EQ(host.at("cores").at("allowed"), json({last}));
}

TEST(Info, SaysWhyAPartIsMissing) {
  const json all = info();
  for (const auto& [name, part] : all.items()) {
    if (!part.is_object()) continue;
    const bool available = part.at("available");
    EXPECT_EQ(available, !part.contains("missing")) << name;
    if (!available) {
      EXPECT_FALSE(part.at("missing").get<std::string>().empty()) << name;
    }
  }
}

TEST(Info, LooksForPeersOnThePath) {
  const json peers = info({.environment = {{"PATH", "/nowhere"}}}).at("peers");
  EXPECT_EQ(peers.at("mpi"), false);
  EXPECT_EQ(peers.at("mpi_why"), "mpirun is not on the PATH");
  EXPECT_EQ(peers.at("ucx_perftest"), false);
  EXPECT_EQ(peers.at("ucx_perftest_why"), "ucx_perftest is not on the PATH");
}

// A driver of two devices, which exists as a library that is loaded in its place.
TEST(Info, CountsDevices) {
  const json gpu = info({.environment = {{"LD_LIBRARY_PATH", MUSTER_FAKE_DRIVER}}}).at("gpu");
  EXPECT_EQ(gpu.at("driver"), true);
  EXPECT_EQ(gpu.at("driver_cuda_version"), "13.1");
  ASSERT_EQ(gpu.at("devices").size(), 2U);
  EXPECT_EQ(gpu.at("devices")[1],
            json({{"name", "Device 1"}, {"compute_capability", "9.1"}, {"memory", 3U << 30U}}));
}

// The same, and the management library.
json managed_gpus(std::map<std::string, std::string> environment = {}) {
  environment["LD_LIBRARY_PATH"] = MUSTER_FAKE_DRIVER ":" MUSTER_FAKE_NVML;
  return info({.environment = environment}).at("gpu");
}

TEST(Info, TellsHowDevicesAreLinked) {
  const json gpu = managed_gpus();
  EXPECT_EQ(gpu.at("management_library"), true);
  EXPECT_EQ(gpu.at("devices")[0].at("nvlinks"), 18);
  EXPECT_EQ(gpu.at("devices")[0].at("nvlink_version"), "4.0");
  EXPECT_EQ(gpu.at("devices")[0].at("pcie_generation"), 5);
  EXPECT_EQ(gpu.at("devices")[0].at("pcie_width"), 16);
  ASSERT_EQ(gpu.at("links").size(), 1U);
  EXPECT_EQ(gpu.at("links")[0], json({{"between", {0, 1}},
                                      {"through", "nvlink switch"},
                                      {"nvlinks", 18},
                                      {"nvlink_version", "4.0"},
                                      {"peer_access", true},
                                      {"native_atomics", true}}));

  const json direct = managed_gpus({{"FAKE_NVML_REMOTE", "0"}, {"FAKE_NVML_LINKS", "4"}});
  EXPECT_EQ(direct.at("links")[0].at("through"), "nvlink");
  EXPECT_EQ(direct.at("links")[0].at("nvlinks"), 4);

  const json pcie = managed_gpus({{"FAKE_NVML_LINKS", "0"}, {"FAKE_DRIVER_ATOMICS", "0"}});
  EXPECT_EQ(pcie.at("devices")[1].at("nvlinks"), 0);
  EXPECT_EQ(pcie.at("links")[0], json({{"between", {0, 1}},
                                       {"through", "pcie"},
                                       {"peer_access", true},
                                       {"native_atomics", false}}));
}

TEST(Info, TellsWhatDevicesCanDo) {
  const json gpu = managed_gpus();
  for (const char* has : {"virtual_memory", "memory_by_file_descriptor", "cooperative_launch",
                          "stream_memory_operations"})
    EXPECT_EQ(gpu.at(has), true) << has;
  EXPECT_EQ(gpu.at("flush_remote_writes"), false);
  EXPECT_EQ(gpu.at("flush_remote_writes_why"), "GPU 0 has none");
}

TEST(Info, ShowsLinksInTheTable) {
  Command two(muster({"info"}),
              {.environment = {{"LD_LIBRARY_PATH", MUSTER_FAKE_DRIVER ":" MUSTER_FAKE_NVML}}});
  EXPECT_EQ(two.wait(), 0);
  EXPECT_EQ(count(two.out(), "0-1: 18 NVLinks 4.0 through a switch, peer access, native atomics"),
            1)
      << two.out();
  EXPECT_EQ(count(two.out(), "Device 1 (sm 9.1, 3.0 GiB, 18 NVLinks 4.0, PCIe 5 x16)"), 1)
      << two.out();

  Command four(muster({"info"}),
               {.environment = {{"LD_LIBRARY_PATH", MUSTER_FAKE_DRIVER ":" MUSTER_FAKE_NVML},
                                {"FAKE_DRIVER_DEVICES", "4"}}});
  EXPECT_EQ(four.wait(), 0);
  EXPECT_EQ(count(four.out(), "all pairs: 18 NVLinks 4.0 through a switch"), 1) << four.out();
}

TEST(Info, SaysWhatItDoesNotKnowWithoutTheManagementLibrary) {
  const json gpu = info({.environment = {{"LD_LIBRARY_PATH", MUSTER_FAKE_DRIVER}}}).at("gpu");
  EXPECT_EQ(gpu.at("management_library"), false);
  EXPECT_NE(gpu.at("management_library_why").get<std::string>().find("cannot be loaded"),
            std::string::npos);
  EXPECT_EQ(gpu.at("links")[0].at("through"), "unknown");
  EXPECT_EQ(gpu.at("links")[0].at("peer_access"), true);
  EXPECT_FALSE(gpu.at("devices")[0].contains("nvlinks"));

  const json stopped = managed_gpus({{"FAKE_NVML_STATUS", "9"}});
  EXPECT_EQ(stopped.at("management_library_why"), "the management library does not start: error 9");
}

TEST(Info, SaysWhyThereIsNoDevice) {
  const json none =
      info({.environment = {{"LD_LIBRARY_PATH", MUSTER_FAKE_DRIVER}, {"FAKE_DRIVER_DEVICES", "0"}}})
          .at("gpu");
  EXPECT_EQ(none.at("available"), false);
  EXPECT_EQ(none.at("devices"), json::array());

  Command refused(muster({"info"}), {.environment = {{"LD_LIBRARY_PATH", MUSTER_FAKE_DRIVER},
                                                     {"FAKE_DRIVER_STATUS", "999"}}});
  EXPECT_EQ(refused.wait(), 0);
  EXPECT_GE(count(refused.out(), "the driver does not start: a reason"), 1) << refused.out();
}

}  // namespace
}  // namespace muster::testing
