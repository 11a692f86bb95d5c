// How two that meet over a socket make sure that the other belongs to the job, before either takes
// or tells anything.
//
//   guest -> host   greeting, the guest's nonce                                      40 bytes
//   host -> guest   greeting, the host's nonce                                       40 bytes
//   guest -> host   who the guest is; MAC(token, "guest", both nonces, who it is)   108 bytes
//   host -> guest   verdict; MAC(token, "host", both nonces, who the guest is)       40 bytes
//
// The guest proves first: connecting is easier than being connected to, so a stranger who connects
// has nothing to guess a token by. Both keys of the frames that follow come from the token and both
// nonces, so nothing that was recorded can be played again. All sizes are fixed, so a stranger
// cannot make anybody keep more than those bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "muster/result.hpp"
#include "net/channel.hpp"
#include "net/place.hpp"

namespace muster::detail::net {

// Who comes: a rank, or the launcher of a host with all its ranks.
struct Member {
  std::uint32_t index = 0;    // among the members
  std::uint32_t members = 1;  // of the whole job
  std::uint32_t count = 1;    // its ranks
  std::string host;           // for messages alone
};

// Tokens are secrets: at least so many bytes. Errors: invalid_argument.
inline constexpr std::size_t shortest_token = 16;
[[nodiscard]] Result<void> check_token(std::string_view token);

// The host's side of one greeting, which never blocks.
class Guest {
 public:
  Guest(Fd connection, Clock::time_point until);

  enum class State : std::uint8_t { talking, known, turned_away, gone };

  // There is something to read: goes on. Once `known`, member() says who it is; `turned_away` has
  // not proved that it has the token.
  State hear(std::string_view token);
  [[nodiscard]] const Member& member() const { return member_; }
  void close() { connection_.reset(); }
  // Lets a known guest in.
  [[nodiscard]] Channel let_in(std::string_view token, std::uint64_t longest);

  [[nodiscard]] int fd() const { return connection_.get(); }
  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] Clock::time_point until() const { return until_; }

 private:
  State on_greeting();
  State on_proof(std::string_view token);

  Fd connection_;
  std::string address_;
  Clock::time_point until_;  // it is sent away then
  std::string in_;
  bool greeted_ = false;
  Nonce own_{};
  std::string its_;  // its nonce
  std::string who_;
  Member member_;
};

enum class Refusal : std::uint8_t {
  none,
  not_there,  // nobody listens, or it ended the greeting: try again
  other_job,  // it does not know the token
  other_version,
  no_muster,  // what it says is no greeting
  silent,     // says nothing
};

struct Greeted {
  std::optional<Channel> channel;
  Refusal refusal = Refusal::none;
};

// The guest's side, over a connection that is made; blocks, not longer than `until`.
[[nodiscard]] Greeted greet(Fd connection, std::string_view token, const Member& self,
                            std::uint64_t longest, Clock::time_point until);

}  // namespace muster::detail::net
