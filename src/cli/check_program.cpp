#include "cli/check_program.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

#include "base/fd.hpp"
#include "check/program_mark.hpp"
#include "cli/numbers.hpp"
#include "muster/check.hpp"

namespace muster::cli {
namespace {

[[noreturn]] void refuse(const std::string& program, const std::string& why) {
  throw UsageError(fmt::format("cannot run '{}': {}", program, why));
}

bool holds_mark(std::string_view file) {
  for (auto at = file.find(check::mark_first); at != std::string_view::npos;
       at = file.find(check::mark_first, at + 1)) {
    if (file.substr(at + check::mark_first.size()).starts_with(check::mark_second)) return true;
  }
  return false;
}

void require_check_program(const std::string& program) {
  struct stat info {};
  if (stat(program.c_str(), &info) != 0) refuse(program, std::strerror(errno));
  if (!S_ISREG(info.st_mode)) refuse(program, "it is no regular file");
  if (access(program.c_str(), X_OK) != 0) refuse(program, "it is not executable");
  const Fd file(open(program.c_str(), O_RDONLY | O_CLOEXEC));
  const auto bytes = static_cast<std::size_t>(info.st_size);
  bool marked = false;
  if (bytes > 0) {
    void* memory = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (memory == MAP_FAILED) refuse(program, std::strerror(errno));
    marked = holds_mark({static_cast<const char*>(memory), bytes});
    munmap(memory, bytes);
  }
  if (marked) return;
  throw UsageError(fmt::format(
      "'{}' is no check program of this version, and was not run: a program with MUSTER_CHECK(...) "
      "that is linked with muster::check_main is one (docs/checking.md)",
      program));
}

// What the command line says after the verb, without the program's name.
std::vector<std::string> words_after_verb(const std::string& program) {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  bool after_verb = false;
  for (std::string word; std::getline(file, word, '\0');) {
    if (after_verb && word != program) words.push_back(word);
    after_verb = after_verb || word == "check";
  }
  return words;
}

}  // namespace

bool names_program(const std::string& name) {
  if (check::find(name) != nullptr) return false;
  const bool is_path = name.starts_with('/') || name.starts_with("./") || name.starts_with("../");
  return is_path || (name.find('/') != std::string::npos && access(name.c_str(), F_OK) == 0);
}

void run_check_program(const std::string& program) {
  require_check_program(program);
  std::vector<std::string> arguments = words_after_verb(program);
  std::vector<char*> words;
  words.reserve(arguments.size() + 2);
  words.push_back(const_cast<char*>(program.c_str()));
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  execv(program.c_str(), words.data());
  refuse(program, std::strerror(errno));
}

}  // namespace muster::cli
