// Stands in for libnvidia-ml.so.1 where `muster info` is tested. FAKE_NVML_LINKS: how many NVLinks
// each device has; FAKE_NVML_REMOTE: 2 to a switch, 0 to the other of two devices.
#include <cstdint>
#include <cstdlib>

namespace {

int number(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoi(text) : otherwise;
}

struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pci_device_id;
  unsigned pci_subsystem_id;
  char bus_id[32];
};

}  // namespace

extern "C" {

int nvmlInit_v2() {
  return number("FAKE_NVML_STATUS", 0);
}

int nvmlShutdown() {
  return 0;
}

// "0000:BB:00.0" to the number BB.
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** device) {
  *device = reinterpret_cast<void*>(std::strtoull(bus_id + 5, nullptr, 16));
  return 0;
}

int nvmlDeviceGetNvLinkState(void* /*device*/, unsigned link, unsigned* active) {
  const auto links = static_cast<unsigned>(number("FAKE_NVML_LINKS", 18));
  *active = link % 2;  // every second one is in use
  return link < 2 * links ? 0 : 2;
}

int nvmlDeviceGetNvLinkVersion(void* /*device*/, unsigned /*link*/, unsigned* version) {
  *version = static_cast<unsigned>(number("FAKE_NVML_VERSION", 6));
  return 0;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(void* /*device*/, unsigned /*link*/, unsigned* type) {
  *type = static_cast<unsigned>(number("FAKE_NVML_REMOTE", 2));
  return 0;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void* device, unsigned /*link*/, PciInfo* place) {
  *place = {};
  place->bus = 0x81 - static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(device));
  return 0;
}

int nvmlDeviceGetMaxPcieLinkGeneration(void* /*device*/, unsigned* generation) {
  *generation = 5;
  return 0;
}

int nvmlDeviceGetMaxPcieLinkWidth(void* /*device*/, unsigned* width) {
  *width = 16;
  return 0;
}

}  // extern "C"
