// Where kernels leave what went wrong, and where they look whether to stop: host memory that every
// GPU of the team reaches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "muster/fabric/gpu/handle.hpp"
#include "muster/fabric/gpu/mesh.hpp"
#include "muster/types.hpp"

namespace muster::gpu {

class Board {
 public:
  // For the ranks of one process.
  explicit Board(std::uint32_t ranks);
  // One for the ranks of all processes; collective.
  Board(std::uint32_t ranks, const Mesh& mesh);
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

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
