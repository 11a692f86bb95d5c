// What a graph has done, as a trace in Chrome's format (Trace Event Format): a process for each
// rank, a row for each lane.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "fabric/host/cell_watch.hpp"
#include "muster/task/node.hpp"

namespace muster::task {

class Trace {
 public:
  using Clock = std::chrono::steady_clock;

  // `nonce` tells this job from those that have written the file before.
  Trace(std::string path, std::uint64_t nonce, std::uint32_t job_rank, std::uint32_t lanes);

  // ---- by whoever has the lane
  void ran(std::uint32_t lane, const Node& node, std::uint32_t block, Clock::time_point begin,
           Clock::time_point end);

  // ---- a wait of a waiter or a coroutine, which was pending
  void waited(const Node& node, Clock::time_point begin, const Condition& last,
              const host::CellWatch::Deposit& deposit, bool well);

  // When nothing runs any more. Says on stderr where the file cannot be written.
  void write() const;

 private:
  struct Run {
    const Node* node;
    std::uint32_t block;
    Clock::time_point begin;
    Clock::time_point end;
  };
  struct Wait {
    const Node* node;
    Clock::time_point begin;
    Clock::time_point end;
    std::uint32_t cell;
    host::CellWatch::Deposit deposit;
    bool well;
  };

  [[nodiscard]] std::vector<std::string> events() const;
  void add_rows(std::vector<std::string>& events) const;
  void add_waits(std::vector<std::string>& events) const;
  void add_arrows(std::vector<std::string>& events) const;
  void add_arrow(std::vector<std::string>& events, const Wait& wait, std::uint32_t lane,
                 Clock::time_point start, std::uint64_t number) const;

  std::string path_;
  std::uint64_t nonce_;
  std::uint32_t job_rank_;
  std::vector<std::vector<Run>> runs_;  // by lane
  std::mutex waits_lock_;
  std::deque<Wait> waits_;
};

}  // namespace muster::task
