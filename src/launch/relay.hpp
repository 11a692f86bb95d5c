// Passes the ranks' output on, line by line, each with its rank.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/fd.hpp"
#include "launch/tagged_lines.hpp"

namespace muster::launcher {

// The ends of a rank's pipes that the rank writes to.
struct OutputPipes {
  Fd out;
  Fd err;
};

// Reads two pipes for each rank and writes whole lines to this process's stdout and stderr. A
// thread of its own does it: a reader who is slow to take the output must not keep the launcher
// from its signals and deadlines. Whoever cannot take it at all (a closed pipe) ends the ranks'
// pipes too, so that a rank that writes on gets SIGPIPE, as it would without the relay.
class Relay {
 public:
  Relay();
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  // Before start(). No open descriptor where the system has none left.
  [[nodiscard]] OutputPipes add(std::uint32_t rank);

  // False, with errno, where there is no thread for it.
  [[nodiscard]] bool start();

  // Writes a line of the launcher's own to stderr, after what the ranks wrote before this call.
  void say(std::string_view line);

  // All writers that count have ended: passes on what lies in the pipes and no more, since a
  // process that nobody waits for may hold them open. done_fd() becomes readable afterwards.
  void finish();
  [[nodiscard]] int done_fd() const { return done_.get(); }

  // Once done: did output get lost for another reason than that its reader had gone?
  [[nodiscard]] bool lost_output();

 private:
  struct Stream {
    Fd from;
    std::size_t sink;
    TaggedLines lines;
  };
  struct Sink {
    int fd;
    std::string pending;
    bool closed = false;
  };

  void loop();
  void pump(Stream& stream);
  void drain(Stream& stream);
  bool read_some(Stream& stream, std::size_t most);
  void end(Stream& stream);
  void write_out();
  void give_up(std::size_t sink, int reason);

  Fd epoll_;
  Fd wake_;
  Fd done_;
  std::vector<Stream> streams_;
  std::array<Sink, 2> sinks_{Sink{1, {}}, Sink{2, {}}};
  std::vector<char> buffer_;
  bool lost_output_ = false;
  std::thread thread_;

  std::mutex mutex_;  // guards what say and finish hand to the thread
  std::string said_;
  bool finishing_ = false;
};

// All of it, however the descriptor takes it. False where it takes no more; errno says why.
bool write_all(int fd, std::string_view data);

}  // namespace muster::launcher
