// A command that ran to its end.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <string>

namespace muster::bench {

struct Ended {
  int status = -1;
  std::string output;  // stdout and stderr
};

inline Ended run_to_end(const std::string& command) {
  Ended ended;
  FILE* pipe = popen((command + " 2>&1 </dev/null").c_str(), "r");
  if (pipe == nullptr) return ended;
  std::array<char, 4096> piece{};
  std::size_t n = 0;
  while ((n = fread(piece.data(), 1, piece.size(), pipe)) > 0) ended.output.append(piece.data(), n);
  const int status = pclose(pipe);
  ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended;
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace muster::bench
