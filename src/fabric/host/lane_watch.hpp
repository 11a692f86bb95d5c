// The slow side of a lane: what it does when a wait is not satisfied at once, and what it reports.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "fabric/host/team_context.hpp"
#include "muster/fabric/host.hpp"

namespace muster::host {

// The cell that a lane waits on; it lies in the memory of `owner` (the own rank but for hand).
struct Awaited {
  Signal signal;
  Rank owner;
  std::uint32_t* word;
  Compare compare;
  std::uint32_t value;
  bool packets = false;  // the flag of a line of packets; signal.cell is the line
  // The word is where a set-up call ends, and no signal. Whoever changes it wakes all.
  const MeetingPlace* meeting = nullptr;
};

class LaneWatch {
 public:
  // A lane of a team that has failed waits for nothing.
  LaneWatch(TeamContext& team, Lane lane, OnExpiry on_expiry)
      : team_(team), lane_(lane), on_expiry_(on_expiry), ended_(team.status()) {}

  // Yields for a while, then sleeps, until the cell satisfies, the deadline passes or the team
  // fails. The deadline counts from when the first wait of the lane's call turned slow, or this one
  // where it is in none.
  [[nodiscard]] WaitStatus wait(const Awaited& awaited, std::memory_order order, CallClock& call);
  [[nodiscard]] AnyStatus wait_any(const Awaited* awaited, std::uint32_t count,
                                   std::memory_order order, CallClock& call);
  // For a loop of tests: the team's failure, looked for now and then.
  [[nodiscard]] WaitStatus poll();

  // The lane is about to make this call: rejects it where a peer makes another in its place.
  void compare(const CallSignature& call);

  // This lane broke the contract: records it and fails the team.
  void reject(Error error);

  [[nodiscard]] TeamContext& team() const { return team_; }
  // The first thing that went wrong on this lane.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] bool rejected() const { return ended_ == WaitStatus::invalid; }
  // Whatever the lane does from now on is an error, with these words.
  void seal(std::string what) { sealed_ = std::move(what); }
  // Says so, once. What else has become of the team is not looked at: a lane that only touches
  // its windows need not hear of it.
  void refuse_sealed() {
    if (ended_ == WaitStatus::ok && !sealed_.empty()) [[unlikely]]
      reject(Error{ErrorCode::invalid_argument, sealed_});
  }
  // What all later waits of this lane return, if not ok. It deposits nothing more, and writes to no
  // peer: nobody may take what it does now for a part of a call that it has given up. The error
  // tells why, once this was asked.
  [[nodiscard]] WaitStatus ended() {
    refuse_sealed();
    return ended_ == WaitStatus::ok ? WaitStatus::ok : record(ended_, nullptr);
  }

 private:
  using Clock = std::chrono::steady_clock;

  // What a long wait has done so far.
  struct Progress {
    Clock::time_point begin = Clock::now();
    Clock::time_point next_look = begin + std::chrono::milliseconds(50);
    Clock::time_point slow_since = begin;                          // of the whole call
    std::chrono::nanoseconds nap = std::chrono::microseconds(50);  // how long the next one takes
  };

  [[nodiscard]] static Progress begin(CallClock& call);
  [[nodiscard]] Clock::time_point deadline(const Progress& progress) const;
  // The duties of a long wait: failures, lost peers, the notice, the deadline. ok: keep waiting.
  [[nodiscard]] WaitStatus attend(Progress& progress, const Awaited& awaited);
  void sleep(const Awaited& awaited, Progress& progress) const;
  void notice(const Awaited& awaited) const;
  WaitStatus record(WaitStatus status, const Awaited* awaited);
  void keep_error(WaitStatus status, const Awaited* awaited);
  [[nodiscard]] Error describe(const Awaited& awaited) const;
  [[nodiscard]] std::string last_call() const;

  TeamContext& team_;
  Lane lane_;
  std::optional<Error> error_;
  // The last call that was compared, for the error of a wait that fails in it or after it.
  CallSignature called_;
  std::string called_name_;
  std::uint64_t calls_ = 0;
  OnExpiry on_expiry_;
  WaitStatus ended_;
  std::string sealed_{};
  Clock::time_point noticed_{};  // the call of the last notice, by when it turned slow
  std::uint32_t polls_ = 0;
  Clock::time_point next_poll_look_{};
};

}  // namespace muster::host
