#include "muster/fabric/gpu/bootstrap.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/descriptor_limit.hpp"
#include "base/descriptor_message.hpp"
#include "fabric/gpu/bootstrap_calls.hpp"

namespace muster::gpu {

namespace {

[[noreturn]] void fail(std::uint32_t process, const char* doing) {
  throw Failure(Error{errno == 0 ? ErrorCode::peer_lost : ErrorCode::system,
                      fmt::format("{} process {}: {}", doing, process,
                                  errno == 0 ? "it has gone" : std::strerror(errno))});
}

}  // namespace

Result<std::vector<Bootstrap>> make_bootstraps(std::uint32_t processes) {
  if (processes == 0)
    return Error{ErrorCode::invalid_argument, "a bootstrap needs at least one process"};
  std::vector<Bootstrap> bootstraps(processes);
  for (std::uint32_t i = 0; i < processes; ++i) {
    bootstraps[i].process = i;
    bootstraps[i].sockets.assign(processes, -1);
  }
  for (std::uint32_t i = 0; i < processes; ++i) {
    for (std::uint32_t j = i + 1; j < processes; ++j) {
      std::array<int, 2> ends{};
      if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        const int why = errno;
        for (Bootstrap& bootstrap : bootstraps) close_bootstrap(bootstrap);
        return Error{ErrorCode::system, fmt::format("making sockets between {} processes: {}",
                                                    processes, std::strerror(why))};
      }
      bootstraps[i].sockets[j] = ends[0];
      bootstraps[j].sockets[i] = ends[1];
    }
  }
  return bootstraps;
}

void close_bootstrap(Bootstrap& bootstrap) {
  for (int& socket : bootstrap.sockets) {
    if (socket >= 0) close(socket);
    socket = -1;
  }
}

void send_bytes(const Bootstrap& bootstrap, std::uint32_t to, const void* bytes,
                std::size_t count) {
  const auto* at = static_cast<const std::byte*>(bytes);
  while (count > 0) {
    const ssize_t sent = send(bootstrap.sockets[to], at, count, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) fail(to, "writing to");
    at += sent;
    count -= static_cast<std::size_t>(sent);
  }
}

void receive_bytes(const Bootstrap& bootstrap, std::uint32_t from, void* bytes, std::size_t count) {
  auto* at = static_cast<std::byte*>(bytes);
  while (count > 0) {
    errno = 0;
    const ssize_t got = recv(bootstrap.sockets[from], at, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail(from, "reading from");
    at += got;
    count -= static_cast<std::size_t>(got);
  }
}

// One byte goes with the descriptor: a message of none would not arrive.
void send_descriptor(const Bootstrap& bootstrap, std::uint32_t to, int descriptor) {
  const char byte = 'd';
  if (send_with_descriptor(bootstrap.sockets[to], &byte, 1, descriptor) != 1)
    fail(to, "passing memory to");
}

int receive_descriptor(const Bootstrap& bootstrap, std::uint32_t from) {
  char byte = 0;
  DescriptorMessage message = receive_with_descriptor(bootstrap.sockets[from], &byte, 1);
  if (message.bytes >= 0) errno = 0;  // nothing failed: where nothing came, the other has gone
  if (message.lacked_room)
    throw Failure(Error{
        ErrorCode::system,
        fmt::format("getting memory from process {}: no descriptor is left to take it with (this "
                    "process may have {} open: ulimit -n)",
                    from, DescriptorLimit::current())});
  if (message.bytes != 1 || !message.descriptor.is_open()) fail(from, "getting memory from");
  return message.descriptor.release();
}

void meet(const Bootstrap& bootstrap) {
  (void)gather_all(bootstrap, std::uint8_t{1});
}

}  // namespace muster::gpu
