// Waiters that are pending, and the way from a deposit to what it releases.
#include "bench/tasks/pending.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <semaphore>
#include <thread>

#include "bench/measure.hpp"
#include "muster/muster.hpp"
#include "muster/task.hpp"

namespace muster::bench {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::uint32_t conditions = 64;
constexpr auto settles = milliseconds(1);  // until all that can sleep does

double microseconds(Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

// A thread that blocks until it is woken, and says when it was.
class Blocked {
 public:
  Blocked() : thread_([this] { run(); }) {}
  ~Blocked() {
    ends_ = true;
    go_.release();
    thread_.join();
  }
  Blocked(const Blocked&) = delete;
  Blocked& operator=(const Blocked&) = delete;

  [[nodiscard]] double wake() {
    std::this_thread::sleep_for(settles);
    const Clock::time_point begin = Clock::now();
    go_.release();
    done_.acquire();
    return microseconds(woken_ - begin);
  }

 private:
  void run() {
    while (true) {
      go_.acquire();
      woken_ = Clock::now();
      if (ends_) return;
      done_.release();
    }
  }
  std::counting_semaphore<> go_{0};
  std::counting_semaphore<> done_{0};
  Clock::time_point woken_;
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

double process_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::uint32_t threads_now() {
  const std::filesystem::directory_iterator all("/proc/self/task");
  return static_cast<std::uint32_t>(std::distance(begin(all), end(all)));
}

// What the two ranks, which are threads of one process, tell each other besides.
struct Shared {
  std::counting_semaphore<> armed{0};    // to the depositor: the next waiter is pending
  std::counting_semaphore<> started{0};  // to it: what depended on that has started
  Clock::time_point begin;
  Clock::time_point end;  // of the notify
};

// Rank 1: a deposit whenever a waiter is pending.
Result<void> deposit(Team& team, Signal cell, std::uint32_t repeat, Shared& shared) {
  return team.lane([&](auto& fabric) {
    for (std::uint32_t round = 1; round <= repeat; ++round) {
      shared.armed.acquire();
      std::this_thread::sleep_for(settles);
      shared.begin = Clock::now();
      fabric.notify(cell, Rank{0}, round, NotifyOp::set);
      shared.end = Clock::now();
      shared.started.acquire();
    }
  });
}

// Waiters that nothing releases: each waits for 64 cells.
template <class Graph>
void submit_pending(Graph& graph, Signals cells, std::uint32_t waiters) {
  for (std::uint32_t i = 0; i < waiters; ++i) {
    graph.submit_waiter("pending", [cells, i](task::Waiter& waiter) {
      for (std::uint32_t at = 0; at < conditions; ++at)
        waiter.defer_wait(cells[(at + i) % conditions], Compare::ge, 1 + i);
    });
  }
}

// Rank 0: the waiters, and one more that each deposit releases.
Result<PendingCost> wait_for_deposits(Team& team, Signals cells, Signal cell, std::uint32_t waiters,
                                      std::uint32_t repeat, Shared& shared) {
  PendingCost cost{.waiters = waiters};
  task::Graph graph(team, {.workers = 2});
  submit_pending(graph, cells, waiters);
  // They have all registered when the workers have run this.
  if (const auto all = graph.wait(graph.submit("all", {}, [](auto&) {})); !all) return all.error();
  Blocked blocked;
  std::vector<double> deposits;
  std::vector<double> starts;
  std::vector<double> wakes;
  std::vector<double> ratios;
  for (std::uint32_t round = 1; round <= repeat; ++round) {
    Clock::time_point started;
    const auto arrived = graph.submit_waiter("wait", [&](task::Waiter& waiter) {
      waiter.defer_wait(cell, Compare::ge, round);
      shared.armed.release();
    });
    const auto behind = graph.submit("behind", {arrived}, [&](auto&) { started = Clock::now(); });
    if (const auto ended = graph.wait(behind); !ended) return ended.error();
    shared.started.release();
    std::this_thread::sleep_for(settles);  // the notify has returned, too
    deposits.push_back(microseconds(shared.end - shared.begin));
    starts.push_back(microseconds(started - shared.begin));
    wakes.push_back(blocked.wake());
    ratios.push_back(starts.back() / wakes.back());
  }
  const double before = process_seconds();
  std::this_thread::sleep_for(milliseconds(1000));
  cost.share_of_core = process_seconds() - before;
  cost.threads = threads_now();
  cost.deposit = median(deposits);
  cost.start = median(starts);
  cost.woken = median(wakes);
  cost.ratio = median(ratios);
  return cost;
}

}  // namespace

Result<PendingCost> measure_pending(std::uint32_t waiters, std::uint32_t repeat) {
  Shared shared;
  Result<PendingCost> cost = PendingCost{};
  const RunOptions options{.ranks = 2, .as = threads};
  const int status = run(options, [&](Team& team) -> Result<void> {
    const Signals cells = *team.signals(conditions);
    const Signal cell = (*team.signals(1))[0];
    if (team.rank() == Rank{1}) return deposit(team, cell, repeat, shared);
    cost = wait_for_deposits(team, cells, cell, waiters, repeat, shared);
    return cost ? Result<void>() : Result<void>(cost.error());
  });
  if (status != 0 && cost) return Error{ErrorCode::aborted, "a rank of the benchmark has failed"};
  return cost;
}

}  // namespace muster::bench
