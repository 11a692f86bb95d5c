// What every verb refuses: numbers that are none, replays of nothing; and how it shows names.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "cli/command.hpp"

namespace muster::testing {
namespace {

// The first line of what is said of these words.
std::string complaint(const std::vector<std::string>& words) {
  Command command(muster(words));
  EXPECT_EQ(command.wait(), 2) << command.err();
  EXPECT_EQ(command.out(), "");
  return command.err().substr(0, command.err().find('\n'));
}

// Of numbers those that are none, or too small, or too large, of every option that takes one.
TEST(Usage, NumbersThatAreNone) {
  const std::vector<std::vector<std::string>> options = {{"check", "-n"},
                                                         {"check", "--calls"},
                                                         {"check", "--lanes"},
                                                         {"check", "--expire"},
                                                         {"check", "--random"},
                                                         {"check", "--threads-per-lane"},
                                                         {"check", "--replay"},
                                                         {"cost", "-n"},
                                                         {"check", "--executions"},
                                                         {"cost", "--lanes"},
                                                         {"cost", "--bytes"},
                                                         {"check", "--all", "--jobs"},
                                                         {"litmus", "--turns"},
                                                         {"run", "--timeout"},
                                                         {"bench", "check", "--seconds"},
                                                         {"run", "-n"},
                                                         {"run", "--grace"},
                                                         {"bench", "put", "--rounds"},
                                                         {"bench", "put", "-n"},
                                                         {"bench", "put", "--repeat"},
                                                         {"bench", "put", "--calls"},
                                                         {"bench", "put", "--sizes"}};
  for (const std::vector<std::string>& words : options)
    for (const std::string text : {"-1", "", "3x", "nan", "99999999999999999999"}) {
      std::vector<std::string> all = words;
      all.push_back(text);
      const std::string verb = words.front();
      if (verb == "check") all.push_back("epoch_barrier");
      if (verb == "cost") all.push_back("put");
      if (verb == "litmus") all.push_back("no_such");
      if (verb == "run") all.push_back("/bin/true");
      Command command(muster(all));
      EXPECT_EQ(command.wait(), 2) << words.back() << " '" << text << "': " << command.out();
      const bool is_ranks = words.back() == "-n" && count(command.err(), "--ranks") > 0;
      EXPECT_TRUE(is_ranks || count(command.err(), words.back()) > 0) << command.err();
    }
  for (const std::string text : {"18446744073709551616,3", "1,0", "1", "1,2,3", ",1", "1,-1"})
    EXPECT_EQ(complaint({"check", "epoch_barrier", "--random", text}),
              "muster check: --random is '" + text +
                  "'; it must be SEED,N: whole numbers below 2^64, and N of 1 or more");
  EXPECT_EQ(complaint({"check", "epoch_barrier", "--executions", "0"}),
            "muster check: --executions: Value 0 not in range 1 to 1000000000000");
}

// A replay of an execution that is none would show something else, or nothing.
TEST(Usage, ReplaysThatAreNone) {
  const auto replay = [](const std::string& text) {
    Command command(muster({"check", "broken/notify_before_data", "--replay", text}));
    EXPECT_EQ(command.wait(), 2) << text << command.out();
    EXPECT_EQ(command.err().find("muster check: --replay is '" + text + "'"), 0U) << command.err();
    return command.err();
  };
  const std::string good = "n=2,c=1,l=1,t=1,p=direct,x=0:";
  for (const std::string choices : {"", "7x", "1..2", "-1", "4294967296", "random", "random1", "y"})
    EXPECT_EQ(count(replay(good + choices), "its choices must be numbers between dots"), 1);
  for (const std::string field : {"n=0", "n=257", "c=0", "p=tso", "q=1", "n=", "x=-1"})
    EXPECT_EQ(count(replay(field + ":0"), "'" + field + "' is none of n="), 1);
  EXPECT_EQ(count(replay("0"), "there is no ':'"), 1);
  EXPECT_EQ(count(replay(good + "9"), "choice 1 is 9, and there are 0 to 1"), 1);
  EXPECT_EQ(count(replay(good + "0.0.0.0.0.0.0.1"), "it has 8 choices, and the execution ends"), 1);
}

TEST(Usage, TwoOutputsInOneFileAreRefused) {
  const std::string path = ::testing::TempDir() + "muster_one_file_" + std::to_string(getpid());
  for (const std::string& same :
       {path, ::testing::TempDir() + "./" + std::filesystem::path(path).filename().string()})
    EXPECT_EQ(complaint({"check", "epoch_barrier", "--html", path, "--json", same}),
              "muster check: --html and --json are both '" + path + "'; name two files");
  EXPECT_FALSE(std::filesystem::exists(path));
  Command device(muster({"check", "epoch_barrier", "--html", "/dev/null", "--json", "/dev/null"}));
  EXPECT_EQ(device.wait(), 0) << device.err();
}

// A name that would make the terminal do something is shown, not done.
TEST(Usage, ControlBytesOfNamesAreShown) {
  const std::string name = "\x1b[31mred\nline\xc2\x9b\xff";
  const std::string shown = R"(\x1b[31mred\x0aline\xc2\x9b\xff)";
  const std::vector<std::vector<std::string>> commands = {
      {name},
      {"check", name},
      {"check", "--all", name},
      {"check", "./" + name},
      {"cost", name},
      {"run", name},
      {"litmus", name},
      {"bench", name},
      {"check", "epoch_barrier", "--profile", name},
      {"check", "epoch_barrier", "--" + name},
      {"bench", "put", "--json", "/no_such/" + name}};
  for (const auto& words : commands) {
    Command command(muster(words));
    EXPECT_NE(command.wait(), 0);
    EXPECT_EQ(command.err().find_first_of("\x1b\xff\x9b"), std::string::npos) << command.err();
    EXPECT_GE(count(command.err(), shown), 1) << command.err();
  }
}

}  // namespace
}  // namespace muster::testing
