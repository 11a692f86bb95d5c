// A rendezvous as the ranks other than 0 see it.
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <thread>

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

}  // namespace

Result<int> join_rendezvous(const LaunchedBy& self, const Address& address,
                            std::chrono::milliseconds deadline) {
  const auto until = Clock::now() + deadline;
  auto socket = reach_rank_0(self, address, deadline, until);
  if (!socket) return socket.error();

  const int connection = socket->get();
  const auto with_rank_0 = deadline + for_rank_0_to_say_why;
  std::optional<Answer> answer;
  if (send_hello(connection, self)) {
    pollfd answered{connection, POLLIN, 0};
    int ready = 0;
    do {
      ready = poll(&answered, 1, left_until(until + for_rank_0_to_say_why));
    } while (ready < 0 && errno == EINTR);
    if (ready == 0) {
      return expired(self, with_rank_0,
                     fmt::format("for all {} ranks to come to rank 0", self.ranks));
    }
    answer = receive_answer(connection);
  }
  if (!answer) {
    Error error{ErrorCode::peer_lost, "rank 0 ended before all ranks had come"};
    error.rank = Rank{self.rank};
    error.peer = Rank{0};
    return error;
  }
  if (answer->error) return *answer->error;
  return answer->memory.release();
}

}  // namespace muster::launcher
