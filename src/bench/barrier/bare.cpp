// Barriers by hand that yield, for more ranks than cores: what a careful programmer would write for
// this one job. The faster of the two is what muster is compared with.
#include <sched.h>

#include <atomic>
#include <cstdint>

#include "bench/barrier/barrier.hpp"
#include "bench/barrier/cells.hpp"
#include "bench/ranks.hpp"

namespace muster::bench {

namespace {

// Pairs with the release of whoever advances the word. Looks again a few times first: where the
// peer is running on another core, its store is some 100 ns away, and a yield takes longer.
void wait_for(const std::atomic<std::uint32_t>& word, std::uint32_t epoch) {
  constexpr int looks = 100;
  for (int look = 0; !reached(word.load(std::memory_order_acquire), epoch); ++look)
    if (look >= looks) sched_yield();
}

// Each rank has one flag, which all others read.
class FlatFlags {
 public:
  FlatFlags(Cell* flags, std::uint32_t ranks, std::uint32_t rank)
      : flags_(flags), ranks_(ranks), rank_(rank) {}

  bool operator()() {
    ++epoch_;
    flags_[rank_].word.store(epoch_, std::memory_order_release);  // pairs with wait_for
    for (std::uint32_t step = 1; step < ranks_; ++step) {
      const std::uint32_t sum = rank_ + step;
      wait_for(flags_[sum < ranks_ ? sum : sum - ranks_].word, epoch_);
    }
    return true;
  }

 private:
  Cell* flags_;
  std::uint32_t ranks_;
  std::uint32_t rank_;
  std::uint32_t epoch_ = 0;
};

// One counter that only grows; whoever completes a round of arrivals opens the gate.
class CentralCounter {
 public:
  CentralCounter(Cell* cells, std::uint32_t ranks, std::uint32_t)
      : count_(cells[0].word), gate_(cells[1].word), ranks_(ranks) {}

  bool operator()() {
    ++epoch_;
    // acq_rel: the last to arrive has heard of all, and tells all through the gate.
    const std::uint32_t before = count_.fetch_add(1, std::memory_order_acq_rel);
    if (before + 1 == epoch_ * ranks_)
      gate_.store(epoch_, std::memory_order_release);  // pairs with wait_for
    else
      wait_for(gate_, epoch_);
    return true;
  }

 private:
  std::atomic<std::uint32_t>& count_;
  std::atomic<std::uint32_t>& gate_;
  std::uint32_t ranks_;
  std::uint32_t epoch_ = 0;
};

template <class Barrier>
Contender bare(const char* name, As as) {
  const auto run = [as](const Plan& plan) {
    const SharedBytes cells(sizeof(Cell) * (plan.ranks + 1));
    return run_apart(plan, [&](std::span<RankLog> logs) {
      return run_ranks(plan, as, [&](std::uint32_t rank) {
        time_blocks(plan, logs[rank], Barrier(cells.at<Cell>(), plan.ranks, rank));
      });
    });
  };
  return Contender{.name = name, .role = Role::bare, .as = as, .run = run};
}

}  // namespace

std::vector<Contender> bare_barriers(const Request& request) {
  return {bare<FlatFlags>("bare yielding, flags", request.as),
          bare<CentralCounter>("bare yielding, counter", request.as)};
}

}  // namespace muster::bench
