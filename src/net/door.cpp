#include "net/door.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/descriptor_limit.hpp"
#include "net/bytes.hpp"

namespace muster::detail::net {
namespace {

constexpr int most_accepted_at_once = 64;  // then those who are here have their turn

}  // namespace

Door::Door(Fd listener, const StarOptions& options)
    : listener_(std::move(listener)),
      options_(options),
      seats_(options.self.members),
      addresses_(options.self.members) {
  seats_[0].member = options.self;
}

bool Door::all_are_here() const {
  return std::all_of(seats_.begin() + 1, seats_.end(),
                     [](const Star::Seat& seat) { return seat.channel.has_value(); });
}

Result<std::vector<Star::Seat>> Door::receive_all() {
  const auto until = Clock::now() + options_.join_within;
  while (!all_are_here()) {
    turn(until);
    // Who came last may have come for a place that another has just left.
    if (const auto error = why_not(Clock::now(), until)) {
      for (Star::Seat& seat : seats_) {
        if (seat.channel) seat.channel->send(kind::failure, pack(*error));
      }
      return *error;
    }
  }
  return std::move(seats_);
}

std::optional<Error> Door::why_not(Clock::time_point now, Clock::time_point until) const {
  if (all_are_here()) return std::nullopt;
  for (const auto& [member, when] : left_) {
    if (now < when + for_a_successor) continue;
    return Error{ErrorCode::peer_lost,
                 fmt::format("{} {} on {} came and ended before all had come", options_.noun,
                             member, seats_[member].member.host),
                 {},
                 {},
                 Rank{member}};
  }
  if (exhausted_) {
    return Error{
        ErrorCode::system,
        fmt::format("{} 0 has no descriptor left for all {} {}s; it may have {} open "
                    "(ulimit -Hn)",
                    options_.noun, seats_.size(), options_.noun, DescriptorLimit::current())};
  }
  if (now >= until) return missing();
  return std::nullopt;
}

Clock::time_point Door::next_deadline(Clock::time_point until) const {
  for (const auto& [member, when] : left_) until = std::min(until, when + for_a_successor);
  if (!guests_.empty()) until = std::min(until, guests_.front().until());
  return until;
}

void Door::turn(Clock::time_point until) {
  std::vector<pollfd> polled{{listener_.get(), POLLIN, 0}};
  for (const Guest& guest : guests_) polled.push_back({guest.fd(), POLLIN, 0});
  for (const Star::Seat& seat : seats_) {
    if (seat.channel) polled.push_back({seat.channel->fd(), POLLIN, 0});
  }
  if (poll(polled.data(), polled.size(), milliseconds_until(next_deadline(until))) < 0) return;
  look_at_seats(polled);
  std::size_t at = 1;
  const auto now = Clock::now();
  for (auto guest = guests_.begin(); guest != guests_.end();) {
    const auto here = guest++;
    if (polled[at++].revents != 0) {
      hear(*here);
    } else if (now >= here->until()) {
      ++turned_away_;
    } else {
      continue;
    }
    if (here->fd() < 0 || now >= here->until()) guests_.erase(here);
  }
  if (polled[0].revents != 0) accept_some();
}

// ---- those who have not proved anything yet

void Door::accept_some() {
  for (int i = 0; i < most_accepted_at_once; ++i) {
    if (guests_.size() >= most_guests) make_room();
    Fd connection(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!connection.is_open()) {
      // No descriptor is left: one is made free, where strangers have any.
      const bool none_left = errno == EMFILE || errno == ENFILE;
      exhausted_ = none_left && guests_.empty();
      if (none_left && !exhausted_) make_room();
      return;
    }
    guests_.emplace_back(std::move(connection), Clock::now() + guest_patience);
  }
}

void Door::make_room() {
  std::map<std::string, std::size_t> by_address;
  for (const Guest& guest : guests_) ++by_address[guest.address()];
  const auto most =
      std::ranges::max_element(by_address, {}, [](const auto& entry) { return entry.second; });
  guests_.erase(std::ranges::find(guests_, most->first, &Guest::address));
  ++turned_away_;
}

void Door::hear(Guest& guest) {
  switch (guest.hear(options_.token)) {
    case Guest::State::talking: return;
    case Guest::State::known: seat(guest); break;
    case Guest::State::turned_away: ++turned_away_; break;
    case Guest::State::gone: break;
  }
  guest.close();
}

// ---- those who belong to the job

std::optional<Error> Door::objection(const Guest& guest) const {
  const Member& member = guest.member();
  const std::uint32_t members = options_.self.members;
  if (member.members != members) {
    return Error{
        ErrorCode::mismatch,
        fmt::format("{} {} on {} says that there are {} {}s, and {} 0 on {} that there are "
                    "{}",
                    options_.noun, member.index, member.host, member.members, options_.noun,
                    options_.noun, options_.self.host, members)};
  }
  if (member.index >= members || member.count == 0) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("{} {} with {} ranks comes to a job of {} {}s", options_.noun,
                             member.index, member.count, members, options_.noun)};
  }
  const Star::Seat& seat = seats_[member.index];
  if (member.index != 0 && !seat.channel) return std::nullopt;
  return Error{ErrorCode::invalid_argument,
               fmt::format("{} {} is claimed by two processes: on {} ({}), and then on {} ({})",
                           options_.noun, member.index, seat.member.host,
                           member.index == 0 ? "the one that listens" : addresses_[member.index],
                           member.host, guest.address())};
}

