// Where the hub receives the other members: the only place at which a stranger is heard.
#pragma once

#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "net/star.hpp"

namespace muster::detail::net {

// Bounds on what strangers can make the hub hold. Who connects has `guest_patience` to prove that
// it has the token; there are never more than most_guests that have not yet, and a new one takes
// the place of the oldest of the address that has the most of them, so that one host that floods
// the port does not keep the others out. Who lost its place so comes again.
inline constexpr std::size_t most_guests = 128;
inline constexpr std::chrono::seconds guest_patience{3};

// A member that has come and ended may have a successor, for so long.
inline constexpr std::chrono::milliseconds for_a_successor{500};

class Door {
 public:
  Door(Fd listener, const StarOptions& options);

  // All members but the hub, in order; all others have been turned away. Errors: as Star::host, and
  // those that have come have been told.
  [[nodiscard]] Result<std::vector<Star::Seat>> receive_all();

 private:
  [[nodiscard]] bool all_are_here() const;
  [[nodiscard]] std::optional<Error> why_not(Clock::time_point now, Clock::time_point until) const;
  [[nodiscard]] Clock::time_point next_deadline(Clock::time_point until) const;
  void turn(Clock::time_point until);
  void accept_some();
  void make_room();
  void hear(Guest& guest);
  void seat(Guest& guest);
  [[nodiscard]] std::optional<Error> objection(const Guest& guest) const;
  void look_at_seats(const std::vector<pollfd>& polled);
  [[nodiscard]] Error missing() const;

  Fd listener_;
  const StarOptions& options_;
  std::list<Guest> guests_;  // the oldest first
  std::vector<Star::Seat> seats_;
  std::vector<std::string> addresses_;  // of the seats
  std::map<std::uint32_t, Clock::time_point> left_;
  std::uint64_t turned_away_ = 0;
  bool exhausted_ = false;  // members have all descriptors that there are
};

}  // namespace muster::detail::net
