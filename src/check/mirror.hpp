// The same execution once more, with threads, lanes and ranks in the opposite order.
//
// Where every thread is determined by what the model sees, each does the same again. Where one does
// not, its operations depend on something else: a variable that lanes or ranks share, a static one,
// a clock. Then no execution stands for others, and there is no verdict.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "check/execution.hpp"

namespace muster::check::engine {

// Answers each read as in `original`.
class Mirror final : public Scheduler {
 public:
  explicit Mirror(const Record& original);
  Decision pick(Execution& run) override;
  void deposited(Execution& run, std::uint32_t cell) override;

 private:
  struct Name {  // of a deposit: the `number`-th of its thread on its cell
    std::uint32_t thread = 0;
    std::uint32_t number = 0;
  };
  // What the thread, at an atomic object, chose then; nothing where that is not there yet.
  [[nodiscard]] std::optional<WriteNumber> find_write(const Execution& run, const Thread& thread);
  [[nodiscard]] bool find_set(Execution& run, const Thread& thread, const Answer& answer);

  const Record& original_;
  std::vector<std::vector<Name>> names_;  // by cell and number in the original
  // By cell and thread: the numbers that its deposits have here.
  std::vector<std::vector<std::vector<std::uint32_t>>> here_;
  std::vector<std::size_t> next_;  // by thread: which of its answers comes next
  Bits set_;
};

// Runs again, in the opposite order, what `run` has just recorded. Empty where everything was the
// same, else what was not.
[[nodiscard]] std::string what_is_undetermined(Execution& run);

}  // namespace muster::check::engine
