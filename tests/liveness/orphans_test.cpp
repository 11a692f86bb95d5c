// The launcher is killed, by kill -9: whatever stands between it and the ranks, and wherever they
// are, no rank lives two seconds later.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <thread>

#include "liveness/jobs.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t ranks = 3;
const std::string mark = "MUSTER_TEST_MARK";

struct Wrapper {
  std::string name;
  Words words;
};

const std::string python_way =
    "import os, shlex, sys; os.system(shlex.join(sys.argv[1:]) + '; true')";
const std::string then_true = "\"$@\"; true";

const std::vector<Wrapper> wrappers{
    {"none", {}},
    {"sh", {"sh", "-c", then_true, "sh"}},
    {"env", {"env", "A=1"}},
    {"nice", {"nice"}},
    {"timeout", {"timeout", "300"}},
    {"python", {"python3", "-c", python_way}},
    {"nested",
     {"sh", "-c", then_true, "sh", "timeout", "300", "env", "A=1", "sh", "-c", then_true, "sh"}},
};

bool works(const Words& words) {
  Command look(words + Words{"true"});
  return look.wait() == 0;
}

// What a job of orphans leaves in the file system.
class Place {
 public:
  Place() : file_(fresh_path()) {}
  ~Place() {
    for (const char* end : {"", ".go", ".end"}) std::filesystem::remove(file_ + end);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] std::string end() const { return read(file_ + ".end"); }
  [[nodiscard]] bool has_lines(std::size_t lines) const {
    return eventually([&] { return lines_of(read(file_)).size() >= lines; });
  }
  void go() const { std::ofstream(file_ + ".go") << "go\n"; }

 private:
  static std::string read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string file_;
};

struct Case {
  std::string moment;
  Words wrapper{};
  std::string does{};
  bool goes = false;  // who is still before run goes on when the launcher is dead
};

