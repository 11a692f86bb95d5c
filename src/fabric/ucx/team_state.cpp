#include "fabric/ucx/team_state.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/ucx/messages.hpp"

namespace muster::ucx {

TeamState::TeamState(std::uint64_t id, std::vector<std::uint32_t> members, std::uint32_t job_rank,
                     std::shared_ptr<TeamState> parent)
    : id_(id),
      members_(std::move(members)),
      rank_{rank_of(job_rank)},
      parent_(std::move(parent)),
      has_parent_(parent_ != nullptr) {}

std::uint32_t TeamState::rank_of(std::uint32_t job_rank) const {
  const auto found = std::ranges::find(members_, job_rank);
  return found == members_.end() ? no_rank : static_cast<std::uint32_t>(found - members_.begin());
}

std::string TeamState::called(Rank rank) const {
  const std::uint32_t job_rank = job_rank_of(rank);
  return job_rank == rank.value ? fmt::format("rank {}", rank.value)
                                : fmt::format("rank {} (rank {} of the job)", rank.value, job_rank);
}

WaitStatus TeamState::status() const {
  // Acquire: who sees the failure finds its words under the lock.
  const WaitStatus own = status_.load(std::memory_order_acquire);
  if (own != WaitStatus::ok || !has_parent_.load(std::memory_order_acquire)) return own;
  return parent_->status();
}

Error TeamState::failure() const {
  if (status_.load(std::memory_order_acquire) == WaitStatus::ok && parent_ != nullptr) {
    Error of_parent = parent_->failure();
    if (of_parent.peer) {
      const std::uint32_t here = rank_of(parent_->job_rank_of(*of_parent.peer));
      of_parent.peer = here == no_rank ? std::nullopt : std::optional<Rank>(Rank{here});
    }
    of_parent.rank = rank_;
    return of_parent;
  }
  const std::lock_guard guard(lock_);
  return failure_;
}

bool TeamState::fail(WaitStatus status, Error why) {
  const std::lock_guard guard(lock_);
  if (status_.load(std::memory_order_relaxed) != WaitStatus::ok) return false;
  failure_ = std::move(why);
  failure_.rank = rank_;
  status_.store(status, std::memory_order_release);
  return true;
}

void TeamState::let_go_of_parent() {
  has_parent_.store(false, std::memory_order_release);
}

}  // namespace muster::ucx
