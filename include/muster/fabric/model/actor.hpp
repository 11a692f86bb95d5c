// Who acts in an operation of the model. Included by muster/fabric/model.hpp.
#pragma once

#include <cstdint>

#include "muster/types.hpp"

namespace muster::check::engine {
struct Thread;
}  // namespace muster::check::engine

namespace muster::model {

// A thread, as one of those that it acts together with: those of its lane, or of a part of it.
// Whoever reaches the thread through it makes it act so.
class Actor {
 public:
  explicit Actor(check::engine::Thread& thread);  // as one of its lane
  // As one of `count` threads of its lane, from number `first` of the lane on.
  Actor(const Actor& of_lane, std::uint32_t first, std::uint32_t count);

  check::engine::Thread& operator*() const;
  check::engine::Thread* operator->() const { return &**this; }

 private:
  check::engine::Thread* thread_;
  std::uint32_t first_;  // a thread's number among all
  std::uint32_t count_;
};

}  // namespace muster::model
