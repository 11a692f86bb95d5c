// What the CUDA driver and NVIDIA's management library say of the GPUs. Both are declared here as
// far as they are asked, so that this works without CUDA.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/info_library.hpp"

namespace muster::cli {

// CUdevice_attribute, by the numbers of the driver's interface.
enum class DeviceAttribute : int {
  pci_bus = 33,
  pci_device = 34,
  pci_domain = 50,
  capability_major = 75,
  capability_minor = 76,
  cooperative_launch = 95,
  flush_remote_writes = 98,
  virtual_memory = 102,
  file_descriptors = 103
};

// CUdevice_P2PAttribute.
enum class PairAttribute : int { access = 2, native_atomics = 3 };

class Driver {
 public:
  Driver();

  [[nodiscard]] const std::string& missing() const { return missing_; }
  [[nodiscard]] bool is_loaded() const { return library_.is_loaded(); }
  [[nodiscard]] bool has(const char* function) const { return library_.has(function); }
  [[nodiscard]] int devices() const { return static_cast<int>(devices_.size()); }
  [[nodiscard]] std::string version() const;

  [[nodiscard]] std::string name(int index) const;
  [[nodiscard]] std::string bus_id(int index) const;
  [[nodiscard]] std::uint64_t bytes(int index) const;
  [[nodiscard]] int attribute(DeviceAttribute attribute, int index) const;
  [[nodiscard]] bool pair(PairAttribute attribute, int from, int to) const;

 private:
  [[nodiscard]] std::string describe(int status) const;
  [[nodiscard]] int handle(int index) const { return devices_.at(static_cast<std::size_t>(index)); }

  Library library_;
  std::string missing_;
  int version_ = 0;
  std::vector<int> devices_;  // the driver's handles
};

// One GPU's way out.
struct NvLinks {
  int to_switches = 0;
  std::vector<int> to_gpus;  // by number of the GPU, how many links
  std::string version;       // "4.0"; empty where there are no links
  [[nodiscard]] int count() const;
};

struct Pcie {
  unsigned generation = 0;  // 0: not known
  unsigned width = 0;
};

// The management library; nothing is known where it is missing.
class Management {
 public:
  explicit Management(const Driver& driver);
  ~Management();
  Management(const Management&) = delete;
  Management& operator=(const Management&) = delete;

  [[nodiscard]] const std::string& missing() const { return missing_; }
  [[nodiscard]] NvLinks links_of(int index) const;
  [[nodiscard]] Pcie pcie_of(int index) const;

 private:
  [[nodiscard]] void* find(int index) const;  // its handle; null where it has none

  const Driver& driver_;
  Library library_;
  std::string missing_;
};

}  // namespace muster::cli
