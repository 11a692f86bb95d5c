// What ranks read and write under `muster run`, tagged and not.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <sstream>
#include <thread>

#include "cli/command.hpp"
#include "launch/tagged_lines.hpp"

namespace muster::testing {
namespace {

using launcher::TaggedLines;

// A pipe whose reading end is the test's.
struct Pipe {
  Fd reader;
  Fd writer;
  Pipe() {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    reader = Fd(ends[0]);
    writer = Fd(ends[1]);
  }
};

std::string read_to_end(const Fd& from) {
  std::string text;
  std::string buffer(65536, '\0');
  for (ssize_t got = 0; (got = read(from.get(), buffer.data(), buffer.size())) > 0;) {
    text.append(buffer, 0, static_cast<std::size_t>(got));
  }
  return text;
}

TEST(TaggedLinesTest, JoinsWhatArrivesInPieces) {
  TaggedLines lines(7);
  std::string got;
  for (const char* piece : {"a", "b\n", "", "\n", "c\nd\ne", "f"}) lines.add(piece, got);
  EXPECT_EQ(got, "[7] ab\n[7] \n[7] c\n[7] d\n");
  lines.end(got);
  EXPECT_EQ(got, "[7] ab\n[7] \n[7] c\n[7] d\n[7] ef\n");
  lines.end(got);
  EXPECT_EQ(count(got, "ef"), 1);
}

TEST(TaggedLinesTest, BoundsWhatItHolds) {
  TaggedLines lines(0);
  std::string got;
  const std::string part(TaggedLines::longest_line - 1, 'x');
  lines.add(part, got);
  EXPECT_EQ(got, "");
  lines.add("yz", got);
  EXPECT_EQ(got, "[0] " + part + "y\n");
  lines.add("\n", got);
  EXPECT_EQ(got, "[0] " + part + "y\n[0] z\n");
}

TEST(RunOutput, TaggedLinesArriveWholeAndInOrder) {
  constexpr int ranks = 4;
  constexpr int lines = 10000;
  Command command(run_script({"-n", "4", "--tag-output"},
                             "seq -f \"out $MUSTER_RANK %.0f and more text\" 10000;"
                             "seq -f \"err $MUSTER_RANK %.0f and more text\" 10000 >&2"));
  EXPECT_EQ(command.wait(), 0);
  for (const auto& [stream, text] : {std::pair{"out", command.out()}, {"err", command.err()}}) {
    std::vector<int> next(ranks, 1);
    for (const std::string& line : lines_of(text)) {
      ASSERT_EQ(line.front(), '[') << line;
      const auto rank = static_cast<std::size_t>(line[1] - '0');
      ASSERT_LT(rank, next.size()) << line;
      std::ostringstream expected;
      expected << '[' << rank << "] " << stream << ' ' << rank << ' ' << next[rank]++
               << " and more text";
      ASSERT_EQ(line, expected.str());
    }
    EXPECT_EQ(next, std::vector<int>(ranks, lines + 1)) << stream;
  }
}

TEST(RunOutput, UntaggedOutputIsTheProgramsOwn) {
  Command command(run_script({"-n", "2"}, "echo out; echo err >&2"));
  EXPECT_EQ(command.wait(), 0);
  EXPECT_EQ(command.out(), "out\nout\n");
  EXPECT_EQ(command.err(), "err\nerr\n");
}

TEST(RunOutput, ALastLineWithoutItsEndIsPassedOn) {
  Command command(run_script({"-n", "2", "--tag-output"}, "printf half; printf two >&2"));
  EXPECT_EQ(command.wait(), 0);
  std::vector<std::string> lines = command.out_lines();
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines, (std::vector<std::string>{"[0] half", "[1] half"}));
  EXPECT_EQ(count(command.err(), "] two\n"), 2);
}

TEST(RunOutput, WhatARankWroteBeforeItDiedComesBeforeTheNewsOfIt) {
  Command command(run_script({"-n", "1", "--tag-output"}, "echo 1 >&2; printf 2 >&2; kill -9 $$"));
  EXPECT_EQ(command.wait(), 137);
  const auto lines = lines_of(command.err());
  ASSERT_EQ(lines.size(), 3U) << command.err();
  EXPECT_EQ(lines[0], "[0] 1");
  EXPECT_EQ(lines[1], "[0] 2");
  EXPECT_EQ(count(lines[2], "was killed by signal 9 (Killed)"), 1);
}

TEST(RunOutput, LongLinesStayWhole) {
  Command command(run_script({"-n", "3", "--tag-output"},
                             "head -c 400000 /dev/zero | tr '\\0' $MUSTER_RANK; echo"));
  EXPECT_EQ(command.wait(), 0);
  const auto lines = command.out_lines();
  ASSERT_EQ(lines.size(), 3U);
  for (const std::string& line : lines) {
    EXPECT_EQ(line, "[" + line.substr(1, 1) + "] " + std::string(400000, line[1]));
  }
}

// The pipe stays open after the rank has ended: the launcher must not wait for it.
TEST(RunOutput, AProcessThatHoldsThePipeHoldsNobodyUp) {
  Command command(
      run_script({"-n", "2", "--tag-output"}, "(trap '' TERM; exec sleep 300) & printf partial"));
  EXPECT_EQ(command.wait(), 0);
  EXPECT_EQ(count(command.out(), "] partial\n"), 2);
  EXPECT_EQ(count(command.err(), "2 processes outlived the ranks; stopping"), 1) << command.err();
}

TEST(RunOutput, RanksEndWhenTheReaderHasGone) {
  Pipe pipe;
  Command command(muster({"run", "-n", "2", "--tag-output", "yes"}), {.output = pipe.writer.get()});
  pipe.writer.reset();
  char some[16];
  EXPECT_GT(read(pipe.reader.get(), some, sizeof some), 0);
  pipe.reader.reset();
  EXPECT_EQ(command.wait(), 128 + SIGPIPE);
}

TEST(RunOutput, OutputThatCannotBeWrittenIsAnError) {
  const Fd full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  if (!full.is_open()) GTEST_SKIP() << "there is no /dev/full";
  Command command(run_script({"-n", "2", "--tag-output"}, "echo lost"), {.output = full.get()});
  EXPECT_NE(command.wait(), 0);
  EXPECT_EQ(count(command.err(), "muster: cannot write to stdout: No space left on device\n"), 1)
      << command.err();
}

// Nobody reads: signals and the time limit work all the same, and no line is lost in the end.
TEST(RunOutput, ASlowReaderHoldsUpNeitherSignalsNorDeadlines) {
  Pipe pipe;
  Command command(run_script({"-n", "2", "--tag-output", "--timeout", "0.5"},
                             "echo pid $$ >>/proc/$PPID/fd/2; exec seq 1000000"),
                  {.output = pipe.writer.get()});
  pipe.writer.reset();
  ASSERT_TRUE(command.has_written("pid", 2));
  const auto lines = lines_of(command.err());
  for (const std::string& line : lines) {
    const auto at = line.find("pid ");
    if (at == std::string::npos) continue;
    const pid_t pid = std::stoi(line.substr(at + 4));
    EXPECT_TRUE(eventually([&] { return has_ended(pid); }));
  }
  std::vector<int> next(2, 1);
  for (const std::string& line : lines_of(read_to_end(pipe.reader))) {
    const auto rank = static_cast<std::size_t>(line[1] - '0');
    ASSERT_LT(rank, next.size()) << line;
    // The last line of a rank may be cut where the rank was stopped.
    const std::string whole = std::to_string(next[rank]++);
    ASSERT_EQ(line.substr(4), whole.substr(0, line.size() - 4));
  }
  EXPECT_GT(next[0] + next[1], 1000);
  EXPECT_EQ(command.wait(), 124);
}

TEST(RunOutput, WhoDoesNotWantToWaitForTheReaderInterrupts) {
  Pipe pipe;
  Command command(
      run_script({"-n", "1", "--tag-output"}, "echo pid $$ >>/proc/$PPID/fd/2; exec seq 1000000"),
      {.output = pipe.writer.get()});
  ASSERT_TRUE(command.has_written("pid"));
  const pid_t rank = std::stoi(command.err().substr(4));
  // The pipe to the reader is full, and so is the rank's: there is more than anybody has taken.
  ASSERT_TRUE(eventually([&] {
    pollfd room{pipe.writer.get(), POLLOUT, 0};
    return poll(&room, 1, 0) == 0 && state_of(rank) == 'S';
  }));
  kill(rank, SIGKILL);
  ASSERT_TRUE(eventually([&] { return state_of(rank) == 'X'; }));
  EXPECT_FALSE(has_ended(command.pid()));
  command.signal(SIGINT);
  EXPECT_EQ(command.wait(), 128 + SIGINT);
}

// Nobody ever reads: a limit or a signal ends the job in time, and what nobody reads is dropped.
TEST(RunOutput, AReaderThatNeverReadsHoldsNobodyUp) {
  const std::string script = "echo pid $$ >>/proc/$PPID/fd/2; exec seq 1000000";
  for (const int signal : {0, SIGTERM, SIGINT}) {
    Pipe pipe;
    Command command(
        run_script({"-n", "2", "--tag-output", "--timeout", signal == 0 ? "0.5" : "600"}, script),
        {.output = pipe.writer.get()});
    ASSERT_TRUE(command.has_written("pid", 2));
    const auto is_full = [&] {
      pollfd room{pipe.writer.get(), POLLOUT, 0};
      return poll(&room, 1, 0) == 0;
    };
    ASSERT_TRUE(eventually(is_full));
    if (signal != 0) command.signal(signal);
    EXPECT_EQ(command.wait(), signal == 0 ? 124 : 128 + signal) << command.err();
    EXPECT_EQ(count(command.err(), " bytes of output, which nobody reads, are dropped\n"), 1)
        << command.err();
    EXPECT_EQ(count(command.err(), "muster: time limit of 0.5 s reached; stopping 2 ranks\n"),
              signal == 0 ? 1 : 0)
        << command.err();
  }
}

// The limit is one of the job, with what it has to say.
TEST(RunOutput, TheLimitHoldsWhereOnlyTheReaderIsLeft) {
  Pipe pipe;
  Command command(run_script({"-n", "1", "--tag-output", "--timeout", "1"}, "seq 20000"),
                  {.output = pipe.writer.get()});
  EXPECT_EQ(command.wait(), 124) << command.err();
  EXPECT_EQ(count(command.err(), " bytes of output, which nobody reads, are dropped\n"), 1)
      << command.err();
}

TEST(RunInput, GoesToRankZero) {
  Command command(run_script({"-n", "3", "--tag-output"}, "cat"), {.input = "one\ntwo\n"});
  EXPECT_EQ(command.wait(), 0);
  EXPECT_EQ(command.out(), "[0] one\n[0] two\n");
}

TEST(RunInput, ClosedDescriptorsAreNoTrouble) {
  Command command(
      {"sh", "-c", "exec \"$0\" run -n 2 --tag-output sh -c 'echo x' <&- >&-", MUSTER_PROGRAM});
  EXPECT_EQ(command.wait(), 0);
  EXPECT_EQ(command.err(), "");
}

}  // namespace
}  // namespace muster::testing
