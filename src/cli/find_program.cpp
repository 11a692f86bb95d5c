#include "cli/find_program.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace muster::cli {
namespace {

// Empty where the file can be run, else why not.
std::string objection(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    return errno == ENOENT ? "there is no such file" : std::strerror(errno);
  }
  if (S_ISDIR(info.st_mode)) return "it is a directory";
  if (!S_ISREG(info.st_mode)) return "it is not a regular file";
  if (access(path.c_str(), X_OK) != 0) return "it is not executable";
  return {};
}

Error cannot_run(const std::string& name, const std::string& why) {
  return Error{ErrorCode::invalid_argument, fmt::format("cannot run '{}': {}", name, why)};
}

}  // namespace

Result<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    const std::string why = objection(name);
    return why.empty() ? Result<std::string>(name) : cannot_run(name, why);
  }
  const char* path = std::getenv("PATH");
  std::istringstream directories(path != nullptr ? path : "/bin:/usr/bin");
  std::string found_but;
  for (std::string directory; std::getline(directories, directory, ':');) {
    // An empty entry is the current directory.
    const std::string file = (directory.empty() ? "." : directory) + "/" + name;
    const std::string why = objection(file);
    if (why.empty()) return file;
    if (found_but.empty() && why == "it is not executable") found_but = file + " is not executable";
  }
  if (!found_but.empty()) return cannot_run(name, found_but);
  const bool is_here = !name.empty() && objection("./" + name).empty();
  return cannot_run(name, is_here ? fmt::format("it is not on the PATH; did you mean ./{}?", name)
                                  : "it is not on the PATH");
}

}  // namespace muster::cli
