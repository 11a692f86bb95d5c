// How many operations executions make, and when that is enough.
#pragma once

#include <cstdint>

#include "muster/check/report.hpp"

namespace muster::check::engine {

class StepCount {
 public:
  explicit StepCount(const Options& options) : options_(options) {}

  // Before an execution.
  void reset() { here_ = 0; }
  // One more operation; one more element of an operation.
  void count() {
    ++all_;
    ++here_;
  }
  void count_element() { ++all_; }
  // Of the operation just counted: it is one too many for one execution, or Options::halt says that
  // no more are wanted, which is asked now and then.
  enum class Verdict : std::uint8_t { goes_on, too_many, halted };
  [[nodiscard]] Verdict judge() {
    if (here_ > options_.steps) return Verdict::too_many;
    const bool asks = ++unasked_ % steps_between_looks == 0 && options_.halt;
    return asks && options_.halt() ? Verdict::halted : Verdict::goes_on;
  }
  [[nodiscard]] std::uint64_t all() const { return all_; }  // of all executions

 private:
  static constexpr std::uint64_t steps_between_looks = 1024;

  const Options& options_;
  std::uint64_t all_ = 0;
  std::uint64_t here_ = 0;
  std::uint64_t unasked_ = 0;
};

}  // namespace muster::check::engine
