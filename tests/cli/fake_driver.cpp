// Stands in for libcuda.so.1 where `muster info` is tested: two devices, or what the environment
// says.
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace {

int number(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoi(text) : otherwise;
}

}  // namespace

extern "C" {

int cuInit(unsigned /*flags*/) {
  return number("FAKE_DRIVER_STATUS", 0);
}

int cuGetErrorString(int /*status*/, const char** text) {
  *text = "a reason";
  return 0;
}

int cuDriverGetVersion(int* version) {
  *version = 13010;
  return 0;
}

int cuDeviceGetCount(int* count) {
  *count = number("FAKE_DRIVER_DEVICES", 2);
  return 0;
}

int cuDeviceGet(int* device, int index) {
  *device = 10 + index;
  return 0;
}

int cuDeviceGetName(char* name, int length, int device) {
  std::snprintf(name, static_cast<std::size_t>(length), "Device %d", device - 10);
  return 0;
}

int cuDeviceGetPCIBusId(char* text, int length, int device) {
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02x:00.0", 0x40 + device - 10);
  return 0;
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  switch (attribute) {
    case 75: *value = 9; break;                   // compute capability, major
    case 76: *value = device - 10; break;         // minor
    case 33: *value = 0x40 + device - 10; break;  // PCI bus
    case 102:                                     // virtual memory
    case 103:                                     // shared by file descriptor
    case 95: *value = 1; break;                   // cooperative launch
    default: *value = 0;
  }
  return 0;
}

// 2: access, 3: native atomics
int cuDeviceGetP2PAttribute(int* value, int attribute, int /*from*/, int /*to*/) {
  *value = attribute == 2 || number("FAKE_DRIVER_ATOMICS", 1) != 0 ? 1 : 0;
  return 0;
}

int cuStreamWriteValue32_v2() {
  return 0;
}

int cuStreamWaitValue32_v2() {
  return 0;
}

int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  *bytes = static_cast<std::size_t>(2 + device - 10) << 30U;
  return 0;
}

}  // extern "C"
