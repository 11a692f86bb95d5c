#include "net/star.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "net/bytes.hpp"

namespace muster::detail::net {
Star::Star(StarOptions options, std::vector<Seat> seats, std::uint32_t first, std::uint32_t ranks)
    : options_(std::move(options)),
      seats_(std::move(seats)),
      first_(first),
      ranks_(ranks),
      round_(ranks) {}

std::string Star::name_of(std::uint32_t member) const {
  for (const Seat& seat : seats_) {
    if (seat.member.index == member)
      return fmt::format("{} {} on {}", options_.noun, member, seat.member.host);
  }
  return fmt::format("{} {}", options_.noun, member);
}

std::string Star::name_of_rank(std::uint32_t rank) const {
  for (const Seat& seat : seats_) {
    if (rank >= seat.first && rank < seat.first + seat.member.count)
      return fmt::format("rank {} on {}", rank, seat.member.host);
  }
  return fmt::format("rank {}", rank);
}

// ---- rounds

void Star::contribute(std::uint32_t rank, std::string_view bytes, std::chrono::nanoseconds within) {
  if (failed_) {
    if (on_failure) on_failure(*failed_);
    return;
  }
  if (is_hub()) return take(rank, bytes, within);
  seats_[0].channel->send(kind::entry, pack_entry(rank, within, bytes));
  if (!leaf_until_) leaf_until_ = Clock::now() + within + for_the_hub_to_say_why;
}

void Star::take(std::uint32_t rank, std::string_view bytes, std::chrono::nanoseconds within) {
  if (failed_) return;
  if (!round_.add(rank, bytes, within)) {
    return fail({ErrorCode::mismatch,
                 fmt::format("{} has brought its part twice to one exchange", name_of_rank(rank)),
                 {},
                 {},
                 Rank{rank}});
  }
  if (!left_.empty()) return on_left(*left_.begin());
  if (!round_.is_complete()) return;
  const std::string result = round_.finish();
  for (Seat& seat : seats_) {
    if (seat.channel) seat.channel->send(kind::result, result);
  }
  if (on_result) on_result(result);
}

void Star::leave(std::uint32_t rank) {
  if (is_hub()) return on_left(rank);
  std::string bytes;
  put_number(bytes, rank);
  seats_[0].channel->send(kind::left, bytes);
}

void Star::on_left(std::uint32_t rank) {
  left_.insert(rank);
  if (!round_.has_begun() || round_.has_come(rank)) return;
  fail({ErrorCode::peer_lost,
        fmt::format("{} has ended, and the others wait for it", name_of_rank(rank)),
        {},
        {},
        Rank{rank}});
}

void Star::fail(const Error& error) {
  if (failed_) return;
  const std::string bytes = pack(error);
  for (Seat& seat : seats_) {
    if (is_hub() && seat.channel) seat.channel->send(kind::failure, bytes);
  }
  accept_failure(error);
}

void Star::accept_failure(const Error& error) {
  if (failed_) return;
  failed_ = error;
  leaf_until_.reset();
  if (on_failure) on_failure(error);
}

void Star::on_late() {
  if (!is_hub()) {
    return accept_failure({ErrorCode::expired,
                           fmt::format("{} has not answered in time", name_of(0)),
                           {},
                           {},
                           Rank{0}});
  }
  std::vector<std::string> names;
  std::optional<Rank> first;
  std::uint32_t late = 0;
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    if (round_.has_come(rank)) continue;
    if (!first) first = Rank{rank};
    if (++late <= most_named) names.push_back(name_of_rank(rank));
  }
  const std::string more = late > most_named ? fmt::format(" and {} more", late - most_named) : "";
  fail({ErrorCode::expired,
        fmt::format("{}{} ha{} not come within {}", fmt::join(names, ", "), more,
                    late == 1 ? "s" : "ve", in_seconds(round_.within())),
        {},
        {},
        first});
}

// ---- frames

