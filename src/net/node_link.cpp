#include "net/node_link.hpp"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <utility>

#include "net/bytes.hpp"

namespace muster::detail::net {
namespace {

// Notices of launchers.
constexpr std::uint32_t failed = kind::first_notice;      // rank, status, a line about it
constexpr std::uint32_t signal = kind::first_notice + 1;  // its number
constexpr std::uint32_t done = kind::first_notice + 2;    // status: all own ranks have ended
constexpr std::uint32_t over = kind::first_notice + 3;    // status of the job

constexpr std::chrono::seconds for_news_of_a_death{1};

std::string pack(std::initializer_list<std::uint32_t> numbers, std::string_view text = {}) {
  std::string bytes;
  for (const std::uint32_t number : numbers) put_number(bytes, number);
  return bytes += text;
}

std::uint32_t as_number(int status) {
  return static_cast<std::uint32_t>(status);
}

}  // namespace

NodeLink::NodeLink(std::unique_ptr<Star> star, std::uint32_t count)
    : star_(std::move(star)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      events_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      done_(star_->seats().size()) {
  open_ = wake_.is_open() && events_.is_open();
  for (std::uint32_t local = 0; open_ && local < count; ++local) {
    std::array<int, 2> ends{};
    open_ = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0;
    if (!open_) break;
    ends_.emplace_back(ends[0]);
    ranks_.emplace_back(std::in_place, Fd(ends[1]), std::nullopt, longest_from_member);
  }
  const auto to_all = [this](std::uint32_t kind, const std::string& bytes) {
    for (auto& rank : ranks_) rank->send(kind, bytes);
  };
  star_->on_result = [to_all](const std::string& result) { to_all(kind::result, result); };
  star_->on_failure = [to_all](const Error& error) { to_all(kind::failure, net::pack(error)); };
  star_->on_notice = [this](std::uint32_t member, const Frame& frame) { on_notice(member, frame); };
  star_->on_end = [this](std::uint32_t member, const std::string& why) { on_end(member, why); };
}

NodeLink::~NodeLink() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard guard(mutex_);
    stops_ = true;
  }
  wake();
  thread_.join();
}

void NodeLink::start() {
  ends_.clear();
  thread_ = std::thread([this] { loop(); });
}

void NodeLink::wake() const {
  eventfd_write(wake_.get(), 1);
}

launcher::Elsewhere NodeLink::elsewhere() {
  const auto ask = [this](std::uint32_t kind, std::string bytes) {
    {
      const std::lock_guard guard(mutex_);
      asked_.push_back({kind, std::move(bytes)});
    }
    wake();
  };
  launcher::Elsewhere elsewhere;
  elsewhere.events = events_.get();
  elsewhere.next = [this]() -> std::optional<launcher::RemoteEvent> {
    const std::lock_guard guard(mutex_);
    eventfd_t count = 0;
    if (reported_.empty()) return eventfd_read(events_.get(), &count), std::nullopt;
    launcher::RemoteEvent event = std::move(reported_.front());
    reported_.pop_front();
    return event;
  };
  elsewhere.pass_on = [ask](int number) { ask(signal, pack({as_number(number)})); };
  elsewhere.failed = [ask](std::uint32_t rank, int status, const std::string& line) {
    ask(failed, pack({rank, as_number(status)}, line));
  };
  elsewhere.ended = [ask](int status) { ask(done, pack({as_number(status)})); };
  return elsewhere;
}

void NodeLink::report(const launcher::RemoteEvent& event) {
  {
    const std::lock_guard guard(mutex_);
    reported_.push_back(event);
  }
  eventfd_write(events_.get(), 1);
}

// ---- the thread

void NodeLink::loop() {
  std::vector<pollfd> polled;
  for (;;) {
    do_what_was_asked();
    const bool sends = star_->has_more_to_send();
    {
      const std::lock_guard guard(mutex_);
      if (stops_ && asked_.empty() && (!sends || !over_)) return;
    }
    polled.assign({{wake_.get(), POLLIN, 0}});
    for (const auto& rank : ranks_) {
      const bool waits = rank->is_open() && rank->has_more_to_send();
      polled.push_back({rank->is_open() ? rank->fd() : -1,
                        static_cast<short>(waits ? POLLIN | POLLOUT : POLLIN), 0});
    }
    star_->watch(polled);
    poll(polled.data(), polled.size(), milliseconds_until(star_->next_deadline()));
    for (std::uint32_t local = 0; local < ranks_.size(); ++local) {
      if ((polled[local + 1].revents & POLLOUT) != 0) ranks_[local]->flush();
      if (polled[local + 1].revents != 0) hear_rank(local);
    }
    star_->handle(std::span(polled).subspan(1 + ranks_.size()));
  }
}

