// What a command asks of one check: its configuration, its profiles, when it is to stop.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "check/command.hpp"

namespace muster::check {

// The arguments make no sense; `what` says which, and what would.
struct Usage {
  std::string what;
};

// Where the checker has not come to say what it was asked. It must not read as "refuted".
inline constexpr int no_answer_status = 4;

// The exit status of a verdict, and of two: 1 outdoes 3 outdoes 0.
[[nodiscard]] int status_of(Verdict verdict);
[[nodiscard]] int worse(int a, int b);

// Both throw Usage.
[[nodiscard]] Options options_for(const Command& command, const Entry& entry);
[[nodiscard]] std::vector<Profile> profiles_for(const Command& command, const Entry& entry);

// Ctrl-C ends what runs now with what is known; a second one ends the program.
void listen_for_interrupts();
[[nodiscard]] bool interrupted();

// The --timeout of one check on all its profiles: seconds of processor time, so that what else the
// machine has to do changes no verdict. 0: none.
class Deadline {
 public:
  explicit Deadline(double seconds);
  [[nodiscard]] bool reached() const;
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  double seconds_;
  double processor_start_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Halts an exploration after so many seconds (0: none), at a deadline, or when interrupted.
class Limit {
 public:
  Limit(double seconds, const Deadline* deadline, Options& options);
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;
  [[nodiscard]] bool reached() const;
  // What was bounded, and by what.
  [[nodiscard]] std::string in_words(const std::string& bound) const;

 private:
  double seconds_;
  const Deadline* deadline_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// One profile after the other. What fails soon, or is certified, is said before anything is
// searched for long: `answer` gives nothing where such a search is still to come, and is asked
// again. The worst status.
[[nodiscard]] int on_profiles(Options options, const std::vector<Profile>& profiles,
                              const std::function<std::optional<int>(const Options&)>& answer);

}  // namespace muster::check
