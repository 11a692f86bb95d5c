#include "base/call_words.hpp"

#include <fmt/format.h>

#include <cstring>
#include <tuple>

namespace muster {
namespace {

std::string name_of_operator(std::uint32_t code) {
  if (code >= CallSignature::first_own_operator)
    return fmt::format("of the caller's own (type {:08x})", code);
  switch (static_cast<ReduceOp>(code)) {
    case ReduceOp::sum: return "sum";
    case ReduceOp::prod: return "prod";
    case ReduceOp::max: return "max";
    case ReduceOp::min: return "min";
  }
  return fmt::format("number {}", code);
}

}  // namespace

std::uint64_t bytes_of_element(std::uint64_t code) {
  return code & 0xffffffffU;
}

std::string name_of_element(std::uint64_t code) {
  const std::uint64_t bytes = bytes_of_element(code);
  switch (static_cast<ElementKind>(code >> 32U)) {
    case ElementKind::floating: return fmt::format("float{}", 8 * bytes);
    case ElementKind::integer: return fmt::format("int{}", 8 * bytes);
    case ElementKind::natural: return fmt::format("uint{}", 8 * bytes);
    case ElementKind::other: break;
  }
  return fmt::format("elements of {} bytes", bytes);
}

std::string to_string(const CallSignature& call) {
  std::string text = call.name;
  const TransferShape& shape = call.shape;
  if (shape.rows != 0 || shape.cols != 0)
    text += fmt::format(" of {} x {} {}", shape.rows, shape.cols, name_of_element(shape.element));
  if (shape.chunk_rows != 0 || shape.chunk_cols != 0)
    text += fmt::format(" in chunks of {} x {}{}", shape.chunk_rows, shape.chunk_cols,
                        call.detail[1] != 0 ? ", pipelined" : "");
  if (call.lanes != 0) text += fmt::format(" of {} lanes", call.lanes);
  if (call.detail[0] != CallSignature::no_cell) {
    text += fmt::format(" (cell {}", call.detail[0]);
    if (call.detail[1] != 0) text += fmt::format(", {}", call.detail[1]);
    if (call.op != CallSignature::none)
      text += fmt::format(", operator {}", name_of_operator(call.op));
    if (call.root != CallSignature::none) text += fmt::format(", root {}", call.root);
    if (call.number != 0) text += fmt::format(", its call {}", call.number);
    text += ")";
  }
  if (call.invalid) text += ", which is invalid";
  return text;
}

bool agree(const CallSignature& a, const CallSignature& b) {
  const auto numbers = [](const CallSignature& call) {
    const TransferShape& shape = call.shape;
    return std::tuple(call.detail[0], call.detail[1], shape.rows, shape.cols, shape.chunk_rows,
                      shape.chunk_cols, shape.element, call.lanes, call.root, call.op,
                      call.invalid);
  };
  return std::strcmp(a.name, b.name) == 0 && ((a.invalid && b.invalid) || numbers(a) == numbers(b));
}

}  // namespace muster
