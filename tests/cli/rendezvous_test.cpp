// How ranks that somebody else started come to share memory, with ranks that are processes.
#include "launch/rendezvous.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>

#include "cli/command.hpp"
#include "launch/rendezvous_wire.hpp"

namespace muster::launcher {
namespace {

using namespace std::chrono_literals;
using testing::count;
using testing::eventually;
using testing::patience;

// A key of this test's own: tests may run side by side.
std::string new_key() {
  static std::atomic<int> number{0};
  return "test/" + std::to_string(getpid()) + "/" + std::to_string(number++);
}

LaunchedBy identity(std::uint32_t rank, std::uint32_t ranks, const std::string& key) {
  return {Launcher::open_mpi, rank, ranks, key, {}};
}

Result<int> new_memory() {
  const int fd = memfd_create("rendezvous-test", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, 4096) != 0) return system_error("memfd_create");
  return fd;
}

// One process; its body's text comes back. Killed where it still runs when this goes.
class Process {
 public:
  explicit Process(const std::function<std::string()>& body) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    pid_ = fork();
    if (pid_ == 0) {
      const std::string text = body();
      const bool written =
          write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
      _exit(written ? 0 : 1);
    }
    close(ends[1]);
    text_ = Fd(ends[0]);
  }
  ~Process() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] std::string text() const {
    std::string all;
    char buffer[4096];
    for (ssize_t got = 0; (got = read(text_.get(), buffer, sizeof buffer)) > 0;) {
      all.append(buffer, static_cast<std::size_t>(got));
    }
    return all;
  }

 private:
  pid_t pid_ = -1;
  Fd text_;
};

// "shares N" where N is the inode of the memory, or the error.
std::string outcome(const Result<int>& result) {
  if (!result) return std::string(name_of(result.error().code)) + ": " + result.error().what;
  struct stat info {};
  fstat(*result, &info);
  const bool private_here = (fcntl(*result, F_GETFD) & FD_CLOEXEC) != 0;
  return "shares " + std::to_string(info.st_ino) + (private_here ? "" : " across exec");
}

std::function<std::string()> rank_of(const LaunchedBy& self,
                                     std::chrono::milliseconds deadline = patience) {
  return [=] { return outcome(rendezvous(self, new_memory, deadline)); };
}

std::vector<std::string> texts(const std::vector<std::unique_ptr<Process>>& processes) {
  std::vector<std::string> all;
  all.reserve(processes.size());
  for (const auto& process : processes) all.push_back(process->text());
  return all;
}

void expect_all_share(const std::vector<std::string>& all) {
  for (const std::string& text : all) {
    EXPECT_EQ(text.substr(0, 7), "shares ") << text;
    EXPECT_EQ(text, all.front());
  }
}

// A connection by hand, as somebody who does not belong there may make one.
Fd connect_to(const Address& address) {
  Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const auto* name = reinterpret_cast<const sockaddr*>(&address.socket);
  EXPECT_TRUE(eventually([&] { return connect(socket.get(), name, address.length) == 0; }));
  return socket;
}

// A rank that has come, and waits; it leaves when the connection goes.
Fd arrive(const Address& address, const LaunchedBy& who) {
  Fd socket = connect_to(address);
  EXPECT_TRUE(send_hello(socket.get(), who));
  return socket;
}

std::string text_of(const std::optional<Answer>& answer) {
  if (!answer) return "closed";
  return answer->error ? answer->error->what : "memory";
}

std::string answer_to(const Address& address, const LaunchedBy& who) {
  return text_of(receive_answer(arrive(address, who).get()));
}

TEST(Rendezvous, AllRanksShareOneMemory) {
  for (const std::uint32_t ranks : {2U, 3U, 8U, 64U}) {
    const std::string key = new_key();
    std::vector<std::unique_ptr<Process>> processes;
    // Rank 0 comes last, or first.
    for (std::uint32_t i = 0; i < ranks; ++i) {
      const std::uint32_t rank = ranks == 3 ? i : ranks - 1 - i;
      processes.push_back(std::make_unique<Process>(rank_of(identity(rank, ranks, key))));
    }
    expect_all_share(texts(processes));
  }
}

