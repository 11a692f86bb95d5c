// What the GPU fabric needs: to be in the build, the driver's library, a device; what the devices
// can do, and how they are linked.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/build_info.hpp"
#include "cli/info_driver.hpp"
#include "cli/info_report.hpp"
#include "fabric/host/memory_info.hpp"

namespace muster::cli {
namespace {

using Json = nlohmann::ordered_json;

// The driver, and what the management library knows of each device.
struct Machine {
  const Driver& driver;
  std::vector<NvLinks> links;
  std::vector<Pcie> pcie;
  std::string unmanaged;  // why the management library is missing
};

Machine look_at(const Driver& driver) {
  const Management management(driver);
  Machine machine{driver, {}, {}, management.missing()};
  for (int index = 0; index < driver.devices(); ++index) {
    machine.links.push_back(management.links_of(index));
    machine.pcie.push_back(management.pcie_of(index));
  }
  return machine;
}

// ---- devices

Json describe_device(const Machine& machine, int index) {
  const Driver& driver = machine.driver;
  Json device{{"name", driver.name(index)},
              {"compute_capability",
               fmt::format("{}.{}", driver.attribute(DeviceAttribute::capability_major, index),
                           driver.attribute(DeviceAttribute::capability_minor, index))},
              {"memory", driver.bytes(index)}};
  if (!machine.unmanaged.empty()) return device;
  const auto at = static_cast<std::size_t>(index);
  device["nvlinks"] = machine.links[at].count();
  if (machine.links[at].count() > 0) device["nvlink_version"] = machine.links[at].version;
  if (machine.pcie[at].generation > 0) {
    device["pcie_generation"] = machine.pcie[at].generation;
    device["pcie_width"] = machine.pcie[at].width;
  }
  return device;
}

std::string line_of(const Json& device) {
  std::string text = fmt::format("{} (sm {}, {}", device["name"].get<std::string>(),
                                 device["compute_capability"].get<std::string>(),
                                 host::format_bytes(device["memory"].get<std::uint64_t>()));
  if (device.contains("nvlink_version"))
    text += fmt::format(", {} NVLinks {}", device["nvlinks"].get<int>(),
                        device["nvlink_version"].get<std::string>());
  if (device.contains("pcie_generation"))
    text += fmt::format(", PCIe {} x{}", device["pcie_generation"].get<unsigned>(),
                        device["pcie_width"].get<unsigned>());
  return text + ")";
}

Finding devices_finding(const Machine& machine) {
  Json devices = Json::array();
  std::string lines = fmt::format("{}", machine.driver.devices());
  for (int index = 0; index < machine.driver.devices(); ++index) {
    devices.push_back(describe_device(machine, index));
    lines += fmt::format("{} {}", index == 0 ? ":" : ",", line_of(devices.back()));
  }
  return {"devices", std::move(devices), std::move(lines)};
}

// Yes where every device has it.
Finding all_have(const Driver& driver, std::string key, DeviceAttribute attribute) {
  for (int index = 0; index < driver.devices(); ++index)
    if (driver.attribute(attribute, index) == 0)
      return yes_or_no(std::move(key), fmt::format("GPU {} has none", index));
  return yes_or_no(std::move(key), {});
}

// The 32-bit operations have no attribute: whoever has the functions has them (driver API, Stream
// Memory Operations).
Finding stream_operations(const Driver& driver) {
  for (const char* function : {"cuStreamWriteValue32_v2", "cuStreamWaitValue32_v2"})
    if (!driver.has(function))
      return yes_or_no("stream_memory_operations", fmt::format("the driver has no {}", function));
  return yes_or_no("stream_memory_operations", {});
}

// ---- links

struct Way {
  std::string through;  // "nvlink", "nvlink switch", "pcie", "unknown"
  int nvlinks = 0;
};

Way way_between(const Machine& machine, int from, int to) {
  if (!machine.unmanaged.empty()) return {"unknown", 0};
  const NvLinks& mine = machine.links[static_cast<std::size_t>(from)];
  const NvLinks& theirs = machine.links[static_cast<std::size_t>(to)];
  if (const int direct = mine.to_gpus[static_cast<std::size_t>(to)]; direct > 0)
    return {"nvlink", direct};
  if (mine.to_switches > 0 && theirs.to_switches > 0)
    return {"nvlink switch", std::min(mine.to_switches, theirs.to_switches)};
  return {"pcie", 0};
}

std::string words_of(const Json& link) {
  const auto through = link["through"].get<std::string>();
  std::string text = "linked in an unknown way";
  if (through == "pcie") text = "PCIe";
  if (link.contains("nvlinks"))
    text = fmt::format("{} NVLinks {}{}", link["nvlinks"].get<int>(),
                       link["nvlink_version"].get<std::string>(),
                       through == "nvlink" ? "" : " through a switch");
  text += link["peer_access"].get<bool>() ? ", peer access" : ", no peer access";
  return text + (link["native_atomics"].get<bool>() ? ", native atomics" : ", no native atomics");
}

// Both directions of a pair.
Json describe_pair(const Machine& machine, int a, int b) {
  const auto both = [&](PairAttribute attribute) {
    return machine.driver.pair(attribute, a, b) && machine.driver.pair(attribute, b, a);
  };
  const Way way = way_between(machine, a, b);
  Json link{{"between", {a, b}}, {"through", way.through}};
  if (way.nvlinks > 0) {
    link["nvlinks"] = way.nvlinks;
    link["nvlink_version"] = machine.links[static_cast<std::size_t>(a)].version;
  }
  link["peer_access"] = both(PairAttribute::access);
  link["native_atomics"] = both(PairAttribute::native_atomics);
  return link;
}

// In the table, pairs that are linked alike stand together.
Finding links_finding(const Machine& machine) {
  Json links = Json::array();
  std::vector<std::pair<std::string, std::string>> alike;  // words, pairs
  for (int a = 0; a < machine.driver.devices(); ++a)
    for (int b = a + 1; b < machine.driver.devices(); ++b) {
      links.push_back(describe_pair(machine, a, b));
      const std::string words = words_of(links.back());
      auto group = std::find_if(alike.begin(), alike.end(),
                                [&](const auto& other) { return other.first == words; });
      if (group == alike.end()) group = alike.insert(alike.end(), {words, ""});
      group->second += fmt::format("{}{}-{}", group->second.empty() ? "" : " ", a, b);
    }
  if (links.empty()) return {"links", std::move(links), "none: one device"};
  if (alike.size() == 1 && links.size() > 1) alike.front().second = "all pairs";
  std::string text;
  for (const auto& [words, pairs] : alike)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", pairs, words);
  return {"links", std::move(links), std::move(text)};
}

}  // namespace

Section gpu_section() {
  const Driver driver;
  const std::string not_built = without_gpu;
  Section section{"gpu", not_built.empty() ? driver.missing() : not_built, {}};
  section.findings.push_back(yes_or_no("compiled_in", not_built));
  const std::string no_driver = driver.is_loaded() ? std::string() : driver.missing();
  section.findings.push_back(yes_or_no("driver", no_driver));
  if (!driver.is_loaded()) return section;
  if (driver.devices() == 0) {
    section.findings.push_back({"devices", Json::array(), driver.missing()});
    return section;
  }
  const Machine machine = look_at(driver);
  section.findings.push_back({"driver_cuda_version", driver.version(), driver.version()});
  section.findings.push_back(yes_or_no("management_library", machine.unmanaged));
  section.findings.push_back(devices_finding(machine));
  section.findings.push_back(links_finding(machine));
  section.findings.push_back(all_have(driver, "virtual_memory", DeviceAttribute::virtual_memory));
  section.findings.push_back(
      all_have(driver, "memory_by_file_descriptor", DeviceAttribute::file_descriptors));
  section.findings.push_back(
      all_have(driver, "cooperative_launch", DeviceAttribute::cooperative_launch));
  section.findings.push_back(stream_operations(driver));
  section.findings.push_back(
      all_have(driver, "flush_remote_writes", DeviceAttribute::flush_remote_writes));
  return section;
}

}  // namespace muster::cli
