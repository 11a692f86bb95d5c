#include "fabric/host/call_board.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

namespace muster::host {
namespace {

using Name = std::array<std::uint64_t, CallRecord::name_words>;

Name words_of(const char* name) {
  Name words{};
  const std::size_t length = std::strlen(name);
  if (length < sizeof words) {
    std::memcpy(words.data(), name, length);
    return words;
  }
  // Names that differ further behind must differ here: the end is "...", and a digest in hex.
  const std::string shown =
      fmt::format("{:.20}...{:016x}", name, std::hash<std::string_view>{}(name));
  std::memcpy(words.data(), shown.data(), std::min(shown.size(), sizeof words - 1));
  return words;
}

using Words = std::array<std::uint64_t, CallRecord::other_words>;

Words words_of(const CallSignature& call) {
  const auto word = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  const TransferShape& shape = call.shape;
  return {word(shape.rows),       word(shape.cols), word(shape.chunk_rows),
          word(shape.chunk_cols), shape.element,    call.lanes};
}

std::string in_words(const std::string& name, std::uint64_t first, std::uint64_t second,
                     const Words& others, std::uint64_t number) {
  if (second == set_up_call) return name;
  std::string text = name;
  const auto [rows, cols, chunk_rows, chunk_cols, element, lanes] = others;
  if (rows != 0 || cols != 0)
    text += fmt::format(" of {} x {} {}", rows, cols, name_of_element(element));
  if (chunk_rows != 0 || chunk_cols != 0)
    text += fmt::format(" in chunks of {} x {}{}", chunk_rows, chunk_cols,
                        second != 0 ? ", pipelined" : "");
  if (lanes != 0) text += fmt::format(" of {} lanes", lanes);
  if (first == CallSignature::no_cell) return text;
  text += fmt::format(" (cell {}", first);
  if (second != 0) text += fmt::format(", {}", second);
  if (number != 0) text += fmt::format(", its call {}", number);
  return text + ")";
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
  return in_words(call.name, call.detail[0], call.detail[1], words_of(call), call.number);
}

void CallBoard::write(std::uint32_t lane, std::uint64_t number, const CallSignature& call) {
  CallRecord& record = records[lane][number % laps];
  record.number.store(0);
  const Name name = words_of(call.name);
  for (std::size_t i = 0; i < name.size(); ++i) record.name[i].store(name[i]);
  for (std::size_t i = 0; i < 2; ++i) record.detail[i].store(call.detail[i]);
  const Words others = words_of(call);
  for (std::size_t i = 0; i < others.size(); ++i) record.others[i].store(others[i]);
  record.own_number.store(call.number);
  // All of it is sequentially consistent: of two ranks that write and then look at each other, at
  // least one sees the other's record (store buffering).
  record.number.store(number);
}

std::string CallBoard::differs(std::uint32_t lane, std::uint64_t number,
                               const CallSignature& call) const {
  const CallRecord& record = records[lane][number % laps];
  if (record.number.load() != number) return {};
  Name name{};
  for (std::size_t i = 0; i < name.size(); ++i) name[i] = record.name[i].load();
  const std::uint64_t first = record.detail[0].load();
  const std::uint64_t second = record.detail[1].load();
  Words others{};
  for (std::size_t i = 0; i < others.size(); ++i) others[i] = record.others[i].load();
  const std::uint64_t own_number = record.own_number.load();
  if (record.number.load() != number) return {};
  if (second == set_up_call && call.detail[1] == set_up_call) return {};
  if (name == words_of(call.name) && first == call.detail[0] && second == call.detail[1] &&
      others == words_of(call))
    return {};
  return in_words(reinterpret_cast<const char*>(name.data()), first, second, others, own_number);
}

}  // namespace muster::host
