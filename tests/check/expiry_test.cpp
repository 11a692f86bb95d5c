// Barriers, exchanges and handoffs after a wait that has expired: whoever comes again must let
// nobody else through early.
#include <string>
#include <tuple>

#include "check/asking.hpp"
#include "check/builtin/barrier_bodies.hpp"
#include "muster/barrier.hpp"
#include "muster/handoff.hpp"
#include "muster/packet.hpp"

namespace muster::check {
namespace {

using builtin::Exchange;
using model::BarrierScope;

// Every lane calls the barrier `calls` times, whatever comes of it. Where a call says ok, all have
// entered it (barrier_call), and what they wrote before is there. Each call has data of its own:
// what a call that failed leaves undecided is which of them may be overwritten.
template <class Barrier>
void goes_on(model::Team& team, BarrierScope scope) {
  const std::uint32_t lanes = team.max_lanes();
  const std::uint32_t calls = team.calls();
  const Exchange data(team, calls, lanes, scope);
  const Barrier barrier(team);
  (void)team.lanes(lanes, [&](auto& fabric) {
    for (std::uint32_t call = 0; call < calls; ++call) {
      data.write_own(fabric, call);
      data.put(fabric, call);
      if (!builtin::meet(barrier, fabric, use::full, scope)) continue;
      data.read_peers(fabric, call);
      data.read_inbox(fabric, call);
    }
  });
}

// The same in one scope.
template <class Barrier>
void goes_on_scoped(model::Team& team, BarrierScope scope) {
  const std::uint32_t lanes = team.max_lanes();
  const std::uint32_t calls = team.calls();
  const Barrier barrier(team);
  (void)team.lanes(lanes, [&](auto& fabric) {
    (void)barrier.scoped(fabric, [&](auto& scoped) {
      for (std::uint32_t call = 0; call < calls; ++call)
        (void)barrier_call(
            fabric, [&] { return scoped.sync(); }, 0, scope);
    });
  });
}

// PacketExchange, and what it says of every call after one that failed.
void exchanges_on(model::Team& team) {
  const PacketExchange<int, 1, 2> exchange(team);
  (void)team.lane([&](auto& fabric) {
    auto mine = fabric.template tile<int, 1, 2>();
    auto theirs = fabric.template tile<int, 1, 2>();
    const auto value = [](Rank rank, std::uint32_t call) {
      return static_cast<int>(rank.value * 100 + call);
    };
    bool failed = false;
    for (std::uint32_t call = 0; call < team.calls(); ++call) {
      mine.each([&](auto, auto, int& element) { element = value(fabric.rank(), call); });
      const std::uint32_t flag = exchange.begin(fabric);
      expect(fabric, failed == (flag == exchange.no_flag), "a call after a failed one has no flag");
      WaitStatus status = WaitStatus::ok;
      for (std::uint32_t step = 1; step < fabric.size(); ++step)
        exchange.put(fabric, flag, right_of(fabric, step), mine);
      for (std::uint32_t step = 1; step < fabric.size(); ++step) {
        const Rank peer = right_of(fabric, step);
        const WaitStatus one = exchange.wait(fabric, flag, peer, theirs);
        status = worst(status, one);
        if (one == WaitStatus::ok)
          theirs.each([&](auto, auto, int element) {
            expect(fabric, element == value(peer, call), "the numbers of this call");
          });
      }
      const WaitStatus met = exchange.end(fabric, flag, status);
      expect(fabric, failed == (met == WaitStatus::refused),
             "a call after a failed one is refused");
      failed = failed || met != WaitStatus::ok;
    }
  });
}

// Handoffs round a ring: a step whose wait has expired is waited for again, more often than waits
// expire. (Who gives up then ends: the search also tries waits that are never answered.)
void hands_on(model::Team& team) {
  const Handoff handoff(team);
  const auto inbox = *team.window<int>({1}, "inbox");
  (void)team.lane([&](auto& fabric) {
    const Rank left = left_of(fabric);
    const Rank right = right_of(fabric);
    const auto value = [](Rank rank, std::uint32_t call) {
      return static_cast<int>(rank.value * 100 + call);
    };
    const auto comes = [](auto&& step) {
      for (int tried = 0; tried < 4; ++tried)
        if (step() == WaitStatus::ok) return true;
      return false;
    };
    for (std::uint32_t call = 0; call < team.calls(); ++call) {
      if (!comes([&] { return handoff.vacant(fabric); })) return;
      auto tile = fabric.template tile<int, 1, 1>();
      tile.each([&](auto, auto, int& element) { element = value(fabric.rank(), call); });
      fabric.remote_store(tile, inbox, right, Box{0, 0, 1, 1});
      handoff.post(fabric, right);
      if (!comes([&] { return handoff.wait(fabric); })) return;
      expect(fabric, fabric.local(inbox)[0] == value(left, call), "the data of this round");
      fabric.converge();
      handoff.acknowledge(fabric, left);
    }
  });
}

struct Kept {
  const char* name;
  Program body;
  std::uint32_t ranks, lanes;
};

template <class Barrier>
Kept over_ranks(const char* name) {
  return {name, [](model::Team& team) { goes_on<Barrier>(team, BarrierScope::lane); }, 3, 1};
}
template <class Barrier>
Kept scoped_over_ranks(const char* name) {
  return {name, [](model::Team& team) { goes_on_scoped<Barrier>(team, BarrierScope::lane); }, 3, 1};
}

// Of every lane one arrival is expected.
struct ArrivalsOfAll : GridArrivals {
  explicit ArrivalsOfAll(model::Team& team)
      : GridArrivals(GridBarrier(team).expecting(team.max_lanes())) {}
};

const Kept barriers[] = {
    over_ranks<EpochBarrier>("epoch"),
    over_ranks<DisseminationBarrier>("dissemination"),
    over_ranks<Barrier>("automatic"),
    over_ranks<CounterBarrier>("counter"),
    over_ranks<CreditBarrier>("credit"),
    over_ranks<FlipBarrier>("flip"),
    scoped_over_ranks<EpochBarrier>("epoch_scoped"),
    scoped_over_ranks<DisseminationBarrier>("dissemination_scoped"),
    scoped_over_ranks<CounterBarrier>("counter_scoped"),
    scoped_over_ranks<CreditBarrier>("credit_scoped"),
    scoped_over_ranks<FlipBarrier>("flip_scoped"),
    {"grid", [](model::Team& team) { goes_on<GridBarrier>(team, BarrierScope::rank); }, 1, 3},
    {"grid_scoped",
     [](model::Team& team) { goes_on_scoped<GridBarrier>(team, BarrierScope::rank); }, 1, 3},
    {"grid_arrivals", [](model::Team& team) { goes_on<ArrivalsOfAll>(team, BarrierScope::rank); },
     1, 3},
    {"system_lanes", [](model::Team& team) { goes_on<SystemBarrier>(team, BarrierScope::team); }, 1,
     3},
    {"system", [](model::Team& team) { goes_on<SystemBarrier>(team, BarrierScope::team); }, 2, 2},
    {"packet_exchange", exchanges_on, 3, 1},
    {"packet_exchange_of_two", exchanges_on, 2, 1},
    {"handoff", hands_on, 2, 1},
    {"handoff_ring", hands_on, 3, 1},
    {"system_scoped",
     [](model::Team& team) { goes_on_scoped<SystemBarrier>(team, BarrierScope::team); }, 2, 2},
};

[[maybe_unused]] void PrintTo(const Kept& kept, std::ostream* out) {
  *out << kept.name;
}

class Expiry : public testing::TestWithParam<std::tuple<Kept, std::uint32_t>> {};

TEST_P(Expiry, LetsNobodyThroughEarly) {
  const auto& [kept, expire] = GetParam();
  for (const Profile profile : {Profile::rdma, Profile::direct, Profile::sc}) {
    for (const std::uint32_t calls : {2U, 3U}) {
      Options options = options_for(kept.ranks, profile, calls);
      options.lanes = kept.lanes;
      options.expire = expire;
      const Report report = explore(options, kept.body);
      EXPECT_TRUE(answered(report))
          << calls << " calls, " << name_of(profile) << ": " << told(report);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Expiry,
                         testing::Combine(testing::ValuesIn(barriers), testing::Values(1U, 2U)),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param).name) + "_expire_" +
                                  std::to_string(std::get<1>(test.param));
                         });

}  // namespace
}  // namespace muster::check
