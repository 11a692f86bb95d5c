// What happened in one execution, in words.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "check/where.hpp"

namespace muster::check::engine {

// A thing that happened: the `epoch`-th event of the thread.
struct Step {
  std::uint32_t thread = 0;
  std::uint32_t epoch = 0;
  std::string what;
  Where where;
};

// The steps of an execution as they came, where they are kept: else it is empty. Whoever adds one
// asks first, so that no words are made for nothing.
class Trace {
 public:
  void keep(bool keep) { kept_ = keep; }
  [[nodiscard]] bool is_kept() const { return kept_; }
  void add(Step step) {
    if (kept_) steps_.push_back(std::move(step));
  }
  void clear() { steps_.clear(); }
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }

 private:
  bool kept_ = false;
  std::vector<Step> steps_;
};

}  // namespace muster::check::engine
