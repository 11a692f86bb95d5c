// Ranks that make different calls in one place get an error that names both sides, soon, and not a
// hang: packets and transfers. (Barriers and set-up calls: host_team_test, bad_input_test.)
#include "conformance/mismatch.hpp"

#include <string>
#include <vector>

#include "muster/collective/gather.hpp"
#include "muster/muster.hpp"
#include "muster/packet.hpp"
#include "muster/transfer.hpp"

namespace muster {
namespace {

using testing::Body;
using testing::Mismatch;

INSTANTIATE_TEST_SUITE_P(As, Mismatch, ::testing::Values(threads, processes), testing::name_of_way);

template <class F, class T, std::int64_t R, std::int64_t C>
WaitStatus exchange_once(F& fabric, const PacketExchange<T, R, C>& exchange) {
  auto tile = fabric.template tile<T, R, C>();
  const std::uint32_t flag = exchange.begin(fabric);
  WaitStatus status = WaitStatus::ok;
  for_each_peer(fabric, [&](Rank peer) { exchange.put(fabric, flag, peer, tile); });
  for_each_peer(
      fabric, [&](Rank peer) { status = worst(status, exchange.wait(fabric, flag, peer, tile)); });
  return exchange.end(fabric, flag, status);
}

TEST_P(Mismatch, ExchangesOfOtherShapes) {
  expect_named(3,
               [](Team& team) -> Result<void> {
                 const PacketExchange<float, 5, 7> wide(team);
                 const PacketExchange<float, 7, 5> tall(team);
                 return team.lane([&](auto& fabric) {
                   for (int call = 0; call < 20; ++call)
                     if (const auto met = exchange_once(fabric, wide); met != WaitStatus::ok)
                       return met;
                   return fabric.rank() == Rank{1} ? exchange_once(fabric, tall)
                                                   : exchange_once(fabric, wide);
                 });
               },
               {"rank 1 called PacketExchange of 7 x 5 float32 (cell ",
                "called PacketExchange of 5 x 7 float32 (cell ", " on lane 0"});
}

// The same bytes in the same slots, and numbers all the same that mean something else.
TEST_P(Mismatch, ExchangesOfOtherElements) {
  expect_named(2,
               [](Team& team) -> Result<void> {
                 const auto run_as = [&](const auto& exchange) {
                   return team.lane([&](auto& fabric) { return exchange_once(fabric, exchange); });
                 };
                 if (team.rank() == Rank{0}) return run_as(PacketExchange<float, 2, 3>(team));
                 return run_as(PacketExchange<std::uint32_t, 2, 3>(team));
               },
               {"PacketExchange of 2 x 3 float32", "PacketExchange of 2 x 3 uint32"});
}

TEST_P(Mismatch, ExchangesOfOtherSizesAreRefusedAtSetUp) {
  expect_named(2,
               [](Team& team) -> Result<void> {
                 if (team.rank() == Rank{0})
                   (void)PacketExchange<float, 1, 16>(team);
                 else
                   (void)PacketExchange<float, 1, 64>(team);
                 return {};
               },
               {"mismatch", "rank 0", "rank 1"});
}

TEST_P(Mismatch, AnExchangeAgainstABarrier) {
  expect_named(2,
               [](Team& team) -> Result<void> {
                 const PacketExchange<double, 1, 4> exchange(team);
                 const EpochBarrier barrier(team);
                 return team.lane([&](auto& fabric) {
                   return fabric.rank() == Rank{0} ? exchange_once(fabric, exchange)
                                                   : barrier.sync(fabric);
                 });
               },
               {"PacketExchange of 1 x 4 float64", "EpochBarrier (cell "});
}

// Which call of its object each is.
TEST_P(Mismatch, CallsAreNumbered) {
  expect_named(2,
               [](Team& team) -> Result<void> {
                 const EpochBarrier epoch(team);
                 const CounterBarrier counter(team);
                 const PacketExchange<float, 1, 4> exchange(team);
                 return team.lane([&](auto& fabric) {
                   for (int call = 0; call < 5; ++call) (void)epoch.sync(fabric);
                   for (int call = 0; call < 2; ++call) (void)counter.sync(fabric);
                   for (int call = 0; call < 3; ++call) (void)exchange_once(fabric, exchange);
                   if (fabric.rank() == Rank{0}) return epoch.sync(fabric);
                   return counter.sync(fabric);
                 });
               },
               {"called EpochBarrier (cell ", ", its call 6)", "called CounterBarrier (cell ",
                ", its call 3)", "each as call "});
}

// A wait that expires says what was called last, where calls are compared.
TEST_P(Mismatch, ACallThatExpiresIsNamed) {
  const auto named = [](Team& team) -> Result<void> {
    const EpochBarrier barrier(team);
    const Signals never = *team.signals(1);
    return team.lane([&](auto& fabric) {
      for (int call = 0; call < 3; ++call)
        if (const auto met = barrier.sync(fabric); met != WaitStatus::ok) return met;
      if (fabric.rank() == Rank{0}) return barrier.sync(fabric);
      WaitStatus status = WaitStatus::pending;  // until the other has given up
      while (status == WaitStatus::pending) status = fabric.test(never[0], Compare::ge, 1);
      return status;
    });
  };
  const std::vector<std::string> texts = outcomes(2, named, std::chrono::milliseconds(300));
  for (const char* word :
       {"in vain; the last call on lane 0 was EpochBarrier (cell ", ", its call 4), as call "})
    EXPECT_NE(texts[0].find(word), std::string::npos) << word << " is not in: " << texts[0];
}

// Fetched operations that change nothing are a poll: a loop of them ends when the team has failed.
TEST_P(Mismatch, ALoopOfTriesEndsWithTheTeam) {
  const auto tries = [](Team& team) -> Result<void> {
    const EpochBarrier barrier(team);
    const Signals lock = *team.signals(1);
    return team.lane([&](auto& fabric) {
      if (fabric.rank() == Rank{0}) return barrier.sync(fabric);  // in vain
      Fetched found;
      for (std::uint32_t i = 0; found.status == WaitStatus::ok; ++i)
        found = i % 2 == 0 ? fabric.compare_swap(lock[0], Rank{0}, 1, 2)
                           : fabric.fetch_add(lock[0], Rank{0}, 0);
      return found.status;
    });
  };
  const std::vector<std::string> texts = outcomes(2, tries, std::chrono::milliseconds(300));
  EXPECT_NE(texts[1].find("rank 0"), std::string::npos) << texts[1];
}

// Each takes itself for the root: both would wait for the other.
TEST_P(Mismatch, GathersToOtherRoots) {
  expect_named(2,
               [](Team& team) -> Result<void> {
                 const Gather<float> gather(team);
                 std::vector<float> all(6);
                 const MemoryRef<float> to{all.data(), 1, 6};
                 const MemoryRef<float> from{all.data() + 3 * team.rank().value, 1, 3};
                 return team.lane(
                     [&](auto& fabric) { return gather.run(fabric, to, from, 3, fabric.rank()); });
               },
               {"rank 0", "rank 1", "called Gather of 1 x 3 float32 (cell ", ", root 1)"});
}

// A barrier of all lanes, of which one rank runs another number: each way round.
TEST_P(Mismatch, OtherNumbersOfLanes) {
  for (const std::uint32_t odd : {1U, 3U})
    expect_named(3,
                 [odd](Team& team) -> Result<void> {
                   const SystemBarrier barrier(team);
                   return team.lanes(team.rank() == Rank{1} ? odd : 2,
                                     [&](auto& fabric) { return barrier.sync(fabric); });
                 },
                 {"called SystemBarrier of 2 lanes (cell ",
                  "rank 1 called SystemBarrier of " + std::to_string(odd) + " lanes (cell "});
}

// All ranks push their halo to the right, as they say; the one whose halo is another is named.
Body halos(Region odd, Chunks odd_chunks, bool described) {
  return [=](Team& team) -> Result<void> {
    const auto target = *team.window<float>({4, 6});
    const auto source = *team.window<float>({4, 6});
    const Signals arrived = *team.signals(1);
    const bool differs = team.rank() == Rank{1};
    const auto transfer =
        *make_transfer(target, source, differs ? odd : Region{{}, {}, 4, 3},
                       differs ? odd_chunks : Chunks{.chunk_rows = 2, .chunk_cols = 3});
    return team.lane([&](auto& fabric) {
      for (std::uint32_t call = 1; call <= 30; ++call) {
        if (described) describe(fabric, "halo", transfer);
        const Rank right = right_of(fabric);
        put_signal(fabric, transfer, right, arrived[0], call);
        const WaitStatus status = fabric.wait(arrived[0], Compare::ge, call);
        if (status != WaitStatus::ok) return status;
      }
      return WaitStatus::ok;
    });
  };
}

constexpr Region as_the_others{{}, {}, 4, 3};
constexpr Chunks their_chunks{.chunk_rows = 2, .chunk_cols = 3};

TEST_P(Mismatch, TransfersThatAreDescribedAlike) {
  expect_named(2, halos({{}, {}, 4, 5}, their_chunks, true),
               {"halo of 4 x 3 float32 in chunks of 2 x 3",
                "halo of 4 x 5 float32 in chunks of 2 x 3", "rank 0", "rank 1"});
  expect_named(
      2, halos(as_the_others, {}, true),
      {"halo of 4 x 3 float32 in chunks of 2 x 3", "halo of 4 x 3 float32 in chunks of 4 x 3"});
  Chunks piped = their_chunks;
  piped.pipeline = true;
  expect_named(2, halos(as_the_others, piped, true),
               {"in chunks of 2 x 3, pipelined", "halo of 4 x 3 float32 in chunks of 2 x 3"});
}

TEST_P(Mismatch, TransfersThatAgree) {
  expect_accepted(3, halos(as_the_others, their_chunks, true));
  // Another place of the same shape is no other call.
  expect_accepted(3, halos({{0, 3}, {0, 1}, 4, 3}, their_chunks, true));
}

// A put by itself is one-sided: nobody has to match it.
TEST_P(Mismatch, TransfersThatNobodyDescribes) {
  expect_accepted(3, halos({{}, {}, 1, 5}, {}, false));
}

}  // namespace
}  // namespace muster
