// Reports name the user's call of a protocol beside the protocol's own line.
#include <array>
#include <set>
#include <source_location>
#include <string>

#include "check/asking.hpp"
#include "muster/barrier.hpp"
#include "muster/handoff.hpp"
#include "muster/packet.hpp"
#include "muster/transfer.hpp"

namespace muster::check {
namespace {

std::set<std::uint32_t> noted;

// Stands on the line of a call that is to be named.
void note(std::source_location where = std::source_location::current()) {
  noted.insert(where.line());
}

constexpr const char* this_file = "callers_test.cpp:";

// Each place of an operation is in this file or, within a call of a protocol, comes behind one of
// the calls that were noted.
void expect_named(const Report& report) {
  ASSERT_FALSE(report.events.empty()) << told(report);
  std::uint32_t within = 0;
  for (const Event& event : report.events) {
    ASSERT_TRUE(event.where.starts_with(this_file)) << event.what << " at " << event.where;
    if (event.where.find(", in ") == std::string::npos) continue;
    ++within;
    EXPECT_TRUE(noted.contains(
        static_cast<std::uint32_t>(std::stoul(event.where.substr(std::string(this_file).size())))))
        << event.what << " at " << event.where;
  }
  EXPECT_GT(within, 0U);
}

Options traced(std::uint32_t lanes = 1) {
  Options options = options_for(3);
  options.lanes = lanes;
  options.threads = 2;
  options.trace = true;
  return options;
}

// The whole of a call that ends well, told because of what comes after it; and of one that waits in
// vain, since one lane of one rank leaves it out.
template <class Make, class Act>
void expect_caller(Make make, Act act) {
  noted.clear();
  const auto body = [&](bool missing) {
    return [&, missing](model::Team& team) {
      const auto protocol = make(team);
      (void)team.lanes(2, [&](auto& fabric) {
        if (missing && fabric.rank() == Rank{0} && fabric.lane() == Lane{0}) return;
        (void)act(fabric, protocol);
        fabric.converge();
        if (!missing && fabric.rank() == Rank{2}) expect(fabric, false, "told");
      });
    };
  };
  expect_named(explore(traced(2), body(false)));
  const Report stuck = explore(traced(2), body(true));
  ASSERT_TRUE(stuck.has(Kind::deadlock)) << told(stuck);
  const std::string& what = stuck.findings.front().what;
  const auto at = what.find(std::string("waits (") + this_file);
  ASSERT_NE(at, std::string::npos) << what;
  EXPECT_NE(what.find(", in ", at), std::string::npos) << what;
}

template <class T>
class Callers : public ::testing::Test {};
using Barriers = ::testing::Types<EpochBarrier, CreditBarrier, FlipBarrier, CounterBarrier,
                                  DisseminationBarrier, GridBarrier, SystemBarrier, Barrier>;
TYPED_TEST_SUITE(Callers, Barriers);

TYPED_TEST(Callers, OfABarrierAreNamed) {
  const auto make = [](model::Team& team) { return TypeParam(team); };
  expect_caller(make,
                [](auto& fabric, const auto& barrier) { return note(), barrier.sync(fabric); });
  expect_caller(make, [](auto& fabric, const auto& barrier) {
    const auto arrival = (note(), barrier.arrive(fabric));
    return note(), barrier.wait(fabric, arrival);
  });
  if constexpr (requires(model::Fabric & fabric, const TypeParam& barrier) {
                  barrier.scoped(fabric, [](auto&) {});
                }) {
    expect_caller(make, [](auto& fabric, const auto& barrier) {
      const auto loop = [](auto& scope) { (void)(note(), scope.sync()); };
      return note(), barrier.scoped(fabric, loop);
    });
    expect_caller(make, [](auto& fabric, const auto& barrier) {
      const auto loop = [](auto& scope) {
        note(), scope.arrive();
        (void)(note(), scope.wait());
      };
      return note(), barrier.scoped(fabric, loop);
    });
  }
}

// Ranks that run different numbers of lanes, and so miss each other: both numbers, and both calls.
TYPED_TEST(Callers, ThatRunOtherNumbersOfLanesAreNamed) {
  if constexpr (!std::is_same_v<TypeParam, GridBarrier>) {  // it is each rank's own
    Options options = options_for(3);
    options.lanes = 3;
    const Report report = explore(options, [](model::Team& team) {
      const TypeParam barrier(team);
      const auto meet = [&](auto& fabric) { return barrier.sync(fabric); };
      (void)team.lanes(2, meet);
      (void)team.lanes(team.rank() == Rank{2} ? 3 : 2, meet);
    });
    ASSERT_FALSE(report.findings.empty());
    const std::string& what = report.findings.front().what;
    EXPECT_NE(what.find("; rank 0 runs 2 lanes (callers_test.cpp:"), std::string::npos) << what;
    EXPECT_NE(what.find(") where rank 2 runs 3 (callers_test.cpp:"), std::string::npos) << what;
    if constexpr (std::is_same_v<TypeParam, SystemBarrier>) {
      EXPECT_EQ(report.findings.front().kind, Kind::divergence) << what;
      EXPECT_NE(what.find("SystemBarrier of 3 lanes"), std::string::npos) << what;
    }
  }
}

TEST(Callers, OfAHandoffAreNamed) {
  expect_caller(
      [](model::Team& team) {
        return std::array{Handoff(team), Handoff(team)};
      },
      [](auto& fabric, const auto& both) {
        const Handoff& handoff = both[fabric.lane().value];
        WaitStatus status = WaitStatus::ok;
        if (fabric.thread() == 0) {
          status = worst(status, (note(), handoff.vacant(fabric)));
          note(), handoff.post(fabric, right_of(fabric));
          status = worst(status, (note(), handoff.wait(fabric)));
          note(), handoff.acknowledge(fabric, left_of(fabric));
        }
        return fabric.converge(status);
      });
}

TEST(Callers, OfAnExchangeAreNamed) {
  using Exchange = PacketExchange<int, 1, 4>;
  expect_caller([](model::Team& team) { return Exchange(team); },
                [](auto& fabric, const Exchange& exchange) {
                  auto tile = fabric.template tile<int, 1, 4>();
                  const std::uint32_t flag = (note(), exchange.begin(fabric));
                  WaitStatus status = WaitStatus::ok;
                  for (std::uint32_t step = 1; step < fabric.size(); ++step)
                    note(), exchange.put(fabric, flag, right_of(fabric, step), tile);
                  for (std::uint32_t step = 1; step < fabric.size(); ++step) {
                    const Rank peer = right_of(fabric, step);
                    status = worst(status, (note(), exchange.wait(fabric, flag, peer, tile)));
                  }
                  return note(), exchange.end(fabric, flag, status);
                });
}

// They wait for nobody: what they do is told because of the expectation at the end.
TEST(Callers, OfTransfersAreNamed) {
  noted.clear();
  const Report report = explore(traced(), [](model::Team& team) {
    const auto to = *team.window<int>({4, 4}, "to");
    const auto from = *team.window<int>({4, 4}, "from");
    const Signals told = *team.signals(1);
    const auto box = *make_transfer(to, from, {.rows = 2, .cols = 2}, {.chunk_rows = 1});
    (void)team.lane([&](auto& fabric) {
      if (fabric.rank() != Rank{0}) return;
      const Rank right{1};
      note(), describe(fabric, "box", box);
      note(), put(fabric, box, right);
      (void)fabric.flush();
      note(), (void)get(fabric, box, right);
      note(), put_signal(fabric, box, right, told[0], 1);
      (void)fabric.flush();
      auto putting = (note(), put_async(fabric, box, right));
      note(), (void)putting.complete(fabric);
      auto getting = (note(), get_async(fabric, box, right));
      note(), (void)getting.complete(fabric);
      note(), remote_add(fabric, box, right);
      expect(fabric, false, "told");
    });
  });
  expect_named(report);
}

// What the user does himself between two calls, and in the body of a scope, is his.
TEST(Callers, AreThoseOfTheCallAlone) {
  noted.clear();
  const Report report = explore(traced(), [](model::Team& team) {
    const EpochBarrier barrier(team);
    const auto data = *team.window<int>({2}, "data");
    (void)team.lane([&](auto& fabric) {
      const auto loop = [&](auto& scope) {
        if (fabric.thread() == 0) fabric.local(data)[0] = 1;
        (void)(note(), scope.sync());
      };
      (void)(note(), barrier.scoped(fabric, loop));
      if (fabric.thread() == 0) fabric.local(data)[1] = 1;
      expect(fabric, false, "told");
    });
  });
  expect_named(report);
  std::uint32_t own = 0;
  for (const Event& event : report.events)
    if (event.what.starts_with("write data")) {
      EXPECT_EQ(event.where.find(", in "), std::string::npos) << event.where;
      ++own;
    }
  EXPECT_EQ(own, 6U);
}

std::string first_what(const Report& report, Kind kind) {
  for (const Finding& finding : report.findings)
    if (finding.kind == kind) return finding.what;
  return told(report);
}

std::uint32_t times_named(const std::string& text) {
  std::uint32_t times = 0;
  for (auto at = text.find(this_file); at != std::string::npos; at = text.find(this_file, at + 1))
    ++times;
  return times;
}

// Findings whose sentence speaks of a call: both calls, where there are two.
TEST(Callers, AreNamedInTheSentencesOfFindings) {
  const Report divergence = explore(options_for(2), [](model::Team& team) {
    const EpochBarrier epoch(team);
    const CreditBarrier credit(team);
    (void)team.lane([&](auto& fabric) {
      return fabric.rank() == Rank{0} ? epoch.sync(fabric) : credit.sync(fabric);
    });
  });
  EXPECT_EQ(times_named(first_what(divergence, Kind::divergence)), 2U) << told(divergence);

  const Report clobber = explore(options_for(3), [](model::Team& team) {
    const Handoff handoff(team);
    (void)team.lane([&](auto& fabric) {
      if (fabric.rank() != Rank{0}) handoff.post(fabric, Rank{0});
    });
  });
  EXPECT_EQ(times_named(first_what(clobber, Kind::clobber)), 2U) << told(clobber);

  const Report stale = explore(options_for(3), [](model::Team& team) {
    const Signals cell = *team.signals(1);
    (void)team.lane([&](auto& fabric) {
      (void)barrier_call(fabric, [&] { return fabric.wait(cell[0], Compare::ge, 0); });
    });
  });
  EXPECT_EQ(times_named(first_what(stale, Kind::stale_pass)), 1U) << told(stale);
}

}  // namespace
}  // namespace muster::check
