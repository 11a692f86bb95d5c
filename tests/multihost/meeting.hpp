// Ranks as threads of the test that meet at a port of the loopback.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.hpp"
#include "cli/command.hpp"
#include "net/star_bootstrap.hpp"

namespace muster::testing {

namespace net = detail::net;

inline const std::string good_token = "a token that nobody can guess: 7c1f";

// One that is free now.
inline std::uint16_t free_port() {
  const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof at;
  if (bind(socket.get(), reinterpret_cast<sockaddr*>(&at), length) != 0) return 0;
  getsockname(socket.get(), reinterpret_cast<sockaddr*>(&at), &length);
  return ntohs(at.sin_port);
}

inline net::StarOptions as_rank(std::uint32_t rank, std::uint32_t ranks,
                                std::chrono::nanoseconds within = std::chrono::seconds(20)) {
  net::StarOptions options;
  options.token = good_token;
  options.self = {rank, ranks, 1, "host" + std::to_string(rank)};
  options.join_within = within;
  return options;
}

inline void as_threads(std::uint32_t count, const std::function<void(std::uint32_t)>& body) {
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < count; ++rank)
    threads.emplace_back([&body, rank] { body(rank); });
  for (std::thread& thread : threads) thread.join();
}

inline double seconds_since(net::Clock::time_point begin) {
  return std::chrono::duration<double>(net::Clock::now() - begin).count();
}

// A plain connection of somebody who is no member.
inline Fd connection_of_stranger(const net::HostPort& at) {
  const auto places = net::resolve(at);
  const auto until = net::Clock::now() + std::chrono::seconds(5);
  while (net::Clock::now() < until) {
    Fd connection = net::connect_to(places->front(), until);
    if (connection.is_open()) return connection;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return {};
}

// Does the other side end the connection, within so long?
inline bool is_ended(int connection, std::chrono::milliseconds within) {
  const auto until = net::Clock::now() + within;
  char byte = 0;
  while (net::Clock::now() < until) {
    pollfd ready{connection, POLLIN, 0};
    if (poll(&ready, 1, net::milliseconds_until(until)) <= 0) continue;
    if (recv(connection, &byte, 1, MSG_DONTWAIT) <= 0) return true;
  }
  return false;
}

}  // namespace muster::testing
