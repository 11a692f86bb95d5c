// What frames mean: their kinds, and errors as bytes.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "muster/result.hpp"

namespace muster::detail::net {

// What a member or a rank sends.
namespace kind {
inline constexpr std::uint32_t entry = 1;    // rank, nanoseconds that it waits, its bytes
inline constexpr std::uint32_t result = 2;   // a text for each rank
inline constexpr std::uint32_t failure = 3;  // an error
inline constexpr std::uint32_t start = 4;    // the first rank of the member, all ranks, hub's host
inline constexpr std::uint32_t left = 5;     // a rank that brings nothing more
inline constexpr std::uint32_t first_notice = 16;  // and above: of launchers
}  // namespace kind

// What one rank may bring to a round.
inline constexpr std::size_t most_entry_bytes = std::size_t{1} << 20U;
// The longest frame that the hub, or a launcher, takes from a member or a rank.
inline constexpr std::uint64_t longest_from_member = most_entry_bytes + 64;
inline constexpr std::uint64_t longest_from_hub = 0xffff'ffffU;

// Who is nearer to what is missing waits less long, so that the reason comes before the time is
// over for those that know less: the hub, then the others, then ranks behind their launcher.
inline constexpr std::chrono::milliseconds for_the_hub_to_say_why{1'000};

[[nodiscard]] std::string pack_entry(std::uint32_t rank, std::chrono::nanoseconds within,
                                     std::string_view bytes);
struct Entry {
  std::uint32_t rank = 0;
  std::chrono::nanoseconds within{0};
  std::string_view bytes;
};
[[nodiscard]] Entry unpack_entry(std::string_view bytes);

[[nodiscard]] std::string pack(const Error& error);
[[nodiscard]] Error unpack_error(std::string_view bytes);

// Errors: mismatch where it is no result of so many ranks.
[[nodiscard]] Result<std::vector<std::string>> unpack_result(std::string_view bytes,
                                                             std::uint32_t ranks);

// Errors: invalid_argument where a rank brings more than most_entry_bytes.
[[nodiscard]] Result<void> check_entry(std::string_view bytes);

// "2.5 s"
[[nodiscard]] std::string in_seconds(std::chrono::nanoseconds time);

}  // namespace muster::detail::net
