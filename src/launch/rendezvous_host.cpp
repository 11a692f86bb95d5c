// A rendezvous as rank 0 sees it.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "base/descriptor_limit.hpp"
#include "base/step.hpp"
#include "launch/rendezvous_wire.hpp"

namespace muster::launcher {
namespace {

using namespace std::chrono_literals;

// A rank that has come and closed its connection may have a successor, for so long.
constexpr auto for_a_successor = 500ms;

// How long rank 0 stays to tell those who come late that there is no room for them.
constexpr auto for_late_ranks = 5'000ms;

// A rank that has come says nothing more; what there is to read is the end of its connection.
bool has_left(const Fd& rank) {
  pollfd end{rank.get(), POLLIN, 0};
  return rank.is_open() && poll(&end, 1, 0) > 0;
}

constexpr const char* twice = "is claimed by two processes";

// 0 where the process lives in another pid namespace.
pid_t pid_of(int connection) {
  ucred peer{};
  socklen_t length = sizeof peer;
  return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? peer.pid : 0;
}

Error claimed_twice(std::uint32_t rank, pid_t first, pid_t second) {
  return Error{ErrorCode::invalid_argument,
               fmt::format("rank {} {}: pid {} has come as it, and then pid {} (0: a process of "
                           "another pid namespace)",
                           rank, twice, first, second)};
}

class Gathering {
 public:
  Gathering(const LaunchedBy& self, Fd listener)
      : self_(self),
        listener_(std::move(listener)),
        ranks_(self.ranks),
        left_(self.ranks),
        settled_(self.ranks) {}

  // True when all have come. False when the time is over, or for the reason that why_not() gives.
  [[nodiscard]] bool complete(Clock::time_point until);
  [[nodiscard]] std::optional<Error> why_not() const;

  void hand_out(int memory);
  // After that: all have said that they have settled. An error where one cannot, or has ended.
  [[nodiscard]] Result<void> settled(Clock::time_point until);
  void let_go();
  std::uint32_t refuse_all(const Error& error);  // how many there were
  // Where there are too few descriptors for all: tells also those that are still to come.
  void turn_away(const Error& error, Clock::time_point until);
  [[nodiscard]] std::string missing() const;
  [[nodiscard]] const std::string& claims() const { return claims_; }

 private:
  [[nodiscard]] bool everyone_is_here();
  [[nodiscard]] std::optional<Error> hear_settled(std::uint32_t rank);
  [[nodiscard]] Clock::time_point next_loss() const;
  void accept_all();
  void hear(Fd& guest);
  [[nodiscard]] std::optional<Error> objection(const Hello& hello, int guest) const;
  void notice_leaving(std::uint32_t rank);

