// The members of a job around one of them, the hub: what each brings goes to the hub, and what all
// have brought goes from there to each. Connections are made once, when the job begins, and nobody
// listens afterwards. P - 1 connections, and P entries over each (see docs/network.md).
//
// A member is a rank, or the launcher of a host with all its ranks. Nothing here starts a thread or
// blocks once the members have met: whoever has a Star polls what watch() names and calls handle().
#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/result.hpp"
#include "net/greeting.hpp"
#include "net/place.hpp"
#include "net/round.hpp"
#include "net/wire.hpp"

namespace muster::detail::net {

// Of those that have not come, a message names so many.
inline constexpr std::uint32_t most_named = 16;

struct StarOptions {
  std::string token;
  Member self;  // index 0 is the hub
  std::chrono::nanoseconds join_within{std::chrono::seconds(30)};
  std::chrono::seconds keepalive{10};
  std::string where;          // they meet, for messages
  const char* noun = "rank";  // what a member is called in messages: rank, node
  // More about a member that has not come, for messages: " of node 2"; may be empty.
  std::function<std::string(std::uint32_t index)> about;
};

class Star {
 public:
  // A member that sits at the hub, or the hub itself at a leaf.
  struct Seat {
    Member member;
    std::uint32_t first = 0;  // rank
    std::optional<Channel> channel;
  };

  // The hub: returns when all members have come, and tells them so. Errors: expired, which names
  // those that have not come; peer_lost where one came and ended; unavailable where another listens
  // there; invalid_argument, such as a token that is too short.
  [[nodiscard]] static Result<std::unique_ptr<Star>> host(Fd listener, StarOptions options);
  // The others. Errors: those of the hub, and unavailable where another job's hub is there.
  [[nodiscard]] static Result<std::unique_ptr<Star>> join(const std::vector<Place>& places,
                                                          StarOptions options);

  [[nodiscard]] bool is_hub() const { return options_.self.index == 0; }
  [[nodiscard]] std::uint32_t first() const { return first_; }  // of the own ranks
  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }  // of the whole job

  // An own rank brings its entry to the round; `within`: how long it waits for the others.
  void contribute(std::uint32_t rank, std::string_view bytes, std::chrono::nanoseconds within);
  // An own rank has ended, or will bring nothing more: fails a round that waits for it.
  void leave(std::uint32_t rank);
  // For this member and all others: what was brought, or why there will be nothing more. One of the
  // two is called, from contribute() or handle().
  std::function<void(const std::string& result)> on_result;
  std::function<void(const Error& error)> on_failure;
  // Ends the rounds, here and at all others.
  void fail(const Error& error);

  // What launchers tell each other besides; from a leaf to the hub, from the hub to all leaves but
  // `but`.
  void tell(std::uint32_t kind, std::string_view bytes, std::uint32_t but = 0);
  std::function<void(std::uint32_t member, const Frame& frame)> on_notice;
  // A member's connection has ended. Not set: the rounds fail.
  std::function<void(std::uint32_t member, const std::string& why)> on_end;

  // Adds what is to be polled; what poll has made of it; when to call handle() at the latest.
  void watch(std::vector<pollfd>& polled) const;
  void handle(std::span<const pollfd> polled);
  [[nodiscard]] Clock::time_point next_deadline() const;
  [[nodiscard]] bool has_more_to_send() const;

  // "rank 3 on node-b": with the host where the member has come.
  [[nodiscard]] std::string name_of(std::uint32_t member) const;
  [[nodiscard]] const std::string& host_of(std::uint32_t member) const {
    return seats_[member].member.host;  // at the hub
  }
  [[nodiscard]] std::string name_of_rank(std::uint32_t rank) const;
  // Members of the job by their first rank and host, in order; a leaf knows the hub and itself.
  [[nodiscard]] const std::vector<Seat>& seats() const { return seats_; }

 private:
  Star(StarOptions options, std::vector<Seat> seats, std::uint32_t first, std::uint32_t ranks);

  void on_frame(std::uint32_t seat, const Frame& frame);
  void on_entry(std::uint32_t seat, const Frame& frame);
  void on_closed(std::uint32_t seat, const std::string& why);
  void take(std::uint32_t rank, std::string_view bytes, std::chrono::nanoseconds within);
  void on_left(std::uint32_t rank);
  void on_late();
  void accept_failure(const Error& error);

  StarOptions options_;
  std::vector<Seat> seats_;  // hub: by member, itself without a channel; leaf: the hub
  std::uint32_t first_ = 0;
  std::uint32_t ranks_ = 1;
  Round round_;
  std::set<std::uint32_t> left_;                 // hub: ranks that bring nothing more
  std::optional<Clock::time_point> leaf_until_;  // the hub's answer has to come by then
  std::optional<Error> failed_;
};

// All own entries of one member in turn are one rank's: blocks until the round is over. What a Star
// of ranks does in all_gather.
void run_until(Star& star, const std::function<bool()>& done, Clock::time_point until);

}  // namespace muster::detail::net