// A job whose launcher is killed when all ranks are where they shall be.
class Orphaned {
 public:
  Orphaned(const Words& launcher, const Case& one, const Place& place)
      : command_(launcher + one.wrapper + program(one, place),
                 {.environment = {{mark, job_},
                                  {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                  {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}}}) {
    EXPECT_TRUE(place.has_lines(ranks)) << command_.err();
    std::this_thread::sleep_for(50ms);  // from there into the call that it was about to make
    command_.signal(SIGKILL);
    if (one.goes) place.go();
    killed_ = std::chrono::steady_clock::now();
  }
  ~Orphaned() {
    for (const pid_t pid : left()) kill(pid, SIGKILL);
  }
  Orphaned(const Orphaned&) = delete;
  Orphaned& operator=(const Orphaned&) = delete;

  // Of all that was started for the job, what runs.
  [[nodiscard]] std::vector<pid_t> left() const { return processes_marked(mark, job_); }

  // Within two seconds of its launcher's end no more than so many processes run. Where this test
  // itself does not get to look in time, what it sees then counts.
  void expect_at_most(std::size_t helpers) const {
    while (left().size() > helpers) {
      if (std::chrono::steady_clock::now() - killed_ > 2s) {
        FAIL() << left().size() << " processes live on; " << command_.err();
      }
      std::this_thread::sleep_for(5ms);
    }
  }

 private:
  static Words program(const Case& one, const Place& place) {
    Words words{ORPHAN, one.moment, place.file()};
    if (!one.does.empty()) words.push_back(one.does);
    return words;
  }

  const std::string job_ = fresh_path();  // its name
  Command command_;
  std::chrono::steady_clock::time_point killed_;
};

void expect_no_rank_to_live(const Words& launcher, const Case& one) {
  const Place place;
  Orphaned(launcher, one, place).expect_at_most(0);
}

const Words by_muster = muster({"run", "-n", "3"});
const Words by_mpirun{"mpirun", "--oversubscribe", "-n", "3"};

// Three ranks, told by torchrun's variables.
Words by_script(const std::string& more_variables = "TORCHELASTIC_RUN_ID=none",
                const std::string& then = "wait") {
  return {"sh", "-c",
          "for RANK in 0 1 2; do export RANK; " + more_variables +
              " WORLD_SIZE=3 MASTER_ADDR=here MASTER_PORT=" + std::to_string(getpid()) +
              " \"$@\" & done; " + then,
          "sh"};
}

TEST(Orphans, OfMusterRun) {
  for (const Wrapper& wrapper : wrappers) {
    for (const char* moment : {"before", "joining", "barrier", "body", "end"}) {
      SCOPED_TRACE(wrapper.name + ", " + moment);
      expect_no_rank_to_live(by_muster, {moment, wrapper.words});
    }
  }
}

TEST(Orphans, OfMusterRunThatTagsTheOutput) {
  for (const char* moment : {"before", "barrier", "body"}) {
    expect_no_rank_to_live(muster({"run", "-n", "3", "--tag-output"}),
                           {moment, {"sh", "-c", then_true, "sh"}});
  }
}

// Where each rank is process 1, and signals of the kernel's do nothing.
TEST(Orphans, OfMusterRunInPidNamespaces) {
  const Words wrapper{"unshare", "-pf", "--mount-proc"};
  if (!works(wrapper)) GTEST_SKIP() << "unshare -pf --mount-proc is not allowed here";
  for (const char* moment : {"before", "joining", "barrier", "body", "end"}) {
    SCOPED_TRACE(moment);
    expect_no_rank_to_live(by_muster, {moment, wrapper, "", true});
  }
  // A wrapper is process 1.
  expect_no_rank_to_live(by_muster, {"body", wrapper + Words{"sh", "-c", then_true, "sh"}});
}

TEST(Orphans, OfMpirun) {
  if (!works({"sh", "-c", "command -v mpirun"})) GTEST_SKIP() << "mpirun is not on the PATH";
  for (const Wrapper& wrapper : wrappers) {
    for (const char* moment : {"before", "joining", "barrier", "body", "end"}) {
      SCOPED_TRACE(wrapper.name + ", " + moment);
      expect_no_rank_to_live(by_mpirun, {moment, wrapper.words, "", true});
    }
  }
}

TEST(Orphans, OfAScriptWithTheVariablesOfTorchrun) {
  for (const Wrapper& wrapper : wrappers) {
    SCOPED_TRACE(wrapper.name);
    expect_no_rank_to_live(by_script(), {"body", wrapper.words});
  }
}

// Whoever sets torchrun's variables by hand is no launcher, and need not stay.
TEST(Orphans, OfAScriptThatOnlyStartsThemLiveOn) {
  const Place place;
  const Orphaned job(by_script("", "sleep 300"), {"body"}, place);
  std::this_thread::sleep_for(500ms);
  EXPECT_GE(job.left().size(), ranks);
}

// As SLURM's daemon is root's, into which a user cannot look.
TEST(Orphans, OfALauncherOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  expect_no_rank_to_live(by_script(), {"body", {MUSTER_CONFINE, "--user", "65533"}});
}

TEST(Orphans, OfALauncherThatHasNoHandle) {
  expect_no_rank_to_live(by_script(), {"body", {MUSTER_CONFINE, "--refuse", "pidfd_open=EPERM"}});
}

TEST(Orphans, SayWhoIsGoneAndHaveAStatus) {
  const Place place;
  const std::string look =
      "\"$@\" 2>>" + place.file() + ".end; echo status $? >>" + place.file() + ".end";
  Orphaned(by_script(), {"body", {"sh", "-c", look, "sh"}}, place).expect_at_most(0);
  for (const char* rank : {"0", "1", "2"}) {
    EXPECT_EQ(count(place.end(), std::string("muster: rank ") + rank +
                                     ": torchrun is gone, which started it; the rank ends\n"),
              1)
        << place.end();
  }
  EXPECT_EQ(count(place.end(), "status 129\n"), 3) << place.end();
}

TEST(Orphans, ThatCloseTheirDescriptorsEarlyCannotJoin) {
  const Place place;
  Command command(by_muster + Words{ORPHAN, "end", place.file(), "close-early"});
  EXPECT_EQ(command.wait(), 2);
  EXPECT_GE(
      count(command.err(), "what stands between `muster run` and this program must not close"), 1)
      << command.err();
  // Who has come without a descriptor needs none.
  expect_no_rank_to_live(by_script(), {"body", {}, "close-early"});
}

TEST(Orphans, ThatCloseTheirDescriptorsLateEnd) {
  const Words holding{"sh", "-c", then_true, "sh"};
  expect_no_rank_to_live(by_script(), {"body", holding, "close-late"});
  expect_no_rank_to_live(by_muster, {"body", {}, "close-late"});
  expect_no_rank_to_live(by_muster, {"body", holding, "close-late"});
  // Where nobody holds the pipe any more, in a wait of muster's.
  const Words letting_go{"python3", "-c",
                         "import os, sys\n"
                         "pid = os.fork()\n"
                         "if pid == 0: os.execvp(sys.argv[1], sys.argv[1:])\n"
                         "os.closerange(3, 100)\n"
                         "os.waitpid(pid, 0)\n"};
  for (const char* moment : {"barrier", "end"}) {
    SCOPED_TRACE(moment);
    const Place place;
    Orphaned(by_muster, {moment, letting_go, "close-late"}, place).expect_at_most(1);
  }
}

TEST(Orphans, LeaveTheirHelpersAlone) {
  for (const Words& launcher : {by_muster, by_script()}) {
    const Place place;
    const Orphaned job(launcher, {"body", {"sh", "-c", then_true, "sh"}, "help"}, place);
    job.expect_at_most(ranks);
    std::this_thread::sleep_for(200ms);
    EXPECT_EQ(job.left().size(), ranks);
  }
}

}  // namespace
}  // namespace muster::testing