  const LaunchedBy& self_;
  Fd listener_;
  std::vector<Fd> guests_;  // have connected and not said who they are
  std::vector<Fd> ranks_;   // by rank; closed: has not come
  // By rank: when it closed its connection again, where it came and has no successor.
  std::vector<std::optional<Clock::time_point>> left_;
  std::uint32_t come_ = 1;  // rank 0 is here
  std::vector<bool> settled_;
  bool exhausted_ = false;  // no descriptor is left
  std::string claims_;      // of the last that claimed a rank that is here
};

bool Gathering::complete(Clock::time_point until) {
  while (!everyone_is_here()) {
    // The listener, then the guests, then the ranks; poll passes over a descriptor of -1.
    std::vector<pollfd> watched{{listener_.get(), POLLIN, 0}};
    for (const Fd& guest : guests_) watched.push_back({guest.get(), POLLIN, 0});
    const std::size_t first_rank = watched.size();
    for (const Fd& rank : ranks_) watched.push_back({rank.get(), POLLIN, 0});

    const auto end = std::min(until, next_loss());
    const int ready = poll(watched.data(), watched.size(), left_until(end));
    if (ready == 0 && Clock::now() >= end) return false;
    exhausted_ = ready < 0 && errno == EINVAL;  // more than this process may have open
    if (exhausted_) return false;
    if (ready <= 0) continue;
    for (std::uint32_t rank = 0; rank < self_.ranks; ++rank) {
      if (watched[first_rank + rank].revents != 0) notice_leaving(rank);
    }
    for (std::size_t i = 0; i + 1 < first_rank; ++i) {
      if (watched[i + 1].revents != 0) hear(guests_[i]);
    }
    std::erase_if(guests_, [](const Fd& guest) { return !guest.is_open(); });
    if (watched[0].revents != 0) accept_all();
    if (exhausted_) return false;
  }
  return true;
}

// When the first that has left counts as lost.
Clock::time_point Gathering::next_loss() const {
  auto next = Clock::time_point::max();
  for (const auto& left : left_) {
    if (left) next = std::min(next, *left + for_a_successor);
  }
  return next;
}

std::optional<Error> Gathering::why_not() const {
  if (exhausted_) {
    return Error{
        ErrorCode::system,
        fmt::format("rank 0 has no descriptor left for the {} of {} ranks that are still to "
                    "come; it may have {} open (ulimit -Hn)",
                    self_.ranks - come_, self_.ranks, DescriptorLimit::current())};
  }
  for (std::uint32_t rank = 0; rank < self_.ranks; ++rank) {
    if (!left_[rank] || Clock::now() < *left_[rank] + for_a_successor) continue;
    return Error{ErrorCode::peer_lost,
                 fmt::format("rank {} came and ended before all ranks had come", rank),
                 {},
                 {},
                 Rank{rank}};
  }
  return std::nullopt;
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
    if (!guest.is_open()) {
      exhausted_ = errno == EMFILE || errno == ENFILE;
      return;
    }
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
      hello ? objection(*hello, guest.get())
            : Error{ErrorCode::mismatch, "not a greeting of this version of muster"};
  if (error) {
    if (error->what.find(twice) != std::string::npos) claims_ = "; " + error->what;
    send_refusal(guest.get(), *error);
    guest.reset();
    return;
  }
  ranks_[hello->rank] = std::move(guest);
  left_[hello->rank].reset();
  ++come_;
}

std::optional<Error> Gathering::objection(const Hello& hello, int guest) const {
  if (hello.job_key != key_on_the_wire(self_.job_key)) {
    return Error{ErrorCode::invalid_argument, "this is another job"};
  }
  if (hello.ranks != self_.ranks) {
    return Error{ErrorCode::mismatch, fmt::format("rank {} says that the job has {} ranks, rank 0 "
                                                  "says {}",
                                                  hello.rank, hello.ranks, self_.ranks)};
  }
  if (hello.rank == 0) return claimed_twice(0, getpid(), pid_of(guest));
  if (hello.rank >= self_.ranks) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("rank is {}; who joins rank 0 has a rank from 1 to {}", hello.rank,
                             self_.ranks - 1)};
  }
  if (ranks_[hello.rank].is_open()) {
    return claimed_twice(hello.rank, pid_of(ranks_[hello.rank].get()), pid_of(guest));
  }
  return std::nullopt;
}

