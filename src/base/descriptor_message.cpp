#include "base/descriptor_message.hpp"

#include <array>
#include <cerrno>
#include <cstring>

namespace muster {
namespace {

// With room for one descriptor.
union Control {
  cmsghdr header;
  std::array<char, CMSG_SPACE(sizeof(int))> bytes;
};

msghdr message_of(iovec& data, Control& control) {
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  return message;
}

}  // namespace

ssize_t send_with_descriptor(int socket, const void* bytes, std::size_t count, int descriptor,
                             int flags, const sockaddr* address, socklen_t length) {
  iovec data{const_cast<void*>(bytes), count};  // sendmsg does not write there
  Control control{};
  msghdr message = message_of(data, control);
  message.msg_name = const_cast<sockaddr*>(address);
  message.msg_namelen = length;
  control.header.cmsg_level = SOL_SOCKET;
  control.header.cmsg_type = SCM_RIGHTS;
  control.header.cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(&control.header), &descriptor, sizeof descriptor);
  ssize_t sent = 0;
  do {
    sent = sendmsg(socket, &message, flags | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent;
}

DescriptorMessage receive_with_descriptor(int socket, void* bytes, std::size_t count, int flags) {
  iovec data{bytes, count};
  Control control{};
  msghdr message{};
  DescriptorMessage received;
  do {
    message = message_of(data, control);
    received.bytes = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
  } while (received.bytes < 0 && errno == EINTR);
  if (received.bytes < 0) return received;
  received.lacked_room = (message.msg_flags & MSG_CTRUNC) != 0;
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
    return received;
  int number = -1;
  std::memcpy(&number, CMSG_DATA(header), sizeof number);
  received.descriptor = Fd(number);
  return received;
}

}  // namespace muster
