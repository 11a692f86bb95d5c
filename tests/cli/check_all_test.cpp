// `muster check --all`, and the same of a check program.
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/command.hpp"

namespace muster::testing {
namespace {

using Json = nlohmann::json;

std::vector<std::string> check_all(std::vector<std::string> words) {
  words.insert(words.begin(), {MUSTER_CHECK_ALL_PROGRAM, "--all"});
  return words;
}

// The name that a line begins with.
std::string first_word(const std::string& line) {
  return line.substr(0, line.find(' '));
}

// The line without its runs of blanks and without the seconds.
std::string folded(const std::string& line) {
  std::istringstream words(line);
  std::string text;
  for (std::string word; words >> word;)
    if (word.find_first_not_of("0123456789.") != std::string::npos || word.find('.') == word.npos)
      text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string usage_error(const std::vector<std::string>& words) {
  Command command(check_all(words));
  EXPECT_EQ(command.wait(), 2) << command.err();
  EXPECT_EQ(command.out(), "");
  return command.err();
}

TEST(CheckAll, ALineForEachInTheOrderOfTheListAndASummary) {
  Command command(check_all({"order", "--jobs", "3"}));
  EXPECT_EQ(command.wait(), 0) << command.err();
  EXPECT_EQ(command.err(), "");  // no terminal, no progress
  const auto lines = command.out_lines();
  ASSERT_EQ(lines.size(), 5U) << command.out();
  EXPECT_EQ(folded(lines[0]), "check verdict ranks/lanes/threads/calls profiles seconds");
  EXPECT_EQ(folded(lines[1]), "order/a certified 3/1/1/1 sc, direct, rdma");
  EXPECT_EQ(folded(lines[2]), "order/b certified 2/1/1/2 sc, direct, rdma");
  EXPECT_TRUE(folded(lines[3]).ends_with(" 2/1/1/2 sc, direct")) << lines[3];
  EXPECT_TRUE(lines[4].starts_with("muster check: ")) << lines[4];
  EXPECT_EQ(count(lines[4], ", 0 bounded, 0 refuted in "), 1) << lines[4];
}

// What must fail is left out; what fails and need not is the status.
TEST(CheckAll, TheStatusIsTheWorst) {
  Command wrong(check_all({"wrong/"}));
  EXPECT_EQ(wrong.wait(), 1) << wrong.err();
  EXPECT_EQ(count(wrong.out(), "must_fail"), 0) << wrong.out();
  EXPECT_EQ(count(wrong.out(), "REFUTED"), 1) << wrong.out();
  EXPECT_EQ(count(wrong.out(), "  expect: there are no calls"), 1) << wrong.out();
  EXPECT_EQ(count(wrong.out(), "check: 1 certified, 0 complete, 0 bounded, 1 refuted in "), 1)
      << wrong.out();
  Command both(check_all({"wrong", "slow", "--timeout", "0.2"}));
  EXPECT_EQ(both.wait(), 1) << both.out();
}

TEST(CheckAll, OverTimeIsBounded) {
  Command command(check_all({"slow/...", "--timeout", "0.3"}));
  EXPECT_EQ(command.wait(), 3) << command.err();
  EXPECT_EQ(count(command.out(), "  over time, 0.3 s (--timeout asks for more)\n"), 1)
      << command.out();
  EXPECT_EQ(count(command.out(), "check: 1 certified, 0 complete, 1 bounded, 0 refuted in "), 1)
      << command.out();
  Command single({MUSTER_CHECK_ALL_PROGRAM, "slow/endless", "--timeout", "0.3"});
  EXPECT_EQ(single.wait(), 3) << single.err();
  EXPECT_EQ(count(single.out(), "bounded: over time, 0.3 s "), 3) << single.out();
}

// A body without an end that never asks the fabric, computing or asleep.
TEST(CheckAll, WhatHangsIsEnded) {
  Command command(check_all({"hangs", "--timeout", "0.1", "--jobs", "2"}));
  EXPECT_EQ(command.wait(), 3) << command.err();
  const auto lines = command.out_lines();
  ASSERT_EQ(lines.size(), 4U) << command.out();
  EXPECT_EQ(count(lines[1], "without an operation of the fabric"), 1) << lines[1];
  EXPECT_EQ(count(lines[2], "over time: the body waits for something"), 1) << lines[2];
}

// The process is the body's to lose, and that of no other check.
TEST(CheckAll, ABodyThatEndsTheProcessIsRefuted) {
  Command command(check_all({"gone", "order", "--jobs", "1"}));
  EXPECT_EQ(command.wait(), 1) << command.err();
  EXPECT_EQ(count(command.out(), "body: the process ended by signal 6 (Aborted)"), 1)
      << command.out();
  EXPECT_EQ(count(command.out(), "body: the process ended with status 0"), 1) << command.out();
  EXPECT_EQ(count(command.out(), ", 0 bounded, 2 refuted in "), 1) << command.out();
}

TEST(CheckAll, JsonHoldsAReportForEachProfileAndTheSummary) {
  const std::string path =
      ::testing::TempDir() + "muster_check_all_" + std::to_string(getpid()) + ".json";
  Command command(check_all({"wrong", "gone", "--json", path}));
  EXPECT_EQ(command.wait(), 1) << command.err();
  std::vector<Json> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(Json::parse(line));
  std::filesystem::remove(path);
  ASSERT_EQ(lines.size(), 13U);  // 4 checks on 3 profiles
  EXPECT_EQ(lines[0]["name"], "gone/aborts");
  EXPECT_EQ(lines[0]["profile"], "sc");
  EXPECT_EQ(lines[0]["verdict"], "refuted");
  EXPECT_EQ(lines[0]["findings"][0]["kind"], "body");
  EXPECT_FALSE(lines[0].contains("replay"));
  EXPECT_EQ(lines[6]["name"], "wrong/fails");
  EXPECT_EQ(lines[6]["findings"][0]["kind"], "expect");
  EXPECT_TRUE(lines[6].contains("replay"));
  EXPECT_EQ(lines[11]["name"], "wrong/passes");
  EXPECT_EQ(lines[11]["profile"], "rdma");
  EXPECT_EQ(lines[11]["verdict"], "certified");
  EXPECT_EQ(lines[11]["ranks"], 2);
  EXPECT_GE(lines[11]["seconds"].get<double>(), 0);
  const Json summary = lines[12]["summary"];
  EXPECT_EQ(summary["certified"], 1);
  EXPECT_EQ(summary["refuted"], 3);
  EXPECT_EQ(summary["not_run"], 0);
  EXPECT_EQ(summary["status"], 1);
}

TEST(CheckAll, AnInterruptPrintsWhatIsKnown) {
  Command command(check_all({"slow", "wrong", "--jobs", "1", "--timeout", "0", "--seconds", "0"}));
  ASSERT_TRUE(command.has_written("slow/at_once"));
  command.signal(SIGINT);
  EXPECT_EQ(command.wait(), 3) << command.err();
  const auto lines = command.out_lines();
  ASSERT_EQ(lines.size(), 4U) << command.out();
  EXPECT_EQ(first_word(lines[2]), "slow/endless");
  EXPECT_EQ(count(lines[2], "interrupted"), 1) << lines[2];
  EXPECT_TRUE(lines[3].starts_with("muster check: 1 certified, 0 complete, 1 bounded, 0 refuted"))
      << lines[3];
  EXPECT_TRUE(lines[3].ends_with("; interrupted, 2 not run")) << lines[3];
}

TEST(CheckAll, OnATerminalItSaysWhichRunAndHowManyAreLeft) {
  int terminal = -1;
  const pid_t pid = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (pid == 0) {
    execl(MUSTER_CHECK_ALL_PROGRAM, MUSTER_CHECK_ALL_PROGRAM, "--all", "order", "--jobs", "1",
          nullptr);
    _exit(127);
  }
  ASSERT_GT(pid, 0);
  std::string seen;
  EXPECT_TRUE(eventually([&] {
    pollfd ready{terminal, POLLIN, 0};
    char buffer[512];
    const ssize_t got = poll(&ready, 1, 0) > 0 ? read(terminal, buffer, sizeof buffer) : 0;
    if (got > 0) seen.append(buffer, static_cast<std::size_t>(got));
    return count(seen, "refuted in ") == 1;
  })) << seen;
  int status = 0;
  EXPECT_TRUE(eventually([&] { return waitpid(pid, &status, WNOHANG) == pid; }));
  close(terminal);
  EXPECT_EQ(count(seen, "\r3 of 3 left: order/a"), 1) << seen;
  EXPECT_EQ(count(seen, "\norder/a  certified "), 0) << seen;  // but over what was cleared
  EXPECT_EQ(count(seen, "\rorder/a  certified "), 1) << seen;
}

TEST(CheckAll, SaysWhatIsWrongWithItsArguments) {
  EXPECT_EQ(lines_of(usage_error({"wrong/must_fail"})).front(),
            "muster check: 'wrong/must_fail' is not meant to pass: name it without --all");
  EXPECT_EQ(lines_of(usage_error({"nothing"})).front(),
            "muster check: there is no check or group 'nothing' that is meant to pass; --list "
            "names the checks, the groups are burns, gone, hangs, order, slow, wrong");
  EXPECT_EQ(lines_of(usage_error({"--profile", "tso"})).front(),
            "muster check: there is no profile 'tso'; there are sc, direct, rdma and noncoherent");
  EXPECT_EQ(count(usage_error({"--replay", "x"}), "--all excludes --replay"), 1);
  EXPECT_EQ(count(usage_error({"--hints"}), "--all excludes --hints"), 1);
  EXPECT_EQ(lines_of(usage_error({"--html", "x"})).front(),
            "muster check: --html is 'x', and a page shows what was asked for by name: without "
            "--all, for example the checks that it says are refuted");
  EXPECT_EQ(count(usage_error({"--jobs", "0"}), "--jobs: Value 0 not in range 1 to 1024"), 1);
}

// With their own numbers, each within 10 s, or it would be bounded, and all of them within what two
// cores do in two minutes: of the processor's time, whatever else the machine has to do.
TEST(CheckAll, AllThatMusterHasEndInTime) {
  const double before = processor_seconds_of_children();
  Command command(muster({"check", "--all", "--timeout", "10", "--jobs", "2"}));
  EXPECT_EQ(command.wait(), 0) << command.out() << command.err();
  EXPECT_EQ(count(command.out(), " 0 bounded, 0 refuted in "), 1) << command.out();
  EXPECT_GT(command.out_lines().size(), 100U);
  EXPECT_LT(processor_seconds_of_children() - before, 2 * 120);
}

// A name is a check and the group that is called after it; what does not claim the profile is left
// out.
TEST(CheckAll, NamesAreChecksAndGroups) {
  Command command(muster({"check", "--all", "epoch_barrier", "--profile", "rdma", "-n", "2"}));
  EXPECT_EQ(command.wait(), 0) << command.err();
  const int checks = static_cast<int>(command.out_lines().size()) - 2;
  EXPECT_GT(checks, 1) << command.out();
  EXPECT_EQ(count(command.out(), "epoch_barrier"), checks) << command.out();
  EXPECT_EQ(count(command.out(), "  certified  2/1/1/"), checks) << command.out();
  Command program(
      muster({"check", MUSTER_CHECK_ALL_PROGRAM, "--all", "order", "--profile", "rdma"}));
  EXPECT_EQ(program.wait(), 0) << program.err();
  EXPECT_EQ(count(program.out(), "\norder/"), 2) << program.out();
  EXPECT_EQ(count(program.out(), "order/c"), 0) << program.out();
  Command one(check_all({"order/b"}));
  EXPECT_EQ(one.wait(), 0) << one.err();
  EXPECT_EQ(one.out_lines().size(), 3U) << one.out();
}

}  // namespace
}  // namespace muster::testing
