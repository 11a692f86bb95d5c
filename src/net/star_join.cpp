// How a member comes to the hub.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "net/bytes.hpp"
#include "net/star.hpp"

namespace muster::detail::net {
namespace {

using namespace std::chrono_literals;

// One attempt: a hub that is flooded, or not there yet, answers late or never.
constexpr auto attempt = 3s;
// Who listens there and does not know the token may be a job that ends: it is asked again for so
// long.
constexpr auto for_another_job = 1s;

std::string why(Refusal refusal, int code) {
  switch (refusal) {
    case Refusal::silent: return "it does not answer";
    case Refusal::not_there:
      return code == 0 ? "it ends the connection" : std::string(std::strerror(code));
    default: return "";
  }
}

// Asked to its face, these do not change.
std::optional<Error> final_reason(Refusal refusal, const StarOptions& options) {
  const auto unavailable = [&](const char* what) {
    return Error{
        ErrorCode::unavailable, fmt::format("{}: {}", options.where, what), {}, {}, Rank{0}};
  };
  switch (refusal) {
    case Refusal::other_job:
      return unavailable("another job listens there, or this one has another token");
    case Refusal::other_version: return unavailable("another version of muster listens there");
    case Refusal::no_muster: return unavailable("what listens there is not muster");
    default: return std::nullopt;
  }
}

// A channel to the hub, which may not be listening yet; nothing tells when it is, so try again.
Result<Channel> reach_hub(const std::vector<Place>& places, const StarOptions& options,
                          Clock::time_point until) {
  auto pause = 2ms;
  std::optional<Clock::time_point> refused;
  std::string last;
  do {
    for (const Place& place : places) {
      const auto end = std::min(until, Clock::now() + attempt);
      Fd connection = connect_to(place, end);
      const int code = connection.is_open() ? 0 : errno;
      Greeted greeted{std::nullopt, Refusal::not_there};
      if (code == 0) {
        tune(connection.get(), options.keepalive);
        greeted = greet(std::move(connection), options.token, options.self, longest_from_hub, end);
      }
      if (greeted.channel) return std::move(*greeted.channel);
      const auto reason = final_reason(greeted.refusal, options);
      if (!reason) {
        last = why(greeted.refusal, code);
        continue;
      }
      if (!refused) refused = Clock::now();
      if (Clock::now() - *refused >= for_another_job) return *reason;
      last = reason->what;
    }
    std::this_thread::sleep_for(std::min<Clock::duration>(pause, until - Clock::now()));
    pause = std::min(2 * pause, 100ms);
  } while (Clock::now() < until);
  return Error{ErrorCode::expired,
               fmt::format("{} 0 has not come to {} within {}: {}", options.noun, options.where,
                           in_seconds(options.join_within), last),
               {},
               {},
               Rank{0}};
}

}  // namespace

Result<std::unique_ptr<Star>> Star::join(const std::vector<Place>& places, StarOptions options) {
  if (const auto token = check_token(options.token); !token) return token.error();
  const auto until = Clock::now() + options.join_within;
  auto channel = reach_hub(places, options, until);
  if (!channel) return channel.error();
  // The hub knows who is missing.
  const auto start_until = until + for_the_hub_to_say_why;
  std::optional<Frame> frame;
  while (!(frame = channel->receive()) && channel->is_open() && Clock::now() < start_until) {
    pollfd ready{channel->fd(), POLLIN, 0};
    poll(&ready, 1, milliseconds_until(start_until));
  }
  if (frame && frame->kind == kind::failure) return unpack_error(frame->bytes);
  if (!frame || frame->kind != kind::start) {
    const bool ended = !channel->is_open();
    return Error{ended ? ErrorCode::peer_lost : ErrorCode::expired,
                 fmt::format("{} 0 at {} {}", options.noun, options.where,
                             ended ? channel->why() + " before all had come"
                                   : "has not said that all have come"),
                 {},
                 {},
                 Rank{0}};
  }
  Reader reader(frame->bytes);
  Seat hub;
  const auto first = reader.number<std::uint32_t>();
  const auto ranks = reader.number<std::uint32_t>();
  hub.member.host = reader.rest();
  hub.member.members = options.self.members;
  hub.channel = std::move(*channel);
  std::vector<Seat> seats;
  seats.push_back(std::move(hub));
  return std::unique_ptr<Star>(new Star(std::move(options), std::move(seats), first, ranks));
}

}  // namespace muster::detail::net
