// `muster check` and `muster cost` as commands: what they take, what they refuse, what they print.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "cli/command.hpp"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

// The usage error of a command, without its last line, which points at the help.
std::string refusal(const std::vector<std::string>& words) {
  Command command(muster(words));
  EXPECT_EQ(command.wait(), 2) << command.err();
  EXPECT_EQ(command.out(), "");
  const auto lines = lines_of(command.err());
  return lines.empty() ? "" : lines.front();
}

class CheckProgram : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directory(directory_); }
  void TearDown() override { fs::remove_all(directory_); }

  std::string file(const std::string& name, const std::string& content, mode_t mode) const {
    const std::string path = directory_ + "/" + name;
    std::ofstream(path) << content;
    chmod(path.c_str(), mode);
    return path;
  }

  const std::string directory_ =
      ::testing::TempDir() + "muster_check_program_" + std::to_string(getpid());
};

#ifdef MUSTER_CHECK_PROGRAM
TEST_F(CheckProgram, RunsWithTheSameArguments) {
  Command good(muster({"check", "--calls", "1", MUSTER_CHECK_PROGRAM, "my_ring_fixed", "-n", "2"}));
  EXPECT_EQ(good.wait(), 0) << good.err();
  EXPECT_EQ(count(good.out(), "my_ring_fixed: 2 ranks, 1 calls"), 1) << good.out();
  Command bad(muster({"check", MUSTER_CHECK_PROGRAM, "my_ring"}));
  EXPECT_EQ(bad.wait(), 1) << bad.err();
}
#endif

// Any other program is named and not run: its output and status would mean nothing.
TEST_F(CheckProgram, AnotherProgramIsNotRun) {
  const std::string trace = directory_ + "/was_run";
  const std::string script = file("script", "#!/bin/sh\ntouch " + trace + "\n", 0755);
  for (const std::string& program : {std::string("/bin/sh"), script, std::string(MUSTER_PROGRAM)}) {
    const std::string expected =
        "muster check: '" + program + "' is no check program of this version, and was not run";
    EXPECT_EQ(refusal({"check", program, "-n", "2"}).substr(0, expected.size()), expected);
  }
  EXPECT_FALSE(fs::exists(trace));
}

TEST_F(CheckProgram, WhatCannotBeRunIsSaid) {
  const std::string text = file("text", "text", 0644);
  const std::string empty = file("empty", "", 0755);
  EXPECT_EQ(refusal({"check", text}),
            "muster check: cannot run '" + text + "': it is not executable");
  EXPECT_EQ(refusal({"check", directory_}),
            "muster check: cannot run '" + directory_ + "': it is no regular file");
  EXPECT_EQ(refusal({"check", "./no_such"}),
            "muster check: cannot run './no_such': No such file or directory");
  EXPECT_EQ(count(refusal({"check", empty}), "is no check program"), 1);
}

TEST(CheckCommand, SaysWhatIsWrongWithItsArguments) {
  EXPECT_EQ(refusal({"check", "epoch_barrier", "--calls", "0"}),
            "muster check: --calls: Value 0 not in range 1 to 1000000");
  EXPECT_EQ(refusal({"check"}),
            "muster check: which one? --list names them, --all runs those that are meant to pass");
  EXPECT_EQ(refusal({"check", "no_such"}),
            "muster check: there is no check 'no_such'; --list names them");
  const std::string group = refusal({"check", "all_reduce"});
  EXPECT_TRUE(group.starts_with("muster check: 'all_reduce' is a group of checks: all_reduce/"))
      << group;
  EXPECT_EQ(count(group, ", all_reduce/ring, "), 1) << group;
  EXPECT_TRUE(group.ends_with(" (--all all_reduce runs those that are meant to pass)")) << group;
  EXPECT_EQ(refusal({"check", "epoch_barrier", "--profile", "tso"}),
            "muster check: there is no profile 'tso'; there are sc, direct, rdma and noncoherent");
  const std::string unknown = refusal({"cost", "no_such"});
  EXPECT_TRUE(unknown.starts_with(
      "muster cost: there is no protocol 'no_such'; there are put, get, put_signal, remote_add, "
      "packet_exchange, all_reduce/packets, all_reduce/one_shot, "))
      << unknown;
  EXPECT_TRUE(unknown.ends_with(", and those of muster check --list")) << unknown;
  EXPECT_EQ(refusal({"cost", "epoch_barrier", "--profile", "tso"}),
            "muster cost: --profile is 'tso'; it must be sc, direct or rdma");
  EXPECT_EQ(refusal({"cost", "epoch_barrier", "--profile", "noncoherent"}),
            "muster cost: --profile is 'noncoherent'; it must be sc, direct or rdma");
}