void Star::tell(std::uint32_t kind, std::string_view bytes, std::uint32_t but) {
  for (Seat& seat : seats_) {
    if (seat.channel && (!is_hub() || seat.member.index != but)) seat.channel->send(kind, bytes);
  }
}

void Star::on_entry(std::uint32_t index, const Frame& frame) {
  const Seat& seat = seats_[index];
  const Entry entry = unpack_entry(frame.bytes);
  if (entry.rank < seat.first || entry.rank >= seat.first + seat.member.count) {
    return fail({ErrorCode::mismatch, fmt::format("{} speaks for rank {}, which is not its own",
                                                  name_of(seat.member.index), entry.rank)});
  }
  take(entry.rank, entry.bytes, entry.within);
}

void Star::on_frame(std::uint32_t index, const Frame& frame) {
  const std::uint32_t member = seats_[index].member.index;
  if (is_hub() && frame.kind == kind::entry) return on_entry(index, frame);
  if (is_hub() && frame.kind == kind::left) {
    const auto rank = Reader(frame.bytes).number<std::uint32_t>();
    const Seat& seat = seats_[index];
    if (rank >= seat.first && rank < seat.first + seat.member.count) on_left(rank);
    return;
  }
  if (!is_hub() && frame.kind == kind::result) {
    leaf_until_.reset();
    if (!failed_ && on_result) on_result(frame.bytes);
  } else if (!is_hub() && frame.kind == kind::failure) {
    accept_failure(unpack_error(frame.bytes));
  } else if (frame.kind >= kind::first_notice && on_notice) {
    on_notice(member, frame);
  }
}

void Star::on_closed(std::uint32_t index, const std::string& why) {
  const Seat& seat = seats_[index];
  if (on_end) return on_end(seat.member.index, why);
  fail({ErrorCode::peer_lost,
        fmt::format("{} {}", name_of(seat.member.index), why),
        {},
        {},
        Rank{seat.first}});
}

// ---- polling

void Star::watch(std::vector<pollfd>& polled) const {
  for (const Seat& seat : seats_) {
    if (!seat.channel || !seat.channel->is_open()) continue;
    const bool sends = seat.channel->has_more_to_send();
    polled.push_back(
        {seat.channel->fd(), static_cast<short>(sends ? POLLIN | POLLOUT : POLLIN), 0});
  }
}

void Star::handle(std::span<const pollfd> polled) {
  auto next = polled.begin();  // watch() has named them in this order
  for (std::uint32_t index = 0; index < seats_.size(); ++index) {
    auto& channel = seats_[index].channel;
    if (!channel || !channel->is_open()) continue;
    const auto found = std::ranges::find(next, polled.end(), channel->fd(), &pollfd::fd);
    if (found == polled.end()) continue;
    next = found + 1;
    if (found->revents == 0) continue;
    if ((found->revents & POLLOUT) != 0) channel->flush();
    while (const auto frame = channel->receive()) on_frame(index, *frame);
    if (!channel->is_open()) on_closed(index, channel->why());
  }
  if (Clock::now() >= next_deadline()) on_late();
}

Clock::time_point Star::next_deadline() const {
  if (failed_) return Clock::time_point::max();
  const auto until = is_hub() ? round_.until() : leaf_until_;
  return until.value_or(Clock::time_point::max());
}

bool Star::has_more_to_send() const {
  return std::ranges::any_of(seats_, [](const Seat& seat) {
    return seat.channel && seat.channel->is_open() && seat.channel->has_more_to_send();
  });
}

void run_until(Star& star, const std::function<bool()>& done, Clock::time_point until) {
  std::vector<pollfd> polled;
  while (!done() && Clock::now() < until) {
    polled.clear();
    star.watch(polled);
    const auto end = std::min(until, star.next_deadline());
    poll(polled.data(), polled.size(), milliseconds_until(end));
    star.handle(polled);
  }
}

}  // namespace muster::detail::net
