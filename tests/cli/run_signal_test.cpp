// Signals to `muster run`, and its sudden end.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "cli/command.hpp"

namespace muster::testing {
namespace {

// One "pid N" for each rank, as soon as all have written it.
std::vector<pid_t> pids_of(const Command& command, std::size_t ranks) {
  std::vector<pid_t> pids;
  EXPECT_TRUE(eventually([&] {
    pids.clear();
    for (const std::string& line : command.out_lines()) {
      const auto at = line.find("pid ");
      if (at != std::string::npos) pids.push_back(std::stoi(line.substr(at + 4)));
    }
    return pids.size() == ranks;
  }));
  return pids;
}

TEST(RunSignals, ArePassedOnToAllRanks) {
  const std::map<int, std::string> passed{{SIGINT, "INT"},   {SIGHUP, "HUP"},   {SIGQUIT, "QUIT"},
                                          {SIGUSR1, "USR1"}, {SIGUSR2, "USR2"}, {SIGTERM, "TERM"}};
  Command command(run_script(
      {"-n", "3"},
      "sleep 300 & for s in INT HUP QUIT USR1 USR2; do trap \"echo got $s.\" $s; done;"
      "trap 'echo got TERM.; kill $!; exit 0' TERM; echo ready; while :; do wait; done"));
  ASSERT_TRUE(command.has_written("ready", 3));
  for (const int signal : {SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTERM}) {
    command.signal(signal);
    EXPECT_TRUE(command.has_written("got " + passed.at(signal) + ".", 3)) << command.out();
  }
  EXPECT_EQ(command.wait(), 0);
  for (const auto& [signal, name] : passed) {
    EXPECT_EQ(count(command.out(), "got " + name + "."), 3) << name;
  }
}

TEST(RunSignals, EndRanksThatDoNotCatchThem) {
  Command command(run_script({"-n", "2"}, "echo pid $$; exec sleep 300"));
  pids_of(command, 2);
  command.signal(SIGTERM);
  EXPECT_EQ(command.wait(), 128 + SIGTERM);
  EXPECT_EQ(count(command.err(), "was killed by signal 15 (Terminated)\n"), 2);
}

TEST(RunSignals, StopAndContinueTheWholeJob) {
  Command command(run_script({"-n", "2"}, "echo pid $$; exec sleep 300"));
  const auto pids = pids_of(command, 2);
  command.signal(SIGTSTP);
  for (const pid_t pid : {pids[0], pids[1], command.pid()}) {
    EXPECT_TRUE(eventually([&] { return state_of(pid) == 'T'; })) << pid;
  }
  command.signal(SIGCONT);
  for (const pid_t pid : {pids[0], pids[1], command.pid()}) {
    EXPECT_TRUE(eventually([&] { return state_of(pid) == 'S'; })) << pid;
  }
  command.signal(SIGTERM);
  EXPECT_EQ(command.wait(), 128 + SIGTERM);
}

TEST(RunSignals, ASecondInterruptKills) {
  Command command(run_script({"-n", "2"}, "trap '' INT; echo pid $$; exec sleep 300"));
  const auto pids = pids_of(command, 2);
  command.signal(SIGINT);
  // Two at once would count as one.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_FALSE(has_ended(pids[0]));
  command.signal(SIGINT);
  EXPECT_EQ(command.wait(), 128 + SIGINT);
  EXPECT_EQ(count(command.err(), "muster: interrupted again; killing 2 ranks\n"), 1)
      << command.err();
  EXPECT_TRUE(has_ended(pids[0]) && has_ended(pids[1]));
}

TEST(RunSignals, RanksHaveTheCallersMaskAndDispositions) {
  const std::string show = "grep -E '^Sig(Blk|Ign)' /proc/self/status";
  Command plain({"sh", "-c", show});
  Command ranked(run_script({"-n", "1"}, show));
  Command tagged(run_script({"-n", "1", "--tag-output"}, show));
  EXPECT_EQ(plain.wait(), 0);
  EXPECT_EQ(ranked.wait(), 0);
  EXPECT_EQ(tagged.wait(), 0);
  EXPECT_EQ(ranked.out(), plain.out());
  const auto lines = plain.out_lines();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(tagged.out(), "[0] " + lines[0] + "\n[0] " + lines[1] + "\n");
}

TEST(RunSignals, AnIgnoredHangupStaysIgnored) {
  Command command(
      {"nohup", MUSTER_PROGRAM, "run", "-n", "2", "sh", "-c", "echo pid $$; exec sleep 300"});
  const auto pids = pids_of(command, 2);
  command.signal(SIGHUP);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(has_ended(command.pid()));
  EXPECT_FALSE(has_ended(pids[0]) || has_ended(pids[1]));
  command.signal(SIGTERM);
  EXPECT_EQ(command.wait(), 128 + SIGTERM);
}

// kill -9 of the launcher: no rank survives it, whatever it ignores.
TEST(RunSignals, RanksDieWithTheirLauncher) {
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"-n", "4"}, {"-n", "4", "--tag-output"}}) {
    Command command(run_script(options, "trap '' TERM HUP INT PIPE; echo pid $$; exec sleep 300"));
    const auto pids = pids_of(command, 4);
    command.signal(SIGKILL);
    EXPECT_EQ(command.wait(), 128 + SIGKILL);
    for (const pid_t pid : pids) EXPECT_TRUE(eventually([&] { return has_ended(pid); })) << pid;
  }
}

