#include "cli/command.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace muster::testing {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

std::string read_all(int fd) {
  std::string text;
  char buffer[65536];
  for (ssize_t got = 0;
       (got = pread(fd, buffer, sizeof buffer, static_cast<off_t>(text.size()))) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

// A file in memory. For appending: a program and its children may share it, each with a place of
// its own.
Fd memory_file(const std::string& content = {}) {
  Fd file(memfd_create("muster-test", MFD_CLOEXEC));
  EXPECT_TRUE(file.is_open()) << std::strerror(errno);
  EXPECT_EQ(write(file.get(), content.data(), content.size()),
            static_cast<ssize_t>(content.size()));
  lseek(file.get(), 0, SEEK_SET);
  return file;
}

Fd appending(const Fd& file) {
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  return Fd(open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
}

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& more) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!more.contains(text.substr(0, text.find('=')))) all.push_back(text);
  }
  for (const auto& [name, value] : more) all.push_back(std::string(name).append("=").append(value));
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  all.reserve(words.size() + 1);
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

bool eventually(const std::function<bool()>& condition) {
  const auto until = Clock::now() + patience;
  while (!condition()) {
    if (Clock::now() > until) return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

Command::Command(const std::vector<std::string>& words, const CommandOptions& options)
    : out_(memory_file()), err_(memory_file()) {
  const Fd input = memory_file(options.input);
  const Fd output = appending(out_);
  const Fd errors = appending(err_);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input.get(), 0);
  posix_spawn_file_actions_adddup2(&files, options.output >= 0 ? options.output : output.get(), 1);
  posix_spawn_file_actions_adddup2(&files, errors.get(), 2);
  // A group of its own under a parent in another one: stop signals work, as in a shell.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);

  std::vector<std::string> arguments = words;
  std::vector<std::string> environment = merged_environment(options.environment);
  const int error = posix_spawnp(&pid_, words.front().c_str(), &files, &attributes,
                                 pointers(arguments).data(), pointers(environment).data());
  EXPECT_EQ(error, 0) << words.front() << ": " << std::strerror(error);
  if (error != 0) status_ = -1;
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
}

Command::~Command() {
  if (status_) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Command::signal(int signal) const {
  EXPECT_EQ(kill(pid_, signal), 0);
}

int Command::wait() {
  int status = 0;
  const auto ended = [&] { return waitpid(pid_, &status, WNOHANG) == pid_; };
  if (!status_ && eventually(ended)) {
    status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  EXPECT_TRUE(status_) << "still runs; it wrote:\n" << out() << err();
  return status_.value_or(-1);
}

std::string Command::out() const {
  return read_all(out_.get());
}
std::string Command::err() const {
  return read_all(err_.get());
}
std::vector<std::string> Command::out_lines() const {
  return lines_of(out());
}

bool Command::has_written(const std::string& text, int times) const {
  return eventually([&] { return count(out(), text) >= times || count(err(), text) >= times; });
}

std::vector<std::string> muster(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), MUSTER_PROGRAM);
  return arguments;
}

std::vector<std::string> run_script(std::vector<std::string> options, const std::string& script) {
  options.insert(options.begin(), "run");
  for (const char* word : {"sh", "-c"}) options.emplace_back(word);
  options.push_back(script);
  return muster(options);
}

double processor_seconds_of_children() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

int count(const std::string& text, const std::string& part) {
  int times = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) {
    ++times;
  }
  return times;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

char state_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return 'X';
  const auto after_name = line.rfind(')');
  return after_name + 2 < line.size() ? line[after_name + 2] : 'X';
}

bool has_ended(pid_t pid) {
  const char state = state_of(pid);
  return state == 'X' || state == 'Z';
}

std::vector<pid_t> processes_marked(const std::string& name, const std::string& value) {
  const std::string wanted = name + "=" + value;
  std::vector<pid_t> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string text = entry.path().filename().string();
    if (text.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "environ");
    const pid_t pid = std::stoi(text);
    for (std::string variable; std::getline(file, variable, '\0');) {
      if (variable == wanted && !has_ended(pid)) found.push_back(pid);
    }
  }
  return found;
}

}  // namespace muster::testing
