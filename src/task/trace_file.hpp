// A file of trace events that the ranks of one job share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/result.hpp"

namespace muster::task {

// Adds the events, each a JSON object, to the array that the file holds: one by this job, which
// `nonce` names; anything else is overwritten. One rank at a time does, and behind each of them the
// file is whole. Errors: system.
[[nodiscard]] Result<void> append_to_trace(const std::string& path, std::uint64_t nonce,
                                           const std::vector<std::string>& events);

}  // namespace muster::task
