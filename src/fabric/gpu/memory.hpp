// Symmetric memory: the same number of bytes on the GPU of every rank, mapped for all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "muster/fabric/gpu/bootstrap.hpp"

namespace muster::gpu {

class Memory {
 public:
  virtual ~Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // By rank, as this process maps them.
  [[nodiscard]] const std::vector<std::byte*>& bases() const { return bases_; }

 protected:
  Memory() = default;
  std::vector<std::byte*> bases_;
};

// Zero, `bytes` on each of `devices`, which can reach each other afterwards. Throws Failure.
[[nodiscard]] std::unique_ptr<Memory> allocate_local(const std::vector<int>& devices,
                                                     std::uint64_t bytes);

// The same for the ranks of several processes; collective. `ranks_of` counts each process's.
[[nodiscard]] std::unique_ptr<Memory> allocate_shared(const std::vector<int>& devices,
                                                      std::uint64_t bytes,
                                                      const std::vector<std::uint32_t>& ranks_of,
                                                      const Bootstrap& bootstrap);

// Throws unless kernels on each of `devices` can load, store and add in the memory of the others.
void require_reach(const std::vector<int>& devices);

}  // namespace muster::gpu
