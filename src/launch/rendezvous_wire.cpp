#include "launch/rendezvous_wire.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace muster::launcher {
namespace {

constexpr std::uint64_t protocol_magic = 0x6d75'7374'6572'0002ULL;  // "muster", version 2
constexpr std::size_t longest_message = 8192;

struct HelloHeader {
  std::uint64_t magic = protocol_magic;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
};

struct AnswerHeader {
  std::uint64_t magic = protocol_magic;
  std::uint32_t failed = 0;
  std::uint32_t code = 0;
  std::uint32_t has_peer = 0;
  std::uint32_t peer = 0;
};

template <class Header>
std::string pack(const Header& header, std::string_view text) {
  std::string message(sizeof header, '\0');
  std::memcpy(message.data(), &header, sizeof header);
  message += text.substr(0, longest_message - sizeof header);
  return message;
}

// FNV-1a, from two starting points: names of different jobs must not meet by chance. Who has the
// right to join is told by the key itself, which the hello carries.
std::uint64_t digest(std::string_view text, std::uint64_t start) {
  std::uint64_t hash = start;
  for (const char byte : text) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x0000'0100'0000'01b3ULL;
  }
  return hash;
}

// With room for one descriptor.
union Control {
  cmsghdr header;
  std::array<char, CMSG_SPACE(sizeof(int))> bytes;
};

Fd descriptor_in(msghdr& message) {
  const cmsghdr* control = CMSG_FIRSTHDR(&message);
  if (control == nullptr || control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) {
    return {};
  }
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(control), sizeof fd);
  return Fd(fd);
}

}  // namespace

Address address_of(const LaunchedBy& self, std::uint32_t meeting) {
  const std::string name = fmt::format("muster/{}/{:016x}{:016x}/{}", geteuid(),
                                       digest(self.job_key, 0xcbf2'9ce4'8422'2325ULL),
                                       digest(self.job_key, 0x9ae1'6a3b'2f90'404fULL), meeting);
  Address address;
  address.socket.sun_family = AF_UNIX;
  // The first byte stays zero: the name lives in the kernel, not in the file system.
  std::memcpy(address.socket.sun_path + 1, name.data(), name.size());
  address.length = static_cast<std::uint32_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

std::string key_on_the_wire(const std::string& job_key) {
  if (job_key.size() <= longest_message - sizeof(HelloHeader)) return job_key;
  return fmt::format("{}/{:016x}{:016x}", job_key.substr(0, 100),
                     digest(job_key, 0xcbf2'9ce4'8422'2325ULL),
                     digest(job_key, 0x9ae1'6a3b'2f90'404fULL));
}

bool send_hello(int socket, const LaunchedBy& self) {
  HelloHeader header;
  header.rank = self.rank;
  header.ranks = self.ranks;
  const std::string message = pack(header, key_on_the_wire(self.job_key));
  return send(socket, message.data(), message.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(message.size());
}

std::optional<Hello> receive_hello(int socket) {
  std::array<char, longest_message> buffer;
  const ssize_t bytes = recv(socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
  HelloHeader header;
  if (bytes < static_cast<ssize_t>(sizeof header)) return std::nullopt;
  std::memcpy(&header, buffer.data(), sizeof header);
  if (header.magic != protocol_magic) return std::nullopt;
  return Hello{header.rank, header.ranks,
               std::string(buffer.data() + sizeof header, buffer.data() + bytes)};
}

void send_memory(int socket, int memory) {
  std::string text = pack(AnswerHeader{}, {});
  iovec data{text.data(), text.size()};
  Control control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  control.header.cmsg_level = SOL_SOCKET;
  control.header.cmsg_type = SCM_RIGHTS;
  control.header.cmsg_len = CMSG_LEN(sizeof memory);
  std::memcpy(CMSG_DATA(&control.header), &memory, sizeof memory);
  sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void send_word(int socket) {
  const std::string message = pack(AnswerHeader{}, {});
  send(socket, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void send_refusal(int socket, const Error& error) {
  AnswerHeader header;
  header.failed = 1;
  header.code = static_cast<std::uint32_t>(error.code);
  header.has_peer = error.peer ? 1 : 0;
  header.peer = error.peer.value_or(Rank{0}).value;
  const std::string message = pack(header, error.what);
  send(socket, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

std::optional<Answer> receive_answer(int socket) {
  std::array<char, longest_message> buffer;
  iovec data{buffer.data(), buffer.size()};
  Control control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  ssize_t bytes = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  // Rank 0 closed with our greeting unread. What it answered all the same comes after this news.
  if (bytes < 0 && errno == ECONNRESET) bytes = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (bytes <= 0) return std::nullopt;

  Answer answer;
  answer.memory = descriptor_in(message);
  AnswerHeader header;
  const bool whole = bytes >= static_cast<ssize_t>(sizeof header);
  if (whole) std::memcpy(&header, buffer.data(), sizeof header);
  if (!whole || header.magic != protocol_magic) {
    answer.error = Error{ErrorCode::mismatch, "a rank speaks another version of muster"};
  } else if (header.failed != 0) {
    answer.error = Error{static_cast<ErrorCode>(header.code),
                         std::string(buffer.data() + sizeof header, buffer.data() + bytes)};
    if (header.has_peer != 0) answer.error->peer = Rank{header.peer};
  }
  return answer;
}

bool is_own_user(int socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
}

std::string in_seconds(std::chrono::milliseconds time) {
  return fmt::format("{:g} s", std::chrono::duration<double>(time).count());
}

int left_until(Clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, INT_MAX));
}

Error system_error(const std::string& what) {
  return Error{ErrorCode::system, fmt::format("{}: {}", what, std::strerror(errno))};
}

}  // namespace muster::launcher