// What only builds with the tests have is named, where a release lacks it.
TEST(CheckCommand, GroupsOfTheTestsAreHintedAt) {
  for (const std::string group : {"broken", "self_clearing"})
    EXPECT_EQ(refusal({"check", group + "/no_such"}),
              "muster check: there is no check '" + group + "/no_such' in this build; those of " +
                  group +
                  "/ are in builds with the tests (./dev build, then build/dev/bin/muster)");
}

// A ring one slot too shallow fails on every profile, for few chunks and for many, at once.
TEST(CheckCommand, ARingOneSlotTooShallowIsRefutedOnEveryProfile) {
  for (const std::string chunks : {"4", "5", "6", "7", "8", "12", "16"}) {
    Command command(muster({"check", "broken/ring_one_slot_too_shallow", "--calls", chunks}));
    EXPECT_EQ(command.wait(), 1) << command.err();
    for (const std::string profile : {"sc     ", "direct ", "rdma   "})
      EXPECT_EQ(count(command.out(), "  " + profile + "REFUTED: race"), 1) << command.out();
  }
}

// A search that would take too long ends with what is known: after so many seconds, or by Ctrl-C.
TEST(CheckCommand, ALimitOrAnInterruptEndsInBounded) {
  const std::vector<std::string> words = {
      "check",     "counter_barrier", "-n",           "8",         "--calls", "4",
      "--profile", "direct",          "--executions", "1000000000"};
  std::vector<std::string> limited = words;
  limited.insert(limited.end(), {"--seconds", "0.5"});
  Command after(muster(limited));
  EXPECT_EQ(after.wait(), 3) << after.err();
  EXPECT_EQ(count(after.out(), "  direct bounded: stopped after "), 1) << after.out();
  EXPECT_EQ(count(after.out(), "0.5 s (--seconds asks for more)"), 1) << after.out();
  std::vector<std::string> unlimited = words;
  unlimited.insert(unlimited.end(), {"--seconds", "0"});
  Command interrupted(muster(unlimited));
  ASSERT_TRUE(interrupted.has_written("counter_barrier: 8 ranks"));
  interrupted.signal(SIGINT);
  EXPECT_EQ(interrupted.wait(), 3) << interrupted.err();
  EXPECT_EQ(count(interrupted.out(), "  direct bounded: stopped after "), 1) << interrupted.out();
  EXPECT_EQ(count(interrupted.out(), ", interrupted"), 1) << interrupted.out();
}

// What is lost is never success, nor does it read as "refuted"; and no output is worth a crash.
TEST(CheckCommand, OutputThatCannotBeWrittenIsAStatusOfItsOwn) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  const std::string program = MUSTER_PROGRAM;
  for (const std::string& line :
       {program + " check epoch_barrier -n 2 --json /dev/full",
        program + " check epoch_barrier -n 2 --html /dev/full", program + " --help >/dev/full",
        program + " check --list >/dev/full", program + " info >&- 2>&-",
        program + " check --list >/dev/full 2>/dev/full", program + " bogus 2>/dev/full"}) {
    Command command({"/bin/sh", "-c", line});
    EXPECT_EQ(command.wait(), 4) << line << ": " << command.err();
  }
  Command refuted({"/bin/sh", "-c", program + " check broken/notify_before_data >/dev/full"});
  EXPECT_EQ(refuted.wait(), 1) << "what is refuted stays so: " << refuted.err();
  Command help(muster({"check", "--help"}));
  EXPECT_EQ(help.wait(), 0);
  EXPECT_EQ(count(help.out(), "4 the output could not be written"), 1) << help.out();
}

// Of times those that are none.
TEST(CheckCommand, TimesThatAreNone) {
  for (const char* option : {"--timeout", "--seconds"})
    for (const char* text : {"nan", "-nan", "inf", "infinity", "-1", "-0.5", "1e999", "", "10s"}) {
      Command command(muster({"check", "epoch_barrier", std::string(option) + "=" + text}));
      EXPECT_EQ(command.wait(), 2) << option << " " << text << ": " << command.out();
      EXPECT_EQ(count(command.err(), option), 1) << command.err();
    }
}

