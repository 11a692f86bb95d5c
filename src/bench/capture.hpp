// What a child process writes, kept for an error message.
#pragma once

#include <string>

namespace muster::bench {

// A file without a name.
class Capture {
 public:
  Capture();  // throws Failure
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] std::string text() const;

 private:
  int fd_;
};

// The last line that says something.
[[nodiscard]] std::string last_line(const std::string& text);

}  // namespace muster::bench
