#include "check/asked.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <ctime>

namespace muster::check {

namespace {

void read_random(const std::string& text, Options& options) {
  const auto comma = text.find(',');
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, options.seed);
  bool good =
      comma != std::string::npos && first.ec == std::errc{} && first.ptr == text.data() + comma;
  if (good) {
    const auto second = std::from_chars(text.data() + comma + 1, end, options.executions);
    good = second.ec == std::errc{} && second.ptr == end && options.executions > 0;
  }
  if (!good)
    throw Usage{"--random is '" + text +
                "'; it must be SEED,N: whole numbers below 2^64, and N of 1 or more"};
}

// As asked, or as the check itself says.
Placement place_for(const Command& command, const Entry& entry, const Options& options) {
  const std::string text = command.place.value_or(entry.protocol.place);
  const Result<Placement> placement = placement_of(text);
  if (!placement) throw Usage{"--place: " + placement.error().what};
  if (const auto wrong = misplaced(*placement, options.ranks, options.lanes))
    throw Usage{command.place ? "--place: " + *wrong
                              : fmt::format("{} runs on {}, and {}: --place says otherwise",
                                            entry.name, text, *wrong)};
  return *placement;
}

volatile std::sig_atomic_t interrupt_seen = 0;

void note_interrupt(int /*signal*/) {
  interrupt_seen = 1;
}

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int status_of(Verdict verdict) {
  if (verdict == Verdict::refuted) return 1;
  return verdict == Verdict::bounded ? 3 : 0;
}

int worse(int a, int b) {
  const auto weight = [](int status) { return status == 1 ? 2 : status == 3 ? 1 : 0; };
  return weight(a) >= weight(b) ? a : b;
}

Options options_for(const Command& command, const Entry& entry) {
  Options options;
  options.ranks = command.ranks.value_or(entry.protocol.ranks);
  options.calls = command.calls.value_or(entry.protocol.calls);
  options.lanes = command.lanes.value_or(entry.protocol.lanes);
  options.threads = command.threads.value_or(entry.protocol.threads);
  options.tasks = entry.protocol.tasks;
  options.expire = command.expire.value_or(entry.protocol.expire);
  options.place = place_for(command, entry, options);
  options.rules = entry.protocol.rules;
  options.executions = command.executions;
  options.certificate = !command.search;
  if (command.pct || command.random) {
    options.strategy = command.pct ? Strategy::pct : Strategy::random;
    options.executions = std::min<std::uint64_t>(options.executions, 10'000);
    if (command.random) read_random(*command.random, options);
  }
  if (!command.all && isatty(STDERR_FILENO) != 0)
    options.progress = [](std::uint64_t executions) {
      fmt::print(stderr, "\r  {} executions", executions);
      std::fflush(stderr);
    };
  return options;
}

std::vector<Profile> profiles_for(const Command& command, const Entry& entry) {
  if (command.profile) {
    const auto profile = profile_of(*command.profile);
    if (!profile)
      throw Usage{"there is no profile '" + *command.profile +
                  "'; there are sc, direct, rdma and noncoherent"};
    return {*profile};
  }
  std::vector<Profile> profiles;
  for (const Profile profile : {Profile::sc, Profile::direct, Profile::rdma})
    if (profile >= entry.protocol.weakest) profiles.push_back(profile);
  if (entry.protocol.noncoherent) profiles.push_back(Profile::noncoherent);
  return profiles;
}

void listen_for_interrupts() {
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
}

bool interrupted() {
  return interrupt_seen != 0;
}

Deadline::Deadline(double seconds) : seconds_(seconds), processor_start_(processor_seconds()) {}

// One thread runs, so the processor's time is never ahead of the clock, which costs less to ask.
bool Deadline::reached() const {
  return seconds_ > 0 && seconds_since(start_) > seconds_ &&
         processor_seconds() - processor_start_ > seconds_;
}

Limit::Limit(double seconds, const Deadline* deadline, Options& options)
    : seconds_(seconds), deadline_(deadline) {
  options.halt = [this] { return reached(); };
}

bool Limit::reached() const {
  return interrupted() || (deadline_ != nullptr && deadline_->reached()) ||
         (seconds_ > 0 && seconds_since(start_) > seconds_);
}

std::string Limit::in_words(const std::string& bound) const {
  if (interrupted()) return bound + ", interrupted";
  if (deadline_ != nullptr && deadline_->reached())
    return fmt::format("over time, {} s (--timeout asks for more){}", deadline_->seconds(),
                       bound.starts_with("stopped after ") ? "" : ": " + bound);
  return reached() ? fmt::format("{}, {} s (--seconds asks for more)", bound, seconds_) : bound;
}

int on_profiles(Options options, const std::vector<Profile>& profiles,
                const std::function<std::optional<int>(const Options&)>& answer) {
  int status = 0;
  std::vector<Profile> left;
  for (const Profile profile : profiles) {
    options.profile = profile;
    options.quick = profiles.size() > 1;
    if (const auto known = answer(options))
      status = worse(status, *known);
    else
      left.push_back(profile);
  }
  options.quick = false;
  for (const Profile profile : left) {
    options.profile = profile;
    status = worse(status, answer(options).value_or(3));
  }
  return status;
}

}  // namespace muster::check
