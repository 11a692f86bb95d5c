#include "fabric/ucx/segments.hpp"

#include <cstring>

namespace muster::ucx {

Segments::Segments(ucp_context_h context)
    : context_(context), table_(max_segments), memory_(max_segments) {}

Segments::~Segments() {
  for (std::uint32_t number = 0; number < max_segments; ++number) remove(number);
}

std::uint32_t Segments::add(std::uint64_t bytes, std::uint32_t team, bool cells,
                            std::uint32_t job_size) {
  const auto made = allocate_registered(context_, bytes);
  if (!made) return max_segments;
  std::memset(made->memory, 0, bytes);  // UCX promises nothing, and the pages are there now
  const std::lock_guard guard(lock_);
  for (std::uint32_t number = 0; number < max_segments; ++number) {
    if (table_[number].bytes != 0) continue;
    memory_[number].own = *made;
    memory_[number].parts.assign(job_size, {});
    table_[number] = {made->memory, bytes, team, cells};
    return number;
  }
  ucp_mem_unmap(context_, made->handle);
  return max_segments;
}

std::string Segments::packed_key(std::uint32_t number) const {
  void* packed = nullptr;
  std::size_t bytes = 0;
  if (ucp_rkey_pack(context_, memory_[number].own.handle, &packed, &bytes) != UCS_OK) return {};
  std::string key(static_cast<const char*>(packed), bytes);
  ucp_rkey_buffer_release(packed);
  return key;
}

void Segments::remove(std::uint32_t number) {
  const std::lock_guard guard(lock_);
  if (table_[number].bytes == 0) return;
  table_[number] = {};
  for (RemotePart& part : memory_[number].parts)
    if (part.key != nullptr) ucp_rkey_destroy(part.key);
  memory_[number].parts.clear();
  ucp_mem_unmap(context_, memory_[number].own.handle);
  memory_[number].own = {};
}

bool Segments::holds(std::uint64_t address, std::uint64_t bytes) const {
  const std::lock_guard guard(lock_);
  for (const Segment& segment : table_) {
    if (segment.bytes == 0) continue;
    const auto first = reinterpret_cast<std::uint64_t>(segment.memory);
    if (address >= first && bytes <= segment.bytes && address - first <= segment.bytes - bytes)
      return true;
  }
  return false;
}

}  // namespace muster::ucx
