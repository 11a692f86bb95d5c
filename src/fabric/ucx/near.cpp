#include "fabric/ucx/near.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/descriptor_message.hpp"

namespace muster::ucx {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t half = 16;  // characters of a card: its name, then its secret

std::string random_card() {
  std::array<unsigned char, half> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return {};
  std::string card;
  for (const unsigned char byte : bytes) card += fmt::format("{:02x}", byte);
  return card;
}

struct Address {
  sockaddr_un socket{};
  socklen_t length = 0;
};

// Abstract: it leaves no file, and other network namespaces have their own.
Address address_of(const std::string& card) {
  const std::string name = "muster-near-" + card.substr(0, half);
  Address address;
  address.socket.sun_family = AF_UNIX;
  std::memcpy(address.socket.sun_path + 1, name.data(), name.size());
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

struct Word {
  std::uint32_t rank = 0;
  std::array<char, half> secret{};  // the receiver's
};

}  // namespace

std::string Near::open(std::uint32_t rank) {
  rank_ = rank;
  self_ = Fd(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  socket_ = Fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  card_ = random_card();
  if (!self_.is_open() || !socket_.is_open() || card_.empty()) return card_ = {};
  const Address address = address_of(card_);
  const auto* const name = reinterpret_cast<const sockaddr*>(&address.socket);
  if (bind(socket_.get(), name, address.length) != 0) return card_ = {};
  return card_;
}

bool Near::tell(std::uint32_t peer, const std::string& card) {
  if (card.size() != 2 * half) return true;
  Word word{rank_, {}};
  std::ranges::copy(card.substr(half), word.secret.begin());
  const Address address = address_of(card);
  const auto* const name = reinterpret_cast<const sockaddr*>(&address.socket);
  const ssize_t sent = send_with_descriptor(socket_.get(), &word, sizeof word, self_.get(),
                                            MSG_DONTWAIT, name, address.length);
  if (sent < 0 && (errno == EAGAIN || errno == ENOBUFS || errno == ETOOMANYREFS)) return false;
  reached_[peer] = sent >= 0;  // refused: nobody of that name is here
  return true;
}

void Near::hear() {
  while (true) {
    Word word;
    DescriptorMessage message = receive_with_descriptor(socket_.get(), &word, sizeof word);
    if (message.bytes < 0) return;
    const bool right = message.bytes == sizeof word && word.rank < processes_.size() &&
                       std::equal(word.secret.begin(), word.secret.end(), card_.begin() + half);
    if (right && message.descriptor.is_open())
      processes_[word.rank] = std::move(message.descriptor);
  }
}

std::optional<Error> Near::meet(const std::vector<std::string>& cards,
                                std::chrono::nanoseconds within) {
  reached_.assign(cards.size(), false);
  processes_.resize(cards.size());
  if (card_.empty()) return std::nullopt;
  const Clock::time_point until = Clock::now() + within;
  std::vector<std::uint32_t> to_tell;
  for (std::uint32_t peer = 0; peer < cards.size(); ++peer)
    if (peer != rank_) to_tell.push_back(peer);
  while (true) {
    hear();
    std::erase_if(to_tell, [&](std::uint32_t peer) { return tell(peer, cards[peer]); });
    std::optional<std::uint32_t> silent;
    for (std::uint32_t peer = 0; peer < cards.size() && !silent; ++peer)
      if (reached_[peer] && !processes_[peer].is_open()) silent = peer;
    if (to_tell.empty() && !silent) break;
    if (Clock::now() >= until)
      return Error{ErrorCode::expired,
                   fmt::format("rank {} is on this host and did not hand over its process",
                               silent.value_or(to_tell.empty() ? 0 : to_tell.front())),
                   Rank{rank_}};
    pollfd ready{socket_.get(), POLLIN, 0};
    poll(&ready, 1, to_tell.empty() ? 50 : 1);
  }
  return std::nullopt;  // the socket stays: a peer that is late may still have to be refused by it
}

std::uint32_t Near::count() const {
  return static_cast<std::uint32_t>(
      std::ranges::count_if(processes_, [](const Fd& process) { return process.is_open(); }));
}

std::vector<std::uint32_t> Near::ended() {
  std::vector<pollfd> all;
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < processes_.size(); ++rank) {
    if (!processes_[rank].is_open()) continue;
    all.push_back({processes_[rank].get(), POLLIN, 0});
    ranks.push_back(rank);
  }
  std::vector<std::uint32_t> gone;
  if (all.empty() || poll(all.data(), all.size(), 0) <= 0) return gone;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].revents == 0) continue;
    gone.push_back(ranks[i]);
    processes_[ranks[i]].reset();
  }
  return gone;
}

}  // namespace muster::ucx
