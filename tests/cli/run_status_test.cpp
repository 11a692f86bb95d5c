// The exit status of `muster run`, and what it says about ranks that fail.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/command.hpp"

namespace muster::testing {
namespace {

TEST(RunStatus, IsZeroWhereEveryRankEndsWell) {
  Command command(run_script({"-n", "3"}, "echo $MUSTER_RANK of $MUSTER_RANKS"));
  EXPECT_EQ(command.wait(), 0);
  std::vector<std::string> lines = command.out_lines();
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines, (std::vector<std::string>{"0 of 3", "1 of 3", "2 of 3"}));
  EXPECT_EQ(command.err(), "");
}

TEST(RunStatus, StartsTwoRanksUnlessToldOtherwise) {
  Command command(run_script({}, "echo rank"));
  EXPECT_EQ(command.wait(), 0);
  EXPECT_EQ(command.out_lines().size(), 2U);
}

TEST(RunStatus, IsTheCodeOfTheRankThatFailed) {
  Command command(run_script({"-n", "3"}, "[ $MUSTER_RANK != 1 ] || exit 3"));
  EXPECT_EQ(command.wait(), 3);
  EXPECT_EQ(command.err(), "muster: rank 1 exited with code 3\n");
}

TEST(RunStatus, IsOneHundredTwentyEightPlusTheSignalThatKilledARank) {
  Command command(run_script({"-n", "3"}, "echo pid $$.; [ $MUSTER_RANK != 2 ] || kill -9 $$"));
  EXPECT_EQ(command.wait(), 137);
  const std::string err = command.err();
  const std::string begin = "muster: rank 2 (pid ";
  ASSERT_EQ(err.substr(0, begin.size()), begin);
  const std::string pid = err.substr(begin.size(), err.find(')') - begin.size());
  EXPECT_EQ(err.substr(err.find(')')), ") was killed by signal 9 (Killed)\n");
  EXPECT_EQ(count(command.out(), "pid " + pid + "."), 1);
}

// Does the process wait for so many descriptors in one place?
bool watches(pid_t pid, int descriptors) {
  std::error_code error;
  const std::string place = "/proc/" + std::to_string(pid) + "/fdinfo";
  for (const auto& entry : std::filesystem::directory_iterator(place, error)) {
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (count(text, "tfd:") >= descriptors) return true;
  }
  return false;
}

// All have ended before the launcher looks: the order of their ends must not get lost.
TEST(RunStatus, IsThatOfTheRankThatFailedFirst) {
  struct End {
    int rank;
    int signal;
  };
  const std::vector<std::vector<End>> orders{
      {{2, SIGUSR1}, {0, SIGTERM}, {3, SIGHUP}, {1, SIGALRM}},
      {{1, SIGALRM}, {3, SIGHUP}, {0, SIGTERM}, {2, SIGUSR1}},
      {{3, SIGHUP}, {2, SIGUSR1}, {1, SIGALRM}, {0, SIGTERM}},
  };
  for (const auto& order : orders) {
    Command command(run_script({"-n", "4"}, "echo $MUSTER_RANK $$; exec sleep 300"));
    ASSERT_TRUE(eventually([&] { return command.out_lines().size() == 4; }));
    // A rank may have written before the launcher watches all of them.
    ASSERT_TRUE(eventually([&] { return watches(command.pid(), 5); }));
    std::map<int, pid_t> pids;
    for (const std::string& line : command.out_lines())
      pids[line[0] - '0'] = std::stoi(line.substr(2));

    command.signal(SIGSTOP);
    ASSERT_TRUE(eventually([&] { return state_of(command.pid()) == 'T'; }));
    for (const End& end : order) {
      ASSERT_EQ(kill(pids[end.rank], end.signal), 0);
      ASSERT_TRUE(eventually([&] { return has_ended(pids[end.rank]); }));
    }
    command.signal(SIGCONT);
    EXPECT_EQ(command.wait(), 128 + order.front().signal);
    const auto told = lines_of(command.err());
    ASSERT_EQ(told.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(count(told[i], "rank " + std::to_string(order[i].rank) + " "), 1) << told[i];
    }
  }
}

// Code 0 is no success where the body has not come to its end.
TEST(RunStatus, IsOneWhereARankLeavesInTheMiddleOfItsBody) {
  for (const char* how : {"exit", "_exit", "quick_exit"}) {
    const std::vector<std::string> words{MUSTER_RUNNER, "body", how};
    std::vector<std::string> launched = muster({"run", "-n", "2"});
    launched.insert(launched.end(), words.begin(), words.end());
    for (const auto& start : {words, launched}) {
      SCOPED_TRACE(start.front() + " " + how);
      Command command(start);
      EXPECT_EQ(command.wait(), 1);
      const std::string err = command.err();
      EXPECT_EQ(count(err, "muster: rank 1 exited with code 0 in the middle of its body\n"), 1)
          << err;
      EXPECT_EQ(count(err, "muster: rank 0: peer_lost: rank 1 (pid "), 1) << err;
      EXPECT_EQ(lines_of(err).size(), 3U) << err;
      EXPECT_EQ(count(err, "muster: rank 0 exited with code 1\n"), 1) << err;
    }
  }
}

// What the survivors wrote comes later than the death that it came from.
TEST(RunStatus, IsThatOfTheRankThatWasKilledWhateverTheSurvivorsMadeOfIt) {
  for (const char* where : {"team", "split", "shrink"}) {
    const std::vector<std::string> words{MUSTER_RUNNER, "status", "killed", where};
    std::vector<std::string> launched = muster({"run", "-n", "4"});
    launched.insert(launched.end(), words.begin(), words.end());
    for (const auto& start : {words, launched}) {
      SCOPED_TRACE(start.front() + " " + where);
      Command command(start);
      EXPECT_EQ(command.wait(), 137) << command.err();
      EXPECT_EQ(count(command.err(), "was killed by signal 9 (Killed)\n"), 1) << command.err();
      EXPECT_GE(count(command.err(), " exited with code 1\n"), 1) << command.err();
      // In the team of ranks 1 and 3, 3 is 1.
      if (where == std::string("split")) {
        EXPECT_GE(count(command.err(), "peer_lost: rank 1 (rank 3 of the job) (pid "), 1)
            << command.err();
      }
    }
  }
}

// In a container that refuses it, or on a kernel without it.
TEST(RunStatus, IsTheSameWithoutPidfdOpen) {
  for (const char* refusal : {"pidfd_open=EPERM", "pidfd_open=ENOSYS"}) {
    const std::vector<std::string> confined{MUSTER_CONFINE, "--refuse", refusal};
    const auto run = [&](const std::vector<std::string>& words, int status,
                         const std::string& said) {
      SCOPED_TRACE(refusal + (" " + words.back()));
      std::vector<std::string> all = confined;
      all.insert(all.end(), words.begin(), words.end());
      Command command(all);
      EXPECT_EQ(command.wait(), status) << command.err();
      EXPECT_NE(command.err().find(said), std::string::npos) << command.err();
    };
    run({MUSTER_RUNNER, "name"}, 0, "");
    run({MUSTER_RUNNER, "name", "exit"}, 1, "rank 1 exited with code 0 in the middle of its body");
    run({MUSTER_RUNNER, "name", "killed", "split"}, 137, "was killed by signal 9 (Killed)");
    run(run_script({"-n", "3"}, "[ $MUSTER_RANK != 1 ] || exit 3"), 3, "rank 1 exited with code 3");
    run(run_script({"-n", "2", "--timeout", "0.3"}, "exec sleep 300"), 124, "time limit");
    run(run_script({"-n", "2", "--grace", "0.1"}, "[ $MUSTER_RANK != 1 ] || exit 3; sleep 300"), 3,
        "rank 0 still runs");
  }
}

TEST(RunStatus, OthersGetTheGraceToEndByThemselves) {
  // Rank 0 goes on until rank 1 has failed, and ends well.
  Command command(run_script(
      {"-n", "2", "--grace", "60"},
      "[ $MUSTER_RANK = 0 ] || exit 4; sleep 300 & trap 'echo told; kill $!; exit 0' USR1;"
      "echo ready; wait"));
  ASSERT_TRUE(command.has_written("rank 1 exited with code 4"));
  ASSERT_TRUE(command.has_written("ready"));
  command.signal(SIGUSR1);
  EXPECT_EQ(command.wait(), 4);
  EXPECT_EQ(command.out(), "ready\ntold\n");
  EXPECT_EQ(count(command.err(), "still run"), 0);
}

TEST(RunStatus, OthersAreStoppedAfterTheGrace) {
  Command command(
      run_script({"-n", "4", "--grace", "0.1"}, "[ $MUSTER_RANK != 3 ] || exit 6; exec sleep 300"));
  EXPECT_EQ(command.wait(), 6);
  EXPECT_EQ(command.err(),
            "muster: rank 3 exited with code 6\n"
            "muster: ranks 0, 1, 2 still run 0.1 s after rank 3 failed; stopping\n");
}

TEST(RunStatus, ARankThatEndsWellStartsNoGrace) {
  Command command(
      run_script({"-n", "2", "--grace", "0"}, "[ $MUSTER_RANK = 0 ] || { sleep 0.3; echo done; }"));
  EXPECT_EQ(command.wait(), 0);
  EXPECT_EQ(command.out(), "done\n");
}

TEST(RunStatus, IsOneHundredTwentyFourAtTheTimeLimit) {
  Command command(run_script({"-n", "2", "--timeout", "0.2"}, "exec sleep 300"));
  EXPECT_EQ(command.wait(), 124);
  EXPECT_EQ(command.err(), "muster: time limit of 0.2 s reached; stopping 2 ranks\n");
}

TEST(RunStatus, ATimeLimitThatIsNotReachedChangesNothing) {
  Command command(run_script({"-n", "2", "--timeout", "100"}, "exit 0"));
  EXPECT_EQ(command.wait(), 0);
  EXPECT_EQ(command.err(), "");
}

TEST(RunStatus, ARankThatIgnoresTermIsKilled) {
  Command command(run_script({"-n", "2", "--timeout", "0.5"},
                             "[ $MUSTER_RANK = 0 ] || trap '' TERM; exec sleep 300"));
  EXPECT_EQ(command.wait(), 124);
  EXPECT_EQ(count(command.err(), "rank 1 did not end within 1 s; killing\n"), 1) << command.err();
}

TEST(RunStatus, AStoppedRankCanBeStopped) {
  Command command(run_script({"-n", "2", "--timeout", "0.5"}, "kill -STOP $$; exec sleep 300"));
  EXPECT_EQ(command.wait(), 124);
  EXPECT_EQ(count(command.err(), "killing"), 0) << command.err();
}

TEST(RunStatus, ManyRanksStartAndEnd) {
  Command command(muster({"run", "-n", "64", "true"}));
  EXPECT_EQ(command.wait(), 0);
  EXPECT_EQ(command.err(), "");
}

TEST(RunStatus, TooFewDescriptorsAreAnErrorThatLeavesNothingBehind) {
  Command command(
      {"sh", "-c", "ulimit -n 20; exec \"$0\" run -n 64 sh -c 'exec sleep 300'", MUSTER_PROGRAM},
      {.environment = {{"MUSTER_TEST_MARK", "descriptors"}}});
  EXPECT_EQ(command.wait(), 1);
  EXPECT_EQ(count(command.err(), "of 64: Too many open files (2 for each rank"), 1)
      << command.err();
  EXPECT_TRUE(processes_marked("MUSTER_TEST_MARK", "descriptors").empty());
}

}  // namespace
}  // namespace muster::testing
