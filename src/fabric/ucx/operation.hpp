// An operation of UCX under way, and the memory that it needs so long.
#pragma once

#include <ucp/api/ucp.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace muster::ucx {

// Words and staging blocks outlive whoever began the operation: UCX reads and writes them until it
// has called back, however long that takes.
class Operations;

struct Operation {
  Operations* pool = nullptr;
  // Release by whoever makes progress, acquire by whoever waits.
  std::atomic<bool> done{false};
  ucs_status_t status = UCS_OK;
  bool abandoned = false;           // nobody waits: it goes back to the pool when it is done
  std::uint64_t words[2] = {0, 0};  // what is deposited; what a fetched operation finds
  std::byte* block = nullptr;       // staging, of Operations::block_bytes
};

// All of a rank's. Used with the network's lock held.
class Operations {
 public:
  static constexpr std::size_t block_bytes = std::size_t{64} << 10U;

  explicit Operations(ucp_context_h context) : context_(context) {}
  ~Operations();
  Operations(const Operations&) = delete;
  Operations& operator=(const Operations&) = delete;

  [[nodiscard]] Operation* take();
  // With a block of registered memory.
  [[nodiscard]] Operation* take_staged();
  void give(Operation* operation);

 private:
  [[nodiscard]] std::byte* take_block();

  ucp_context_h context_;
  std::vector<std::unique_ptr<Operation>> all_;
  std::vector<Operation*> free_;
  std::vector<std::byte*> free_blocks_;
  std::vector<ucp_mem_h> slabs_;
  std::vector<std::unique_ptr<std::byte[]>> plain_;  // where UCX has none
};

}  // namespace muster::ucx
