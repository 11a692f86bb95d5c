// Ranks that are lost, teams that have failed, and how the others hear of it.
#include <fmt/format.h>

#include "fabric/ucx/keepalive.hpp"
#include "fabric/ucx/network.hpp"

namespace muster::ucx {
namespace {

// A team's own words for the loss of a rank of the job.
Error loss_of(const TeamState& team, std::uint32_t peer, const std::string& why) {
  Error error{ErrorCode::peer_lost, {}};
  const std::uint32_t rank = team.rank_of(peer);
  error.peer = Rank{rank};
  error.what = fmt::format("{} died{}", team.called(Rank{rank}),
                           why.empty() ? std::string() : fmt::format(" ({})", why));
  return error;
}

}  // namespace

void Network::enter(const std::shared_ptr<TeamState>& team) {
  const std::lock_guard guard(teams_lock_);
  std::erase_if(teams_, [](const std::weak_ptr<TeamState>& one) { return one.expired(); });
  teams_.push_back(team);
  // What was told before this rank knew of the team.
  if (const auto early = early_failures_.find(team->id()); early != early_failures_.end()) {
    (void)team->fail(early->second.first, early->second.second);
    early_failures_.erase(early);
  }
  for (const std::uint32_t member : team->members())
    if (is_lost(member)) (void)team->fail(WaitStatus::peer_lost, loss_of(*team, member, {}));
}

void Network::fail(TeamState& team, WaitStatus status, Error why) {
  const std::string words = why.what;
  const std::uint32_t about = why.peer ? team.job_rank_of(*why.peer) : no_rank;
  if (!team.fail(status, std::move(why))) return;
  const FailureHeader header{team.id(), static_cast<std::uint32_t>(status), rank_, about};
  for (const std::uint32_t member : team.members())
    if (member != rank_) send(member, Message::failure, header, words);
}

// With lock_ held, outside of UCX's callbacks.
void Network::lose(std::uint32_t number, const std::string& why, bool tell) {
  Peer& peer = peers_[number];
  if (peer.lost.exchange(true, std::memory_order_acq_rel)) return;
  if (peer.endpoint != nullptr) close_lost(number);
  {
    const std::lock_guard guard(teams_lock_);
    for (const std::weak_ptr<TeamState>& one : teams_) {
      const std::shared_ptr<TeamState> team = one.lock();
      if (team != nullptr && team->rank_of(number) != no_rank)
        (void)team->fail(WaitStatus::peer_lost, loss_of(*team, number, why));
    }
  }
  if (!tell || leaving_.load(std::memory_order_relaxed)) return;
  // Of another host they would hear late, by its silence.
  const FailureHeader header{0, static_cast<std::uint32_t>(WaitStatus::peer_lost), rank_, number};
  for (std::uint32_t other = 0; other < size(); ++other)
    if (other != rank_ && peers_[other].endpoint != nullptr)
      send_locked(other, Message::failure, &header, sizeof header, why);
}

void Network::receive_failure(const FailureHeader& header, std::string words) {
  if (header.from >= size()) return;
  const auto status = static_cast<WaitStatus>(header.status);
  if (header.team == 0) {
    // That this rank itself is lost is what those think who cannot reach it: it has no peers left.
    if (header.lost == rank_)
      lose(header.from, "it holds this rank for lost", false);
    else if (header.lost < size())
      lose(header.lost, words, false);
    return;
  }
  const std::lock_guard guard(teams_lock_);
  Error error{status == WaitStatus::peer_lost ? ErrorCode::peer_lost : ErrorCode::aborted,
              std::move(words)};
  for (const std::weak_ptr<TeamState>& one : teams_) {
    const std::shared_ptr<TeamState> team = one.lock();
    if (team == nullptr || team->id() != header.team) continue;
    const std::uint32_t about = team->rank_of(header.lost);
    if (header.lost != no_rank && about != no_rank) error.peer = Rank{about};
    (void)team->fail(status, error);
    return;
  }
  early_failures_.try_emplace(header.team, status, error);
}

void Network::look_for_lost_peers() {
  const std::lock_guard guard(lock_);
  for (const std::uint32_t peer : near_.ended()) lose(peer, {}, true);
  if (near_.count() + 1 < size()) limit_silence(settings_.keepalive);
}

// Of a peer that is lost. Only an endpoint that was made to see failures can be closed by force;
// that of a process of this host stays until the worker goes: closing it would wait for the
// process.
void Network::close_lost(std::uint32_t number) {
  Peer& peer = peers_[number];
  if (near_.was_near(number)) return;
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  how.flags = UCP_EP_CLOSE_FLAG_FORCE;
  void* const request = ucp_ep_close_nbx(peer.endpoint, &how);
  peer.endpoint = nullptr;
  if (UCS_PTR_IS_PTR(request)) ucp_request_free(request);
}

// ---- what survivors say (fabric/ucx/shrink.cpp)

void Network::receive_shrink(const ShrinkHeader& header, std::string members) {
  if (header.from >= size()) return;
  const std::lock_guard guard(teams_lock_);
  if (header.decided != 0) {
    decisions_.try_emplace(header.team, ShrinkView{header.round, true, std::move(members)});
    return;
  }
  shrinks_[header.team][header.from] = {header.round, false, std::move(members)};
  // Whoever still asks after this rank has gone on is told the outcome.
  if (decisions_.contains(header.team)) shrinks_to_answer_.push_back(header.from);
}

std::map<std::uint32_t, ShrinkView> Network::shrink_views(std::uint64_t team) {
  const std::lock_guard guard(teams_lock_);
  std::map<std::uint32_t, ShrinkView> views = shrinks_[team];
  if (const auto decided = decisions_.find(team); decided != decisions_.end())
    views[rank_] = decided->second;
  return views;
}

void Network::decide_shrink(std::uint64_t team, ShrinkView decision) {
  const std::lock_guard guard(teams_lock_);
  decision.decided = true;
  decisions_.try_emplace(team, std::move(decision));
  shrinks_.erase(team);
}

// ---- numbers of teams

std::uint32_t Network::number_team() {
  const std::lock_guard guard(teams_lock_);
  for (std::uint32_t number = 0; number < max_teams; ++number) {
    if (numbers_[number]) continue;
    numbers_[number] = true;
    return number;
  }
  return max_teams;
}

void Network::free_team_number(std::uint32_t number) {
  const std::lock_guard guard(teams_lock_);
  numbers_[number] = false;
}

}  // namespace muster::ucx
