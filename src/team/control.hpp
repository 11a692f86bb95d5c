// What a team does to set things up: its ranks meet, and each says what it is about to do.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/host/lane_watch.hpp"
#include "fabric/host/team_context.hpp"
#include "muster/fabric/host.hpp"
#include "muster/result.hpp"
#include "team/lane_pool.hpp"

namespace muster::host {

// A rank's memory for a window that every rank brings its own for: a pointer, between threads, or a
// descriptor of shared memory and where in it the window begins.
struct Registration {
  void* memory = nullptr;
  int fd = -1;
  std::uint64_t place = 0;  // bytes
  std::uint64_t bytes = 0;
  std::uint64_t element = 0;  // element_code
};

class TeamControl;

// The team that a rank's part in the job ends with: that of all, until shrink puts that of the
// survivors in its place. Owned by whoever runs the rank; teams only know it.
struct Standing {
  std::shared_ptr<TeamControl> team;
};

class TeamControl {
 public:
  // A team that was split off keeps its parent.
  TeamControl(std::shared_ptr<RankContext> process, std::uint32_t team,
              std::weak_ptr<Standing> standing,
              std::shared_ptr<const TeamControl> parent = nullptr);
  ~TeamControl();
  TeamControl(const TeamControl&) = delete;
  TeamControl& operator=(const TeamControl&) = delete;

  [[nodiscard]] TeamContext& team() { return team_; }
  [[nodiscard]] const TeamContext& team() const { return team_; }
  [[nodiscard]] const std::weak_ptr<Standing>& standing() const { return standing_; }

  // The steps of one set-up call, for as long as it lives, share one deadline.
  [[nodiscard]] OneCall<CallClock> one_call() { return OneCall<CallClock>(call_); }

  [[nodiscard]] Result<void> sync();

  // Every rank says what it is about to do, and a value; returns those of all, by rank. An error
  // where a rank has one (`local` is this rank's), or where two ranks are about to do different
  // things.
  [[nodiscard]] Result<std::vector<std::uint64_t>> agree(const std::string& what,
                                                         std::uint64_t value = 0,
                                                         const std::optional<Error>& local = {});

  // Takes `length` bytes or cells at the same place in the memory of every rank; returns where.
  // Collective; `local` is what this rank already knows to be wrong.
  [[nodiscard]] Result<std::uint64_t> allocate(Allocation allocation, const std::string& what,
                                               const std::optional<Error>& local);
  [[nodiscard]] Result<void> release(Allocation::Kind kind, std::uint64_t offset);

  // Makes registered memory reachable by all; returns its segment. And lets go of it.
  [[nodiscard]] Result<std::uint32_t> register_memory(const Registration& memory,
                                                      const std::string& what,
                                                      const std::optional<Error>& local);
  [[nodiscard]] Result<void> release_segment(std::uint32_t segment);

  // Gives back all that the team has, its own record too; nothing works afterwards. Collective, but
  // for a team that has failed: there each member lets go by itself, here or where the last handle
  // goes, and what the team had is given back when all that live have. Not while a team that was
  // split off is open: it looks at this one's record and windows. One that has failed does so no
  // more once it is closed or shrunk.
  [[nodiscard]] Result<void> close();
  [[nodiscard]] bool closed() const { return closed_; }
  // The parent may be closed from now on.
  void let_go_of_parent();
  // Why nothing can be set up any more, if so.
  [[nodiscard]] std::optional<Error> refusal();

  // The team's lanes are run by one thread at a time: false where they are running. end_lanes()
  // belongs to a begin that said true.
  [[nodiscard]] bool begin_lanes() { return !lanes_run_.exchange(true, std::memory_order_acquire); }
  // Pairs with the acquire above and in lanes_run.
  void end_lanes() { lanes_run_.store(false, std::memory_order_release); }
  // Between the two.
  [[nodiscard]] LanePool& lane_pool() { return lane_pool_; }
  // Why the call cannot be made now, if so: while lanes run nobody sets anything up.
  [[nodiscard]] std::optional<Error> lanes_run(std::string_view what) const;

 private:
  [[nodiscard]] Result<void> meet(bool announced);
  [[nodiscard]] std::optional<Error> objection(const std::string& what, std::uint32_t number) const;
  [[nodiscard]] Result<std::uint64_t> reserve(const Allocation& allocation);
  void clear(const Allocation& allocation, std::uint32_t job_rank) const;
  void release(const Allocation& allocation, std::uint64_t offset);
  void let_go(TeamRecord::LetGo how);
  void note_let_go(TeamRecord::LetGo how);
  [[nodiscard]] std::optional<Error> commit(const Allocation& allocation, std::uint64_t offset);

  std::weak_ptr<Standing> standing_;
  std::shared_ptr<const TeamControl> parent_;
  TeamContext team_;
  LaneWatch watch_;
  CallClock call_;
  std::uint32_t meetings_ = 0;  // that this rank has come to
  bool closed_ = false;
  std::atomic<bool> lanes_run_ = false;
  LanePool lane_pool_;
  bool counted_ = false;                             // among the parent's children
  mutable std::atomic<std::uint32_t> children_ = 0;  // teams that were split off and are open
};

// Writes the record of a new team of `members` (job ranks), its cells and mailbox zeroed, and
// returns its number. Nobody knows of it until the caller publishes the number.
[[nodiscard]] Result<std::uint32_t> found_team(const RankContext& founder,
                                               const std::vector<std::uint32_t>& members);

// Takes back a team of which nobody has heard.
void unfound_team(const RankContext& founder, std::uint32_t number);

}  // namespace muster::host
