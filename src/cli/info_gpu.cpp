// What the GPU fabric needs: to be in the build, the driver's library, and a device.
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <memory>

#include "cli/build_info.hpp"
#include "cli/info_report.hpp"
#include "fabric/host/memory_info.hpp"

namespace muster::cli {
namespace {

// The part of the driver's interface that is asked here; declared, so that it works without CUDA.
using Status = int;
using Device = int;
constexpr int major_attribute = 75;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
constexpr int minor_attribute = 76;

struct CloseLibrary {
  void operator()(void* library) const { dlclose(library); }
};

class Driver {
 public:
  Driver() : library_(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (!library_) {
      missing_ = fmt::format("the driver's library cannot be loaded ({})", dlerror());
      return;
    }
    if (const Status status = call<Status(unsigned)>("cuInit", 0U); status != 0) {
      missing_ = fmt::format("the driver does not start: {}", describe(status));
      return;
    }
    call<Status(int*)>("cuDriverGetVersion", &version_);
    call<Status(int*)>("cuDeviceGetCount", &devices_);
    if (devices_ == 0) missing_ = "there is no device";
  }

  [[nodiscard]] const std::string& missing() const { return missing_; }
  [[nodiscard]] bool is_loaded() const { return library_ != nullptr; }
  [[nodiscard]] int devices() const { return devices_; }
  [[nodiscard]] std::string version() const {
    return fmt::format("{}.{}", version_ / 1000, version_ % 1000 / 10);
  }

  [[nodiscard]] nlohmann::ordered_json describe_device(Device index) const {
    Device device = 0;
    std::array<char, 256> name{};
    int major = 0;
    int minor = 0;
    std::size_t bytes = 0;
    call<Status(Device*, int)>("cuDeviceGet", &device, index);
    call<Status(char*, int, Device)>("cuDeviceGetName", name.data(), static_cast<int>(name.size()),
                                     device);
    call<Status(int*, int, Device)>("cuDeviceGetAttribute", &major, major_attribute, device);
    call<Status(int*, int, Device)>("cuDeviceGetAttribute", &minor, minor_attribute, device);
    call<Status(std::size_t*, Device)>("cuDeviceTotalMem_v2", &bytes, device);
    return {{"name", name.data()},
            {"compute_capability", fmt::format("{}.{}", major, minor)},
            {"memory", bytes}};
  }

 private:
  // The driver's status, or -1 where it has no such function.
  template <class Signature, class... Arguments>
  Status call(const char* name, Arguments... arguments) const {
    auto* function = reinterpret_cast<Signature*>(dlsym(library_.get(), name));
    return function == nullptr ? -1 : function(arguments...);
  }

  [[nodiscard]] std::string describe(Status status) const {
    const char* text = nullptr;
    call<Status(Status, const char**)>("cuGetErrorString", status, &text);
    return text != nullptr ? text : fmt::format("error {}", status);
  }

  std::unique_ptr<void, CloseLibrary> library_;
  std::string missing_;
  int version_ = 0;
  int devices_ = 0;
};

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
    section.findings.push_back({"devices", nlohmann::ordered_json::array(), driver.missing()});
    return section;
  }
  section.findings.push_back({"driver_cuda_version", driver.version(), driver.version()});
  nlohmann::ordered_json devices = nlohmann::ordered_json::array();
  std::string lines = fmt::format("{}", driver.devices());
  for (int index = 0; index < driver.devices(); ++index) {
    devices.push_back(driver.describe_device(index));
    const auto& device = devices.back();
    lines +=
        fmt::format("{} {} (sm {}, {})", index == 0 ? ":" : ",", device["name"].get<std::string>(),
                    device["compute_capability"].get<std::string>(),
                    host::format_bytes(device["memory"].get<std::uint64_t>()));
  }
  section.findings.push_back({"devices", std::move(devices), std::move(lines)});
  return section;
}

}  // namespace muster::cli
