// Members find each other over TCP, and nobody else is told or heard anything.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "multihost/meeting.hpp"
#include "net/bytes.hpp"
#include "net/door.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;
using Met = Result<std::unique_ptr<net::Bootstrap>>;

std::string bytes_of_rank(std::uint32_t rank, std::size_t round) {
  // Of several lengths, none among them, and with every byte.
  std::string bytes;
  for (std::size_t i = 0; i < (rank * 977 + round * 131) % 3000; ++i)
    bytes += static_cast<char>(static_cast<unsigned char>(i * 7 + rank + round));
  return bytes;
}

void expect_all_gathers(net::Bootstrap& ranks, std::size_t rounds) {
  for (std::size_t round = 0; round < rounds; ++round) {
    const auto all = ranks.all_gather(bytes_of_rank(ranks.rank().value, round), 20s);
    ASSERT_TRUE(all) << all.error().what;
    ASSERT_EQ(all->size(), ranks.size());
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank)
      EXPECT_EQ((*all)[rank], bytes_of_rank(rank, round)) << rank << " in round " << round;
  }
}

TEST(Bootstrap, GathersWhatEachBrings) {
  for (const std::uint32_t count : {1U, 2U, 3U, 8U, 33U}) {
    const net::HostPort at{"127.0.0.1", free_port()};
    as_threads(count, [&](std::uint32_t rank) {
      const Met met = net::meet_at(at, as_rank(rank, count));
      ASSERT_TRUE(met) << met.error().what;
      EXPECT_EQ((*met)->rank(), Rank{rank});
      EXPECT_EQ((*met)->size(), count);
      expect_all_gathers(**met, 4);
    });
  }
}

TEST(Bootstrap, GathersOnOneHostWithoutATokenOrAPort) {
  const std::string key = "bootstrap_test/" + std::to_string(getpid());
  as_threads(4, [&](std::uint32_t rank) {
    const Met met = net::meet_on_host(key, as_rank(rank, 4));
    ASSERT_TRUE(met) << met.error().what;
    expect_all_gathers(**met, 2);
  });
}

TEST(Bootstrap, TakesAMebibyteFromEachRankAndNoMore) {
  const net::HostPort at{"127.0.0.1", free_port()};
  as_threads(3, [&](std::uint32_t rank) {
    const Met met = net::meet_at(at, as_rank(rank, 3));
    ASSERT_TRUE(met) << met.error().what;
    const auto refused = (*met)->all_gather(std::string(net::most_entry_bytes + 1, 'x'), 20s);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
    const std::string most(net::most_entry_bytes, static_cast<char>('a' + rank));
    const auto all = (*met)->all_gather(most, 20s);
    ASSERT_TRUE(all) << all.error().what;
    EXPECT_EQ((*all)[2], std::string(net::most_entry_bytes, 'c'));
  });
}

TEST(Bootstrap, NamesARankThatNeverComes) {
  const net::HostPort at{"127.0.0.1", free_port()};
  const auto begin = net::Clock::now();
  as_threads(3, [&](std::uint32_t rank) {
    const Met met = net::meet_at(at, as_rank(rank, 4, 1s));
    ASSERT_FALSE(met);
    EXPECT_EQ(met.error().code, ErrorCode::expired);
    EXPECT_EQ(met.error().peer, Rank{3}) << met.error().what;
    EXPECT_NE(met.error().what.find("rank 3 has not come"), std::string::npos) << met.error().what;
  });
  EXPECT_LT(seconds_since(begin), 3.0);
}

TEST(Bootstrap, NamesRankZeroWhereItNeverComes) {
  const net::HostPort at{"127.0.0.1", free_port()};
  const Met met = net::meet_at(at, as_rank(1, 2, 500ms));
  ASSERT_FALSE(met);
  EXPECT_EQ(met.error().code, ErrorCode::expired);
  EXPECT_EQ(met.error().peer, Rank{0});
}

