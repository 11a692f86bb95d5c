// What rank 0 and the others say to each other at a rendezvous, and where. One message a packet.
#pragma once

#include <sys/un.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "launch/environment.hpp"
#include "launch/rendezvous.hpp"
#include "muster/result.hpp"

namespace muster::launcher {

using Clock = std::chrono::steady_clock;

// Where the ranks of a job meet: an abstract unix socket (no file) of the user's and the job's own.
struct Address {
  sockaddr_un socket{};
  std::uint32_t length = 0;
};

// `meeting` counts the rendezvous that this process has been to: a process may be a rank of several
// jobs in turn, and all its peers are then, too.
[[nodiscard]] Address address_of(const LaunchedBy& self, std::uint32_t meeting);

// A rank's first and only message.
struct Hello {
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  std::string job_key;
};
// A key as a hello carries it: one that is too long for a message, as its digests.
[[nodiscard]] std::string key_on_the_wire(const std::string& job_key);
[[nodiscard]] bool send_hello(int socket, const LaunchedBy& self);
// No value where it is no hello.
[[nodiscard]] std::optional<Hello> receive_hello(int socket);

// What follows: rank 0's answer, with the job's memory, or why not; the rank's word that it has
// settled, or why not; rank 0's word that all have.
struct Answer {
  std::optional<Error> error;
  Fd memory;  // that came with it
};
// These never block. Whoever is gone does not hear it.
void send_memory(int socket, int memory);
void send_word(int socket);
void send_refusal(int socket, const Error& error);
// No value where the other side closed without an answer. Blocks.
[[nodiscard]] std::optional<Answer> receive_answer(int socket);

// Does the process at the other end belong to the same user?
[[nodiscard]] bool is_own_user(int socket);

// "30 s"
[[nodiscard]] std::string in_seconds(std::chrono::milliseconds time);

// Milliseconds for poll().
[[nodiscard]] int left_until(Clock::time_point until);

[[nodiscard]] Error system_error(const std::string& what);

// The two sides, in files of their own.
[[nodiscard]] Result<int> host_rendezvous(const LaunchedBy& self, const Address& address,
                                          const std::function<Result<int>()>& create_fd,
                                          std::chrono::milliseconds deadline, const Settle& settle);
[[nodiscard]] Result<int> join_rendezvous(const LaunchedBy& self, const Address& address,
                                          std::chrono::milliseconds deadline, const Settle& settle);

}  // namespace muster::launcher
