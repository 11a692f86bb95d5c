// A lane: the fabric that the tasks have which it runs, one after another.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "fabric/host/lane_watch.hpp"
#include "fabric/host/team_context.hpp"
#include "muster/fabric/host.hpp"
#include "muster/task/node.hpp"

namespace muster::task {

class alignas(64) WorkerLane {
 public:
  // `lanes`: how many there are.
  void set_up(host::TeamContext& team, Lane lane, std::uint32_t lanes);

  // Calls the node's body, or fails it where the team has failed.
  [[nodiscard]] Outcome call(Node& node, std::uint32_t block);

  [[nodiscard]] std::uint32_t number() const { return context_.lane.value; }

  // The body that runs here must not use the fabric any more.
  void seal(const Node& node);

  // Between the two the lane is one thread's. seq_cst: see HostEngine::work_on; a look before the
  // exchange, for who searches for a free one.
  [[nodiscard]] bool take() {
    return !taken_.load(std::memory_order_seq_cst) &&
           !taken_.exchange(true, std::memory_order_seq_cst);
  }
  void give_back() { taken_.store(false, std::memory_order_seq_cst); }
  [[nodiscard]] bool is_taken() const { return taken_.load(std::memory_order_acquire); }

 private:
  void renew();
  [[nodiscard]] Outcome judge(const Node& node, Outcome outcome) const;

  host::TeamContext* team_ = nullptr;
  host::LaneContext context_;
  std::optional<host::LaneWatch> watch_;
  std::optional<host::Fabric> fabric_;
  bool worn_ = false;  // the next task gets a new fabric
  std::atomic<bool> taken_{false};
};

}  // namespace muster::task
