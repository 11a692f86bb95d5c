// The threads of all ranks, and their numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "check/thread.hpp"
#include "muster/check/report.hpp"

namespace muster::check::engine {

// For each rank its set-up, then the threads of its lanes, lane by lane, then those of tasks; each
// thread's number is its place in this order. There are as many as the configuration allows,
// whether or not they run. Where kernels overlap (launches.cpp), behind all of these come the
// threads of every second kernel of each rank.
class Threads {
 public:
  explicit Threads(const Options& options)
      : ranks_(options.ranks),
        per_lane_(options.threads),
        per_kernel_(options.lanes * options.threads),
        first_task_(1 + per_kernel_),
        per_rank_(first_task_ + options.tasks),
        all_(std::size_t{ranks_} * per_rank_) {}

  // Between executions: from now on two kernels of a rank may run at a time.
  void let_kernels_overlap() {
    all_ = std::vector<Thread>(std::size_t{ranks_} * (per_rank_ + per_kernel_));
  }
  [[nodiscard]] bool kernels_overlap() const { return all_.size() > firsts(); }

  // Before an execution.
  void reset(Execution& run) {
    for (std::uint32_t id = 0; id < all_.size(); ++id) {
      Thread& thread = all_[id];
      thread.reset();
      thread.run = &run;
      thread.id = id;
      thread.bank = id < firsts() ? 0 : 1;
      const std::uint32_t behind = id - firsts();
      thread.rank = thread.bank == 0 ? id / per_rank_ : behind / per_kernel_;
      const std::uint32_t within = thread.bank == 0 ? id % per_rank_ : 1 + behind % per_kernel_;
      thread.is_setup = within == 0;
      thread.is_task = within >= first_task_;  // its lane is its worker's
      const bool in_lane = within != 0 && !thread.is_task;
      thread.lane = in_lane ? (within - 1) / per_lane_ : 0;
      thread.index = in_lane ? (within - 1) % per_lane_ : 0;
      thread.together = of_lane(thread);
      thread.scope = Scope::system;
      for (Clock* clock : {&thread.hb, &thread.cause, &thread.ended}) clock->raise({id, 1});
    }
  }

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(all_.size()); }
  [[nodiscard]] auto begin() { return all_.begin(); }
  [[nodiscard]] auto end() { return all_.end(); }
  [[nodiscard]] auto begin() const { return all_.begin(); }
  [[nodiscard]] auto end() const { return all_.end(); }
  [[nodiscard]] Thread& operator[](std::size_t id) { return all_[id]; }
  [[nodiscard]] const Thread& operator[](std::size_t id) const { return all_[id]; }

  [[nodiscard]] Thread& setup(std::uint32_t rank) { return all_[std::size_t{rank} * per_rank_]; }
  // Of the rank, and of the kernels of the thread's bank.
  [[nodiscard]] LaneThreads of_rank(const Thread& thread) const {
    if (thread.bank == 0) return {thread.rank * per_rank_, per_rank_};
    return {firsts() + thread.rank * per_kernel_, per_kernel_};
  }
  // Those of the thread's lane.
  [[nodiscard]] LaneThreads of_lane(const Thread& thread) const {
    return {thread.id - thread.index, thread.is_task ? 1 : per_lane_};
  }
  // The thread for that block of a task; null where there is no room for it.
  [[nodiscard]] Thread* task(std::uint32_t rank, std::uint32_t number) {
    if (number >= per_rank_ - first_task_) return nullptr;
    return &all_[std::size_t{rank} * per_rank_ + first_task_ + number];
  }
  // Of its rank where it acts for its lane, else of the part: whose transfers a release carries.
  [[nodiscard]] LaneThreads carrying_for(const Thread& thread) const {
    return thread.together == of_lane(thread) ? of_rank(thread) : thread.together;
  }
  [[nodiscard]] std::span<Thread> at(LaneThreads threads) {
    return std::span(all_).subspan(threads.first, threads.count);
  }
  // Of the rank's first `lanes` lanes, in its kernel of that number.
  [[nodiscard]] std::span<Thread> of_lanes(std::uint32_t rank, std::uint32_t lanes,
                                           std::uint32_t kernel) {
    const std::uint32_t first =
        kernel % 2 == 0 ? rank * per_rank_ + 1 : firsts() + rank * per_kernel_;
    return std::span(all_).subspan(first, std::size_t{lanes} * per_lane_);
  }
  // The thread that counts for those of its place in the rank's lanes, whatever the kernel.
  [[nodiscard]] Thread& counting_for(const Thread& thread) {
    if (thread.bank == 0) return all_[thread.id];
    return all_[thread.rank * per_rank_ + 1 + (thread.id - firsts()) % per_kernel_];
  }

 private:
  [[nodiscard]] std::uint32_t firsts() const { return ranks_ * per_rank_; }

  std::uint32_t ranks_;
  std::uint32_t per_lane_;
  std::uint32_t per_kernel_;
  std::uint32_t first_task_;
  std::uint32_t per_rank_;
  std::vector<Thread> all_;
};

}  // namespace muster::check::engine