void Gathering::notice_leaving(std::uint32_t rank) {
  ranks_[rank].reset();
  left_[rank] = Clock::now();
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

std::optional<Error> Gathering::hear_settled(std::uint32_t rank) {
  const auto answer = receive_answer(ranks_[rank].get());
  if (answer) return answer->error;
  return Error{ErrorCode::peer_lost,
               fmt::format("rank {} ended before all ranks had taken the job's memory", rank),
               {},
               {},
               Rank{rank}};
}

Result<void> Gathering::settled(Clock::time_point until) {
  std::vector<pollfd> watched;
  for (const Fd& rank : ranks_) watched.push_back({rank.get(), POLLIN, 0});
  std::uint32_t awaited = self_.ranks - 1;
  while (awaited > 0) {
    const int ready = poll(watched.data(), watched.size(), left_until(until));
    if (ready == 0) {
      return Error{
          ErrorCode::expired,
          fmt::format("{} of {} ranks have not taken the job's memory", awaited, self_.ranks - 1),
          Rank{self_.rank}};
    }
    for (std::uint32_t rank = 1; ready > 0 && rank < self_.ranks; ++rank) {
      if (watched[rank].revents == 0) continue;
      if (const auto error = hear_settled(rank)) return *error;
      if (!settled_[rank]) --awaited;
      settled_[rank] = true;
    }
  }
  return {};
}

void Gathering::let_go() {
  for (const Fd& rank : ranks_) {
    if (rank.is_open()) send_word(rank.get());
  }
}

std::uint32_t Gathering::refuse_all(const Error& error) {
  accept_all();
  std::uint32_t told = 0;
  // Closed at once, so that more can be accepted where descriptors are short.
  for (auto* group : {&guests_, &ranks_}) {
    for (Fd& connection : *group) {
      if (!connection.is_open()) continue;
      send_refusal(connection.get(), error);
      connection.reset();
      ++told;
    }
  }
  guests_.clear();
  return told;
}

void Gathering::turn_away(const Error& error, Clock::time_point until) {
  for (std::uint32_t told = refuse_all(error); told + 1 < self_.ranks; ++told) {
    pollfd more{listener_.get(), POLLIN, 0};
    if (poll(&more, 1, left_until(until)) == 0) return;
    const Fd guest(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (guest.is_open()) send_refusal(guest.get(), error);
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

// Asks whoever listens in the place of rank 0 to let this process in as rank 0. Not open where it
// cannot be asked.
Fd ask(const LaunchedBy& self, const Address& address) {
  Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto* name = reinterpret_cast<const sockaddr*>(&address.socket);
  const bool asked = socket.is_open() && connect(socket.get(), name, address.length) == 0 &&
                     is_own_user(socket.get()) && send_hello(socket.get(), self);
  return asked ? std::move(socket) : Fd();
}

// The name may be taken for a moment, by rank 0 of a job that has not closed it yet; or by another
// process of this job that claims to be rank 0 and says so when it is asked.
Result<Fd> listen_at(const LaunchedBy& self, const Address& address, Clock::time_point until) {
  Fd asked;
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
    if (!asked.is_open()) asked = ask(self, address);
    pollfd answered{asked.get(), POLLIN, 0};
    if (poll(&answered, 1, 10) <= 0) continue;
    const auto answer = receive_answer(asked.get());
    if (answer && answer->error && answer->error->what.find(twice) != std::string::npos)
      return *answer->error;
    asked.reset();
    std::this_thread::sleep_for(10ms);
  }
  if (listen(socket.get(), static_cast<int>(self.ranks)) != 0) {
    return system_error("cannot listen for the other ranks");
  }
  return socket;
}

}  // namespace

Result<int> host_rendezvous(const LaunchedBy& self, const Address& address,
                            const std::function<Result<int>()>& create_fd,
                            std::chrono::milliseconds deadline, const Settle& settle) {
  const auto until = Clock::now() + deadline;
  const DescriptorLimit room(self.ranks);
  auto listener = listen_at(self, address, until);
  if (!listener) return listener.error();
  Gathering gathering(self, std::move(*listener));

  auto memory = create_fd();
  if (!memory) {
    gathering.refuse_all(memory.error());
    return memory;
  }
  const auto give_up = [&](const Error& error) {
    gathering.refuse_all(error);
    ::close(*memory);
    return error;
  };
  if (!gathering.complete(until)) {
    const auto error = gathering.why_not();
    if (error && error->code == ErrorCode::system)
      gathering.turn_away(*error, std::min(until, Clock::now() + for_late_ranks));
    if (error) return give_up(*error);
    return give_up(
        {ErrorCode::expired, fmt::format("rank 0 waited {} for {} of the {} that {} "
                                         "started{}",
                                         in_seconds(deadline), gathering.missing(), self.ranks,
                                         name_of(self.launcher), gathering.claims())});
  }
  step(self.rank, "rendezvous: settle rank 0");
  if (const auto settled = settle(*memory); !settled) return give_up(settled.error());
  step(self.rank, "rendezvous: hand out");
  gathering.hand_out(*memory);
  step(self.rank, "rendezvous: hear of all");
  if (const auto settled = gathering.settled(until); !settled) return give_up(settled.error());
  step(self.rank, "rendezvous: let go");
  gathering.let_go();
  return memory;
}

}  // namespace muster::launcher
