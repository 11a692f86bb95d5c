// launch() itself, as a bare start uses it: the child goes on in the forked process.
#include "launch/launch.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <iostream>
#include <stdexcept>

#include "cli/command.hpp"

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
