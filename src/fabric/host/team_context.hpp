// A team as one of its ranks sees it: who the members are, where their memory is, what has been
// allocated, and whether the team has failed.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fabric/host/call_board.hpp"
#include "fabric/host/job.hpp"
#include "fabric/host/liveness.hpp"
#include "fabric/host/meeting_place.hpp"
#include "fabric/host/segments.hpp"

namespace muster::host {

class CellWatch;

// What a rank has of its job, for as long as it takes part. Rank threads of one process share the
// mapping.
struct RankContext {
  std::shared_ptr<const Job> job;
  std::uint32_t job_rank = 0;
  bool processes = true;  // false: the ranks are threads of this process
  std::chrono::milliseconds timeout{600'000};
  bool verify = false;
  OnExpiry on_expiry = OnExpiry::fail;  // of a lane's wait
  std::uint32_t max_lanes = 8;
  bool left = false;                      // has ended its part in the job
  LifeMark mark{};                        // where it is not the process's for longer
  std::weak_ptr<CellWatch> cell_watch{};  // see CellWatch::of

  RankContext(std::shared_ptr<const Job> j, std::uint32_t rank)
      : job(std::move(j)), job_rank(rank) {}
};

// Something that the team allocated: `bytes` or cells from `offset` in the heap or the cell space.
struct Allocation {
  enum class Kind : std::uint8_t { memory, cells };
  Kind kind = Kind::memory;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;     // bytes, or cells
  std::uint32_t row_lanes = 0;  // cells that are rows: lanes, so that a cell's writer can be named
  std::string name{};
  std::uint64_t element = 0;  // element_code; 0: any
};

class TeamContext {
 public:
  // `number` is the team's record in the header. A team that was split off knows its parent, which
  // must outlive it: the parent's windows are reachable, and its failure is the team's own.
  TeamContext(std::shared_ptr<RankContext> rank, std::uint32_t number,
              const TeamContext* parent = nullptr);

  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] std::uint32_t size() const { return record_.size; }
  [[nodiscard]] bool has_core_each() const { return header().ranks <= cores_; }
  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] TeamRecord& record() const { return record_; }
  [[nodiscard]] JobHeader& header() const { return process_->job->header(); }
  [[nodiscard]] const Job& job() const { return *process_->job; }
  [[nodiscard]] RankContext& process() const { return *process_; }
  [[nodiscard]] const std::shared_ptr<RankContext>& shared_process() const { return process_; }
  [[nodiscard]] std::uint32_t job_rank_of(Rank rank) const { return record_.members[rank.value]; }
  // For messages: "rank 1", or "rank 1 (rank 3 of the job)" where the numbers differ.
  [[nodiscard]] std::string called(Rank rank) const;

  [[nodiscard]] Segments& segments() { return segments_; }
  [[nodiscard]] const Segments& segments() const { return segments_; }

  // A lane's view, without its watch.
  [[nodiscard]] LaneContext lane_context(Lane lane, std::uint32_t lanes) const;

  // ---- which collective calls are made, in verifying runs
  [[nodiscard]] CallBoard& board_of(Rank rank) const;
  [[nodiscard]] MeetingPlace& meeting_place() const;
  [[nodiscard]] std::uint64_t next_call(Lane lane) { return ++calls_[lane.value]; }

  // ---- the team's failure, the first of which stays
  [[nodiscard]] WaitStatus status() const;
  [[nodiscard]] Error failure() const;  // once status() is not ok
  void fail(WaitStatus status, std::uint32_t job_rank, const std::string& reason);
  // Looks whether a member has died, and fails the team if so.
  void look_for_lost_peers();

  // ---- what was allocated
  void add(Allocation allocation);
  void remove(Allocation::Kind kind, std::uint64_t offset);
  [[nodiscard]] const Allocation* find(Allocation::Kind kind, std::uint64_t offset) const;
  [[nodiscard]] const Allocation* find_named(const std::string& name) const;
  [[nodiscard]] const std::vector<Allocation>& allocations() const { return allocations_; }
  // The allocation of the user's that holds [offset, offset + length); memory may be a parent's.
  [[nodiscard]] const Allocation* holding(Allocation::Kind kind, std::uint64_t offset,
                                          std::uint64_t length) const;
  // What the team talks through itself, which is no window or signal of the user's.
  [[nodiscard]] bool is_system(const Allocation& allocation) const;
  // What is wrong with a window that a lane was given, as the end of a sentence; empty: nothing.
  [[nodiscard]] std::string objection_to(const UntypedWindow& window) const;
  // The one rank that deposits into the cell, where it belongs to rows.
  [[nodiscard]] std::optional<Rank> writer_of(std::uint32_t cell) const;

 private:
  // Of this team and those it was split off from, the first that has failed.
  [[nodiscard]] const TeamContext* failed() const;
  [[nodiscard]] bool may_report_failure();

  std::shared_ptr<RankContext> process_;
  const TeamContext* parent_;
  std::uint32_t number_;
  TeamRecord& record_;
  Rank rank_;
  std::vector<std::atomic<std::uint32_t>*> sleepers_;
  std::uint32_t cores_ = 1;
  Segments segments_;
  std::vector<Allocation> allocations_;
  std::array<bool, max_teams> usable_{};  // by number: the teams whose windows this one may use
  std::array<std::uint64_t, CallBoard::lanes> calls_{};  // by lane; each counts its own
};

}  // namespace muster::host
