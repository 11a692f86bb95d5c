#include "net/hosts.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <string>
#include <system_error>
#include <thread>

#include "base/descriptor_message.hpp"
#include "launch/rendezvous_wire.hpp"
#include "net/bytes.hpp"
#include "net/mac.hpp"
#include "net/place.hpp"

namespace muster::detail::net {
namespace {

using namespace std::chrono_literals;

// For one that has connected to hand something over. The others wait meanwhile.
constexpr auto for_a_hand_over = 5s;

// What the file behind a descriptor is, the same for all that have it. Sent as it is: who reads it
// is on the same host.
struct File {
  std::uint64_t device = 0;
  std::uint64_t number = 0;
  friend bool operator==(const File&, const File&) = default;
};

File file_of(int descriptor) {
  struct stat status {};
  if (descriptor < 0 || fstat(descriptor, &status) != 0) return {};
  return {status.st_dev, status.st_ino};
}

bool hand_over(int socket, int descriptor) {
  const File file = file_of(descriptor);
  return send_with_descriptor(socket, &file, sizeof file, descriptor, MSG_NOSIGNAL) ==
         static_cast<ssize_t>(sizeof file);
}

// True where a descriptor has come, and it is of the file that the other side says.
bool take_over(int socket, Clock::time_point until) {
  pollfd ready{socket, POLLIN, 0};
  if (poll(&ready, 1, milliseconds_until(until)) <= 0) return false;
  File said;
  const DescriptorMessage message = receive_with_descriptor(socket, &said, sizeof said);
  return message.bytes == static_cast<ssize_t>(sizeof said) && message.descriptor.is_open() &&
         file_of(message.descriptor.get()) == said;
}

// Where one rank hands a descriptor to those that ask, until it goes.
class Counter {
 public:
  Counter(Fd listener, int descriptor)
      : listener_(std::move(listener)), descriptor_(descriptor), thread_([this] { serve(); }) {}
  ~Counter() {
    // Relaxed: it carries nothing.
    over_.store(true, std::memory_order_relaxed);
    shutdown(listener_.get(), SHUT_RDWR);  // wakes the thread
    thread_.join();
  }
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;

 private:
  void serve() {
    while (!over_.load(std::memory_order_relaxed)) {
      pollfd ready{listener_.get(), POLLIN, 0};
      poll(&ready, 1, 100);
      const Fd guest(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!guest.is_open() || !launcher::is_own_user(guest.get())) continue;
      if (take_over(guest.get(), Clock::now() + for_a_hand_over))
        hand_over(guest.get(), descriptor_);
    }
  }

  Fd listener_;
  int descriptor_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

bool exchanges_with(const std::string& name, int descriptor, Clock::time_point until) {
  const Place place = place_on_host(name);
  Fd socket = connect_to(place, until);
  // It is there, and many are before us.
  while (!socket.is_open() && errno == EAGAIN && Clock::now() < until) {
    std::this_thread::sleep_for(1ms);
    socket = connect_to(place, until);
  }
  return socket.is_open() && launcher::is_own_user(socket.get()) &&
         hand_over(socket.get(), descriptor) && take_over(socket.get(), until);
}

// From the lowest rank of each rank's host to hosts counted from 0.
std::vector<std::uint32_t> numbered(const std::vector<std::uint32_t>& lowest) {
  std::map<std::uint32_t, std::uint32_t> number;
  for (const std::uint32_t rank : lowest) number.emplace(rank, 0);
  std::uint32_t next = 0;
  for (auto& [rank, host] : number) host = next++;
  std::vector<std::uint32_t> hosts;
  for (const std::uint32_t rank : lowest) hosts.push_back(number[rank]);
  return hosts;
}

Error no_room(std::uint32_t rank, const char* what) {
  return {ErrorCode::system,
          fmt::format("cannot look for the ranks of this host: {}: {}", what, std::strerror(errno)),
          Rank{rank}};
}

}  // namespace

Result<std::vector<std::uint32_t>> hosts_of(Bootstrap& ranks, std::chrono::nanoseconds within) {
  const std::uint32_t self = ranks.rank().value;
  const Fd file(memfd_create("muster-host", MFD_CLOEXEC));
  if (!file.is_open()) return no_room(self, "a file in memory");
  // A name that nobody guesses, of which nobody else learns.
  const std::string name(bytes_of(fresh_nonce()));
  auto listener = listen_at(place_on_host(name), 0ms);
  if (!listener) return listener.error();
  std::optional<Counter> counter;
  try {
    counter.emplace(std::move(*listener), file.get());
  } catch (const std::system_error&) {
    return no_room(self, "a thread");
  }
  const auto names = ranks.all_gather(name, within);
  if (!names) return names.error();
  // Who takes longer than that is not seen as one that can.
  const auto until = Clock::now() + within / 2;
  std::uint32_t lowest = 0;
  while (lowest < self && !exchanges_with((*names)[lowest], file.get(), until)) ++lowest;

  // The lowest of a host has found none below itself. That all have is known after this exchange,
  // and until then each serves.
  std::string own;
  put_number(own, lowest);
  const auto found = ranks.all_gather(own, within);
  if (!found) return found.error();
  std::vector<std::uint32_t> all;
  for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
    const auto its = Reader((*found)[rank]).number<std::uint32_t>();
    all.push_back(std::min(its, rank));
  }
  return numbered(all);
}

}  // namespace muster::detail::net
