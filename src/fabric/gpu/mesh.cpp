#include "muster/fabric/gpu/mesh.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/descriptor_limit.hpp"
#include "base/descriptor_message.hpp"
#include "fabric/gpu/mesh_calls.hpp"

namespace muster::gpu {

namespace {

[[noreturn]] void fail(std::uint32_t process, const char* doing) {
  throw Failure(Error{errno == 0 ? ErrorCode::peer_lost : ErrorCode::system,
                      fmt::format("{} process {}: {}", doing, process,
                                  errno == 0 ? "it has gone" : std::strerror(errno))});
}

}  // namespace

Result<std::vector<Mesh>> make_meshes(std::uint32_t processes) {
  if (processes == 0)
    return Error{ErrorCode::invalid_argument, "a mesh needs at least one process"};
  std::vector<Mesh> meshes(processes);
  for (std::uint32_t i = 0; i < processes; ++i) {
    meshes[i].process = i;
    meshes[i].sockets.assign(processes, -1);
  }
  for (std::uint32_t i = 0; i < processes; ++i) {
    for (std::uint32_t j = i + 1; j < processes; ++j) {
      std::array<int, 2> ends{};
      if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        const int why = errno;
        for (Mesh& mesh : meshes) close_mesh(mesh);
        return Error{ErrorCode::system, fmt::format("making sockets between {} processes: {}",
                                                    processes, std::strerror(why))};
      }
      meshes[i].sockets[j] = ends[0];
      meshes[j].sockets[i] = ends[1];
    }
  }
  return meshes;
}

void close_mesh(Mesh& mesh) {
  for (int& socket : mesh.sockets) {
    if (socket >= 0) close(socket);
    socket = -1;
  }
}

void send_bytes(const Mesh& mesh, std::uint32_t to, const void* bytes, std::size_t count) {
  const auto* at = static_cast<const std::byte*>(bytes);
  while (count > 0) {
    const ssize_t sent = send(mesh.sockets[to], at, count, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) fail(to, "writing to");
    at += sent;
    count -= static_cast<std::size_t>(sent);
  }
}

void receive_bytes(const Mesh& mesh, std::uint32_t from, void* bytes, std::size_t count) {
  auto* at = static_cast<std::byte*>(bytes);
  while (count > 0) {
    errno = 0;
    const ssize_t got = recv(mesh.sockets[from], at, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail(from, "reading from");
    at += got;
    count -= static_cast<std::size_t>(got);
  }
}

// One byte goes with the descriptor: a message of none would not arrive.
void send_descriptor(const Mesh& mesh, std::uint32_t to, int descriptor) {
  const char byte = 'd';
  if (send_with_descriptor(mesh.sockets[to], &byte, 1, descriptor) != 1)
    fail(to, "passing memory to");
}

int receive_descriptor(const Mesh& mesh, std::uint32_t from) {
  char byte = 0;
  DescriptorMessage message = receive_with_descriptor(mesh.sockets[from], &byte, 1);
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

void meet(const Mesh& mesh) {
  (void)gather_all(mesh, std::uint8_t{1});
}

}  // namespace muster::gpu
