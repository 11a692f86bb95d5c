#include "net/place.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>

#include "net/mac.hpp"

namespace muster::detail::net {
namespace {

constexpr int most_waiting = 1024;  // connections that the kernel holds for us

bool is_loopback(const Place& place) {
  if (place.address.ss_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &place.address, sizeof in);
    return ntohl(in.sin_addr.s_addr) >> 24U == 127;
  }
  if (place.address.ss_family != AF_INET6) return false;
  sockaddr_in6 in{};
  std::memcpy(&in, &place.address, sizeof in);
  return IN6_IS_ADDR_LOOPBACK(&in.sin6_addr);
}

// The same port at all addresses.
Place everywhere(const Place& place) {
  Place all = place;
  if (place.address.ss_family == AF_INET) {
    auto& in = reinterpret_cast<sockaddr_in&>(all.address);
    in.sin_addr.s_addr = htonl(INADDR_ANY);
  } else {
    auto& in = reinterpret_cast<sockaddr_in6&>(all.address);
    in.sin6_addr = in6addr_any;
  }
  return all;
}

bool is_literal(const std::string& host) {
  in6_addr any{};
  return inet_pton(AF_INET, host.c_str(), &any) == 1 ||
         inet_pton(AF_INET6, host.c_str(), &any) == 1;
}

std::string with_port_of(std::string_view host, std::string_view port) {
  const bool six = host.find(':') != std::string_view::npos;
  return fmt::format("{}{}{}:{}", six ? "[" : "", host, six ? "]" : "", port);
}

std::string text_of(const Place& place, bool with_port) {
  if (place.address.ss_family == AF_UNIX) return "a process of this host";
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (getnameinfo(reinterpret_cast<const sockaddr*>(&place.address), place.length, host.data(),
                  host.size(), port.data(), port.size(), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return "an unknown address";
  if (!with_port) return host.data();
  return with_port_of(host.data(), port.data());
}

Place place_of_peer(int connection) {
  Place place;
  place.length = sizeof place.address;
  getpeername(connection, reinterpret_cast<sockaddr*>(&place.address), &place.length);
  return place;
}

Error no_place(const std::string& where) {
  if (errno == EADDRINUSE) {
    return Error{ErrorCode::unavailable,
                 fmt::format("another process listens at {} already: of another job? Take another "
                             "port",
                             where)};
  }
  if (errno == EADDRNOTAVAIL) {
    return Error{ErrorCode::unavailable,
                 fmt::format("{} is no address of this host ({}), which is to listen there", where,
                             own_host_name())};
  }
  return Error{ErrorCode::system,
               fmt::format("cannot listen at {}: {}", where, std::strerror(errno))};
}

}  // namespace

Result<HostPort> parse_host_port(std::string_view text) {
  const auto wrong = [&] {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("\"{}\" is no HOST:PORT, such as node0:29500 or [2001:db8::1]:29500, "
                             "with a port from 1 to 65535",
                             text)};
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong();
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return wrong();
  }
  HostPort at{std::string(host), 0};
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), at.port);
  if (host.empty() || error != std::errc{} || end != digits.end() || at.port == 0) return wrong();
  return at;
}

std::string to_string(const HostPort& at) {
  return with_port_of(at.host, std::to_string(at.port));
}

Result<std::vector<Place>> resolve(const HostPort& at) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int code = getaddrinfo(at.host.c_str(), std::to_string(at.port).c_str(), &hints, &found);
  if (code != 0) {
    return Error{ErrorCode::unavailable, fmt::format("the host \"{}\" is not known on {}: {}",
                                                     at.host, own_host_name(), gai_strerror(code))};
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  std::vector<Place> places;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    Place place;
    std::memcpy(&place.address, one->ai_addr, one->ai_addrlen);
    place.length = one->ai_addrlen;
    places.push_back(place);
  }
  return places;
}

Place place_on_host(std::string_view key) {
  std::string name = fmt::format("muster-net/{}/", geteuid());
  for (const unsigned char byte : mac_of(key, {"the place"})) name += fmt::format("{:02x}", byte);
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  // The first byte stays zero: the name lives in the kernel, not in the file system.
  std::memcpy(at.sun_path + 1, name.data(), name.size());
  Place place;
  std::memcpy(&place.address, &at, sizeof at);
  place.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return place;
}

std::string describe(const Place& place) {
  return text_of(place, true);
}

std::string peer_of(int connection) {
  return text_of(place_of_peer(connection), true);
}

std::string address_of_peer(int connection) {
  return text_of(place_of_peer(connection), false);
}

Result<Fd> listen_at(const Place& place, std::chrono::milliseconds patience) {
  const auto until = Clock::now() + patience;
  Fd socket(::socket(place.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return no_place(describe(place));
  const int yes = 1;
  // A job that has just ended leaves connections behind that wait for their time to be over.
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const auto* at = reinterpret_cast<const sockaddr*>(&place.address);
  while (bind(socket.get(), at, place.length) != 0 || listen(socket.get(), most_waiting) != 0) {
    if (errno != EADDRINUSE || Clock::now() >= until) return no_place(describe(place));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return socket;
}

Result<Fd> listen_at(const HostPort& at, std::chrono::milliseconds patience) {
  const auto places = resolve(at);
  if (!places) return places.error();
  const auto until = Clock::now() + patience;
  std::optional<Error> first;
  for (const Place& place : *places) {
    const bool here_only = is_loopback(place) && !is_literal(at.host);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    auto socket = listen_at(here_only ? everywhere(place) : place, left);
    if (socket) return socket;
    if (!first) first = socket.error();
  }
  return *first;
}

Fd connect_to(const Place& place, Clock::time_point until) {
  Fd socket(::socket(place.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return {};
  const auto* at = reinterpret_cast<const sockaddr*>(&place.address);
  if (connect(socket.get(), at, place.length) == 0) return socket;
  if (errno != EINPROGRESS) return {};
  pollfd ready{socket.get(), POLLOUT, 0};
  const int done = poll(&ready, 1, milliseconds_until(until));
  int code = done == 0 ? ETIMEDOUT : errno;
  socklen_t length = sizeof code;
  if (done > 0) getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &code, &length);
  errno = code;
  return code == 0 ? std::move(socket) : Fd();
}

void tune(int connection, std::chrono::seconds keepalive) {
  const auto set = [&](int level, int name, int value) {
    setsockopt(connection, level, name, &value, sizeof value);
  };
  const auto seconds = static_cast<int>(keepalive.count());
  constexpr int probes = 4;
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, std::max(1, seconds / (probes + 1)));
  set(IPPROTO_TCP, TCP_KEEPINTVL, std::max(1, seconds / (probes + 1)));
  set(IPPROTO_TCP, TCP_KEEPCNT, probes);
  // What is on its way is not probed for: for it, the same time.
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, seconds * 1000);
  set(IPPROTO_TCP, TCP_NODELAY, 1);
}

Result<std::chrono::seconds> keepalive_by_environment() {
  const char* text = std::getenv("MUSTER_KEEPALIVE");
  if (text == nullptr) return std::chrono::seconds(10);
  const std::string_view digits(text);
  int seconds = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), seconds);
  if (error != std::errc{} || end != digits.end() || seconds < 1 || seconds > 3600) {
    return Error{
        ErrorCode::invalid_argument,
        fmt::format("MUSTER_KEEPALIVE is \"{}\"; it must be a whole number of seconds from "
                    "1 to 3600",
                    text)};
  }
  return std::chrono::seconds(seconds);
}

int milliseconds_until(Clock::time_point until) {
  if (until == Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
}

std::string own_host_name() {
  std::array<char, 64> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace muster::detail::net
