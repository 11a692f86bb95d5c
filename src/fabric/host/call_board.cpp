#include "fabric/host/call_board.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

#include "base/call_words.hpp"

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

// All that is compared, bar the name.
Words words_of(const CallSignature& call) {
  const auto word = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  const auto both = [](std::uint64_t low, std::uint64_t high) { return high << 32U | low; };
  const TransferShape& shape = call.shape;
  return {call.detail[0],
          call.detail[1],
          word(shape.rows),
          word(shape.cols),
          word(shape.chunk_rows),
          word(shape.chunk_cols),
          shape.element,
          both(call.lanes, call.root),
          both(call.op, call.invalid ? 1 : 0)};
}

CallSignature call_of(const char* name, const Words& words, std::uint64_t number) {
  const auto low = [](std::uint64_t word) { return static_cast<std::uint32_t>(word); };
  const auto value = [](std::uint64_t word) { return static_cast<std::int64_t>(word); };
  CallSignature call;
  call.name = name;
  call.detail[0] = words[0];
  call.detail[1] = words[1];
  call.shape = {value(words[2]), value(words[3]), value(words[4]), value(words[5]), words[6]};
  call.lanes = low(words[7]);
  call.root = low(words[7] >> 32U);
  call.op = low(words[8]);
  call.invalid = words[8] >> 32U != 0;
  call.number = low(number);
  return call;
}

}  // namespace

void CallBoard::write(std::uint32_t lane, std::uint64_t number, const CallSignature& call) {
  CallRecord& record = records[lane][number % laps];
  record.number.store(0);
  const Name name = words_of(call.name);
  for (std::size_t i = 0; i < name.size(); ++i) record.name[i].store(name[i]);
  const Words words = words_of(call);
  for (std::size_t i = 0; i < words.size(); ++i) record.words[i].store(words[i]);
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
  Words words{};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = record.words[i].load();
  const std::uint64_t own_number = record.own_number.load();
  if (record.number.load() != number) return {};
  if (words[1] == set_up_call && call.detail[1] == set_up_call) return {};
  const CallSignature theirs =
      call_of(reinterpret_cast<const char*>(name.data()), words, own_number);
  const Name own_name = words_of(call.name);
  CallSignature own = call;
  own.name = reinterpret_cast<const char*>(own_name.data());  // as short as theirs
  return agree(theirs, own) ? std::string() : to_string(theirs);
}

}  // namespace muster::host
