// How what has become of a task is told to those that follow it.
#pragma once

#include "muster/task/node.hpp"

namespace muster::task {

// That of a task which never runs, for one before it has not ended well.
[[nodiscard]] Outcome cancelled_with(const Node& node, const Node& cause);

}  // namespace muster::task
