// The exchange floor: every rank stores a flag for every other rank and spins until it has seen all
// of theirs. No library code, no deadline, no yielding: what the cache lines alone cost.
#include <atomic>
#include <cstdint>
#include <span>

#include "bench/barrier/barrier.hpp"
#include "bench/barrier/cells.hpp"
#include "bench/ranks.hpp"
#include "launch/binding.hpp"

namespace muster::bench {

namespace {

class Exchange {
 public:
  Exchange(Cell* cells, std::uint32_t ranks, std::uint32_t rank)
      : cells_(cells), ranks_(ranks), rank_(rank) {}

  bool operator()() {
    ++epoch_;
    // Right neighbour first, so that not all ranks touch one line at a time. The release pairs with
    // the peer's acquire below.
    for (std::uint32_t step = 1; step < ranks_; ++step) {
      const std::uint32_t peer = (rank_ + step) % ranks_;
      cells_[peer * ranks_ + rank_].word.store(epoch_, std::memory_order_release);
    }
    for (std::uint32_t step = 1; step < ranks_; ++step) {
      const std::uint32_t peer = (rank_ + step) % ranks_;
      const Cell& cell = cells_[rank_ * ranks_ + peer];
      while (!reached(cell.word.load(std::memory_order_acquire), epoch_)) {
      }
    }
    return true;
  }

 private:
  Cell* cells_;
  std::uint32_t ranks_;
  std::uint32_t rank_;
  std::uint32_t epoch_ = 0;
};

}  // namespace

std::vector<Contender> floor_barriers(const Request& request) {
  Contender floor{
      .name = "exchange floor",
      .role = Role::floor,
      .as = request.as,
  };
  if (request.ranks > launcher::allowed_cores().size())
    floor.why_not = "it never yields, which means nothing with more ranks than cores";
  floor.run = [as = request.as](const Plan& plan) {
    const SharedBytes cells(sizeof(Cell) * plan.ranks * plan.ranks);
    return run_apart(plan, [&](std::span<RankLog> logs) {
      return run_ranks(plan, as, [&](std::uint32_t rank) {
        time_blocks(plan, logs[rank], Exchange(cells.at<Cell>(), plan.ranks, rank));
      });
    });
  };
  return {floor};
}

}  // namespace muster::bench
