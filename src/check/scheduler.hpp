// Who decides where an execution has a choice.
#pragma once

#include <cstdint>
#include <vector>

#include "check/bits.hpp"

namespace muster::check::engine {

class Execution;

struct Decision {
  enum class Action : std::uint8_t { none, take, expire, again, leave } action = Action::none;
  std::uint32_t thread = 0;
  std::uint32_t look = 0;
  const Bits* set = nullptr;
};

class Scheduler {
 public:
  virtual ~Scheduler() = default;
  virtual void begin() {}
  // Every thread is blocked or done, and at least one is at a read.
  virtual Decision pick(Execution& run) = 0;
  // Which of `count` goes first: the first is as good as any, those of `among` are to be explored.
  virtual std::uint32_t choose(Execution&, const std::vector<std::uint32_t>& among,
                               std::uint32_t /*count*/) {
    return among.front();
  }
  // A deposit has been appended to the cell.
  virtual void deposited(Execution&, std::uint32_t /*cell*/) {}
};

}  // namespace muster::check::engine
