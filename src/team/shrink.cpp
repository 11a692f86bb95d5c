// Each survivor says in its record that it is shrinking the team. Once every member has said so or
// is gone, one of them decides: it writes the record of the new team and publishes its number in
// the old one, with a compare-and-swap. Where the one that decides dies first, another takes over;
// a number that is published stays.
#include "team/shrink.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <vector>

#include "base/step.hpp"
#include "team/control.hpp"

namespace muster::host {
namespace {

using Clock = std::chrono::steady_clock;

struct Roll {
  std::vector<std::uint32_t> present;  // job ranks that came
  std::vector<Rank> awaited;           // that neither came nor are gone
};

bool is_gone(const TeamContext& team, std::uint32_t job_rank) {
  const RankRecord& record = team.header().rank_records[job_rank];
  return record.state.load(std::memory_order_acquire) == RankState::left ||
         is_lost(team.header(), job_rank);
}

Roll call_the_roll(const TeamContext& team) {
  Roll roll;
  for (std::uint32_t member = 0; member < team.size(); ++member) {
    const std::uint32_t job_rank = team.record().members[member];
    // Pairs with the release below: who came has left its lanes behind.
    const std::uint32_t said =
        team.header().rank_records[job_rank].shrinking.load(std::memory_order_acquire);
    if (is_gone(team, job_rank)) continue;
    if (said == team.number() + 1) {
      roll.present.push_back(job_rank);
    } else {
      roll.awaited.push_back(Rank{member});
    }
  }
  return roll;
}

// Is it this rank's turn to decide? Yes where nobody does, or where the one that does has died.
bool takes_charge(TeamContext& team) {
  const std::uint32_t me = team.process().job_rank + 1;
  std::uint32_t charged = team.record().decider.load(std::memory_order_acquire);
  if (charged == me) return true;
  if (charged != 0 && !is_gone(team, charged - 1)) return false;
  return team.record().decider.compare_exchange_strong(charged, me, std::memory_order_acq_rel);
}

Error expired(const TeamContext& team, const Roll& roll) {
  Error error{ErrorCode::expired, {}, team.rank()};
  std::vector<std::string> ranks;
  for (const Rank rank : roll.awaited) ranks.push_back(team.called(rank));
  error.what = fmt::format("shrink waited {} ms for {}, which lives and did not call it",
                           team.process().timeout.count(), fmt::join(ranks, ", "));
  if (!roll.awaited.empty()) error.peer = roll.awaited.front();
  return error;
}

}  // namespace

Result<std::uint32_t> agree_on_survivors(TeamContext& team) {
  // Whoever waits on this team must come here: a shrink of a team that has not failed fails it.
  team.fail(WaitStatus::aborted, team.process().job_rank,
            fmt::format("{} called shrink", team.called(team.rank())));
  step(team.process().job_rank, "shrink: come");
  std::atomic<std::uint32_t>& shrinking =
      team.header().rank_records[team.process().job_rank].shrinking;
  shrinking.store(team.number() + 1, std::memory_order_release);
  const auto deadline = Clock::now() + team.process().timeout;
  TeamRecord& record = team.record();
  while (true) {
    // Pairs with the compare-and-swap below: with the number comes the new team's record.
    std::uint32_t successor = record.successor.load(std::memory_order_acquire);
    if (successor == 0) {
      const Roll roll = call_the_roll(team);
      if (roll.awaited.empty() && takes_charge(team)) {
        step(team.process().job_rank, "shrink: found");
        const Result<std::uint32_t> founded = found_team(team.process(), roll.present);
        if (!founded) return founded;
        step(team.process().job_rank, "shrink: publish");
        if (record.successor.compare_exchange_strong(successor, *founded + 1,
                                                     std::memory_order_acq_rel)) {
          successor = *founded + 1;
        } else {
          unfound_team(team.process(), *founded);
        }
      } else if (Clock::now() >= deadline) {
        return expired(team, roll);
      }
    }
    if (successor != 0) {
      step(team.process().job_rank, "shrink: enter");
      return successor - 1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

bool survivors_stand(const Job& job) {
  JobHeader& header = job.header();
  // Pairs with the release in Team::shrink.
  const std::uint32_t team = header.standing.load(std::memory_order_acquire);
  if (team == 0) return false;
  for (std::uint32_t member = 0; member < header.teams[team].size; ++member) {
    if (is_lost(header, header.teams[team].members[member])) return false;
  }
  return true;
}

std::optional<std::uint32_t> first_to_fail(const Job& job) {
  const TeamRecord& everybody = job.header().teams[0];
  // Pairs with the release in TeamContext::fail.
  if (everybody.status.load(std::memory_order_acquire) == 0) return std::nullopt;
  return everybody.lost;
}

bool left_body(const Job& job, std::uint32_t rank) {
  // Pairs with the release in leave: a rank says that it leaves before it ends.
  return job.header().rank_records[rank].state.load(std::memory_order_acquire) == RankState::joined;
}

}  // namespace muster::host