TEST(Bootstrap, NamesHostAndRankThatIsLateForARound) {
  const net::HostPort at{"127.0.0.1", free_port()};
  std::atomic<int> told{0};
  as_threads(4, [&](std::uint32_t rank) {
    const Met met = net::meet_at(at, as_rank(rank, 4));
    ASSERT_TRUE(met) << met.error().what;
    if (rank == 2) {
      EXPECT_TRUE(eventually([&] { return told == 3; }));
      return;
    }
    const auto begin = net::Clock::now();
    const auto all = (*met)->all_gather("x", 500ms);
    ++told;
    ASSERT_FALSE(all);
    EXPECT_EQ(all.error().code, ErrorCode::expired);
    EXPECT_EQ(all.error().peer, Rank{2});
    EXPECT_NE(all.error().what.find("rank 2 on host2 has not come within 0.5 s"), std::string::npos)
        << all.error().what;
    EXPECT_LT(seconds_since(begin), 2.0);
    // It does not begin anew.
    EXPECT_FALSE((*met)->all_gather("x", 5s));
  });
}

TEST(Bootstrap, NamesHostAndRankThatHasEnded) {
  const net::HostPort at{"127.0.0.1", free_port()};
  as_threads(4, [&](std::uint32_t rank) {
    Met met = net::meet_at(at, as_rank(rank, 4));
    ASSERT_TRUE(met) << met.error().what;
    if (rank == 3) return met->reset();
    const auto begin = net::Clock::now();
    const auto all = (*met)->all_gather("x", 20s);
    ASSERT_FALSE(all);
    EXPECT_EQ(all.error().code, ErrorCode::peer_lost);
    EXPECT_EQ(all.error().peer, Rank{3});
    EXPECT_NE(all.error().what.find("rank 3 on host3"), std::string::npos) << all.error().what;
    EXPECT_LT(seconds_since(begin), 1.0);
  });
}

TEST(Bootstrap, NamesARankThatComesAndEndsBeforeAllHaveCome) {
  const net::HostPort at{"127.0.0.1", free_port()};
  as_threads(3, [&](std::uint32_t rank) {
    if (rank == 1) {  // rank 2 never comes; rank 1 is gone again
      const Fd connection = connection_of_stranger(at);
      const auto until = net::Clock::now() + 5s;
      EXPECT_TRUE(net::greet(Fd(dup(connection.get())), good_token, as_rank(1, 3).self, 1000, until)
                      .channel);
      return;
    }
    if (rank == 2) return;
    const auto begin = net::Clock::now();
    const Met met = net::meet_at(at, as_rank(0, 3));
    ASSERT_FALSE(met);
    EXPECT_EQ(met.error().code, ErrorCode::peer_lost);
    EXPECT_EQ(met.error().peer, Rank{1});
    EXPECT_LT(seconds_since(begin), 3.0);
  });
}

TEST(Bootstrap, TellsRanksOfJobsOfDifferentSizes) {
  const net::HostPort at{"127.0.0.1", free_port()};
  as_threads(2, [&](std::uint32_t rank) {
    const Met met = net::meet_at(at, as_rank(rank, rank == 0 ? 2 : 5, 1s));
    ASSERT_FALSE(met);
    EXPECT_EQ(met.error().code, rank == 0 ? ErrorCode::expired : ErrorCode::mismatch);
  });
}

TEST(Bootstrap, TellsTheSecondOfTwoThatClaimOneRank) {
  const net::HostPort at{"127.0.0.1", free_port()};
  std::atomic<int> refused{0};
  as_threads(4, [&](std::uint32_t thread) {
    const std::uint32_t rank = thread == 3 ? 1 : thread;
    const bool last = thread == 2;
    if (last) {
      EXPECT_TRUE(eventually([&] { return refused == 1; }));
    }
    const Met met = net::meet_at(at, as_rank(rank, 3));
    if (met) return;
    ++refused;
    EXPECT_EQ(rank, 1U);
    EXPECT_NE(met.error().what.find("rank 1 is claimed by two processes: on host1"),
              std::string::npos)
        << met.error().what;
  });
  EXPECT_EQ(refused, 1);
}

}  // namespace
}  // namespace muster::testing
