// What somebody without the token can do at the port where ranks meet: nothing.
#include <gtest/gtest.h>

#include <atomic>
#include <random>

#include "multihost/meeting.hpp"
#include "net/channel.hpp"
#include "net/door.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;
using Met = Result<std::unique_ptr<net::Bootstrap>>;

// Ranks 0 to 2 of three; rank 2 comes when `strangers` has done what it wants to.
void meet_beside(const std::function<void(const net::HostPort&)>& strangers,
                 double longest = 10.0) {
  const net::HostPort at{"127.0.0.1", free_port()};
  std::atomic<bool> over{false};
  as_threads(4, [&](std::uint32_t thread) {
    if (thread == 3) {
      strangers(at);
      over = true;
      return;
    }
    if (thread == 2) {
      EXPECT_TRUE(eventually([&] { return over.load(); }));
    }
    const auto begin = net::Clock::now();
    const Met met = net::meet_at(at, as_rank(thread, 3, 30s));
    ASSERT_TRUE(met) << met.error().what;
    if (thread == 2) {
      EXPECT_LT(seconds_since(begin), longest);
    }
    const auto all = (*met)->all_gather(std::to_string(thread), 20s);
    ASSERT_TRUE(all) << all.error().what;
    EXPECT_EQ(*all, (std::vector<std::string>{"0", "1", "2"}));
  });
}

TEST(Strangers, WithAnotherTokenAreToldSoAndChangeNothing) {
  meet_beside([](const net::HostPort& at) {
    const auto begin = net::Clock::now();
    net::StarOptions other = as_rank(1, 3);
    other.token = "a token that is not this job's, as long";
    const Met met = net::meet_at(at, std::move(other));
    ASSERT_FALSE(met);
    EXPECT_EQ(met.error().code, ErrorCode::unavailable);
    EXPECT_NE(met.error().what.find("another job listens there, or this one has another token"),
              std::string::npos)
        << met.error().what;
    EXPECT_LT(seconds_since(begin), 5.0);
  });
}

TEST(Strangers, WithASecondJobAreToldThatThePortIsTaken) {
  meet_beside([](const net::HostPort& at) {
    ASSERT_TRUE(connection_of_stranger(at).is_open());  // the first job listens
    const Met met = net::meet_at(at, as_rank(0, 3));
    ASSERT_FALSE(met);
    EXPECT_EQ(met.error().code, ErrorCode::unavailable);
    EXPECT_NE(met.error().what.find("another process listens at 127.0.0.1:"), std::string::npos)
        << met.error().what;
  });
}

