// What a process knows of one team: who is in it, and how it has failed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "muster/result.hpp"
#include "muster/types.hpp"

namespace muster::ucx {

class TeamState {
 public:
  TeamState(std::uint64_t id, std::vector<std::uint32_t> members, std::uint32_t job_rank,
            std::shared_ptr<TeamState> parent);

  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(members_.size()); }
  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] const std::vector<std::uint32_t>& members() const { return members_; }
  [[nodiscard]] std::uint32_t job_rank_of(Rank rank) const { return members_[rank.value]; }
  // This team's number of a rank of the job; no_rank where it is no member.
  [[nodiscard]] std::uint32_t rank_of(std::uint32_t job_rank) const;
  // "rank 2 (rank 5 of the job)".
  [[nodiscard]] std::string called(Rank rank) const;

  // ok, or how it has failed: it, or the team that it was split off. Never gets better.
  [[nodiscard]] WaitStatus status() const;
  [[nodiscard]] Error failure() const;
  // The first one stays. True for that one.
  bool fail(WaitStatus status, Error why);
  void let_go_of_parent();

  // Calls of the team on this rank so far; every rank makes the same.
  std::uint64_t calls = 0;

 private:
  std::uint64_t id_;
  std::vector<std::uint32_t> members_;
  Rank rank_;
  std::atomic<WaitStatus> status_{WaitStatus::ok};
  mutable std::mutex lock_;
  Error failure_;
  std::shared_ptr<TeamState> parent_;
  std::atomic<bool> has_parent_;
};

}  // namespace muster::ucx
