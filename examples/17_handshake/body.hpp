// Step 17: a handshake of two ranks. Rank 0 sends a number to rank 1, which answers with one less.
// What each got is its own number and one: [[1], [2]]. By hand: a store, a signal, and back.
#pragma once

#include <string>

#include "../common/collective_step.hpp"
#include "muster/collective/send_receive.hpp"

namespace tutorial {

// Further ranks look on, and have nothing.
template <class Team>
muster::Result<Values> handshake_step(Team& team, const std::string& mode) {
  using namespace muster;
  const auto got = *team.template window<float>({1}, "got");
  const auto answer = *team.template window<float>({1}, "answer");
  const Signals told = *team.signals(1);
  const SendReceive<float, 1> pairs(team, {.chunk = 4});
  const Rank first{0};
  const Rank second{1};
  Values result;
  const Result<void> ran = team.lane([&](auto& fabric) -> WaitStatus {
    if (fabric.rank().value > 1) return WaitStatus::ok;
    const bool opens = fabric.rank() == first;
    const Rank other = opens ? second : first;
    const auto send = [&](float number) -> WaitStatus {
      if (mode == "builtin") {
        fill(fabric, answer, {number});
        return pairs.send(fabric, other, answer, 1);
      }
      auto tile = fabric.template tile<float, 1, 1>();
      tile.each([&](std::int64_t, std::int64_t, float& element) { element = number; });
      fabric.remote_store(tile, got, other, Box{0, 0, 1, 1});
      fabric.converge();  // all threads have stored
      if (fabric.thread() == 0) fabric.notify(told[0], other, 1, NotifyOp::set);
      return WaitStatus::ok;
    };
    const auto receive = [&]() -> WaitStatus {
      if (mode == "builtin") return pairs.receive(fabric, other, got, 1);
      WaitStatus status = WaitStatus::ok;
      if (fabric.thread() == 0) status = fabric.wait(told[0], Compare::ge, 1);
      return fabric.converge(status);
    };
    WaitStatus status = WaitStatus::ok;
    if (opens) status = send(2);
    if (status == WaitStatus::ok) status = receive();
    if (status != WaitStatus::ok) return status;
    look(fabric, got, result);
    fabric.converge();
    const float number = fabric.local(got)[0];
    return opens ? status : send(number - 1);
  });
  if (!ran) return ran.error();
  return result;
}

[[nodiscard]] inline Values handshake_golden(std::uint32_t rank) {
  return rank < 2 ? Values{static_cast<float>(rank + 1)} : Values{};
}

}  // namespace tutorial