TEST(Strangers, BytesOfAnyKindEndTheConnectionAndNothingElse) {
  meet_beside([](const net::HostPort& at) {
    std::mt19937 random(16);
    for (const std::string& bytes :
         {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(100'000, '\0'),
          std::string("muster.1") + std::string(31, 'n'),  // a greeting that lacks a byte
          std::string("muster.1") + std::string(500, 'n'),
          std::string("muster.2") + std::string(500, 'n')}) {
      const Fd connection = connection_of_stranger(at);
      send(connection.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      EXPECT_TRUE(is_ended(connection.get(), 2 * net::guest_patience)) << bytes.substr(0, 8);
    }
    for (int i = 0; i < 50; ++i) {
      std::string bytes(random() % 400, '\0');
      for (char& byte : bytes) byte = static_cast<char>(random());
      if (random() % 2 == 0) bytes = "muster.1" + bytes;
      const Fd connection = connection_of_stranger(at);
      send(connection.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
  });
}

TEST(Strangers, WhoSayNothingAreSentAwayInTime) {
  meet_beside([](const net::HostPort& at) {
    const auto begin = net::Clock::now();
    const Fd connection = connection_of_stranger(at);
    EXPECT_TRUE(is_ended(connection.get(), 2 * net::guest_patience));
    EXPECT_GT(seconds_since(begin), 0.5 * static_cast<double>(net::guest_patience.count()));
  });
}

TEST(Strangers, ThatHoldTheirConnectionsKeepNobodyOut) {
  std::vector<Fd> held;
  meet_beside([&](const net::HostPort& at) {
    for (std::size_t i = 0; i < 3 * net::most_guests; ++i)
      held.push_back(connection_of_stranger(at));
  });
  // No more than the bound were ever held: the first have been ended for the later ones.
  EXPECT_TRUE(is_ended(held.front().get(), 1s));
}

TEST(Strangers, ThatFloodThePortKeepNobodyOut) {
  std::atomic<bool> over{false};
  std::atomic<int> connections{0};
  std::vector<std::thread> flood;
  meet_beside([&](const net::HostPort& at) {
    for (int i = 0; i < 4; ++i) {
      flood.emplace_back([&, at] {
        const auto places = net::resolve(at);
        while (!over) {
          const Fd connection = net::connect_to(places->front(), net::Clock::now() + 100ms);
          if (connection.is_open()) ++connections;
          send(connection.get(), "muster.1", 8, MSG_NOSIGNAL);
        }
      });
    }
    EXPECT_TRUE(eventually([&] { return connections > 1000; }));
  });
  over = true;
  for (std::thread& thread : flood) thread.join();
}

// Who stands in the hub's place and does not know the token learns nothing of it.
TEST(Strangers, ThatListenInTheHubsPlaceAreNotBelieved) {
  const net::HostPort at{"127.0.0.1", free_port()};
  auto listener = net::listen_at(at, 0ms);
  ASSERT_TRUE(listener) << listener.error().what;
  std::string heard;
  std::atomic<bool> over{false};
  std::thread impostor([&] {
    while (!over) {
      pollfd ready{listener->get(), POLLIN, 0};
      if (poll(&ready, 1, 20) <= 0) continue;
      const Fd guest(accept(listener->get(), nullptr, nullptr));
      char buffer[256];
      const std::string nonce = "muster.1" + std::string(32, 'x');
      ssize_t bytes = recv(guest.get(), buffer, sizeof buffer, 0);
      send(guest.get(), nonce.data(), nonce.size(), MSG_NOSIGNAL);
      bytes = recv(guest.get(), buffer, sizeof buffer, 0);
      heard.append(buffer, static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
      const std::string welcome = "welcome." + std::string(32, 'x');
      send(guest.get(), welcome.data(), welcome.size(), MSG_NOSIGNAL);
    }
  });
  const Met met = net::meet_at(at, as_rank(1, 2, 10s));
  over = true;
  impostor.join();
  ASSERT_FALSE(met);
  EXPECT_EQ(met.error().code, ErrorCode::unavailable) << met.error().what;
  EXPECT_FALSE(heard.empty());
  EXPECT_EQ(heard.find(good_token), std::string::npos);
}

TEST(Strangers, ATokenThatIsTooShortIsRefused) {
  net::StarOptions options = as_rank(1, 2);
  options.token = "secret";
  const Met met = net::meet_at({"127.0.0.1", free_port()}, std::move(options));
  ASSERT_FALSE(met);
  EXPECT_EQ(met.error().code, ErrorCode::invalid_argument);
}

// ---- frames of a connection that is made

struct Pair {
  Fd one;
  Fd other;
};

Pair pair_of_sockets() {
  int ends[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  return {Fd(ends[0]), Fd(ends[1])};
}

// The bytes that a channel with these keys sends for these frames.
std::string bytes_sent(const net::Keys& keys, const std::vector<std::string>& frames) {
  Pair pair = pair_of_sockets();
  net::Channel channel(std::move(pair.one), keys, 1000);
  for (const std::string& frame : frames) channel.send(7, frame);
  std::string bytes(100'000, '\0');
  bytes.resize(static_cast<std::size_t>(recv(pair.other.get(), bytes.data(), bytes.size(), 0)));
  return bytes;
}

std::vector<std::string> frames_in(const net::Keys& keys, const std::string& bytes, bool* open) {
  Pair pair = pair_of_sockets();
  net::Channel channel(std::move(pair.one), keys, 1000);
  EXPECT_EQ(send(pair.other.get(), bytes.data(), bytes.size(), 0),
            static_cast<ssize_t>(bytes.size()));
  std::vector<std::string> frames;
  while (const auto frame = channel.receive()) frames.push_back(frame->bytes);
  *open = channel.is_open();
  return frames;
}

TEST(Frames, ThatWereChangedRepeatedLeftOutOrPlayedBackAreNotTaken) {
  net::Keys keys;
  keys.outgoing.fill(1);
  keys.incoming.fill(2);
  const net::Keys others{keys.incoming, keys.outgoing};
  const std::vector<std::string> sent{"first", "second", ""};
  const std::string good = bytes_sent(keys, sent);
  bool open = false;
  EXPECT_EQ(frames_in(others, good, &open), sent);
  EXPECT_TRUE(open);

  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    const auto frames = frames_in(others, bad, &open);
    EXPECT_LT(frames.size(), sent.size()) << i;  // an end that is still awaited counts as none
    for (std::size_t frame = 0; frame < frames.size(); ++frame)
      EXPECT_EQ(frames[frame], sent[frame]) << i;
  }
  const std::size_t first = bytes_sent(keys, {"first"}).size();
  const std::string repeated = good.substr(0, first) + good;
  EXPECT_EQ(frames_in(others, repeated, &open).size(), 1U);
  EXPECT_FALSE(open);
  EXPECT_EQ(frames_in(others, good.substr(first), &open).size(), 0U);
  EXPECT_FALSE(open);
  EXPECT_EQ(frames_in(keys, good, &open).size(), 0U);  // its own, sent back to it
  EXPECT_FALSE(open);
}

TEST(Frames, ThatAreLongerThanTheyMayBeEndTheConnection) {
  net::Keys keys;
  bool open = true;
  EXPECT_EQ(frames_in(keys, bytes_sent(keys, {std::string(1001, 'x')}), &open).size(), 0U);
  EXPECT_FALSE(open);
  EXPECT_EQ(frames_in(keys, bytes_sent(keys, {std::string(1000, 'x')}), &open).size(), 1U);
}

}  // namespace
}  // namespace muster::testing
