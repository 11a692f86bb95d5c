// A board that processes write what happened to them on, so that a test can look at it from
// outside, also when the writer has been killed. A file that all of them map, or anonymous memory.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "muster/result.hpp"

namespace muster::testing {

[[nodiscard]] inline std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

struct BoardRow {
  std::atomic<std::int32_t> pid;
  std::atomic<std::uint32_t> rounds;  // how far it has come

  // How its body's first failure looked. `reported` is release after the rest.
  std::atomic<bool> reported;
  bool failed;
  ErrorCode code;
  bool has_peer;
  std::uint32_t peer;
  std::int64_t at_ns;
  std::array<char, 600> text;

  // What it did afterwards. `recovered` is release after the rest.
  std::atomic<bool> recovered;
  std::uint32_t new_rank;
  std::uint32_t new_size;

  void report(const Result<void>& result) {
    at_ns = monotonic_ns();
    failed = !result.has_value();
    if (failed) {
      const Error& error = result.error();
      code = error.code;
      has_peer = error.peer.has_value();
      peer = has_peer ? error.peer->value : 0;
      std::snprintf(text.data(), text.size(), "%s", to_string(error).c_str());
    }
    reported.store(true, std::memory_order_release);  // pairs with the tests' acquire loads
  }
};

struct BoardMemory {
  std::array<BoardRow, 64> rows;
};

class Board {
 public:
  // Anonymous: for processes that this one forks. It is all zero.
  Board() : memory_(map(-1)) {}
  // A file: for programs that are started. Made and removed by the one that `creates` it.
  Board(std::string path, bool creates) : path_(std::move(path)), creates_(creates) {
    const int fd = open(path_.c_str(), O_RDWR | O_CLOEXEC | (creates ? O_CREAT | O_EXCL : 0), 0600);
    if (fd < 0 || (creates && ftruncate(fd, sizeof(BoardMemory)) != 0)) {
      std::perror(path_.c_str());
      std::abort();
    }
    memory_ = map(fd);
    close(fd);
  }
  ~Board() {
    munmap(memory_, sizeof(BoardMemory));
    if (creates_) unlink(path_.c_str());
  }
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  [[nodiscard]] BoardRow& operator[](std::uint32_t rank) const { return memory_->rows.at(rank); }

 private:
  static BoardMemory* map(int fd) {
    const int flags = MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0);
    void* memory = mmap(nullptr, sizeof(BoardMemory), PROT_READ | PROT_WRITE, flags, fd, 0);
    if (memory == MAP_FAILED) {
      std::perror("the board");
      std::abort();
    }
    return static_cast<BoardMemory*>(memory);
  }

  BoardMemory* memory_ = nullptr;
  std::string path_;
  bool creates_ = false;
};

}  // namespace muster::testing
