// What the launcher says, and who reads its output.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "launch/supervisor.hpp"

namespace muster::launcher {
namespace {

using namespace std::chrono_literals;

constexpr auto reader_patience = 1s;  // with who reads the output and takes none
constexpr auto longest_reading = 5s;  // once the job had to end

}  // namespace

// The reader of our output may be slow, or a person. Who does not want to wait interrupts: now, or
// as soon as the last rank has ended, which may be seen in the same look as the signal.
void Supervisor::end_relay() {
  if (relay_ == nullptr) return;
  relay_->finish();
  wait_for_readers();
  if (signal_at_end_) status_ = 128 + *signal_at_end_;
  if (relay_done_) return;
  relay_->drop();
  const auto until = Clock::now() + reader_patience;
  while (!relay_done_ && Clock::now() < until) wait_for_events(until);
  // It hangs in a write to what somebody else has filled meanwhile.
  if (!relay_done_) _exit(status_.value_or(1));
}

// Until all is taken; where the job had to end, for a while.
void Supervisor::wait_for_readers() {
  auto end = Clock::time_point::max();
  auto last_taken = Clock::now();
  std::uint64_t taken = relay_->taken();
  while (!relay_done_ && !signal_at_end_) {
    const auto now = Clock::now();
    if (time_limit_ && *time_limit_ <= now && !must_end_) {
      must_end_ = true;
      if (!status_) status_ = time_limit_status;
    }
    if (must_end_ && end == Clock::time_point::max()) {
      end = now + longest_reading;
      last_taken = now;
    }
    const std::uint64_t now_taken = relay_->taken();
    if (std::exchange(taken, now_taken) != now_taken) last_taken = now;
    const auto until = std::min(end, last_taken + reader_patience);
    if (must_end_ && until <= now) return;
    wait_for_events(must_end_ ? Deadline(until) : time_limit_);
  }
}

void Supervisor::say(const std::string& line) {
  const std::string text = fmt::format("muster: {}\n", line);
  if (relay_ != nullptr) {
    relay_->say(text);
  } else {
    write_all(2, text);
  }
}

}  // namespace muster::launcher
