#include "cli/info_driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace muster::cli {

Driver::Driver() : library_("libcuda.so.1") {
  if (!library_.is_loaded()) {
    missing_ = fmt::format("the driver's library cannot be loaded ({})", library_.missing());
    return;
  }
  if (const int status = library_.call<int(unsigned)>("cuInit", 0U); status != 0) {
    missing_ = fmt::format("the driver does not start: {}", describe(status));
    return;
  }
  library_.call<int(int*)>("cuDriverGetVersion", &version_);
  int count = 0;
  library_.call<int(int*)>("cuDeviceGetCount", &count);
  if (count == 0) missing_ = "there is no device";
  for (int index = 0; index < count; ++index) {
    int device = 0;
    library_.call<int(int*, int)>("cuDeviceGet", &device, index);
    devices_.push_back(device);
  }
}

std::string Driver::version() const {
  return fmt::format("{}.{}", version_ / 1000, version_ % 1000 / 10);
}

std::string Driver::name(int index) const {
  std::array<char, 256> text{};
  library_.call<int(char*, int, int)>("cuDeviceGetName", text.data(), static_cast<int>(text.size()),
                                      handle(index));
  return text.data();
}

std::string Driver::bus_id(int index) const {
  std::array<char, 64> text{};
  library_.call<int(char*, int, int)>("cuDeviceGetPCIBusId", text.data(),
                                      static_cast<int>(text.size()), handle(index));
  return text.data();
}

std::uint64_t Driver::bytes(int index) const {
  std::size_t bytes = 0;
  library_.call<int(std::size_t*, int)>("cuDeviceTotalMem_v2", &bytes, handle(index));
  return bytes;
}

int Driver::attribute(DeviceAttribute attribute, int index) const {
  int value = 0;
  const int status = library_.call<int(int*, int, int)>("cuDeviceGetAttribute", &value,
                                                        static_cast<int>(attribute), handle(index));
  return status == 0 ? value : 0;
}

bool Driver::pair(PairAttribute attribute, int from, int to) const {
  int value = 0;
  const int status = library_.call<int(int*, int, int, int)>(
      "cuDeviceGetP2PAttribute", &value, static_cast<int>(attribute), handle(from), handle(to));
  return status == 0 && value != 0;
}

std::string Driver::describe(int status) const {
  const char* text = nullptr;
  library_.call<int(int, const char**)>("cuGetErrorString", status, &text);
  return text != nullptr ? text : fmt::format("error {}", status);
}

// ---- the management library (NVML API reference, "NvLink Methods" and "Device Queries")

namespace {

constexpr unsigned most_links = 64;    // of a GPU; it has fewer, and says when they end
constexpr unsigned remote_is_gpu = 0;  // nvmlIntNvLinkDeviceType_t
constexpr unsigned remote_is_switch = 2;

struct PciInfo {  // nvmlPciInfo_t
  char bus_id_legacy[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pci_device_id;
  unsigned pci_subsystem_id;
  char bus_id[32];
};

// nvmlNvlinkVersion_t
std::string text_of_version(unsigned version) {
  constexpr std::array names{"", "1.0", "2.0", "2.2", "3.0", "3.1", "4.0", "5.0"};
  return version > 0 && version < names.size() ? names[version]
                                               : fmt::format("of unknown version {}", version);
}

}  // namespace

int NvLinks::count() const {
  return std::accumulate(to_gpus.begin(), to_gpus.end(), to_switches);
}

Management::Management(const Driver& driver) : driver_(driver), library_("libnvidia-ml.so.1") {
  if (!library_.is_loaded()) {
    missing_ = fmt::format("the management library cannot be loaded ({})", library_.missing());
    return;
  }
  if (const int status = library_.call<int()>("nvmlInit_v2"); status != 0)
    missing_ = fmt::format("the management library does not start: error {}", status);
}

Management::~Management() {
  if (missing_.empty()) library_.call<int()>("nvmlShutdown");
}

void* Management::find(int index) const {
  void* handle = nullptr;
  if (!missing_.empty()) return nullptr;
  const std::string bus_id = driver_.bus_id(index);
  const int status = library_.call<int(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2",
                                                             bus_id.c_str(), &handle);
  return status == 0 ? handle : nullptr;
}

NvLinks Management::links_of(int index) const {
  NvLinks links;
  links.to_gpus.resize(static_cast<std::size_t>(driver_.devices()));
  void* const handle = find(index);
  for (unsigned link = 0; handle != nullptr && link < most_links; ++link) {
    unsigned is_active = 0;
    if (library_.call<int(void*, unsigned, unsigned*)>("nvmlDeviceGetNvLinkState", handle, link,
                                                       &is_active) != 0)
      break;
    if (is_active == 0) continue;
    unsigned nvlink = 0;
    library_.call<int(void*, unsigned, unsigned*)>("nvmlDeviceGetNvLinkVersion", handle, link,
                                                   &nvlink);
    links.version = text_of_version(nvlink);
    unsigned remote = remote_is_gpu;
    library_.call<int(void*, unsigned, unsigned*)>("nvmlDeviceGetNvLinkRemoteDeviceType", handle,
                                                   link, &remote);
    if (remote == remote_is_switch) ++links.to_switches;
    PciInfo place{};
    if (remote != remote_is_gpu ||
        library_.call<int(void*, unsigned, PciInfo*)>("nvmlDeviceGetNvLinkRemotePciInfo_v2", handle,
                                                      link, &place) != 0)
      continue;
    for (int other = 0; other < driver_.devices(); ++other) {
      const auto is = [&](DeviceAttribute attribute, unsigned value) {
        return driver_.attribute(attribute, other) == static_cast<int>(value);
      };
      if (is(DeviceAttribute::pci_domain, place.domain) &&
          is(DeviceAttribute::pci_bus, place.bus) && is(DeviceAttribute::pci_device, place.device))
        ++links.to_gpus[static_cast<std::size_t>(other)];
    }
  }
  return links;
}

Pcie Management::pcie_of(int index) const {
  Pcie pcie;
  if (void* const handle = find(index); handle != nullptr) {
    // The most that both ends can do: an idle link may run at less.
    library_.call<int(void*, unsigned*)>("nvmlDeviceGetMaxPcieLinkGeneration", handle,
                                         &pcie.generation);
    library_.call<int(void*, unsigned*)>("nvmlDeviceGetMaxPcieLinkWidth", handle, &pcie.width);
  }
  return pcie;
}

}  // namespace muster::cli
