// Memory that UCX allocates, so that every transport of this host reaches it.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <optional>

namespace muster::ucx {

struct Registered {
  ucp_mem_h handle = nullptr;
  std::byte* memory = nullptr;
};

// Zero, and on a page. Nothing where there is no memory.
[[nodiscard]] inline std::optional<Registered> allocate_registered(ucp_context_h context,
                                                                   std::size_t bytes) {
  ucp_mem_map_params_t wanted{};
  wanted.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS;
  wanted.length = bytes;
  wanted.flags = UCP_MEM_MAP_ALLOCATE;
  Registered made;
  if (ucp_mem_map(context, &wanted, &made.handle) != UCS_OK) return std::nullopt;
  ucp_mem_attr_t attributes{};
  attributes.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
  if (ucp_mem_query(made.handle, &attributes) != UCS_OK) {
    ucp_mem_unmap(context, made.handle);
    return std::nullopt;
  }
  made.memory = static_cast<std::byte*>(attributes.address);
  return made;
}

}  // namespace muster::ucx
