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
  for (const char* needed : {"memfd", "futex", "pidfd_open"}) EXPECT_EQ(host.at(needed), true);
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
