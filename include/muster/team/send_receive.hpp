// Send and receive from host code, on plain memory, in one line each:
//
//   const muster::SendReceive<float> pairs(team);                       // by all ranks of the team
//   if (team.rank() == Rank{0}) done = muster::send(team, pairs, std::span(v), Rank{1});
//   if (team.rank() == Rank{1}) done = muster::receive(team, pairs, std::span(v), Rank{0});
//
// Outside of lanes; they run on one lane, the calling thread. Only the two ranks call, each once
// for each message, with the same length.
//
// Errors: invalid_argument where the other rank does not exist or is this one, before anything is
// sent, and on both sides where a message has another length than what is received (the sender may
// be told by its next call to that rank, SendReceive says when); else what a lane's waits end with
// (expired, peer_lost, aborted).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "muster/collective/send_receive.hpp"
#include "muster/result.hpp"
#include "muster/team.hpp"
#include "muster/team/collective.hpp"

namespace muster {

namespace detail {

[[nodiscard]] inline Result<void> check_peer(const Team& team, std::string_view call,
                                             const char* argument, Rank peer) {
  if (peer.value < team.size() && peer != team.rank()) return {};
  return collective_error(
      team, call,
      std::string(argument) + " is " + std::to_string(peer.value) +
          (peer == team.rank() ? ", this rank itself; it must be another of the "
                               : "; there are ") +
          std::to_string(team.size()) + (peer == team.rank() ? " ranks" : " ranks, from 0 on"));
}

}  // namespace detail

// The elements to rank `to`, which receives as many. They may be written again on return.
template <class T, std::int64_t C>
Result<void> send(Team& team, const SendReceive<std::remove_const_t<T>, C>& pairs,
                  std::span<T> elements, Rank to) {
  if (auto exists = detail::check_peer(team, "send", "to", to); !exists) return exists;
  return team.lane([&](auto& fabric) -> Result<void> {
    const WaitStatus status = pairs.send(fabric, to, detail::memory_of(elements),
                                         static_cast<std::int64_t>(elements.size()));
    if (status != WaitStatus::invalid) return result_of(status);
    return detail::collective_error(team, "send",
                                    "rank " + std::to_string(to.value) +
                                        " receives another number of elements than it is sent, " +
                                        "now " + std::to_string(elements.size()) +
                                        "; both must be the same");
  });
}

// The elements become what rank `from` sends.
template <class T, std::int64_t C>
Result<void> receive(Team& team, const SendReceive<T, C>& pairs, std::span<T> elements, Rank from) {
  if (auto exists = detail::check_peer(team, "receive", "from", from); !exists) return exists;
  return team.lane([&](auto& fabric) -> Result<void> {
    const auto count = static_cast<std::int64_t>(elements.size());
    const WaitStatus status = pairs.receive(fabric, from, detail::memory_of(elements), count);
    if (status != WaitStatus::invalid) return result_of(status);
    return detail::collective_error(team, "receive",
                                    "rank " + std::to_string(from.value) + " has sent " +
                                        std::to_string(pairs.announced(fabric, from).count) +
                                        " elements, and here are " + std::to_string(count) +
                                        "; both must be the same");
  });
}

}  // namespace muster
