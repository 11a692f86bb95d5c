#include "team/handover.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/descriptor_message.hpp"
#include "base/step.hpp"

namespace muster::host {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct Address {
  sockaddr_un socket{};
  socklen_t length = 0;
};

// An abstract name leaves no file. It is drawn by chance, so that it is nobody's in another
// network namespace either.
Address address_of(std::uint64_t name) {
  const std::string text = fmt::format("muster-handover/{:016x}", name);
  Address address;
  address.socket.sun_family = AF_UNIX;
  std::memcpy(address.socket.sun_path + 1, text.data(), text.size());
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  return address;
}

Error system_error(const char* what) {
  return Error{ErrorCode::system, fmt::format("{}: {}", what, std::strerror(errno))};
}

Error no_descriptor_left() {
  return Error{ErrorCode::system,
               fmt::format("no descriptor is left to take a peer's memory with (this process may "
                           "have {} open: ulimit -n)",
                           DescriptorLimit::current())};
}

}  // namespace

// The names of sockets can be read by other users of the machine; the job's nonce cannot.
struct Handover::Parcel {
  std::uint64_t nonce;
  std::uint32_t from;  // team rank
  std::uint32_t reserved;
  std::uint64_t word;
};

Result<Handover> Handover::open() {
  Handover made;
  if (getrandom(&made.name_, sizeof made.name_, 0) != sizeof made.name_)
    return system_error("cannot draw a name for the socket that memory comes over");
  made.socket_ = Fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.socket_.is_open() && errno == EMFILE) return no_descriptor_left();
  if (!made.socket_.is_open())
    return system_error("cannot make the socket that peers' memory comes over");
  const Address address = address_of(made.name_);
  if (bind(made.socket_.get(), reinterpret_cast<const sockaddr*>(&address.socket),
           address.length) != 0)
    return system_error("cannot name the socket that peers' memory comes over");
  return made;
}

void Handover::remember(Error error) {
  if (!error_) error_ = std::move(error);
}

Handover::Sent Handover::send(const TeamContext& team, std::uint64_t name, const Parcel& parcel,
                              int fd) {
  const Address address = address_of(name);
  const ssize_t sent =
      send_with_descriptor(socket_.get(), &parcel, sizeof parcel, fd, 0,
                           reinterpret_cast<const sockaddr*>(&address.socket), address.length);
  if (sent == sizeof parcel) return Sent::yes;
  // A full queue, or too many descriptors on their way: both end as peers take theirs.
  if (errno == EAGAIN || errno == ENOBUFS || errno == ETOOMANYREFS) return Sent::not_yet;
  if (errno == ECONNREFUSED) {
    // Its socket stays as long as it lives and the call lasts.
    remember({ErrorCode::unavailable,
              "descriptors cannot be handed over: the socket is not there; a rank lives in another "
              "network namespace",
              team.rank()});
  } else {
    remember(system_error("cannot hand memory over"));
  }
  return Sent::never;
}

std::optional<std::uint32_t> Handover::receive(const TeamContext& team, const Take& take) {
  Parcel parcel{};
  DescriptorMessage message = receive_with_descriptor(socket_.get(), &parcel, sizeof parcel);
  if (message.bytes < 0) return std::nullopt;
  const bool ours = message.bytes == sizeof parcel && parcel.nonce == team.header().nonce;
  if (!ours || parcel.from >= team.size()) return team.size();  // a stranger's
  if (!message.descriptor.is_open()) {
    remember(no_descriptor_left());
  } else if (auto wrong = take(Rank{parcel.from}, std::move(message.descriptor), parcel.word)) {
    remember(std::move(*wrong));
  }
  return parcel.from;
}

Result<void> Handover::exchange(TeamContext& team, CallClock& call,
                                const std::vector<std::uint64_t>& names, int fd, std::uint64_t word,
                                const Take& take) {
  const Parcel parcel{team.header().nonce, team.rank().value, 0, word};
  std::vector<char> sent(team.size(), 0);
  std::vector<char> come(team.size(), 0);
  sent[team.rank().value] = come[team.rank().value] = 1;
  std::uint32_t to_send = team.size() - 1;
  std::uint32_t to_come = team.size() - 1;
  const auto now_ns = std::chrono::nanoseconds(Clock::now().time_since_epoch());
  const Clock::time_point begin(std::chrono::nanoseconds(call.turn_slow(now_ns.count())));
  auto next_look = Clock::time_point(now_ns) + milliseconds(50);
  while (to_send > 0 || to_come > 0) {
    bool moved = false;
    for (std::uint32_t step_to = 1; to_send > 0 && step_to < team.size(); ++step_to) {
      const std::uint32_t peer = (team.rank().value + step_to) % team.size();
      if (sent[peer]) continue;
      step(team.process().job_rank, "handover: send");
      const Sent how = send(team, names[peer], parcel, fd);
      if (how == Sent::not_yet) continue;
      sent[peer] = 1;
      moved = true;
      --to_send;
      // Nor does it reach us; it may also have died, which the look below tells.
      if (how == Sent::never && std::exchange(come[peer], 1) == 0) --to_come;
    }
    while (const auto from = receive(team, take)) {
      step(team.process().job_rank, "handover: received");
      if (*from < team.size() && std::exchange(come[*from], 1) == 0) --to_come;
      moved = true;
    }
    const auto now = Clock::now();
    if (now >= next_look || error_) {
      next_look = now + milliseconds(50);
      team.look_for_lost_peers();
    }
    if (team.status() != WaitStatus::ok) return team.failure();
    if (now - begin >= team.process().timeout) {
      Error late{ErrorCode::expired,
                 fmt::format("waited {} ms for the memory of {}, which lives",
                             team.process().timeout.count(),
                             team.called(Rank{static_cast<std::uint32_t>(
                                 std::ranges::find(come, 0) - come.begin())})),
                 team.rank()};
      team.fail(WaitStatus::aborted, team.process().job_rank,
                fmt::format("{}: a set-up call expired: {}", team.called(team.rank()), late.what));
      return late;
    }
    pollfd more{socket_.get(), POLLIN, 0};
    if (!moved) poll(&more, 1, to_send > 0 ? 1 : 50);
  }
  return error_ ? Result<void>(*error_) : Result<void>();
}

}  // namespace muster::host
