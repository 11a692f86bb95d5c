// What is told of deposits and reads: their names, as the fabric's operations have them.
#pragma once

#include "check/sites.hpp"
#include "check/thread.hpp"

namespace muster::check::engine {

[[nodiscard]] const char* word(NotifyOp op);
[[nodiscard]] const char* word(const Deposit& deposit);
[[nodiscard]] const char* word(ReadKind kind, const Fetch& fetch);

}  // namespace muster::check::engine
