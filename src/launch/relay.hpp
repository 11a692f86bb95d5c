// Passes the ranks' output on, line by line, each with its rank.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
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
// from its signals and deadlines, nor one of stdout what is for stderr. Of a rank no more is read
// while what it wrote is not taken. Whoever cannot take it at all (a closed pipe) ends the ranks'
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

  // Bytes that readers have taken so far.
  [[nodiscard]] std::uint64_t taken() const { return taken_; }

  // After finish(): what no reader has taken by now is dropped, which is said where stderr has
  // room.
  void drop();

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
    Fd sources{};           // an epoll of the streams that end here
    std::string pending{};  // from `written` on
    std::size_t written = 0;
    bool closed = false;
    [[nodiscard]] std::size_t left() const { return pending.size() - written; }
  };
  // What say, finish and drop have handed over.
  struct Orders {
    std::string said;
    bool finish = false;
    bool drop = false;
  };

  void loop();
  void look(bool finishing);
  Orders orders();
  void pump(Sink& sink);
  void drain_all();
  void drop_pending();
  void drain(Stream& stream);
  bool read_some(Stream& stream, std::size_t most);
  void end(Stream& stream);
  void write_out(std::size_t sink);
  void give_up(std::size_t sink, int reason);

  Fd wake_;
  Fd done_;
  std::vector<Stream> streams_;
  std::array<Sink, 2> sinks_{Sink{1}, Sink{2}};
  std::vector<char> buffer_;
  bool lost_output_ = false;
  std::atomic<std::uint64_t> taken_{0};
  std::thread thread_;

  std::mutex mutex_;  // guards what is handed to the thread
  Orders orders_;
};

// All of it, however the descriptor takes it. False where it takes no more; errno says why.
bool write_all(int fd, std::string_view data);

}  // namespace muster::launcher
