// What the network does for lanes: puts, gets, atomics, flushes.
#include <cstring>

#include "fabric/ucx/network.hpp"

namespace muster::ucx {
namespace {

ucp_request_param_t params(Operation* operation, ucp_send_nbx_callback_t on_done) {
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  how.cb.send = on_done;
  how.user_data = operation;
  return how;
}

}  // namespace

void Network::on_done(void* request, ucs_status_t status, void* user_data) {
  auto* const operation = static_cast<Operation*>(user_data);
  operation->status = status;
  ucp_request_free(request);
  if (operation->abandoned)
    operation->pool->give(operation);
  else
    operation->done.store(true, std::memory_order_release);  // pairs with whoever waits
}

// The peer's part of the segment, with its key; nullptr where there is none.
RemotePart* Network::part_of(Target target) {
  SegmentMemory& memory = segments_->memory(target.place.segment);
  RemotePart& part = memory.parts[target.peer];
  if (part.key != nullptr) return &part;
  ucp_ep_h to = endpoint(target.peer);
  if (to == nullptr || part.packed_key.empty()) return nullptr;
  if (ucp_ep_rkey_unpack(to, part.packed_key.data(), &part.key) != UCS_OK) part.key = nullptr;
  return part.key == nullptr ? nullptr : &part;
}

Operation* Network::started(void* request, Operation* operation) {
  if (request == nullptr) {
    operations_->give(operation);
    return nullptr;
  }
  if (UCS_PTR_IS_ERR(request)) {
    operation->status = UCS_PTR_STATUS(request);
    operation->done.store(true, std::memory_order_release);
  }
  return operation;
}

Operation* Network::unreachable(Operation* operation) {
  operation->status = UCS_ERR_UNREACHABLE;
  operation->done.store(true, std::memory_order_release);
  return operation;
}

Operation* Network::put(Target to, const void* memory, std::size_t bytes) {
  const std::lock_guard guard(lock_);
  Operation* const operation = operations_->take();
  ucp_ep_h peer = endpoint(to.peer);
  const RemotePart* const part = part_of(to);
  if (peer == nullptr || part == nullptr) return unreachable(operation);
  const auto how = params(operation, on_done);
  return started(ucp_put_nbx(peer, memory, bytes, part->address + to.place.offset, part->key, &how),
                 operation);
}

Operation* Network::get(Target from, void* memory, std::size_t bytes) {
  const std::lock_guard guard(lock_);
  Operation* const operation = operations_->take();
  ucp_ep_h peer = endpoint(from.peer);
  const RemotePart* const part = part_of(from);
  if (peer == nullptr || part == nullptr) return unreachable(operation);
  const auto how = params(operation, on_done);
  return started(
      ucp_get_nbx(peer, memory, bytes, part->address + from.place.offset, part->key, &how),
      operation);
}

void Network::put_copy(Target to, const void* memory, std::size_t bytes) {
  const auto* from = static_cast<const std::byte*>(memory);
  while (bytes > 0) {
    const std::size_t part_bytes =
        bytes < Operations::block_bytes ? bytes : Operations::block_bytes;
    {
      const std::lock_guard guard(lock_);
      ucp_ep_h peer = endpoint(to.peer);
      const RemotePart* const part = part_of(to);
      if (peer == nullptr || part == nullptr) return;  // attend() fails the team
      Operation* const operation = operations_->take_staged();
      std::memcpy(operation->block, from, part_bytes);
      const auto how = params(operation, on_done);
      Operation* const left = started(ucp_put_nbx(peer, operation->block, part_bytes,
                                                  part->address + to.place.offset, part->key, &how),
                                      operation);
      if (left != nullptr) abandon_locked(left);
    }
    from += part_bytes;
    to.place.offset += part_bytes;
    bytes -= part_bytes;
  }
}

Operation* Network::get_staged(Target from, std::size_t bytes) {
  const std::lock_guard guard(lock_);
  Operation* const operation = operations_->take_staged();
  ucp_ep_h peer = endpoint(from.peer);
  const RemotePart* const part = part_of(from);
  if (peer == nullptr || part == nullptr) return unreachable(operation);
  auto how = params(operation, on_done);
  void* const request = ucp_get_nbx(peer, operation->block, bytes,
                                    part->address + from.place.offset, part->key, &how);
  if (request != nullptr) return started(request, operation);
  operation->done.store(true, std::memory_order_release);  // and the block is needed yet
  return operation;
}

void Network::deposit(Target cell, std::uint32_t value, NotifyOp op, bool fenced) {
  const std::lock_guard guard(lock_);
  ucp_ep_h peer = endpoint(cell.peer);
  const RemotePart* const part = part_of(cell);
  if (peer == nullptr || part == nullptr) return;
  // Plain deposits of one lane into one cell keep their order: those of one kind take one way.
  if (fenced) ucp_worker_fence(worker_);
  Operation* const operation = operations_->take();
  operation->words[0] = value;
  auto how = params(operation, on_done);
  const std::uint64_t address = part->address + cell.place.offset;
  void* request = nullptr;
  if (op == NotifyOp::set) {
    request = ucp_put_nbx(peer, &operation->words[0], sizeof value, address, part->key, &how);
  } else {
    how.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
    how.datatype = ucp_dt_make_contig(sizeof value);
    request = ucp_atomic_op_nbx(peer, UCP_ATOMIC_OP_ADD, &operation->words[0], 1, address,
                                part->key, &how);
  }
  if (Operation* const left = started(request, operation)) abandon_locked(left);
}

void Network::add_words(Target to, const void* memory, std::size_t count, std::size_t word) {
  const auto* from = static_cast<const std::byte*>(memory);
  const std::lock_guard guard(lock_);
  for (std::size_t i = 0; i < count; ++i) {
    ucp_ep_h peer = endpoint(to.peer);
    const RemotePart* const part = part_of(to);
    if (peer == nullptr || part == nullptr) return;
    Operation* const operation = operations_->take();
    std::memcpy(&operation->words[0], from + i * word, word);
    auto how = params(operation, on_done);
    how.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
    how.datatype = ucp_dt_make_contig(word);
    Operation* const left =
        started(ucp_atomic_op_nbx(peer, UCP_ATOMIC_OP_ADD, &operation->words[0], 1,
                                  part->address + to.place.offset + i * word, part->key, &how),
                operation);
    if (left != nullptr) abandon_locked(left);
  }
}

Operation* Network::fetch(Target cell, Wire::Fetch what, std::uint32_t value,
                          std::uint32_t expected) {
  const std::lock_guard guard(lock_);
  Operation* const operation = operations_->take();
  ucp_ep_h peer = endpoint(cell.peer);
  const RemotePart* const part = part_of(cell);
  if (peer == nullptr || part == nullptr) return unreachable(operation);
  // A compare-and-swap finds the value to leave where it puts the one that it has found.
  const bool swaps = what == Wire::Fetch::compare_swap;
  operation->words[0] = swaps ? expected : value;
  operation->words[1] = swaps ? value : 0;
  auto how = params(operation, on_done);
  how.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER;
  how.datatype = ucp_dt_make_contig(sizeof value);
  how.reply_buffer = &operation->words[1];
  const auto op = swaps                      ? UCP_ATOMIC_OP_CSWAP
                  : what == Wire::Fetch::add ? UCP_ATOMIC_OP_ADD
                                             : UCP_ATOMIC_OP_SWAP;
  void* const request = ucp_atomic_op_nbx(peer, op, &operation->words[0], 1,
                                          part->address + cell.place.offset, part->key, &how);
  if (request != nullptr) return started(request, operation);
  operation->done.store(true, std::memory_order_release);  // the answer is needed yet
  return operation;
}

Operation* Network::flush(std::uint32_t number) {
  const std::lock_guard guard(lock_);
  Operation* const operation = operations_->take();
  ucp_ep_h peer = endpoint(number);
  if (peer == nullptr) return unreachable(operation);
  const auto how = params(operation, on_done);
  return started(ucp_ep_flush_nbx(peer, &how), operation);
}

ucs_status_t Network::retire(Operation* operation) {
  const ucs_status_t status = operation->status;
  const std::lock_guard guard(lock_);
  operations_->give(operation);
  return status;
}

void Network::abandon(Operation* operation) {
  const std::lock_guard guard(lock_);
  abandon_locked(operation);
}

void Network::abandon_locked(Operation* operation) {
  if (operation->done.load(std::memory_order_relaxed))
    operations_->give(operation);
  else
    operation->abandoned = true;
}

}  // namespace muster::ucx
