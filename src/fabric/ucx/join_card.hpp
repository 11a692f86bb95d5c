// What a rank brings to the meeting of all.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace muster::ucx {

struct JoinCard {
  std::uint32_t max_lanes = 0;
  std::string near;     // Near::open
  std::string address;  // of UCX's worker
};

inline constexpr std::uint32_t join_version = 1;

[[nodiscard]] inline std::string packed(const JoinCard& card) {
  const std::uint32_t head[] = {join_version, card.max_lanes,
                                static_cast<std::uint32_t>(card.near.size())};
  std::string bytes(reinterpret_cast<const char*>(head), sizeof head);
  return bytes + card.near + card.address;
}

// Nothing where another version has packed it.
[[nodiscard]] inline std::optional<JoinCard> unpacked(std::string_view bytes) {
  std::uint32_t head[3] = {};
  if (bytes.size() < sizeof head) return std::nullopt;
  std::memcpy(head, bytes.data(), sizeof head);
  bytes.remove_prefix(sizeof head);
  if (head[0] != join_version || head[2] > bytes.size()) return std::nullopt;
  return JoinCard{head[1], std::string(bytes.substr(0, head[2])),
                  std::string(bytes.substr(head[2]))};
}

}  // namespace muster::ucx
