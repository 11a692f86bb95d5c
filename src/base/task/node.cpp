#include "muster/task/node.hpp"

#include <fmt/format.h>

#include "muster/task/book.hpp"

namespace muster::task {

Node::~Node() {
  delete first_trouble_.load(std::memory_order_relaxed);
}

std::string Node::called() const {
  return fmt::format("\"{}\" (task {})", name_, id_.index);
}

Edge* Node::closed() {
  static Edge end;
  return &end;
}

bool Node::settled() const {
  // Pairs with the exchange in Book::settle_one; in one order with what Book::wait stores.
  return successors_.load(std::memory_order_seq_cst) == closed();
}

Outcome outcome_of(const Result<void>& result) {
  if (result) return {};
  return std::make_unique<Trouble>(Trouble{result.error()});
}

Outcome outcome_of_exception(const Node& node) {
  if (node.engine_ != nullptr && node.engine_->is_given_up()) throw;
  Error error{ErrorCode::aborted, {}};
  try {
    throw;
  } catch (const Failure& failure) {
    error = failure.error();
  } catch (const std::exception& thrown) {
    error.what = fmt::format("the body of task {} threw: {}", node.called(), thrown.what());
  } catch (...) {
    error.what =
        fmt::format("the body of task {} threw something that is no std::exception", node.called());
  }
  return std::make_unique<Trouble>(Trouble{std::move(error), std::current_exception()});
}

}  // namespace muster::task
