// Teams within a team.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "base/step.hpp"
#include "muster/team.hpp"
#include "team/control.hpp"

namespace muster {
namespace {

struct Member {
  std::int32_t key;
  std::uint32_t rank;  // in the team that is split
};

std::uint64_t pack(std::int32_t colour, std::int32_t key) {
  return std::uint64_t{static_cast<std::uint32_t>(colour)} << 32U | static_cast<std::uint32_t>(key);
}

// Who chose `colour`, in the order of their new ranks.
std::vector<Member> members_of(const std::vector<std::uint64_t>& choices, std::int32_t colour) {
  std::vector<Member> members;
  for (std::uint32_t rank = 0; rank < choices.size(); ++rank) {
    const std::uint64_t choice = choices[rank];
    if (static_cast<std::int32_t>(choice >> 32U) != colour) continue;
    members.push_back({static_cast<std::int32_t>(choice & 0xffffffffU), rank});
  }
  std::ranges::sort(members, {},
                    [](const Member& member) { return std::tuple(member.key, member.rank); });
  return members;
}

}  // namespace

Result<Team> Team::split(std::int32_t colour, std::int32_t key) {
  if (const auto refused = control_->lanes_run("split")) return *refused;
  const auto call = control_->one_call();
  std::optional<Error> local;
  if (colour < 0) {
    local = Error{ErrorCode::invalid_argument,
                  fmt::format("split: colour is {}; it must be 0 or more", colour), rank()};
  }
  const auto choices = control_->agree("split", pack(colour, key), local);
  if (!choices) return choices.error();
  const std::vector<Member> members = members_of(*choices, colour);

  // The first member of each new team founds it; the second exchange says under which number.
  std::uint64_t number = 0;
  std::optional<Error> failed;
  host::RankContext& process = control_->team().process();
  step(process.job_rank, "split: found");
  const bool founds = members.front().rank == rank().value;
  if (founds) {
    std::vector<std::uint32_t> job_ranks;
    job_ranks.reserve(members.size());
    for (const Member& member : members) {
      job_ranks.push_back(control_->team().job_rank_of(Rank{member.rank}));
    }
    const Result<std::uint32_t> founded = host::found_team(process, job_ranks);
    if (founded) {
      number = *founded;
    } else {
      failed = founded.error();
    }
  }
  step(process.job_rank, "split: say the number");
  const auto numbers = control_->agree("split", number, failed);
  if (!numbers) {
    if (founds && !failed) host::unfound_team(process, static_cast<std::uint32_t>(number));
    return numbers.error();
  }
  step(process.job_rank, "split: enter");
  const auto team = static_cast<std::uint32_t>((*numbers)[members.front().rank]);
  return Team(std::make_shared<host::TeamControl>(control_->team().shared_process(), team,
                                                  control_->standing(), control_));
}

Result<void> Team::close() {
  return control_->close();
}

}  // namespace muster
