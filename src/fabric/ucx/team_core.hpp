// What a team does to set things up: its ranks exchange bytes, each saying what it is about to do,
// and keep the same books of their memory.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/ucx/network.hpp"
#include "fabric/ucx/team_state.hpp"
#include "muster/fabric/host/context.hpp"
#include "muster/fabric/ucx/team.hpp"
#include "muster/result.hpp"
#include "team/lane_pool.hpp"

namespace muster::ucx {

// A range of a segment, in bytes.
struct Range {
  std::uint32_t segment = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint32_t row_lanes = 0;  // of rows; 0: it is none
  std::string name;             // of a window, or empty
};

class TeamCore {
 public:
  // A team that was split off keeps its parent.
  TeamCore(std::shared_ptr<Network> network, std::uint64_t id, std::vector<std::uint32_t> members,
           std::shared_ptr<TeamCore> parent);
  ~TeamCore();
  TeamCore(const TeamCore&) = delete;
  TeamCore& operator=(const TeamCore&) = delete;

  [[nodiscard]] Network& network() const { return *network_; }
  [[nodiscard]] const std::shared_ptr<Network>& shared_network() const { return network_; }
  [[nodiscard]] const std::shared_ptr<TeamState>& state() const { return state_; }
  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] const bool* known_teams() const { return known_.get(); }

  // Every rank brings bytes and gets those of all, by rank, in about log2 P messages. In the last
  // one that a team makes, who is through with it may be gone before others are: what it has said
  // arrives all the same, so only a rank that is gone and has said nothing is lost then.
  [[nodiscard]] Result<std::vector<std::string>> exchange(std::string_view own, bool last = false);
  // Every rank says what it is about to do, and some bytes; returns those of all. An error where a
  // rank has one (`local` is this rank's), or where two are about to do different things.
  [[nodiscard]] Result<std::vector<std::string>> agree(const std::string& what,
                                                       std::string_view bytes = {},
                                                       const std::optional<Error>& local = {},
                                                       bool last = false);

  // `bytes` at the same place of a segment of every rank, zeroed.
  [[nodiscard]] Result<Range> allocate(std::uint64_t bytes, bool cells, std::uint32_t row_lanes,
                                       const std::string& name, const std::string& what,
                                       std::optional<Error> local);
  [[nodiscard]] Result<void> release(std::uint32_t segment, std::uint64_t offset, bool cells);
  [[nodiscard]] const Range* find(std::uint32_t segment, std::uint64_t offset) const;
  [[nodiscard]] bool is_taken(std::string_view name) const;
  // The rank that deposits into a cell of rows.
  [[nodiscard]] std::optional<Rank> writer_of(Signal signal) const;

  [[nodiscard]] Result<void> close();
  // Why nothing can be set up any more, if so.
  [[nodiscard]] std::optional<Error> refusal() const;
  [[nodiscard]] bool closed() const { return closed_; }
  [[nodiscard]] std::optional<Error> lanes_run(std::string_view what) const;
  [[nodiscard]] bool begin_lanes() { return !lanes_run_.exchange(true, std::memory_order_acquire); }
  // Pairs with the acquire above and in lanes_run.
  void end_lanes() { lanes_run_.store(false, std::memory_order_release); }
  [[nodiscard]] LanePool& lane_pool() { return lane_pool_; }
  void let_go_of_parent();
  [[nodiscard]] const std::shared_ptr<TeamCore>& parent() const { return parent_; }

 private:
  // A segment that this team has made, and what is taken of it, in order.
  struct Chunk {
    std::uint32_t segment;
    std::uint64_t bytes;
    bool cells;
  };
  [[nodiscard]] std::optional<std::uint64_t> room_in(const Chunk& chunk, std::uint64_t bytes) const;
  [[nodiscard]] std::optional<Error> add_chunk(std::uint64_t bytes, bool cells,
                                               const std::string& what, std::string& card);
  [[nodiscard]] std::optional<Error> learn_chunk(const std::vector<std::string>& cards);
  [[nodiscard]] Result<std::string> hear(const ControlHeader& from, Rank above, bool last);
  [[nodiscard]] Error expired(Rank absent) const;
  void drop();

  std::shared_ptr<Network> network_;
  std::shared_ptr<TeamCore> parent_;
  std::shared_ptr<TeamState> state_;
  std::uint32_t number_;
  std::unique_ptr<bool[]> known_;  // teams whose windows its lanes may use, by number
  std::vector<Chunk> chunks_;
  std::vector<Range> ranges_;
  host::CallClock call_;
  std::atomic<bool> lanes_run_{false};
  std::atomic<std::uint32_t> children_{0};  // that were split off and are open
  bool closed_ = false;
  bool counted_ = false;  // among the parent's children
  LanePool lane_pool_;
};

// Those that live agree on who they are: ranks of the team.
[[nodiscard]] Result<std::vector<Rank>> agree_on_survivors(TeamCore& team);

// The team of all ranks that a bootstrap brings together.
[[nodiscard]] Result<Team> join(muster::detail::net::Bootstrap& bootstrap,
                                const Settings& settings);

// A number that all ranks compute alike, of what they know alike.
[[nodiscard]] std::uint64_t mixed(std::uint64_t a, std::uint64_t b);

}  // namespace muster::ucx
