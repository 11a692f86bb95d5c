// Step 19: a counting semaphore. Rank 0 has two desks; whoever holds one of two permits finds one
// of them free, counts the number on it up, and leaves. The permits are taken by compare_swap, the
// desks by exchange.
#pragma once

#include <cstdint>
#include <string>

#include "muster/fabric.hpp"
#include "muster/result.hpp"

namespace tutorial {

inline constexpr std::uint32_t desks = 2;

class Semaphore {
 public:
  template <class Team>
  Semaphore(Team& team, std::uint32_t permits) : out_(*team.signals(1)), permits_(permits) {}

  // By one thread. Counts one more only where one is left: who counted first and looked then would
  // hang with three (see the step's page). It sees what all have released who were here before.
  template <muster::AtomicFabric F>
  [[nodiscard]] muster::WaitStatus acquire(F& fabric) const {
    using namespace muster;
    for (std::uint32_t there = 0;;) {
      const Fetched found = fabric.compare_swap(out_[0], Rank{0}, there, there + 1, Order::acquire);
      if (found.status != WaitStatus::ok || found.value == there) return found.status;
      there = found.value < permits_ ? found.value : permits_ - 1;
    }
  }

  // By one thread. Carries what went to rank 0.
  template <muster::AtomicFabric F>
  [[nodiscard]] muster::WaitStatus release(F& fabric) const {
    return fabric.fetch_add(out_[0], muster::Rank{0}, ~0U, muster::Order::release).status;
  }

 private:
  muster::Signals out_;  // on rank 0: how many permits are out
  std::uint32_t permits_;
};

// The sum of the numbers on the desks, at the end, on rank 0.
template <class Team>
muster::Result<std::uint32_t> semaphore_step(Team& team, std::uint32_t rounds) {
  using namespace muster;
  const auto numbers = *team.template window<std::uint32_t>({desks}, "numbers");
  const Signals taken = *team.signals(desks);  // on rank 0: 1 where somebody is at the desk
  const Signals done = *team.signals(1);       // on rank 0: how many ranks have ended
  const Semaphore semaphore(team, desks);
  std::uint32_t sum = 0;
  const Result<void> ran = team.lane([&](auto& fabric) -> WaitStatus {
    const Rank home{0};
    const bool speaks = fabric.thread() == 0;
    WaitStatus status = WaitStatus::ok;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      std::uint32_t desk = 0;
      if (speaks && status == WaitStatus::ok) status = semaphore.acquire(fabric);
      if (speaks && status == WaitStatus::ok) {
        Fetched before{WaitStatus::ok, 1};
        for (std::uint32_t at = 0; before.status == WaitStatus::ok && before.value != 0; ++at) {
          desk = at % desks;
          before = fabric.exchange(taken[desk], home, 1, Order::acquire);
        }
        status = before.status;
      }
      desk = fabric.broadcast(desk);
      status = fabric.converge(status);
      if (status != WaitStatus::ok) return status;
      auto one = fabric.template tile<std::uint32_t, 1, 1>();
      status = fabric.remote_load(one, numbers, home, Box{0, desk, 1, 1});
      one.each([](std::int64_t, std::int64_t, std::uint32_t& element) { ++element; });
      fabric.remote_store(one, numbers, home, Box{0, desk, 1, 1});
      status = fabric.converge(status);
      if (status != WaitStatus::ok) return status;
      if (!speaks) continue;
      // To rank 0 both: a release carries what went there, so no flush is needed.
      status = fabric.exchange(taken[desk], home, 0, Order::release).status;
      status = worst(status, semaphore.release(fabric));
    }
    if (speaks) fabric.notify(done[0], home, 1, NotifyOp::add);
    if (speaks && fabric.rank() == home && status == WaitStatus::ok) {
      status = fabric.wait(done[0], Compare::ge, fabric.size());
      for (std::uint32_t desk = 0; status == WaitStatus::ok && desk < desks; ++desk)
        sum += fabric.local(numbers)[desk];
    }
    return fabric.converge(status);
  });
  if (!ran) return ran.error();
  return sum;
}

[[nodiscard]] inline muster::Result<void> check_worked(std::uint32_t sum, std::uint32_t rank,
                                                       std::uint32_t ranks, std::uint32_t rounds) {
  const std::uint32_t expected = rank == 0 ? ranks * rounds : 0;
  if (sum == expected) return {};
  return muster::Error{.code = muster::ErrorCode::mismatch,
                       .what = "rank " + std::to_string(rank) + " found the sum " +
                               std::to_string(sum) + ", expected " + std::to_string(expected)};
}

}  // namespace tutorial
