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

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  *value = attribute == 75 ? 9 : device - 10;
  return 0;
}

int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  *bytes = static_cast<std::size_t>(2 + device - 10) << 30U;
  return 0;
}

}  // extern "C"
