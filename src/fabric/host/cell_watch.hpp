// Waiting for cells of a rank without a thread for each wait: one thread a rank watches all cells
// that anybody waits for, and is told by deposits which of them to look at.
//
// A deposit into a rank that is watched sets, in the rank's CellBell, the bit of the group that its
// cell is in, and wakes a watcher where one sleeps. It costs the same however many waits there are.
// There are two threads: one of them may go on with what follows from a wait that has ended, which
// saves waking yet another, while the other watches. While nobody watches a rank its deposits cost
// what they cost without any of this: the word that they look at anyway, for lanes that sleep, says
// so.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "fabric/host/layout.hpp"
#include "fabric/host/team_context.hpp"
#include "muster/result.hpp"
#include "muster/types.hpp"

namespace muster::host {

// Something that waits for a cell of the own rank to satisfy a condition, then maybe for another.
// It must stay where it is until it was called, or taken back.
class CellWait {
 public:
  CellWait() = default;
  CellWait(const CellWait&) = delete;
  CellWait& operator=(const CellWait&) = delete;
  virtual ~CellWait() = default;

  // By the watcher, once: the last condition has held, or never will be seen to.
  virtual void held() = 0;
  virtual void failed(const Error& error) = 0;

 protected:
  // The condition has held: the next one, into `awaited`. False where there is none.
  virtual bool advance() = 0;

  Condition awaited{};
  TeamContext* team = nullptr;
  std::chrono::steady_clock::time_point deadline{};
  std::chrono::milliseconds timeout{};  // that led to the deadline, for messages
  // Whether the team fails with this one, when its deadline has passed.
  bool fails_team = false;

 private:
  friend class CellWatch;
  bool listed_ = false;   // with the lock of its group
  std::uint32_t at_ = 0;  // in the entries of its cell
};

// A cell of the rank has changed, which is watched. By the depositor (job rank, lane), behind the
// deposit.
void ring(CellBell& bell, std::uint32_t cell, std::uint32_t depositor, Lane lane);

class CellWatch {
 public:
  using Clock = std::chrono::steady_clock;

  // That of the rank: one for all its teams, for as long as one of them has it. Throws
  // std::system_error where no thread can be had for it.
  [[nodiscard]] static std::shared_ptr<CellWatch> of(const std::shared_ptr<RankContext>& process);

  explicit CellWatch(std::shared_ptr<RankContext> process);
  ~CellWatch();
  CellWatch(const CellWatch&) = delete;
  CellWatch& operator=(const CellWatch&) = delete;

  // A team whose failure ends its waits. To be removed before the team goes, once none is left.
  void add(TeamContext& team);
  void remove(TeamContext& team);

  // Watches until the conditions have held, in turn. True: all have by now, and nothing is called.
  [[nodiscard]] bool add(CellWait& wait);
  // False: it was called, or is about to be.
  [[nodiscard]] bool remove(CellWait& wait);
  // Within a call of a wait, by the thread that calls: it does that when all have been called.
  // False: it has something to do already, or nobody else would watch meanwhile; or this is another
  // thread.
  [[nodiscard]] bool take_on(std::function<void()> job);
  [[nodiscard]] bool is_on_duty() const;

  // No call is under way when this returns.
  void finish_calls() { const std::lock_guard guard(calls_lock_); }

  // Deposits say who made them, and when, from now on.
  void trace() { bell_.traced.store(1, std::memory_order_relaxed); }
  struct Deposit {
    std::uint32_t job_rank = 0;
    Lane lane{};
    Clock::time_point when{};  // the clock's epoch: not known
  };
  [[nodiscard]] Deposit last_deposit(std::uint32_t cell) const;

  [[nodiscard]] std::uint64_t pending() const { return pending_.load(std::memory_order_relaxed); }

 private:
  // Beside the wait what tells whether it holds, so that a look at many touches no more.
  struct Entry {
    std::uint32_t value;
    Compare compare;
    CellWait* wait;
  };
  struct Cell {
    std::uint32_t number;
    std::uint32_t* word;
    std::vector<Entry> entries;
  };
  struct Group {
    std::mutex lock;
    std::vector<Cell> cells;  // with entries, and such as had some
    std::uint64_t entries = 0;
  };
  struct Ended {
    CellWait* wait;
    std::optional<Error> error;
  };

  [[nodiscard]] Group& group_of(std::uint32_t cell) { return groups_[cell % CellBell::groups]; }
  [[nodiscard]] static Cell& cell_of(Group& group, const CellWait& wait);
  // False: the condition holds, and it was not listed.
  [[nodiscard]] bool list(CellWait& wait);
  void unlist(Group& group, Cell& cell, CellWait& wait);
  void announce(std::uint32_t group);
  void arm();
  void disarm(Clock::time_point now);

  void run();
  void end_threads();
  // What the deposits since the last look have led to. False: there were none.
  bool look_at_hinted();
  void look_at(std::uint32_t group);
  void go_on(std::vector<CellWait*>& held);
  void call_ended();
  void look_at_all();
  // Lost peers, failures, deadlines.
  void attend();
  [[nodiscard]] bool is_told() const;
  [[nodiscard]] std::optional<std::chrono::nanoseconds> time_to_sleep();
  [[nodiscard]] bool is_due(Clock::time_point now) const;
  void end_waits(Clock::time_point now);
  [[nodiscard]] std::optional<Error> reason(const CellWait& wait, const Cell& cell,
                                            Clock::time_point now) const;
  void sleep();
  void hand_over();

  std::shared_ptr<RankContext> process_;
  RankRecord& record_;
  CellBell& bell_;
  std::array<Group, CellBell::groups> groups_;
  std::atomic<std::uint64_t> pending_{0};
  std::atomic<std::int64_t> next_deadline_{INT64_MAX};  // ns of the clock; none is before it
  std::mutex work_lock_;                                // while waits are between two cells
  std::mutex calls_lock_;                               // while waits are called
  std::mutex arm_lock_;
  std::atomic<bool> armed_{false};  // deposits tell; written with the lock
  bool blind_ = false;              // they cannot be relied upon to: look at all, often
  Clock::time_point idle_since_{};
  std::mutex teams_lock_;
  std::vector<TeamContext*> teams_;
  std::vector<Ended> ended_;  // to be called
  Clock::time_point next_attention_{};
  std::atomic<bool> ends_{false};
  std::atomic<bool> at_job_{false};         // one of the two does what it has taken on
  std::atomic<std::uint32_t> sleeping_{0};  // of them
  std::array<std::thread, 2> threads_;
};

}  // namespace muster::host