// The launcher dies at any moment of its start: between two forks, before a rank has tied its life
// to the launcher's, before exec.
TEST(RunSignals, RanksDieWithALauncherThatHasJustStarted) {
  for (int round = 0; round < 20; ++round) {
    Command command(muster({"run", "-n", "8", "sleep", "300"}),
                    {.environment = {{"MUSTER_TEST_MARK", "just-started"}}});
    std::this_thread::sleep_for(std::chrono::microseconds(1500 * round));
    command.signal(SIGKILL);
    command.wait();
    EXPECT_TRUE(eventually([] {
      return processes_marked("MUSTER_TEST_MARK", "just-started").empty();
    })) << "round "
        << round;
  }
}

// One ends by TERM; one ignores it; one has a session of its own.
const std::string leaves_behind =
    "exec >/dev/null 2>&1 </dev/null; case $MUSTER_RANK in 0) sleep 300 & ;;"
    "1) (trap '' TERM; sleep 300) & ;; 2) setsid sleep 300 & ;; esac";

// What runs in the end, after the test has killed it.
std::size_t left_by(const std::vector<std::string>& options, const std::string& said) {
  const std::string mark = "MUSTER_TEST_MARK";
  static int jobs = 0;
  const std::string job = "left." + std::to_string(getpid()) + "." + std::to_string(jobs++);
  Command command(run_script(options, leaves_behind), {.environment = {{mark, job}}});
  EXPECT_EQ(command.wait(), 0);
  EXPECT_EQ(command.err(), said);
  const auto left = processes_marked(mark, job);
  for (const pid_t pid : left) kill(pid, SIGKILL);
  EXPECT_TRUE(eventually([&] { return processes_marked(mark, job).empty(); }));
  return left.size();
}

TEST(RunSignals, WhatRanksLeaveBehindIsEnded) {
  EXPECT_EQ(
      left_by({"-n", "3", "--keep", "none"}, "muster: 3 processes outlived the ranks; stopping\n"),
      0U);
}

// What has detached itself has said that it outlives whoever started it.
TEST(RunSignals, WhatIsDetachedIsLeftAlone) {
  const std::string two = "muster: 2 processes outlived the ranks; stopping\n";
  EXPECT_EQ(left_by({"-n", "3"}, two), 1U);
  EXPECT_EQ(left_by({"-n", "3", "--keep", "detached"}, two), 1U);
}

TEST(RunSignals, AllThatRanksLeaveBehindIsKeptWhereThatIsWanted) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_GE(left_by({"-n", "3", "--keep", "all"}, ""), 3U);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST(RunSignals, WhatEndsByItselfAfterTheRanksIsWaitedFor) {
  Command command(run_script({"-n", "2"}, "(sleep 0.2; echo late) &"));
  EXPECT_EQ(command.wait(), 0);
  EXPECT_EQ(command.out(), "late\nlate\n");
  EXPECT_EQ(command.err(), "");
}

}  // namespace
}  // namespace muster::testing
