// A bootstrap between forked ranks of one host, over socket pairs that were made before the fork:
// rank 0 gathers, then tells all.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "net/bootstrap.hpp"

namespace muster::testing {

// Made by the parent, then one SocketBootstrap by each child.
class SocketPairs {
 public:
  explicit SocketPairs(std::uint32_t ranks) : roots_(ranks), others_(ranks) {
    for (std::uint32_t rank = 1; rank < ranks; ++rank) {
      int ends[2] = {-1, -1};
      if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
      roots_[rank] = Fd(ends[0]);
      others_[rank] = Fd(ends[1]);
    }
  }
  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(roots_.size()); }
  // The ends that the rank uses; those of others are closed in its process.
  [[nodiscard]] std::vector<Fd> take(std::uint32_t rank) {
    std::vector<Fd> mine(ranks());
    if (rank == 0)
      mine = std::move(roots_);
    else
      mine[0] = std::move(others_[rank]);
    roots_.clear();
    others_.clear();
    return mine;
  }

 private:
  std::vector<Fd> roots_;
  std::vector<Fd> others_;
};

class SocketBootstrap : public detail::net::Bootstrap {
 public:
  SocketBootstrap(SocketPairs& pairs, std::uint32_t rank)
      : rank_(rank), size_(pairs.ranks()), peers_(pairs.take(rank)) {}

  [[nodiscard]] Rank rank() const override { return Rank{rank_}; }
  [[nodiscard]] std::uint32_t size() const override { return size_; }

  [[nodiscard]] Result<std::vector<std::string>> all_gather(
      std::string_view own, std::chrono::nanoseconds within) override {
    const auto until = std::chrono::steady_clock::now() + within;
    std::vector<std::string> all(size_);
    all[rank_] = own;
    if (rank_ != 0) {
      send(0, own);
      for (std::string& one : all)
        if (!receive(0, one, until)) return absent(0);
      return all;
    }
    for (std::uint32_t peer = 1; peer < size_; ++peer)
      if (!receive(peer, all[peer], until)) return absent(peer);
    for (std::uint32_t peer = 1; peer < size_; ++peer)
      for (const std::string& one : all) send(peer, one);
    return all;
  }

 private:
  using Time = std::chrono::steady_clock::time_point;

  static Error absent(std::uint32_t peer) {
    return {ErrorCode::expired, "rank " + std::to_string(peer) + " did not come"};
  }

  void send(std::uint32_t peer, std::string_view bytes) const {
    const std::uint64_t count = bytes.size();
    std::string all(reinterpret_cast<const char*>(&count), sizeof count);
    all += bytes;
    for (std::size_t at = 0; at < all.size();) {
      const ssize_t sent =
          ::send(peers_[peer].get(), all.data() + at, all.size() - at, MSG_NOSIGNAL);
      if (sent <= 0) return;  // it is gone: whoever waits for it says so
      at += static_cast<std::size_t>(sent);
    }
  }

  [[nodiscard]] bool receive(std::uint32_t peer, std::string& bytes, Time until) const {
    std::uint64_t count = 0;
    if (!receive(peer, &count, sizeof count, until)) return false;
    bytes.resize(count);
    return receive(peer, bytes.data(), count, until);
  }
  [[nodiscard]] bool receive(std::uint32_t peer, void* to, std::size_t count, Time until) const {
    for (std::size_t at = 0; at < count;) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          until - std::chrono::steady_clock::now());
      pollfd ready{peers_[peer].get(), POLLIN, 0};
      if (left.count() <= 0 || poll(&ready, 1, static_cast<int>(left.count())) <= 0) return false;
      const ssize_t got = recv(peers_[peer].get(), static_cast<char*>(to) + at, count - at, 0);
      if (got <= 0) return false;
      at += static_cast<std::size_t>(got);
    }
    return true;
  }

  std::uint32_t rank_;
  std::uint32_t size_;
  std::vector<Fd> peers_;  // by rank: rank 0 has one to each, the others one to rank 0
};

}  // namespace muster::testing
