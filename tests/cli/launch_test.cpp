// launch() itself, as a bare start uses it: the child goes on in the forked process.
#include "launch/launch.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <iostream>
#include <stdexcept>
#include <thread>

#include "cli/command.hpp"
#include "launch/child.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;
using launcher::launch;
using launcher::LaunchOptions;

LaunchOptions options_for(std::uint32_t ranks) {
  LaunchOptions options;
  options.ranks = ranks;
  options.grace = 100ms;
  return options;
}

// What `body` writes to stdout and stderr, and its value, from a process of its own.
struct Outcome {
  int status = -1;
  std::string text;
};
Outcome in_process(const std::function<int()>& body) {
  int ends[2];
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  std::cout.flush();
  fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[1], 1);
    dup2(ends[1], 2);
    const int status = body();
    std::cout.flush();
    fflush(nullptr);
    _exit(status);
  }
  close(ends[1]);
  Outcome outcome;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;) {
    outcome.text.append(buffer, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  outcome.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return outcome;
}

void sleep_for_ever() {
  for (;;) pause();
}

TEST(Launch, ReturnsTheStatusOfTheRankThatFailed) {
  EXPECT_EQ(launch(options_for(3), [](std::uint32_t) { return 0; }), 0);
  const Outcome outcome = in_process(
      [] { return launch(options_for(3), [](std::uint32_t rank) { return rank == 2 ? 9 : 0; }); });
  EXPECT_EQ(outcome.status, 9);
  EXPECT_EQ(outcome.text, "muster: rank 2 exited with code 9\n");
}

// A process that dies is lost to the others before it has ended: they may end first.
TEST(Launch, ADeathThatOthersHeardOfFirstComesBeforeWhatTheyMadeOfIt) {
  const auto child = [](std::uint32_t rank) {
    if (rank != 1) return 3;
    std::this_thread::sleep_for(50ms);
    return raise(SIGKILL);
  };
  for (const bool is_lost : {true, false}) {
    LaunchOptions options = options_for(3);
    options.grace = 10s;
    options.first_to_fail = [] { return 0U; };  // rank 0 was the first to say something
    options.is_lost = [&](std::uint32_t rank) { return is_lost && rank == 1; };
    EXPECT_EQ(in_process([&] { return launch(options, child); }).status, is_lost ? 137 : 3);
  }
}

TEST(Launch, WhatWasBufferedIsWrittenOnce) {
  const Outcome outcome = in_process([] {
    std::cout << "before ";
    printf("buffered ");
    return launch(options_for(4), [](std::uint32_t) {
      std::cout << "in ";
      printf("rank ");
      return 0;
    });
  });
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(count(outcome.text, "before"), 1) << outcome.text;
  EXPECT_EQ(count(outcome.text, "buffered"), 1) << outcome.text;
  EXPECT_EQ(count(outcome.text, "in "), 4) << outcome.text;
  EXPECT_EQ(count(outcome.text, "rank "), 4) << outcome.text;
}

TEST(Launch, AnExceptionDoesNotLeaveTheRank) {
  const Outcome outcome = in_process([] {
    try {
      return launch(options_for(1), [](std::uint32_t) -> int { throw std::runtime_error("oh"); });
    } catch (...) {
      return 55;  // both processes would come here
    }
  });
  EXPECT_EQ(outcome.status, 128 + SIGABRT);
  EXPECT_EQ(count(outcome.text, "rank 0 (pid "), 1) << outcome.text;
}

TEST(Launch, SurvivorsThatRecoveredGoOn) {
  const Outcome outcome = in_process([] {
    LaunchOptions options = options_for(3);
    int asked = 0;
    options.survivors_go_on = [&] { return ++asked > 0; };
    const int status = launch(options, [](std::uint32_t rank) {
      if (rank == 1) raise(SIGKILL);
      usleep(600'000);
      printf("survivor %u\n", rank);
      return 0;
    });
    return asked == 1 ? status : 50 + asked;
  });
  EXPECT_EQ(outcome.status, 137);
  EXPECT_EQ(count(outcome.text, "survivor"), 2) << outcome.text;
  EXPECT_EQ(count(outcome.text, "stopping"), 0) << outcome.text;
}

TEST(Launch, SurvivorsThatDidNotRecoverAreStopped) {
  const Outcome outcome = in_process([] {
    LaunchOptions options = options_for(3);
    options.survivors_go_on = [] { return false; };
    return launch(options, [](std::uint32_t rank) {
      if (rank == 1) return 8;
      sleep_for_ever();
      return 0;
    });
  });
  EXPECT_EQ(outcome.status, 8);
  EXPECT_EQ(count(outcome.text, "ranks 0, 2 still run 0.1 s after rank 1 failed; stopping\n"), 1)
      << outcome.text;
}

// The second failure comes when the grace after the first is nearly over.
TEST(Launch, EachFailureGetsItsGraceWhereATeamMayRecover) {
  const Outcome outcome = in_process([] {
    LaunchOptions options = options_for(3);
    options.grace = 1000ms;
    const auto begin = std::chrono::steady_clock::now();
    options.survivors_go_on = [&] { return std::chrono::steady_clock::now() - begin >= 1500ms; };
    return launch(options, [](std::uint32_t rank) {
      if (rank == 1) return 8;
      usleep(rank == 0 ? 700'000 : 2'500'000);
      return rank == 0 ? 7 : 0;
    });
  });
  EXPECT_EQ(outcome.status, 8);
  EXPECT_EQ(count(outcome.text, "stopping"), 0) << outcome.text;
}

std::atomic<int> interrupts{0};

TEST(Launch, LeavesTheCallersSignalsLimitsAndChildrenAlone) {
  const Outcome outcome = in_process([] {
    struct sigaction count_it {};
    count_it.sa_handler = [](int) { ++interrupts; };
    sigaction(SIGINT, &count_it, nullptr);
    sigaction(SIGCHLD, &count_it, nullptr);
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    before.rlim_cur = std::min<rlim_t>(before.rlim_max, 64);
    setrlimit(RLIMIT_NOFILE, &before);
    const pid_t older = fork();
    if (older == 0) {
      usleep(300'000);
      _exit(77);
    }

    if (launch(options_for(32), [&](std::uint32_t) {
          rlimit mine{};
          getrlimit(RLIMIT_NOFILE, &mine);
          struct sigaction now {};
          sigaction(SIGCHLD, nullptr, &now);
          const bool same =
              mine.rlim_cur == before.rlim_cur && now.sa_handler == count_it.sa_handler;
          return same ? 0 : 1;
        }) != 0) {
      return 2;
    }
    int status = 0;
    while (waitpid(older, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 77) return 3;
    rlimit after{};
    getrlimit(RLIMIT_NOFILE, &after);
    if (after.rlim_cur != before.rlim_cur) return 4;
    interrupts = 0;
    raise(SIGINT);
    return interrupts == 1 ? 0 : 5;
  });
  EXPECT_EQ(outcome.status, 0) << outcome.text;
}

// What the ranks leave behind is stopped, whichever thread launches; what another thread starts
// meanwhile is not.
TEST(Launch, InAThreadBesideOthersThatHaveChildren) {
  const Outcome outcome = in_process([] {
    std::atomic<bool> done{false};
    std::atomic<bool> untouched{false};
    std::thread other([&] {
      std::this_thread::sleep_for(100ms);
      const pid_t child = fork();
      if (child == 0) sleep_for_ever();
      while (!done) std::this_thread::sleep_for(1ms);
      untouched = waitpid(child, nullptr, WNOHANG) == 0;
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    });
    int status = -1;
    std::thread launching([&] {
      status = launch(options_for(1), [](std::uint32_t) {
        std::this_thread::sleep_for(300ms);
        if (fork() == 0) sleep_for_ever();
        return 0;
      });
    });
    launching.join();
    done = true;
    other.join();
    return status == 0 && untouched ? 0 : 1;
  });
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.text, "muster: 1 process outlived the ranks; stopping\n");
}

TEST(Launch, RanksDieWithABareStart) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t starter = fork();
  if (starter == 0) {
    _exit(launch(options_for(4), [&](std::uint32_t) {
      signal(SIGTERM, SIG_IGN);
      const pid_t self = getpid();
      if (write(ends[1], &self, sizeof self) != sizeof self) return 1;
      sleep_for_ever();
      return 0;
    }));
  }
  std::vector<pid_t> ranks(4);
  for (pid_t& rank : ranks) {
    ASSERT_EQ(read(ends[0], &rank, sizeof rank), static_cast<ssize_t>(sizeof rank));
  }
  kill(starter, SIGKILL);
  waitpid(starter, nullptr, 0);
  for (const pid_t rank : ranks) EXPECT_TRUE(eventually([&] { return has_ended(rank); })) << rank;
  close(ends[0]);
  close(ends[1]);
}

// The launcher dies after it has forked a rank and before the rank has tied its life to it.
TEST(Launch, ARankWhoseLauncherHasGoneEnds) {
  const auto set_up = [](bool gone) {
    launcher::ChildSetup setup;
    setup.launcher = gone ? getpid() : getppid();
    return launcher::set_up_child(setup) ? 50 : 51;
  };
  EXPECT_EQ(in_process([&] { return set_up(false); }).status, 50);
  EXPECT_EQ(in_process([&] { return set_up(true); }).status, 1);
}

// A terminal sends its signals to every process of the foreground group: each rank gets one, not
// that and the launcher's copy. In a group that nobody could continue, ^Z stops nothing.
TEST(Launch, KeysOfATerminalReachEachRankOnce) {
  int terminal = -1;
  const pid_t pid = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (pid == 0) {
    _exit(launch(options_for(2), [](std::uint32_t) {
      struct sigaction tell {};
      tell.sa_handler = [](int signal) {
        const char* word = signal == SIGINT ? "interrupt\n" : "hangup\n";
        if (write(1, word, strlen(word)) < 0 || signal == SIGHUP) _exit(0);
      };
      sigaction(SIGINT, &tell, nullptr);
      sigaction(SIGHUP, &tell, nullptr);
      if (write(1, "ready\n", 6) < 0) return 1;
      sleep_for_ever();
      return 0;
    }));
  }
  ASSERT_GT(pid, 0);
  std::string seen;
  const auto has_seen = [&](const std::string& text, int times) {
    return eventually([&] {
      pollfd ready{terminal, POLLIN, 0};
      char buffer[512];
      const ssize_t got = poll(&ready, 1, 0) > 0 ? read(terminal, buffer, sizeof buffer) : 0;
      if (got > 0) seen.append(buffer, static_cast<std::size_t>(got));
      return count(seen, text) >= times;
    });
  };
  EXPECT_TRUE(has_seen("ready", 2)) << seen;
  EXPECT_EQ(write(terminal, "\x1a\x03", 2), 2);  // ^Z, ^C
  EXPECT_TRUE(has_seen("interrupt", 2)) << seen;
  std::this_thread::sleep_for(200ms);
  kill(pid, SIGHUP);
  EXPECT_TRUE(has_seen("hangup", 2)) << seen;
  int status = 0;
  EXPECT_TRUE(eventually([&] { return waitpid(pid, &status, WNOHANG) == pid; }));
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(count(seen, "interrupt"), 2) << seen;
  close(terminal);
}

TEST(Launch, TagsAndBindsTheRanksOfABareStartToo) {
  const Outcome outcome = in_process([] {
    LaunchOptions options = options_for(2);
    options.tag_output = true;
    options.bind = launcher::Bind::cores;
    return launch(options, [](std::uint32_t rank) {
      cpu_set_t set;
      sched_getaffinity(0, sizeof set, &set);
      printf("rank %u on %d core\n", rank, CPU_COUNT(&set));
      return 0;
    });
  });
  EXPECT_EQ(outcome.status, 0);
  for (const char* line : {"[0] rank 0 on 1 core\n", "[1] rank 1 on 1 core\n"}) {
    EXPECT_EQ(count(outcome.text, line), 1) << outcome.text;
  }
}

}  // namespace
}  // namespace muster::testing
