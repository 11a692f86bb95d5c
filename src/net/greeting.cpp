#include "net/greeting.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "net/bytes.hpp"

namespace muster::detail::net {
namespace {

constexpr std::string_view word = "muster.1";  // the last is the version
constexpr std::size_t nonce_bytes = 32;
constexpr std::size_t greeting_bytes = word.size() + nonce_bytes;
constexpr std::size_t host_bytes = 64;
constexpr std::size_t who_bytes = 3 * sizeof(std::uint32_t) + host_bytes;
constexpr std::size_t proof_bytes = who_bytes + mac_bytes;

constexpr std::string_view welcome = "welcome.";
constexpr std::string_view stranger = "unknown.";
constexpr std::string_view version = "version.";
static_assert(welcome.size() == word.size() && stranger.size() == word.size() &&
              version.size() == word.size());

// Of fixed length.
std::string pack(const Member& member) {
  std::string bytes;
  put_number(bytes, member.index);
  put_number(bytes, member.members);
  put_number(bytes, member.count);
  bytes += member.host.substr(0, host_bytes - 1);
  bytes.resize(who_bytes, '\0');
  return bytes;
}

Member unpack(std::string_view bytes) {
  Reader reader(bytes);
  Member member;
  member.index = reader.number<std::uint32_t>();
  member.members = reader.number<std::uint32_t>();
  member.count = reader.number<std::uint32_t>();
  const std::string_view host = reader.rest();
  member.host = host.substr(0, host.find('\0'));
  return member;
}

// Each purpose has a word of its own, of one length.
struct Bond {
  std::string_view token;
  std::string_view guest_nonce;
  std::string_view host_nonce;

  [[nodiscard]] Mac mac(std::string_view purpose, std::string_view about = {}) const {
    return mac_of(token, {word, purpose, guest_nonce, host_nonce, about});
  }
  [[nodiscard]] Keys keys_of_guest() const { return {mac("to host "), mac("to guest")}; }
  [[nodiscard]] Keys keys_of_host() const { return {mac("to guest"), mac("to host ")}; }
  [[nodiscard]] Mac proof_of_guest(std::string_view who) const { return mac("is guest", who); }
  [[nodiscard]] Mac proof_of_host(std::string_view who) const { return mac("is host ", who); }
};

// What fits into an empty buffer of the kernel's, at once.
bool send_whole(int connection, std::string_view bytes) {
  return send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(bytes.size());
}

enum class Read : std::uint8_t { whole, part, end };

// Until `in` holds so many bytes; takes no more than those.
Read read_up_to(int connection, std::string& in, std::size_t size) {
  while (in.size() < size) {
    std::array<char, proof_bytes> buffer;
    const std::size_t most = std::min(size - in.size(), buffer.size());
    const ssize_t bytes = recv(connection, buffer.data(), most, MSG_DONTWAIT);
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return Read::part;
    if (bytes <= 0) return Read::end;
    in.append(buffer.data(), static_cast<std::size_t>(bytes));
  }
  return Read::whole;
}

// The same, and waits. `part`: the time is over.
Read await(int connection, std::string& in, std::size_t size, Clock::time_point until) {
  for (;;) {
    const Read read = read_up_to(connection, in, size);
    if (read != Read::part) return read;
    if (Clock::now() >= until) return Read::part;
    pollfd ready{connection, POLLIN, 0};
    poll(&ready, 1, milliseconds_until(until));
  }
}

Refusal refusal_of(Read read) {
  return read == Read::part ? Refusal::silent : Refusal::not_there;
}

// As far as there is any of it.
bool may_be(std::string_view bytes, std::string_view whole) {
  const std::size_t count = std::min(bytes.size(), whole.size());
  return bytes.substr(0, count) == whole.substr(0, count);
}

// Of any version.
constexpr std::string_view any_word = word.substr(0, word.size() - 1);

}  // namespace

Result<void> check_token(std::string_view token) {
  if (token.size() >= shortest_token) return {};
  return Error{
      ErrorCode::invalid_argument,
      fmt::format("the job's token has {} bytes; it must have at least {}, and be a secret: "
                  "such as what `openssl rand -hex 32` prints",
                  token.size(), shortest_token)};
}

Guest::Guest(Fd connection, Clock::time_point until)
    : connection_(std::move(connection)),
      address_(address_of_peer(connection_.get())),
      until_(until) {}

Guest::State Guest::on_greeting() {
  if (!in_.starts_with(word)) {
    send_whole(fd(), std::string(version) + std::string(nonce_bytes, '\0'));
    return State::turned_away;
  }
  its_ = in_.substr(word.size());
  own_ = fresh_nonce();
  greeted_ = true;
  in_.clear();
  return send_whole(fd(), std::string(word) + std::string(bytes_of(own_))) ? State::talking
                                                                           : State::gone;
}

Guest::State Guest::on_proof(std::string_view token) {
  who_ = in_.substr(0, who_bytes);
  const Bond bond{token, its_, bytes_of(own_)};
  if (!same(bond.proof_of_guest(who_), std::string_view(in_).substr(who_bytes))) {
    send_whole(fd(), std::string(stranger) + std::string(mac_bytes, '\0'));
    return State::turned_away;
  }
  member_ = unpack(who_);
  return State::known;
}

Guest::State Guest::hear(std::string_view token) {
  const Read read = read_up_to(fd(), in_, greeted_ ? proof_bytes : greeting_bytes);
  // Its first bytes may be wrong long before there are enough of them.
  if (!greeted_ && !may_be(in_, any_word)) return State::turned_away;
  if (read == Read::end) return State::gone;
  if (read == Read::part) return State::talking;
  if (greeted_) return on_proof(token);
  const State state = on_greeting();
  return state == State::talking ? hear(token) : state;
}

Channel Guest::let_in(std::string_view token, std::uint64_t longest) {
  const Bond bond{token, its_, bytes_of(own_)};
  send_whole(fd(), std::string(welcome) + std::string(bytes_of(bond.proof_of_host(who_))));
  return {std::move(connection_), bond.keys_of_host(), longest};
}

Greeted greet(Fd connection, std::string_view token, const Member& self, std::uint64_t longest,
              Clock::time_point until) {
  const Nonce own = fresh_nonce();
  const int fd = connection.get();
  if (!send_whole(fd, std::string(word) + std::string(bytes_of(own))))
    return {std::nullopt, Refusal::not_there};
  std::string answer;
  const Read greeted = await(fd, answer, greeting_bytes, until);
  if (!may_be(answer, any_word) && !may_be(answer, version))
    return {std::nullopt, Refusal::no_muster};
  if (greeted != Read::whole) return {std::nullopt, refusal_of(greeted)};
  if (!answer.starts_with(word)) return {std::nullopt, Refusal::other_version};

  const std::string its = answer.substr(word.size());
  const std::string who = pack(self);
  const Bond bond{token, bytes_of(own), its};
  if (!send_whole(fd, who + std::string(bytes_of(bond.proof_of_guest(who)))))
    return {std::nullopt, Refusal::not_there};
  std::string verdict;
  const Read judged = await(fd, verdict, word.size() + mac_bytes, until);
  if (judged != Read::whole) return {std::nullopt, refusal_of(judged)};
  if (!verdict.starts_with(welcome) ||
      !same(bond.proof_of_host(who), std::string_view(verdict).substr(word.size())))
    return {std::nullopt, Refusal::other_job};
  return {Channel(std::move(connection), bond.keys_of_guest(), longest), Refusal::none};
}

}  // namespace muster::detail::net
