// A rendezvous as the ranks other than 0 see it.
#include <fmt/format.h>
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

// Rank 0 says which ranks are missing when its own deadline passes. Launchers start the ranks some
// milliseconds apart, so a rank that came before rank 0 would leave just before that, know less,
// and be named as one that is missing.
constexpr auto for_rank_0_to_say_why = 1'000ms;

Error expired(const LaunchedBy& self, std::chrono::milliseconds deadline, const std::string& what) {
  Error error{ErrorCode::expired,
              fmt::format("rank {} waited {} {}", self.rank, in_seconds(deadline), what)};
  error.rank = Rank{self.rank};
  error.peer = Rank{0};
  return error;
}

// A connection to rank 0, which may not be listening yet; nothing tells when it is, so try again.
Result<Fd> reach_rank_0(const LaunchedBy& self, const Address& address,
                        std::chrono::milliseconds deadline, Clock::time_point until) {
  auto pause = 1ms;
  bool stranger = false;
  for (;;) {
    Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (!socket.is_open()) return system_error("cannot make a socket to reach rank 0");
    // A full queue must not hold us past the deadline.
    const timeval patience{1, 0};
    setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    const auto* name = reinterpret_cast<const sockaddr*>(&address.socket);
    if (connect(socket.get(), name, address.length) == 0) {
      if (is_own_user(socket.get())) return socket;
      stranger = true;  // took the name before rank 0 could
    } else if (errno != ECONNREFUSED && errno != EINTR && errno != EAGAIN) {
      return system_error("cannot reach rank 0");
    }
    if (Clock::now() >= until) break;
    std::this_thread::sleep_for(std::min<Clock::duration>(pause, until - Clock::now()));
    pause = std::min(2 * pause, 50ms);
  }
  if (stranger) {
    return expired(self, deadline,
                   "for rank 0, but a process of another user listens in its place");
  }
  return expired(self, deadline,
                 fmt::format("for rank 0 of the job that {} started: it has not come, or runs in "
                             "another network namespace",
                             name_of(self.launcher)));
}

Error rank_0_ended(const LaunchedBy& self) {
  Error error{ErrorCode::peer_lost, "rank 0 ended before all ranks had come"};
  error.rank = Rank{self.rank};
  error.peer = Rank{0};
  return error;
}

// What rank 0 says next. `awaited` says for what it is waited.
Result<Answer> hear_rank_0(const LaunchedBy& self, int connection,
                           std::chrono::milliseconds deadline, Clock::time_point until,
                           const std::string& awaited) {
  pollfd answered{connection, POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&answered, 1, left_until(until));
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) return expired(self, deadline, awaited);
  auto answer = receive_answer(connection);
  if (!answer) return rank_0_ended(self);
  if (answer->error) return *answer->error;
  return std::move(*answer);
}

Error no_descriptor_left(const LaunchedBy& self) {
  return Error{ErrorCode::system,
               fmt::format("rank {} has no descriptor left for the job's memory (it may have {} "
                           "open: ulimit -n)",
                           self.rank, DescriptorLimit::current()),
               Rank{self.rank}};
}

}  // namespace

Result<int> join_rendezvous(const LaunchedBy& self, const Address& address,
                            std::chrono::milliseconds deadline, const Settle& settle) {
  const auto until = Clock::now() + deadline;
  const DescriptorLimit room(DescriptorLimit::current());  // the user's may all be taken
  auto socket = reach_rank_0(self, address, deadline, until);
  if (!socket) return socket.error();

  const int connection = socket->get();
  const auto with_rank_0 = deadline + for_rank_0_to_say_why;
  const auto end = until + for_rank_0_to_say_why;
  // Where rank 0 has closed already, it has said why.
  (void)send_hello(connection, self);
  auto answer = hear_rank_0(self, connection, with_rank_0, end,
                            fmt::format("for all {} ranks to come to rank 0", self.ranks));
  if (!answer) return answer.error();
  step(self.rank, "rendezvous: settle");
  const Result<void> settled = answer->memory.is_open() ? settle(answer->memory.get())
                                                        : Result<void>(no_descriptor_left(self));
  if (!settled) {
    send_refusal(connection, settled.error());
    return settled.error();
  }
  step(self.rank, "rendezvous: say so");
  send_word(connection);
  const auto all = hear_rank_0(self, connection, with_rank_0, end,
                               fmt::format("for all {} ranks to take the memory", self.ranks));
  if (!all) return all.error();
  step(self.rank, "rendezvous: go on");
  return answer->memory.release();
}

}  // namespace muster::launcher
