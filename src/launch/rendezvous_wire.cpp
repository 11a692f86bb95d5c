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

#include "base/descriptor_message.hpp"
#include "base/digest.hpp"

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

// From two starting points: names of different jobs must not meet by chance. Who has the right to
// join is told by the key itself, which the hello carries.
std::string long_digest(std::string_view text) {
  return fmt::format("{:016x}{:016x}", digest_of(text), digest_of(text, 0x9ae1'6a3b'2f90'404fULL));
}

}  // namespace

Address address_of(const LaunchedBy& self, std::uint32_t meeting) {
  const std::string name =
      fmt::format("muster/{}/{}/{}", geteuid(), long_digest(self.job_key), meeting);
  Address address;
  address.socket.sun_family = AF_UNIX;
  // The first byte stays zero: the name lives in the kernel, not in the file system.
  std::memcpy(address.socket.sun_path + 1, name.data(), name.size());
  address.length = static_cast<std::uint32_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

std::string key_on_the_wire(const std::string& job_key) {
  if (job_key.size() <= longest_message - sizeof(HelloHeader)) return job_key;
  return fmt::format("{}/{}", job_key.substr(0, 100), long_digest(job_key));
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
  const std::string text = pack(AnswerHeader{}, {});
  send_with_descriptor(socket, text.data(), text.size(), memory, MSG_DONTWAIT);
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
  const auto receive = [&] {
    return receive_with_descriptor(socket, buffer.data(), buffer.size());
  };
  DescriptorMessage message = receive();
  // Rank 0 closed with our greeting unread. What it answered all the same comes after this news.
  if (message.bytes < 0 && errno == ECONNRESET) message = receive();
  const ssize_t bytes = message.bytes;
  if (bytes <= 0) return std::nullopt;

  Answer answer;
  answer.memory = std::move(message.descriptor);
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
