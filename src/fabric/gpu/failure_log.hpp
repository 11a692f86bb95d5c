// Where kernels leave what went wrong, and where they look whether to stop: host memory that every
// GPU of the team reaches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "muster/fabric/gpu/bootstrap.hpp"
#include "muster/fabric/gpu/handle.hpp"
#include "muster/types.hpp"

namespace muster::gpu {

class FailureLog {
 public:
  // For the ranks of one process.
  explicit FailureLog(std::uint32_t ranks);
  // One for the ranks of all processes; collective.
  FailureLog(std::uint32_t ranks, const Bootstrap& bootstrap);
  ~FailureLog();
  FailureLog(const FailureLog&) = delete;
  FailureLog& operator=(const FailureLog&) = delete;

  // As kernels see them.
  [[nodiscard]] std::uint32_t* stop_in_kernels() const;
  [[nodiscard]] ErrorRecord* records_in_kernels() const;

  [[nodiscard]] WaitStatus stop() const;
  void set_stop(WaitStatus status);
  // The record of the failure that came first. What others broke off because of it counts less.
  [[nodiscard]] std::optional<ErrorRecord> first_failure() const;
  // Nothing may be running.
  void clear();

 private:
  struct Layout;
  [[nodiscard]] static std::size_t bytes_for(std::uint32_t ranks);

  std::uint32_t ranks_;
  bool mapped_ = false;       // else allocated by CUDA
  Layout* layout_ = nullptr;  // as the host sees it
  std::byte* in_kernels_ = nullptr;
};

}  // namespace muster::gpu
