// Asks Options::halt now and then: the processor's time costs more to ask than most work takes.
#pragma once

#include <cstdint>

#include "muster/check/report.hpp"

namespace muster::check::engine {

class Patience {
 public:
  explicit Patience(const Options& options) : options_(options) {}

  // Before an execution.
  void reset() { is_over_ = false; }
  // As much work as so many operations is done. True once no more is wanted, and from then on.
  bool ends(std::uint64_t work = 1) {
    unasked_ += work;
    if (is_over_ || unasked_ < between_looks) return is_over_;
    unasked_ = 0;
    return is_over_ = options_.halt && options_.halt();
  }
  [[nodiscard]] bool is_over() const { return is_over_; }

 private:
  static constexpr std::uint64_t between_looks = 1024;

  const Options& options_;
  std::uint64_t unasked_ = 0;
  bool is_over_ = false;
};

}  // namespace muster::check::engine
