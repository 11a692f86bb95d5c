// Who is left, agreed on by those who are.
//
// Rounds: a survivor tells every member that it does not hold for lost whom it holds for alive, and
// waits until each of these has said the same of a round as late, or is lost. Where all say what it
// says, that is the outcome; else it goes on to the next round with what all of them hold for
// alive.
// A rank that has an outcome tells it to whoever still asks, which takes it over: so where one has
// gone on with an outcome and another has seen a further loss meanwhile, both go on with the same.
// (If all that had the outcome are lost, nobody goes on with it.)
#include <fmt/format.h>

#include "fabric/ucx/patience.hpp"
#include "fabric/ucx/team_core.hpp"

namespace muster::ucx {
namespace {

std::string alive_in(const Network& network, const TeamState& state) {
  std::string alive(state.size(), '\0');
  for (std::uint32_t rank = 0; rank < state.size(); ++rank)
    alive[rank] = network.is_lost(state.job_rank_of(Rank{rank})) ? '\0' : '\1';
  return alive;
}

std::string common(std::string a, const std::string& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (i >= b.size() || b[i] == '\0') a[i] = '\0';
  return a;
}

std::vector<Rank> ranks_in(const std::string& alive) {
  std::vector<Rank> ranks;
  for (std::uint32_t rank = 0; rank < alive.size(); ++rank)
    if (alive[rank] != '\0') ranks.push_back(Rank{rank});
  return ranks;
}

}  // namespace

Result<std::vector<Rank>> agree_on_survivors(TeamCore& core) {
  Network& network = core.network();
  TeamState& state = *core.state();
  // Nobody waits for a team that is well: a rank that shrinks it has given it up.
  if (state.status() == WaitStatus::ok)
    network.fail(state, WaitStatus::aborted,
                 {ErrorCode::aborted, state.called(state.rank()) + " called shrink"});
  network.look_for_lost_peers();
  // A state of its own: the team that is shrunk has failed, and ends every wait.
  const TeamState fresh(0, state.members(), network.rank(), nullptr);
  host::CallClock call;
  (void)call.begin_call();
  std::string alive = alive_in(network, state);
  for (std::uint32_t round = 1;; ++round) {
    const ShrinkHeader header{state.id(), round, network.rank(), 0};
    for (const Rank rank : ranks_in(alive))
      if (!(rank == state.rank()))
        network.send(state.job_rank_of(rank), Message::shrink, header, alive);
    Patience patience(network, fresh, call);
    std::string agreed = alive;
    bool same = true;
    for (const Rank rank : ranks_in(alive)) {
      if (rank == state.rank()) continue;
      while (true) {
        const auto views = network.shrink_views(state.id());
        if (const auto own = views.find(network.rank()); own != views.end())
          return ranks_in(own->second.members);  // somebody has told the outcome
        const auto view = views.find(state.job_rank_of(rank));
        if (view != views.end() && view->second.round >= round) {
          same = same && view->second.round == round && view->second.members == alive;
          agreed = common(agreed, view->second.members);
          break;
        }
        if (network.is_lost(state.job_rank_of(rank))) {
          same = false;
          break;
        }
        if (patience.turn() == WaitStatus::expired)
          return Error{ErrorCode::expired,
                       fmt::format("shrink: waited {} ms for {} to call it, in vain",
                                   network.settings().timeout.count(), state.called(rank)),
                       state.rank(),
                       {},
                       rank};
      }
    }
    if (same) {
      network.decide_shrink(state.id(), {round, true, alive});
      return ranks_in(alive);
    }
    alive = common(agreed, alive_in(network, state));
  }
}

}  // namespace muster::ucx
