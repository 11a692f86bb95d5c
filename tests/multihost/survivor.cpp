// A rank on the network fabric of a job on several hosts, which goes on doing one thing until a
// rank is lost, and then goes on with those that are left.
//
//   survivor WHAT [KEEPALIVE_MS]       WHAT: barrier, puts, or the name of a collective
//
// Prints "rank R goes on" when it has done some rounds, "rank R: peer_lost ..." with the error, and
// "rank R: sum S of N" after shrink().
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fabric/ucx/team_core.hpp"
#include "muster/barrier.hpp"
#include "muster/collective.hpp"
#include "net/find.hpp"

namespace {

using namespace muster;

constexpr std::int64_t count = 5000;  // of each rank's part
constexpr int some_rounds = 5;

void say(std::uint32_t rank, const std::string& what) {
  fmt::print("rank {}{}\n", rank, what);
  std::fflush(stdout);
}

struct Things {
  explicit Things(ucx::Team& team)
      : barrier(team),
        all_reduce(team),
        reduce_scatter(team),
        all_gather(team),
        all_to_all(team),
        broadcast(team),
        from(*team.window<float>({count * static_cast<std::int64_t>(team.size())})),
        to(*team.window<float>({count * static_cast<std::int64_t>(team.size())})) {}

  WaitStatus once(ucx::Fabric& fabric, std::string_view what) const {
    if (what == "all_reduce") return all_reduce.run(fabric, to, from, count);
    if (what == "reduce_scatter") return reduce_scatter.run(fabric, to, from, count);
    if (what == "all_gather") return all_gather.run(fabric, to, from, count);
    if (what == "all_to_all") return all_to_all.run(fabric, to, from, count);
    if (what == "broadcast") return broadcast.run(fabric, to, from, count, Rank{0});
    if (what == "puts")
      for_each_peer(fabric, [&](Rank peer) { fabric.put(to, peer, 0, from, 0, count); });
    return barrier.sync(fabric);
  }

  EpochBarrier barrier;
  AllReduce<float> all_reduce;
  ReduceScatter<float> reduce_scatter;
  AllGather<float> all_gather;
  AllToAll<float> all_to_all;
  Broadcast<float> broadcast;
  WindowRef<float> from;
  WindowRef<float> to;
};

Result<void> until_one_is_lost(ucx::Team& team, std::string_view what) {
  const Things things(team);
  return team.lane([&](ucx::Fabric& fabric) {
    for (int round = 0;; ++round) {
      const WaitStatus status = things.once(fabric, what);
      if (status != WaitStatus::ok) return status;
      if (round == some_rounds) say(fabric.rank().value, " goes on");
    }
  });
}

// The sum of 1 from each.
Result<void> go_on(ucx::Team& team, std::uint32_t self) {
  Result<ucx::Team> left = team.shrink();
  if (!left) return left.error();
  const auto window = *left->window<float>({8});
  const AllReduce<float> sums(*left);
  Result<void> ended = left->lane([&](ucx::Fabric& fabric) {
    for (int i = 0; i < 8; ++i) fabric.local(window)[i] = 1.0F;
    const WaitStatus status = sums.run(fabric, window, window, 8);
    if (status == WaitStatus::ok)
      say(self, fmt::format(": sum {:g} of {}", fabric.local(window)[7], fabric.size()));
    return status;
  });
  return ended ? left->close() : ended;
}

int fail(std::uint32_t rank, const Error& error) {
  fmt::print(stderr, "rank {}: {}\n", rank, to_string(error));
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  auto found = muster::detail::net::find_each_other();
  if (!found || !*found) return fail(0, found ? Error{} : found.error());
  muster::detail::net::Bootstrap& ranks = *(**found).bootstrap;
  const std::uint32_t self = ranks.rank().value;
  ucx::Settings settings{2, std::chrono::seconds(60)};
  if (argc > 2) settings.keepalive = std::chrono::seconds(std::atoi(argv[2]));
  Result<ucx::Team> team = ucx::join(ranks, settings);
  if (!team) return fail(self, team.error());
  const Result<void> ended = until_one_is_lost(*team, argv[1]);
  say(self, ": " + (ended ? std::string("ended") : to_string(ended.error())));
  const Result<void> went_on = go_on(*team, self);
  return went_on ? 0 : fail(self, went_on.error());
}
