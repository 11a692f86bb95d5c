// What the broken graphs of tasks share.
#pragma once

#include "broken.hpp"
#include "muster/task.hpp"

namespace muster::broken {

using task::Graph;
using task::TaskId;
using task::Waiter;

}  // namespace muster::broken
