// What a rank is given, and what `muster` says to a command line that cannot be meant.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "cli/command.hpp"
#include "launch/binding.hpp"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

// A directory of the test's own, removed with what is in it.
class Directory {
 public:
  Directory() {
    std::string path = (fs::temp_directory_path() / "muster-test-XXXXXX").string();
    EXPECT_NE(mkdtemp(path.data()), nullptr);
    path_ = path;
  }
  ~Directory() { fs::remove_all(path_); }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  [[nodiscard]] std::string file(const std::string& name, const std::string& text,
                                 mode_t mode) const {
    const fs::path path = path_ / name;
    std::ofstream(path) << text;
    chmod(path.c_str(), mode);
    return path.string();
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

void expect_usage_error(const std::vector<std::string>& words, const std::string& message) {
  Command command(words);
  EXPECT_EQ(command.wait(), 2) << message;
  EXPECT_EQ(command.out(), "");
  EXPECT_EQ(lines_of(command.err()).at(0), message);
}

TEST(RunUsage, TheNumberOfRanksIsChecked) {
  for (const char* wrong : {"0", "-1", "x", "1025", "1.5", "", "4x", "99999999999999999999"}) {
    expect_usage_error(
        muster({"run", "-n", wrong, "true"}),
        std::string("muster run: -n is '") + wrong + "'; it must be a whole number from 1 to 1024");
  }
  expect_usage_error(muster({"run", "-n"}), "muster run: --ranks: 1 required RANKS missing");
}

TEST(RunUsage, WhatIsKeptIsChecked) {
  expect_usage_error(muster({"run", "--keep", "some", "true"}),
                     "muster run: --keep is 'some'; it must be none, detached or all");
}

TEST(RunUsage, TimesAreChecked) {
  for (const char* wrong : {"0", "-1", "soon", "", "inf", "nan", "1e10", "3s"}) {
    expect_usage_error(muster({"run", "--timeout", wrong, "true"}),
                       std::string("muster run: --timeout is '") + wrong +
                           "'; it must be a number of seconds, above 0 and at most 1e+09");
  }
  expect_usage_error(muster({"run", "--grace", "-1", "true"}),
                     "muster run: --grace is '-1'; it must be a number of seconds, 0 or more and "
                     "at most 1e+09");
}

TEST(RunUsage, TheProgramIsLookedForBeforeAnythingStarts) {
  const Directory directory;
  const std::string plain = directory.file("plain", "text", 0644);
  const auto run = [](const std::string& program) { return muster({"run", "-n", "2", program}); };
  expect_usage_error(run("./no-such-program"),
                     "muster run: cannot run './no-such-program': there is no such file");
  expect_usage_error(run("no-such-program"),
                     "muster run: cannot run 'no-such-program': it is not on the PATH");
  expect_usage_error(run(directory.path()),
                     "muster run: cannot run '" + directory.path() + "': it is a directory");
  expect_usage_error(run(plain), "muster run: cannot run '" + plain + "': it is not executable");
  expect_usage_error(run(""), "muster run: cannot run '': it is not on the PATH");
  expect_usage_error(muster({"run", "-n", "2"}),
                     "muster run: no program is given; for example: muster run -n 4 ./program");
}

TEST(RunUsage, TheFirstProgramOnThePathIsRun) {
  const Directory first;
  const Directory second;
  (void)first.file("prog", "#!/bin/sh\necho first", 0644);
  (void)second.file("prog", "#!/bin/sh\necho second", 0755);
  Command command(muster({"run", "-n", "1", "prog"}),
                  {.environment = {{"PATH", first.path() + ":" + second.path()}}});
  EXPECT_EQ(command.wait(), 0);
  EXPECT_EQ(command.out(), "second\n");

  Command refused(muster({"run", "-n", "1", "prog"}), {.environment = {{"PATH", first.path()}}});
  EXPECT_EQ(refused.wait(), 2);
  EXPECT_EQ(count(refused.err(), "cannot run 'prog': " + first.path() + "/prog is not executable"),
            1);
}

TEST(RunUsage, AProgramInTheCurrentDirectoryIsPointedAt) {
  const Directory directory;
  (void)directory.file("prog", "#!/bin/sh\n", 0755);
  Command command(
      {"sh", "-c", "cd \"$1\" && exec \"$0\" run prog", MUSTER_PROGRAM, directory.path()});
  EXPECT_EQ(command.wait(), 2);
  EXPECT_EQ(count(command.err(), "it is not on the PATH; did you mean ./prog?"), 1);
}

TEST(RunUsage, AMissingInterpreterIsNamedAsThePossibleCause) {
  const Directory directory;
  const std::string script = directory.file("script", "#!/no/such/interpreter\n", 0755);
  Command command(muster({"run", "-n", "2", script}));
  EXPECT_EQ(command.wait(), 126);
  EXPECT_EQ(count(command.err(), "muster: rank 1 cannot run " + script +
                                     ": No such file or directory (is its interpreter missing?)"),
            1)
      << command.err();
}

TEST(RunUsage, TheProgramsArgumentsAreItsOwn) {
  const std::vector<std::string> arguments{"%s.", "[1,2]", "--help", "-n", "", "a b", "--", "run"};
  for (const std::vector<std::string>& before :
       {std::vector<std::string>{"run", "-n1"}, {"run", "--ranks=1", "--"}, {"run", "-n", "1"}}) {
    std::vector<std::string> words = before;
    words.emplace_back("printf");
    words.insert(words.end(), arguments.begin(), arguments.end());
    Command command(muster(words));
    EXPECT_EQ(command.wait(), 0) << command.err();
    EXPECT_EQ(command.out(), "[1,2].--help.-n..a b.--.run.");
  }
}

TEST(RunUsage, AProgramMayHaveTheNameOfAVerb) {
  const Directory directory;
  (void)directory.file("info", "#!/bin/sh\necho mine $1\n", 0755);
  Command command(muster({"run", "-n", "1", "info", "run"}),
                  {.environment = {{"PATH", directory.path() + ":/usr/bin:/bin"}}});
  EXPECT_EQ(command.wait(), 0);
  EXPECT_EQ(command.out(), "mine run\n");
}

TEST(RunUsage, WrongOptionsAndVerbs) {
  expect_usage_error(muster({"run", "--no-such-option", "true"}),
                     "muster run: The following argument was not expected: --no-such-option");
  Command verb(muster({"no-such-verb", "run"}));
  EXPECT_EQ(verb.wait(), 2);
  EXPECT_EQ(count(verb.err(), "muster: there is no verb 'no-such-verb'; there are run, "), 1);
  Command bare(muster({}));
  EXPECT_EQ(bare.wait(), 2);
  EXPECT_EQ(count(bare.err(), "Usage: muster"), 1);
}

TEST(RunUsage, HelpAndVersion) {
  Command version(muster({"--version"}));
  EXPECT_EQ(version.wait(), 0);
  EXPECT_EQ(version.out(), "muster " MUSTER_VERSION "\n");

  Command help(muster({"--help"}));
  EXPECT_EQ(help.wait(), 0);
  for (const char* verb : {"  run ", "  info "}) EXPECT_EQ(count(help.out(), verb), 1) << verb;

  Command run_help(muster({"run", "--help"}));
  EXPECT_EQ(run_help.wait(), 0);
  for (const char* part : {"Usage: muster run [OPTIONS] PROGRAM [ARGUMENTS...]", "-n,--ranks",
                           "--timeout", "--grace", "--tag-output", "--bind"}) {
    EXPECT_EQ(count(run_help.out(), part), 1) << part;
  }
  Command info_help(muster({"info", "--help"}));
  EXPECT_EQ(info_help.wait(), 0);
  EXPECT_EQ(count(info_help.out(), "--json"), 1);
}

TEST(RunRank, HasTheJobsMemoryAndItsTetherAndNoOtherDescriptor) {
  Command command(run_script({"-n", "8", "--tag-output"},
                             "readlink /proc/self/fd/$MUSTER_JOB_FD;"
                             "readlink /proc/self/fd/${MUSTER_TETHER%:*};"
                             "for fd in /proc/$$/fd/*; do echo fd ${fd##*/}; done"));
  EXPECT_EQ(command.wait(), 0);
  EXPECT_EQ(count(command.out(), "memfd:muster"), 8) << command.out();
  EXPECT_EQ(count(command.out(), "] pipe:["), 8) << command.out();
  // Besides what the test itself was started with, each has 0, 1, 2, the memory and the pipe.
  Command plain({"sh", "-c", "for fd in /proc/$$/fd/*; do echo fd ${fd##*/}; done"});
  EXPECT_EQ(plain.wait(), 0);
  EXPECT_EQ(count(command.out(), "fd "), 8 * (count(plain.out(), "fd ") + 2)) << command.out();
}

TEST(RunRank, JobsDoNotShareMemory) {
  const std::string inode = "stat -L -c %i /proc/self/fd/$MUSTER_JOB_FD";
  Command first(run_script({"-n", "2"}, inode + "; sleep 0.5"));
  Command second(run_script({"-n", "2"}, inode));
  EXPECT_EQ(first.wait(), 0);
  EXPECT_EQ(second.wait(), 0);
  const auto of_first = first.out_lines();
  const auto of_second = second.out_lines();
  ASSERT_EQ(of_first.size(), 2U);
  ASSERT_EQ(of_second.size(), 2U);
  EXPECT_EQ(of_first[0], of_first[1]);
  EXPECT_EQ(of_second[0], of_second[1]);
  EXPECT_NE(of_first[0], of_second[0]);
}

TEST(RunRank, IsBoundToItsCoreOnRequest) {
  const auto cores = launcher::allowed_cores();
  ASSERT_FALSE(cores.empty());
  Command command(run_script({"-n", "5", "--bind"},
                             "echo $MUSTER_RANK $(grep Cpus_allowed_list /proc/self/status)"));
  EXPECT_EQ(command.wait(), 0);
  for (std::size_t rank = 0; rank < 5; ++rank) {
    const std::string line = std::to_string(rank) +
                             " Cpus_allowed_list: " + std::to_string(cores[rank % cores.size()]) +
                             "\n";
    EXPECT_EQ(count(command.out(), line), 1) << line << command.out();
  }
}

TEST(RunRank, IsBoundWithinWhatTheLauncherMayUse) {
  const std::string last = std::to_string(launcher::allowed_cores().back());
  std::vector<std::string> words{"taskset", "-c", last};
  for (const std::string& word :
       run_script({"-n", "2", "--bind"}, "grep Cpus_allowed_list /proc/self/status")) {
    words.push_back(word);
  }
  Command command(words);
  EXPECT_EQ(command.wait(), 0);
  EXPECT_EQ(count(command.out(), "Cpus_allowed_list:\t" + last + "\n"), 2) << command.out();
}

}  // namespace
}  // namespace muster::testing
