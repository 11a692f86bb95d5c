#include "fabric/host/call_board.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace muster::host {
namespace {

using Name = std::array<std::uint64_t, CallRecord::name_words>;

Name words_of(const char* name) {
  Name words{};
  std::memcpy(words.data(), name, std::min(std::strlen(name), sizeof words - 1));
  return words;
}

std::string in_words(const std::string& name, std::uint64_t first, std::uint64_t second) {
  if (second == set_up_call) return name;
  return second == 0 ? fmt::format("{} (cell {})", name, first)
                     : fmt::format("{} (cell {}, {})", name, first, second);
}

}  // namespace

std::string to_string(const Call& call) {
  return in_words(call.name, call.detail[0], call.detail[1]);
}

void CallBoard::write(std::uint32_t lane, std::uint64_t number, const Call& call) {
  CallRecord& record = records[lane][number % laps];
  record.number.store(0);
  const Name name = words_of(call.name);
  for (std::size_t i = 0; i < name.size(); ++i) record.name[i].store(name[i]);
  for (std::size_t i = 0; i < 2; ++i) record.detail[i].store(call.detail[i]);
  // All of it is sequentially consistent: of two ranks that write and then look at each other, at
  // least one sees the other's record (store buffering).
  record.number.store(number);
}

std::string CallBoard::differs(std::uint32_t lane, std::uint64_t number, const Call& call) const {
  const CallRecord& record = records[lane][number % laps];
  if (record.number.load() != number) return {};
  Name name{};
  for (std::size_t i = 0; i < name.size(); ++i) name[i] = record.name[i].load();
  const std::uint64_t first = record.detail[0].load();
  const std::uint64_t second = record.detail[1].load();
  if (record.number.load() != number) return {};
  if (second == set_up_call && call.detail[1] == set_up_call) return {};
  if (name == words_of(call.name) && first == call.detail[0] && second == call.detail[1]) return {};
  return in_words(reinterpret_cast<const char*>(name.data()), first, second);
}

}  // namespace muster::host