TEST(Rendezvous, OneRankNeedsNobody) {
  // In a process of its own like all others here: each counts the meetings that it has been to.
  const Process zero(rank_of(identity(0, 1, new_key())));
  expect_all_share({zero.text()});
}

TEST(Rendezvous, ARankMayMeetAgainAndAgain) {
  const std::string key = new_key();
  std::vector<std::unique_ptr<Process>> processes;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    processes.push_back(std::make_unique<Process>([=] {
      std::string all;
      for (int meeting = 0; meeting < 20; ++meeting) {
        all += outcome(rendezvous(identity(rank, 3, key), new_memory, patience)) + "\n";
      }
      return all;
    }));
  }
  const auto all = texts(processes);
  expect_all_share(all);
  EXPECT_EQ(count(all.front(), "shares"), 20);
}

TEST(Rendezvous, JobsDoNotMix) {
  const std::string one = new_key();
  const std::string other = new_key();
  std::vector<std::unique_ptr<Process>> processes;
  for (const std::string& key : {one, other}) {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      processes.push_back(std::make_unique<Process>(rank_of(identity(rank, 2, key))));
    }
  }
  const auto all = texts(processes);
  expect_all_share({all[0], all[1]});
  expect_all_share({all[2], all[3]});
  EXPECT_NE(all[0], all[2]);
}

TEST(Rendezvous, WhoDoesNotBelongIsTurnedAwayAndDisturbsNobody) {
  const std::string key = new_key();
  const LaunchedBy zero = identity(0, 4, key);
  const Address address = address_of(zero, 0);
  std::vector<std::unique_ptr<Process>> processes;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    processes.push_back(std::make_unique<Process>(rank_of(identity(rank, 4, key))));
  }
  {
    const Fd two = arrive(address, identity(2, 4, key));
    const std::string own = std::to_string(getpid());
    EXPECT_EQ(answer_to(address, identity(2, 4, key)),
              "rank 2 is claimed by two processes: pid " + own + " has come as it, and then pid " +
                  own + " (0: a process of another pid namespace)");
  }
  EXPECT_EQ(answer_to(address, identity(2, 4, "another key")), "this is another job");
  EXPECT_EQ(answer_to(address, identity(2, 5, key)),
            "rank 2 says that the job has 5 ranks, rank 0 says 4");
  EXPECT_EQ(answer_to(address, identity(4, 4, key)),
            "rank is 4; who joins rank 0 has a rank from 1 to 3");
  EXPECT_EQ(count(answer_to(address, identity(0, 4, key)), "rank 0 is claimed by two processes: "),
            1);
  {
    const Fd socket = connect_to(address);
    EXPECT_EQ(send(socket.get(), "hello", 5, MSG_NOSIGNAL), 5);
    EXPECT_EQ(text_of(receive_answer(socket.get())), "not a greeting of this version of muster");
  }
  const Fd silent = connect_to(address);
  connect_to(address).reset();
  for (std::uint32_t rank = 2; rank < 4; ++rank) {
    processes.push_back(std::make_unique<Process>(rank_of(identity(rank, 4, key))));
  }
  expect_all_share(texts(processes));
}

