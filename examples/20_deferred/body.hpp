// Step 20: deferred waits. Two ranks; on each as many waiters as workers, and a consumer behind
// each of them, all submitted before the task that publishes. Waits that block in tasks take all
// workers here, and whoever should publish finds none; deferred ones take none.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "muster/fabric.hpp"
#include "muster/result.hpp"
#include "muster/task.hpp"

namespace tutorial {

inline constexpr std::uint32_t deferred_workers = 2;
inline constexpr std::uint32_t deferred_epochs = 3;

// What the two ranks share.
struct Inbox {
  muster::WindowRef<std::uint32_t> value;
  muster::Signal ready;  // the epoch of the value; it only grows, and is never reset
};

// What the consumers have read, one number for each, epoch by epoch.
using Read = std::vector<std::uint32_t>;

// Rank r publishes r + 1 to the other one: rank 0 reads 2, rank 1 reads 1.
template <class F>
void publish(F& fabric, const Inbox& inbox, std::uint32_t epoch) {
  const muster::Rank peer = muster::right_of(fabric);
  auto tile = fabric.template tile<std::uint32_t, 1, 1>();
  tile.each([&](std::int64_t, std::int64_t, std::uint32_t& element) {
    element = fabric.rank().value + 1;
  });
  fabric.remote_store(tile, inbox.value, peer, muster::Box{0, 0, 1, 1});
  fabric.converge();
  if (fabric.thread() == 0)
    fabric.notify(inbox.ready, peer, epoch, muster::NotifyOp::set);  // carries the value
}

struct Way {
  bool blocking = false;  // waits that block in their tasks, instead of waiters
  std::uint32_t waiters = deferred_workers;
  std::string trace = {};
  // How many waits have begun; where there is one, nobody publishes before all have, so that those
  // that block do so each time: oneTBB starts tasks in no certain order.
  std::atomic<std::uint32_t>* begun = nullptr;
};

// The wait that the page is about, in both ways.
template <class Graph>
muster::task::TaskId arrival(Graph& graph, const Inbox& inbox, std::uint32_t epoch,
                             const Way& way) {
  using muster::Compare;
  const auto begin = [begun = way.begun] {
    if (begun != nullptr) ++*begun;
  };
  if (way.blocking) {
    return graph.submit("wait, blocking", {}, [=](auto& fabric) {
      begin();
      muster::WaitStatus status = muster::WaitStatus::ok;
      if (fabric.thread() == 0) status = fabric.wait(inbox.ready, Compare::ge, epoch);
      return fabric.converge(status);
    });
  }
  return graph.submit_waiter("wait", [=](muster::task::Waiter& waiter) {
    begin();
    waiter.defer_wait(inbox.ready, Compare::ge, epoch);
  });
}

// One epoch: the waits, a consumer behind each, and then the one who publishes. In the last epoch
// that one has ended before, so that the other's value may be there already.
template <class Graph>
muster::Result<void> one_epoch(Graph& graph, const Inbox& inbox, std::uint32_t epoch,
                               const Way& way, Read& read) {
  const bool publish_first = epoch == deferred_epochs;
  const std::size_t first = read.size();
  read.resize(first + way.waiters);
  const auto publishes = [=](auto& fabric) { publish(fabric, inbox, epoch); };
  if (publish_first) {
    const auto published = graph.wait(graph.submit("publish", {}, publishes));
    if (!published) return published;
  }
  for (std::uint32_t i = 0; i < way.waiters; ++i) {
    const muster::task::TaskId arrived = arrival(graph, inbox, epoch, way);
    std::uint32_t* const place = &read[first + i];
    graph.submit("consume", {arrived}, [=](auto& fabric) {
      if (fabric.thread() == 0) *place = fabric.local(inbox.value)[0];
    });
  }
  while (way.begun != nullptr && *way.begun < epoch * way.waiters) std::this_thread::yield();
  if (!publish_first) graph.submit("publish", {}, publishes);
  return graph.wait_all();
}

// Behind each epoch the team meets: the inbox is free then.
template <class Team>
muster::Result<Read> deferred_step(Team& team, const Way& way = {}) {
  const auto value = *team.template window<std::uint32_t>({1}, "value");
  const Inbox inbox{value, (*team.signals(1))[0]};
  muster::task::Graph graph(team, {.workers = deferred_workers, .trace = way.trace});
  Read read;
  for (std::uint32_t epoch = 1; epoch <= deferred_epochs; ++epoch) {
    if (const auto ended = one_epoch(graph, inbox, epoch, way, read); !ended) return ended.error();
    if (const auto met = team.sync(); !met) return met.error();
  }
  return read;
}

[[nodiscard]] inline muster::Result<void> check_read(const Read& read, std::uint32_t rank,
                                                     std::uint32_t waiters) {
  bool right = read.size() == std::size_t{waiters} * deferred_epochs;
  for (const std::uint32_t one : read) right = right && one == 2 - rank;
  if (right) return {};
  return muster::Error{.code = muster::ErrorCode::mismatch,
                       .what = "a consumer of rank " + std::to_string(rank) +
                               " has not read what the other one published"};
}

}  // namespace tutorial