void NodeLink::hear_rank(std::uint32_t local) {
  Channel& rank = *ranks_[local];
  while (const auto frame = rank.receive()) {
    const Entry entry = unpack_entry(frame->bytes);
    if (frame->kind == kind::entry)
      star_->contribute(star_->first() + local, entry.bytes, entry.within);
  }
  // It may have all that it wanted.
  if (!rank.is_open()) star_->leave(star_->first() + local);
}

void NodeLink::do_what_was_asked() {
  std::deque<Frame> asked;
  {
    const std::lock_guard guard(mutex_);
    eventfd_t count = 0;
    eventfd_read(wake_.get(), &count);
    asked.swap(asked_);
  }
  for (const Frame& frame : asked) {
    if (!star_->is_hub()) {
      star_->tell(frame.kind, frame.bytes);
    } else if (frame.kind == signal) {
      star_->tell(signal, frame.bytes);
    } else {
      on_notice(0, frame);
    }
  }
}

// At the hub: to all but whom it comes from.
void NodeLink::spread(std::uint32_t from, std::uint32_t kind, const std::string& bytes) {
  if (star_->is_hub()) star_->tell(kind, bytes, from);
}

void NodeLink::on_notice(std::uint32_t member, const Frame& frame) {
  Reader reader(frame.bytes);
  const auto first = reader.number<std::uint32_t>();
  if (frame.kind == signal) {
    launcher::RemoteEvent event;
    event.signal = static_cast<int>(first);
    report(event);
    spread(member, signal, frame.bytes);
  } else if (frame.kind == failed) {
    const auto status = static_cast<int>(reader.number<std::uint32_t>());
    note_failure(member, first, status, std::string(reader.rest()));
  } else if (frame.kind == done && star_->is_hub()) {
    note_done(member, static_cast<int>(first));
  } else if (frame.kind == over && !star_->is_hub()) {
    say_over(static_cast<int>(first));
  }
}

void NodeLink::note_failure(std::uint32_t from, std::uint32_t rank, int status,
                            const std::string& line) {
  // The first that the hub hears of decides, and all others are told of it alone. But news of a
  // death may come after that of those whom it made fail.
  if (status_) {
    const bool died = status > 128 && *status_ <= 128;
    if (died && Clock::now() - failed_at_ < for_news_of_a_death) status_ = status;
    return;
  }
  status_ = status;
  failed_at_ = Clock::now();
  const bool own = star_->is_hub() && from == 0;
  const std::string host = star_->is_hub() ? star_->host_of(from) : "";
  const std::string told = star_->is_hub() ? fmt::format("{} (on {})", line, host) : line;
  if (!own) {
    launcher::RemoteEvent event;
    event.line = told;
    event.failed = status;
    event.rank = rank;
    report(event);
  }
  spread(from, failed, pack({rank, as_number(status)}, told));
}

void NodeLink::note_done(std::uint32_t member, int status) {
  done_[member] = true;
  if (status != 0 && !status_) status_ = status;
  if (!std::ranges::all_of(done_, std::identity{})) return;
  star_->tell(over, pack({as_number(status_.value_or(0))}));
  say_over(status_.value_or(0));
}

void NodeLink::say_over(int status) {
  if (over_) return;
  over_ = true;
  launcher::RemoteEvent event;
  event.over = status;
  report(event);
}

void NodeLink::on_end(std::uint32_t member, const std::string& why) {
  if (over_) return;
  const std::string line = fmt::format("{} {}", star_->name_of(member), why);
  const std::uint32_t rank = star_->is_hub() ? star_->seats()[member].first : 0;
  star_->fail({ErrorCode::peer_lost, line, {}, {}, Rank{rank}});
  if (!star_->is_hub()) {
    note_failure(0, rank, 1, line);
    return say_over(1);
  }
  if (done_[member]) return;
  note_failure(member, rank, 1, line);
  note_done(member, 1);
}

}  // namespace muster::detail::net
