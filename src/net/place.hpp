// Where the members of a job meet: a TCP address, or a unix socket of one host.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "muster/result.hpp"

namespace muster::detail::net {

using Clock = std::chrono::steady_clock;

struct Place {
  sockaddr_storage address{};
  socklen_t length = 0;
};

// "HOST:PORT", also "[2001:db8::1]:29500": what it names.
struct HostPort {
  std::string host;
  std::uint16_t port = 0;
};
// Errors: invalid_argument where it is not of this form, or the port is not from 1 to 65535.
[[nodiscard]] Result<HostPort> parse_host_port(std::string_view text);
[[nodiscard]] std::string to_string(const HostPort& at);

// All addresses of the host. Errors: unavailable where the name is not known here.
[[nodiscard]] Result<std::vector<Place>> resolve(const HostPort& at);

// An abstract unix socket, which lives in this network namespace alone. `key` names the job.
[[nodiscard]] Place place_on_host(std::string_view key);

// "10.0.0.2:41234", "a process of this host".
[[nodiscard]] std::string describe(const Place& place);
[[nodiscard]] std::string peer_of(int connection);
// Without the port: whoever connects often has one of these.
[[nodiscard]] std::string address_of_peer(int connection);

// Listens at the host's address, which must be one of this host's, and nowhere else; at all
// addresses where a name stands for the loopback here (Debian's /etc/hosts has such a line for the
// host's own name). Tries for `patience` where another listens there: a job that has just ended
// may. Errors: unavailable, which says that another listens there, or that the host is not this
// one.
[[nodiscard]] Result<Fd> listen_at(const HostPort& at, std::chrono::milliseconds patience);
[[nodiscard]] Result<Fd> listen_at(const Place& place, std::chrono::milliseconds patience);

// A connection, or no open descriptor and the reason in errno, not later than `until`.
[[nodiscard]] Fd connect_to(const Place& place, Clock::time_point until);

// Small messages at once; a host that has vanished is given up after `keepalive`: by probes of the
// kernel's, which a process that is stopped or computes answers, too.
void tune(int connection, std::chrono::seconds keepalive);

// How soon a host that has vanished counts as lost: MUSTER_KEEPALIVE in seconds, from 1 to 3600;
// 10 where it is not set. Errors: invalid_argument.
[[nodiscard]] Result<std::chrono::seconds> keepalive_by_environment();

// For poll, rounded up; -1 (no end) where there is none.
[[nodiscard]] int milliseconds_until(Clock::time_point until);

// This host's name for messages, at most 63 bytes; two hosts may have the same.
[[nodiscard]] std::string own_host_name();

}  // namespace muster::detail::net
