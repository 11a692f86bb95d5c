// How many operations executions make, and when that is enough.
#pragma once

#include <cstdint>

#include "check/patience.hpp"
#include "muster/check/report.hpp"

namespace muster::check::engine {

class StepCount {
 public:
  StepCount(const Options& options, Patience& patience) : options_(options), patience_(patience) {}

  // Before an execution.
  void reset() { here_ = 0; }
  // One more operation; one more element of an operation.
  void count() {
    ++all_;
    ++here_;
  }
  void count_element() { ++all_; }
  // Of the operation just counted: it is one too many for one execution, or no more are wanted.
  enum class Verdict : std::uint8_t { goes_on, too_many, halted };
  [[nodiscard]] Verdict judge() {
    if (here_ > options_.steps) return Verdict::too_many;
    return patience_.ends() ? Verdict::halted : Verdict::goes_on;
  }
  [[nodiscard]] std::uint64_t all() const { return all_; }  // of all executions

 private:
  const Options& options_;
  Patience& patience_;
  std::uint64_t all_ = 0;
  std::uint64_t here_ = 0;
};

}  // namespace muster::check::engine