void Door::seat(Guest& guest) {
  const auto error = objection(guest);
  const Member member = guest.member();
  tune(guest.fd(), options_.keepalive);
  const std::string address = peer_of(guest.fd());
  Channel channel = guest.let_in(options_.token, longest_from_member);
  if (error) return channel.send(kind::failure, pack(*error));
  addresses_[member.index] = address;
  seats_[member.index].member = member;
  seats_[member.index].channel = std::move(channel);
  left_.erase(member.index);
}

// A member that has come says nothing before the start: what there is to read is its end.
void Door::look_at_seats(const std::vector<pollfd>& polled) {
  auto next = polled.begin();  // turn() has named them in this order
  for (Star::Seat& seat : seats_) {
    if (!seat.channel) continue;
    next = std::ranges::find(next, polled.end(), seat.channel->fd(), &pollfd::fd);
    if (next == polled.end()) return;
    if (next->revents == 0) continue;
    static_cast<void>(seat.channel->receive());
    if (seat.channel->is_open()) continue;
    seat.channel.reset();
    left_[seat.member.index] = Clock::now();
  }
}

Error Door::missing() const {
  std::vector<std::string> names;
  std::optional<Rank> first;
  std::uint32_t late = 0;
  for (std::uint32_t member = 1; member < seats_.size(); ++member) {
    if (seats_[member].channel) continue;
    if (!first) first = Rank{member};
    if (++late > most_named) continue;
    names.push_back(fmt::format("{} {}{}", options_.noun, member,
                                options_.about ? options_.about(member) : ""));
  }
  std::string text =
      fmt::format("{}{} ha{} not come to {} within {}", fmt::join(names, ", "),
                  late > most_named ? fmt::format(" and {} more", late - most_named) : "",
                  late == 1 ? "s" : "ve", options_.where, in_seconds(options_.join_within));
  if (turned_away_ > 0)
    text += fmt::format(" ({} connections without the job's token were turned away)", turned_away_);
  return {ErrorCode::expired, std::move(text), {}, {}, first};
}

// ---- the hub

Result<std::unique_ptr<Star>> Star::host(Fd listener, StarOptions options) {
  if (const auto token = check_token(options.token); !token) return token.error();
  Door door(std::move(listener), options);
  auto received = door.receive_all();
  if (!received) return received.error();
  std::uint32_t ranks = 0;
  for (Seat& seat : *received) {
    seat.first = ranks;
    ranks += seat.member.count;
  }
  for (Seat& seat : *received) {
    if (!seat.channel) continue;
    std::string start;
    put_number(start, seat.first);
    put_number(start, ranks);
    start += options.self.host;
    seat.channel->send(kind::start, start);
  }
  return std::unique_ptr<Star>(new Star(std::move(options), std::move(*received), 0, ranks));
}

}  // namespace muster::detail::net
