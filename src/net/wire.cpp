#include "net/wire.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "net/bytes.hpp"

namespace muster::detail::net {

std::string pack_entry(std::uint32_t rank, std::chrono::nanoseconds within,
                       std::string_view bytes) {
  std::string packed;
  put_number(packed, rank);
  put_number(packed, static_cast<std::uint64_t>(std::max<std::int64_t>(within.count(), 0)));
  packed += bytes;
  return packed;
}

Entry unpack_entry(std::string_view bytes) {
  Reader reader(bytes);
  Entry entry;
  entry.rank = reader.number<std::uint32_t>();
  entry.within = std::chrono::nanoseconds(reader.number<std::uint64_t>());
  entry.bytes = reader.rest();
  return entry;
}

std::string pack(const Error& error) {
  std::string packed;
  put_number(packed, static_cast<std::uint32_t>(error.code));
  put_number(packed, static_cast<std::uint32_t>(error.peer ? 1 : 0));
  put_number(packed, error.peer.value_or(Rank{0}).value);
  packed += error.what;
  return packed;
}

Error unpack_error(std::string_view bytes) {
  Reader reader(bytes);
  Error error;
  error.code = static_cast<ErrorCode>(
      std::min(reader.number<std::uint32_t>(), static_cast<std::uint32_t>(ErrorCode::system)));
  const auto has_peer = reader.number<std::uint32_t>();
  const Rank peer{reader.number<std::uint32_t>()};
  if (has_peer != 0) error.peer = peer;
  error.what = reader.rest();
  return error;
}

Result<std::vector<std::string>> unpack_result(std::string_view bytes, std::uint32_t ranks) {
  Reader reader(bytes);
  std::vector<std::string> entries;
  for (std::uint32_t rank = 0; rank < ranks && reader.is_whole(); ++rank)
    entries.emplace_back(reader.text());
  if (reader.is_whole() && reader.is_empty()) return entries;
  return Error{ErrorCode::mismatch,
               fmt::format("what came from the hub are not the entries of {} ranks", ranks)};
}

Result<void> check_entry(std::string_view bytes) {
  if (bytes.size() <= most_entry_bytes) return {};
  return Error{ErrorCode::invalid_argument,
               fmt::format("a rank brings {} bytes to the others; it may bring {} at most",
                           bytes.size(), most_entry_bytes)};
}

std::string in_seconds(std::chrono::nanoseconds time) {
  return fmt::format("{:.3g} s", std::chrono::duration<double>(time).count());
}

}  // namespace muster::detail::net
