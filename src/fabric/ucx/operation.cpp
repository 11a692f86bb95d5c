#include "fabric/ucx/operation.hpp"

#include "fabric/ucx/registered.hpp"

namespace muster::ucx {

Operations::~Operations() {
  for (ucp_mem_h slab : slabs_) ucp_mem_unmap(context_, slab);
}

Operation* Operations::take() {
  if (free_.empty()) {
    all_.push_back(std::make_unique<Operation>());
    all_.back()->pool = this;
    free_.push_back(all_.back().get());
  }
  Operation* const operation = free_.back();
  free_.pop_back();
  operation->done.store(false, std::memory_order_relaxed);
  operation->status = UCS_OK;
  operation->abandoned = false;
  return operation;
}

Operation* Operations::take_staged() {
  Operation* const operation = take();
  operation->block = take_block();
  return operation;
}

void Operations::give(Operation* operation) {
  if (operation->block != nullptr) free_blocks_.push_back(operation->block);
  operation->block = nullptr;
  free_.push_back(operation);
}

std::byte* Operations::take_block() {
  if (free_blocks_.empty()) {
    constexpr std::size_t blocks = 8;
    std::byte* first = nullptr;
    if (const auto slab = allocate_registered(context_, blocks * block_bytes)) {
      slabs_.push_back(slab->handle);
      first = slab->memory;
    } else {
      // Not registered: UCX registers it with each transfer, or copies.
      plain_.push_back(std::make_unique<std::byte[]>(blocks * block_bytes));
      first = plain_.back().get();
    }
    for (std::size_t block = blocks; block-- > 0;)
      free_blocks_.push_back(first + block * block_bytes);
  }
  std::byte* const block = free_blocks_.back();
  free_blocks_.pop_back();
  return block;
}

}  // namespace muster::ucx