TEST(Rendezvous, TwoThatClaimOneRankAreNamedAtOnce) {
  for (const std::uint32_t rank : {0U, 1U}) {
    const std::string key = new_key();
    const Process zero(rank_of(identity(0, 3, key), 3s));
    const Address address = address_of(identity(0, 3, key), 0);
    connect_to(address).reset();  // it listens
    std::optional<Fd> arrived;
    if (rank == 1) arrived = arrive(address, identity(1, 3, key));
    const Process second(rank_of(identity(rank, 3, key)));
    const std::string claim = "rank " + std::to_string(rank) +
                              " is claimed by two processes: pid " +
                              std::to_string(rank == 0 ? zero.pid() : getpid()) +
                              " has come as it, and then pid " + std::to_string(second.pid());
    const std::string told = second.text();
    EXPECT_EQ(told.find("invalid_argument: " + claim), 0U) << told;
    const std::string of_zero = zero.text();
    EXPECT_NE(of_zero.find(claim), std::string::npos) << of_zero;
  }
}

// As TORCHELASTIC_RUN_ID may be.
TEST(Rendezvous, AKeyMayBeLongerThanAMessage) {
  const std::string key = new_key() + std::string(10'000, 'k');
  const Process zero(rank_of(identity(0, 2, key)));
  const Process other(rank_of(identity(0, 2, key + "x")));
  const Process one(rank_of(identity(1, 2, key)));
  const Process guest(rank_of(identity(1, 2, key + "x")));
  expect_all_share({zero.text(), one.text()});
  expect_all_share({other.text(), guest.text()});
}

TEST(Rendezvous, AnotherUserIsTurnedAway) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const std::string key = new_key();
  const LaunchedBy zero = identity(0, 2, key);
  const Address address = address_of(zero, 0);
  const Process host(rank_of(zero));
  const Process stranger([&]() -> std::string {
    const Fd socket = connect_to(address);  // as root, who is then another
    return is_own_user(socket.get()) ? "own" : "other";
  });
  EXPECT_EQ(stranger.text(), "own");
  const Process intruder([&]() -> std::string {
    if (setuid(65534) != 0) return "cannot become nobody";
    const Fd socket = connect_to(address);
    if (is_own_user(socket.get())) return "takes root for nobody";
    // Rank 0 may have closed the connection by now.
    if (!send_hello(socket.get(), identity(1, 2, key))) return "turned away";
    return text_of(receive_answer(socket.get())) == "memory" ? "has the memory" : "turned away";
  });
  EXPECT_EQ(intruder.text(), "turned away");
  const Process guest(rank_of(identity(1, 2, key)));
  expect_all_share({host.text(), guest.text()});
}

// Somebody else's socket in the place of rank 0: no rank takes memory from it.
TEST(Rendezvous, AnotherUsersSocketIsNotTrusted) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const std::string key = new_key();
  const LaunchedBy one = identity(1, 2, key);
  const Address address = address_of(one, 0);
  const Process squatter([&]() -> std::string {
    if (setuid(65534) != 0) return "cannot become nobody";
    const Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    const auto* name = reinterpret_cast<const sockaddr*>(&address.socket);
    if (bind(socket.get(), name, address.length) != 0 || listen(socket.get(), 8) != 0) return "no";
    for (;;) pause();
  });
  connect_to(address).reset();
  const Process guest(rank_of(one, 300ms));
  EXPECT_EQ(guest.text(),
            "expired: rank 1 waited 0.3 s for rank 0, but a process of another user listens in its "
            "place");
  const Process host(rank_of(identity(0, 2, key), 300ms));
  EXPECT_EQ(count(host.text(), "expired: another process listens in the place of rank 0"), 1);
}

TEST(Rendezvous, ARankZeroThatDoesNotComeIsNamed) {
  const Process guest(rank_of(identity(2, 4, new_key()), 200ms));
  EXPECT_EQ(guest.text(),
            "expired: rank 2 waited 0.2 s for rank 0 of the job that mpirun (Open MPI) started: it "
            "has not come, or runs in another network namespace");
}

TEST(Rendezvous, RanksThatDoNotComeAreNamedToAll) {
  const std::string key = new_key();
  const Process zero(rank_of(identity(0, 5, key), 2s));
  const Fd two = arrive(address_of(identity(0, 5, key), 0), identity(2, 5, key));
  const std::string expected =
      "rank 0 waited 2 s for ranks 1, 3, 4 of the 5 that mpirun (Open MPI) started";
  EXPECT_EQ(zero.text(), "expired: " + expected);
  EXPECT_EQ(text_of(receive_answer(two.get())), expected);
}

