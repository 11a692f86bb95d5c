// What happened in one execution, in words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "check/clock.hpp"
#include "check/where.hpp"

namespace muster::check::engine {

// A thing that happened: the `epoch`-th event of the thread.
struct Step {
  std::uint32_t thread = 0;
  std::uint32_t epoch = 0;
  std::string what;
  Where where;
  std::vector<std::size_t> reads{};    // the steps whose deposits it took
  bool flies = false;                  // a transfer that was in flight when it returned
  std::optional<std::size_t> lands{};  // the first step that knows it to be done
  bool fails = false;                  // it says what is wrong
};

// The steps of an execution as they came, where they are kept: else it is empty. Whoever adds one
// asks first, so that no words are made for nothing.
class Trace {
 public:
  static constexpr std::size_t none = ~std::size_t{0};

  void keep(bool keep) { kept_ = keep; }
  [[nodiscard]] bool is_kept() const { return kept_; }
  // The step of a thread that knows so much.
  void add(Step step, const Clock& known);
  // The thread's last step, which is what it is doing now; `none` where there is none.
  [[nodiscard]] std::size_t last_of(std::uint32_t thread) const;
  // The thread's last step has taken what this step deposited.
  void took(std::uint32_t thread, std::size_t deposit);
  // The thread's last step has a transfer on its way, which is done in clocks that have this event.
  void flies(std::uint32_t thread, Stamp done);
  // The thread has learned, in its last step, what is done.
  void learned(std::uint32_t thread, const Clock& known);
  void clear();
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }

 private:
  struct Flight {
    std::size_t step = 0;
    Stamp done;
  };

  bool kept_ = false;
  std::vector<Step> steps_;
  std::vector<std::size_t> last_;  // by thread
  std::vector<Flight> flights_;    // of which nobody knows yet that they are done
};

}  // namespace muster::check::engine
