// A rendezvous as rank 0 sees it.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "launch/rendezvous_wire.hpp"

namespace muster::launcher {
namespace {

using namespace std::chrono_literals;

// A rank that has come says nothing more; what there is to read is the end of its connection.
bool has_left(const Fd& rank) {
  pollfd end{rank.get(), POLLIN, 0};
  return rank.is_open() && poll(&end, 1, 0) > 0;
}

class Gathering {
 public:
  Gathering(const LaunchedBy& self, Fd listener)
      : self_(self), listener_(std::move(listener)), ranks_(self.ranks), left_(self.ranks) {}

  // True when all have come, false when the time is over.
  [[nodiscard]] bool complete(Clock::time_point until);

  void hand_out(int memory);
  void refuse_all(const Error& error);
  [[nodiscard]] std::string missing() const;

 private:
  [[nodiscard]] bool everyone_is_here();
  void accept_all();
  void hear(Fd& guest);
  [[nodiscard]] std::optional<Error> objection(const Hello& hello) const;
  void notice_leaving(std::uint32_t rank);

  const LaunchedBy& self_;
  Fd listener_;
  std::vector<Fd> guests_;  // have connected and not said who they are
  std::vector<Fd> ranks_;   // by rank; closed: has not come
  std::vector<bool> left_;  // by rank: came, and closed its connection again
  std::uint32_t come_ = 1;  // rank 0 is here
};

bool Gathering::complete(Clock::time_point until) {
  while (!everyone_is_here()) {
    // The listener, then the guests, then the ranks; poll passes over a descriptor of -1.
    std::vector<pollfd> watched{{listener_.get(), POLLIN, 0}};
    for (const Fd& guest : guests_) watched.push_back({guest.get(), POLLIN, 0});
    const std::size_t first_rank = watched.size();
    for (const Fd& rank : ranks_) watched.push_back({rank.get(), POLLIN, 0});

    const int ready = poll(watched.data(), watched.size(), left_until(until));
    if (ready == 0) return false;
    if (ready < 0) continue;
    for (std::uint32_t rank = 0; rank < self_.ranks; ++rank) {
      if (watched[first_rank + rank].revents != 0) notice_leaving(rank);
    }
    for (std::size_t i = 0; i + 1 < first_rank; ++i) {
      if (watched[i + 1].revents != 0) hear(guests_[i]);
    }
    std::erase_if(guests_, [](const Fd& guest) { return !guest.is_open(); });
    if (watched[0].revents != 0) accept_all();
  }
  return true;
}

// Who came and left again before the last one came does not count.
bool Gathering::everyone_is_here() {
  if (come_ < self_.ranks) return false;
  for (std::uint32_t rank = 0; rank < self_.ranks; ++rank) {
    if (has_left(ranks_[rank])) notice_leaving(rank);
  }
  return come_ == self_.ranks;
}

void Gathering::accept_all() {
  for (;;) {
    Fd guest(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!guest.is_open()) return;
    if (is_own_user(guest.get())) {
      guests_.push_back(std::move(guest));
    } else {
      send_refusal(guest.get(), {ErrorCode::invalid_argument, "the job belongs to another user"});
    }
  }
}

void Gathering::hear(Fd& guest) {
  const auto hello = receive_hello(guest.get());
  // Who was there may have gone while its successor came.
  if (hello && hello->rank < self_.ranks && has_left(ranks_[hello->rank])) {
    notice_leaving(hello->rank);
  }
  const std::optional<Error> error =
      hello ? objection(*hello)
            : Error{ErrorCode::mismatch, "not a greeting of this version of muster"};
  if (error) {
    send_refusal(guest.get(), *error);
    guest.reset();
    return;
  }
  ranks_[hello->rank] = std::move(guest);
  left_[hello->rank] = false;
  ++come_;
}

std::optional<Error> Gathering::objection(const Hello& hello) const {
  if (hello.job_key != self_.job_key) {
    return Error{ErrorCode::invalid_argument, "this is another job"};
  }
  if (hello.ranks != self_.ranks) {
    return Error{ErrorCode::mismatch, fmt::format("rank {} says that the job has {} ranks, rank 0 "
                                                  "says {}",
                                                  hello.rank, hello.ranks, self_.ranks)};
  }
  if (hello.rank == 0 || hello.rank >= self_.ranks) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("rank is {}; who joins rank 0 has a rank from 1 to {}", hello.rank,
                             self_.ranks - 1)};
  }
  if (ranks_[hello.rank].is_open()) {
    return Error{ErrorCode::invalid_argument, fmt::format("rank {} is there already", hello.rank)};
  }
  return std::nullopt;
}

void Gathering::notice_leaving(std::uint32_t rank) {
  ranks_[rank].reset();
  left_[rank] = true;
  --come_;
}

void Gathering::hand_out(int memory) {
  // First the socket: who has the memory may come to the job's next meeting, and must not come
  // here.
  listener_.reset();
  guests_.clear();
  for (const Fd& rank : ranks_) {
    if (rank.is_open()) send_memory(rank.get(), memory);
  }
}

void Gathering::refuse_all(const Error& error) {
  accept_all();
  for (const auto* group : {&guests_, &ranks_}) {
    for (const Fd& connection : *group) {
      if (connection.is_open()) send_refusal(connection.get(), error);
    }
  }
}

std::string Gathering::missing() const {
  std::vector<std::string> names;
  for (std::uint32_t rank = 1; rank < self_.ranks; ++rank) {
    if (ranks_[rank].is_open()) continue;
    names.push_back(fmt::format("{}{}", rank, left_[rank] ? " (came and left)" : ""));
  }
  constexpr std::size_t most = 16;
  const std::size_t more = names.size() - std::min(names.size(), most);
  if (more > 0) names.resize(most);
  return fmt::format("rank{} {}{}", names.size() == 1 ? "" : "s", fmt::join(names, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

// The name may be taken for a moment, by rank 0 of a job that has not closed it yet.
Result<Fd> listen_at(const Address& address, std::uint32_t ranks, Clock::time_point until) {
  Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return system_error("cannot make a socket for the other ranks");
  const auto* name = reinterpret_cast<const sockaddr*>(&address.socket);
  while (bind(socket.get(), name, address.length) != 0) {
    if (errno != EADDRINUSE) return system_error("cannot bind the socket for the other ranks");
    if (Clock::now() >= until) {
      return Error{ErrorCode::expired,
                   "another process listens in the place of rank 0: was the job's rank 0 started "
                   "twice?"};
    }
    std::this_thread::sleep_for(10ms);
  }
  if (listen(socket.get(), static_cast<int>(ranks)) != 0) {
    return system_error("cannot listen for the other ranks");
  }
  return socket;
}

}  // namespace

Result<int> host_rendezvous(const LaunchedBy& self, const Address& address,
                            const std::function<Result<int>()>& create_fd,
                            std::chrono::milliseconds deadline) {
  const auto until = Clock::now() + deadline;
  auto listener = listen_at(address, self.ranks, until);
  if (!listener) return listener.error();
  Gathering gathering(self, std::move(*listener));

  auto memory = create_fd();
  if (!memory) {
    gathering.refuse_all(memory.error());
    return memory;
  }
  if (!gathering.complete(until)) {
    const Error error{
        ErrorCode::expired,
        fmt::format("rank 0 waited {} for {} of the {} that {} started", in_seconds(deadline),
                    gathering.missing(), self.ranks, name_of(self.launcher))};
    gathering.refuse_all(error);
    ::close(*memory);
    return error;
  }
  gathering.hand_out(*memory);
  return memory;
}

}  // namespace muster::launcher