// The deadline of a rank that came before rank 0 passes first, if only by milliseconds.
TEST(Rendezvous, WhoCameBeforeRankZeroIsNotNamedAsMissing) {
  const std::string key = new_key();
  const Process one(rank_of(identity(1, 3, key), 1'700ms));
  const Process zero(rank_of(identity(0, 3, key), 2s));
  const std::string expected =
      "expired: rank 0 waited 2 s for rank 2 of the 3 that mpirun (Open MPI) started";
  EXPECT_EQ(zero.text(), expected);
  EXPECT_EQ(one.text(), expected);
}

TEST(Rendezvous, ARankThatComesAndDiesIsNamed) {
  const std::string key = new_key();
  const Process zero(rank_of(identity(0, 3, key), 2s));
  arrive(address_of(identity(0, 3, key), 0), identity(1, 3, key)).reset();
  EXPECT_EQ(zero.text(), "peer_lost: rank 1 came and ended before all ranks had come");
}

TEST(Rendezvous, ARankThatCameAndLeftMayComeAgain) {
  const std::string key = new_key();
  const Process zero(rank_of(identity(0, 3, key)));
  arrive(address_of(identity(0, 3, key), 0), identity(1, 3, key)).reset();
  const Process one(rank_of(identity(1, 3, key)));
  const Process two(rank_of(identity(2, 3, key)));
  expect_all_share({zero.text(), one.text(), two.text()});
}

TEST(Rendezvous, ARankThatWaitsForOthersSaysSo) {
  const std::string key = new_key();
  const Process zero(rank_of(identity(0, 3, key)));
  connect_to(address_of(identity(0, 3, key), 0)).reset();
  const Process one(rank_of(identity(1, 3, key), 2s));
  EXPECT_EQ(one.text(), "expired: rank 1 waited 3 s for all 3 ranks to come to rank 0");
}

// This test stands in for rank 0.
TEST(Rendezvous, ARankZeroThatDiesEarlyIsAnErrorAtOnce) {
  const LaunchedBy one = identity(1, 2, new_key());
  const Address address = address_of(one, 0);
  const Fd listener(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const auto* name = reinterpret_cast<const sockaddr*>(&address.socket);
  ASSERT_EQ(bind(listener.get(), name, address.length), 0);
  ASSERT_EQ(listen(listener.get(), 1), 0);
  const Process rank(rank_of(one));
  Fd guest(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  EXPECT_TRUE(eventually([&] { return receive_hello(guest.get()).has_value(); }));
  guest.reset();
  EXPECT_EQ(rank.text(), "peer_lost: rank 0 ended before all ranks had come");
}

TEST(Rendezvous, ARankZeroThatCannotMakeTheMemoryTellsTheOthers) {
  const std::string key = new_key();
  int go[2];
  ASSERT_EQ(pipe2(go, O_CLOEXEC), 0);
  const Process zero([&] {
    const auto fail = [&]() -> Result<int> {
      char word = 0;
      if (read(go[0], &word, 1) != 1) return system_error("read");
      return Error{ErrorCode::out_of_memory, "there is no memory"};
    };
    return outcome(rendezvous(identity(0, 2, key), fail, patience));
  });
  const Fd one = arrive(address_of(identity(0, 2, key), 0), identity(1, 2, key));
  EXPECT_EQ(write(go[1], "g", 1), 1);
  EXPECT_EQ(zero.text(), "out_of_memory: there is no memory");
  EXPECT_EQ(text_of(receive_answer(one.get())), "there is no memory");
  close(go[0]);
  close(go[1]);
}

}  // namespace
}  // namespace muster::launcher
