#include "muster/task/waiter.hpp"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <utility>

#include "base/compare.hpp"
#include "muster/task/book.hpp"

namespace muster::task {

void Waiter::defer_wait(Signal signal, Compare compare, std::uint64_t value) {
  if (wrong_) return;  // the first that is wrong is what the task ends with
  std::optional<Error> wrong;
  if (value > std::numeric_limits<std::uint32_t>::max()) {
    wrong =
        Error{ErrorCode::invalid_argument,
              fmt::format("the value of cell {} {} {} does not fit: signals have 32 bits, and a "
                          "negative number is one below 2^32 there",
                          signal.cell, symbol_of(compare), value)};
  } else {
    wrong = engine_.objection({signal, compare, static_cast<std::uint32_t>(value)});
  }
  if (wrong) {
    wrong->what = fmt::format("defer_wait of task {}: {}", node_.called(), wrong->what);
    wrong_ = std::make_unique<Trouble>(Trouble{std::move(*wrong)});
    return;
  }
  if (conditions_.empty() && fabric_ != nullptr) engine_.seal(fabric_, node_);
  conditions_.push_back({signal, compare, static_cast<std::uint32_t>(value)});
}

void Waiter::deadline(std::chrono::milliseconds time) {
  timeout_ = time;
}

}  // namespace muster::task
