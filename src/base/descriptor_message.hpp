// Bytes and a descriptor, in one message over a unix socket.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <cstddef>

#include "base/fd.hpp"

namespace muster {

// Sends all of the bytes, of which there is at least one, and `descriptor` beside them, to the
// address if there is one and to the socket's peer otherwise. What sendmsg returns with these
// flags; a signal interrupts neither this nor the receiver.
ssize_t send_with_descriptor(int socket, const void* bytes, std::size_t count, int descriptor,
                             int flags = 0, const sockaddr* address = nullptr,
                             socklen_t length = 0);

struct DescriptorMessage {
  ssize_t bytes = 0;  // what recvmsg returned; errno says why where it is negative
  Fd descriptor;      // the receiver's own, closed on exec; none where none came
  // One came, and this process could not take it: it has no descriptor left.
  bool lacked_room = false;
};
[[nodiscard]] DescriptorMessage receive_with_descriptor(int socket, void* bytes, std::size_t count,
                                                        int flags = 0);

}  // namespace muster