// As `muster run` and MUSTER_TIMEOUT have it.
TEST(CheckCommand, TimesOfALaunchThatAreNone) {
  for (const char* text : {"nan", "inf", "-1", "0", "1e999", "10s"}) {
    Command command(muster({"run", "-n", "1", std::string("--timeout=") + text, "/bin/true"}));
    EXPECT_EQ(command.wait(), 2) << text << ": " << command.err();
    EXPECT_EQ(count(command.err(), "--timeout"), 1) << command.err();
  }
}

TEST(CheckCommand, TheListHasAHeading) {
  Command command(muster({"check", "--list"}));
  EXPECT_EQ(command.wait(), 0);
  const auto lines = command.out_lines();
  ASSERT_GT(lines.size(), 20U);
  EXPECT_EQ(lines.front().substr(0, 6), "check ");
  const auto column = lines.front().find("weakest profile  about");
  ASSERT_NE(column, std::string::npos);
  for (const std::string& line : lines) {
    EXPECT_NE(line.back(), ' ') << line;
    if (line.starts_with("epoch_barrier ")) {
      EXPECT_EQ(line.find("rdma"), column) << line;
    }
  }
}

// It says what it tried, also where nothing can be spared.
TEST(CheckCommand, HintsNameWhatIsNotNeeded) {
  Command needed(muster({"check", "epoch_barrier", "--hints"}));
  EXPECT_EQ(needed.wait(), 0);
  EXPECT_EQ(count(needed.out(), "    hint: "), 1) << needed.out();
  EXPECT_EQ(count(needed.out(), " tried, each alone: all are needed; for "), 1) << needed.out();
  EXPECT_EQ(count(needed.out(), " per lane on sc, direct, rdma, and what this check looks at"), 1)
      << needed.out();
  EXPECT_EQ(needed.err(), "");  // no terminal, no progress
  // Its credits carry no data, so none of the two orders is needed.
  Command free(muster({"check", "broken/credits_left_over_fixed", "--hints"}));
  EXPECT_EQ(free.wait(), 0);
  for (const std::string line :
       {" the notify may be relaxed (release, ", " the wait may be relaxed (acquire, "})
    EXPECT_EQ(count(free.out(), line), 1) << free.out();
  EXPECT_EQ(count(free.out(), " needed, 2 not; for "), 1) << free.out();
}

TEST(CheckCommand, HintsAreOfWhatHolds) {
  Command refuted(muster({"check", "broken/set_epilogue", "--hints"}));
  EXPECT_EQ(refuted.wait(), 1);
  EXPECT_EQ(
      count(refuted.out(), "    hint: there are none where nothing is certified or complete\n"), 1)
      << refuted.out();
}

#ifdef MUSTER_CHECK_ALL_PROGRAM
// Time is up before all has been tried, in executions that each take some: that is said, and is no
// verdict about what was not.
TEST(CheckCommand, HintsEndAtTheTimeout) {
  Command command({MUSTER_CHECK_ALL_PROGRAM, "burns/processor", "--profile", "sc", "--hints",
                   "--timeout", "0.3"});
  EXPECT_EQ(command.wait(), 0) << command.err();
  EXPECT_EQ(count(command.out(), " not tried, over time; for "), 1) << command.out();
}

// Who interrupts it has not run out of time.
TEST(CheckCommand, HintsAreInterrupted) {
  Command command({MUSTER_CHECK_ALL_PROGRAM, "burns/processor", "--profile", "sc", "--hints"});
  ASSERT_TRUE(command.has_written("  sc     certified"));
  command.signal(SIGINT);
  EXPECT_EQ(command.wait(), 0) << command.err();
  EXPECT_EQ(count(command.out(), " not tried, interrupted; for "), 1) << command.out();
}
#endif

// A single execution may take long, since the sets of deposits that a wait may take are many: the
// time is looked at within it, too.
TEST(CheckCommand, TheTimeoutEndsALongExecution) {
  const double before = processor_seconds_of_children();
  Command command(muster({"check", "counter_barrier", "-n", "64", "--calls", "20", "--profile",
                          "direct", "--timeout", "0.5"}));
  EXPECT_EQ(command.wait(), 3) << command.err();
  EXPECT_EQ(count(command.out(), "bounded: over time, 0.5 s (--timeout asks for more)"), 1)
      << command.out();
  EXPECT_LT(processor_seconds_of_children() - before, 1.5);
}

}  // namespace
}  // namespace muster::testing
