#include "task/lane.hpp"

#include <fmt/format.h>

#include <utility>

namespace muster::task {
namespace {

// Contract 10, as for any launch: the start of a task acquires and its end releases, also what a
// relaxed wait has read and a relaxed notify will speak for. (ThreadSanitizer knows no fences; for
// it no notify is relaxed.)
void order_launches() {
#if !defined(__SANITIZE_THREAD__)
  std::atomic_thread_fence(std::memory_order_acq_rel);
#endif
}

}  // namespace

void WorkerLane::set_up(host::TeamContext& team, Lane lane, std::uint32_t lanes) {
  team_ = &team;
  context_ = team.lane_context(lane, lanes);
  renew();
}

void WorkerLane::renew() {
  worn_ = false;
  fabric_.reset();
  watch_.emplace(*team_, context_.lane, team_->process().on_expiry);
  context_.watch = &*watch_;
  fabric_.emplace(context_);
}

Outcome WorkerLane::call(Node& node, std::uint32_t block) {
  if (team_->status() != WaitStatus::ok)
    return std::make_unique<Trouble>(Trouble{team_->failure()});
  if (worn_) renew();
  order_launches();
  Outcome outcome = node.run(&*fabric_, block);
  order_launches();
  if (!watch_->error()) return outcome;
  worn_ = true;
  return judge(node, std::move(outcome));
}

// What the body said, unless it said nothing, or broke the contract and did not notice. The watch
// knows more about a failure than the status that the body passed on.
Outcome WorkerLane::judge(const Node& node, Outcome outcome) const {
  if (outcome && outcome->thrown) return outcome;
  if (!outcome && !node.is_silent() && !watch_->rejected()) return outcome;
  return std::make_unique<Trouble>(Trouble{*watch_->error()});
}

void WorkerLane::seal(const Node& node) {
  worn_ = true;
  watch_->seal(fmt::format(
      "task {} uses its fabric after its first defer_wait: from there on a waiter moves nothing, "
      "deposits nothing and waits for nothing; do so before, or in a task that depends on it",
      node.called()));
  host::LaneContext looked_at = context_;
  looked_at.verify = true;
  *fabric_ = host::Fabric(looked_at);
}

}  // namespace muster::task
