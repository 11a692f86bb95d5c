// A launcher's link to the launchers of the job's other hosts: carries what its ranks bring to each
// other, and what launchers tell each other: that a rank has failed, that a signal is to be passed
// on, that all is over. One thread does it, from start() on.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.hpp"
#include "launch/launch.hpp"
#include "net/star.hpp"

namespace muster::detail::net {

class NodeLink {
 public:
  // `star`: of nodes, this one with `count` ranks. Not open, with errno, where the system has no
  // descriptors left for the ranks.
  NodeLink(std::unique_ptr<Star> star, std::uint32_t count);
  ~NodeLink();
  NodeLink(const NodeLink&) = delete;
  NodeLink& operator=(const NodeLink&) = delete;

  [[nodiscard]] bool is_open() const { return open_; }
  // The end of the link that the n-th own rank has: MUSTER_NET_FD. Close-on-exec.
  [[nodiscard]] int end_of_rank(std::uint32_t local) const { return ends_[local].get(); }

  // When all own ranks have been started: from here on the link alone holds its ends.
  void start();

  // What the launcher tells and is told; valid as long as the link.
  [[nodiscard]] launcher::Elsewhere elsewhere();

 private:
  void loop();
  void wake() const;
  void do_what_was_asked();
  void hear_rank(std::uint32_t local);
  void on_notice(std::uint32_t member, const Frame& frame);
  void on_end(std::uint32_t member, const std::string& why);
  void spread(std::uint32_t from, std::uint32_t kind, const std::string& bytes);
  void note_failure(std::uint32_t from, std::uint32_t rank, int status, const std::string& line);
  void note_done(std::uint32_t member, int status);
  void say_over(int status);
  void report(const launcher::RemoteEvent& event);

  std::unique_ptr<Star> star_;
  std::vector<Fd> ends_;  // of ranks
  std::vector<std::optional<Channel>> ranks_;
  bool open_ = true;
  Fd wake_;
  Fd events_;
  std::thread thread_;

  // The thread's own.
  std::vector<bool> done_;     // hub: by member
  std::optional<int> status_;  // of the first that failed
  Clock::time_point failed_at_;
  bool over_ = false;

  std::mutex mutex_;  // guards what the two threads hand each other
  std::deque<Frame> asked_;
  std::deque<launcher::RemoteEvent> reported_;
  bool stops_ = false;
};

}  // namespace muster::detail::net
