#include "muster/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/process_limit.hpp"
#include "base/verify.hpp"
#include "fabric/host/control_group.hpp"
#include "fabric/host/liveness.hpp"
#include "launch/binding.hpp"
#include "launch/environment.hpp"
#include "launch/launch.hpp"
#include "launch/rendezvous.hpp"
#include "team/control.hpp"
#include "team/exit_watch.hpp"
#include "team/join.hpp"
#include "team/membership.hpp"
#include "team/run_timeout.hpp"
#include "team/shrink.hpp"

namespace muster {
namespace {

constexpr int failed = 1;
constexpr int usage = 2;

using Body = std::function<Result<int>(Team&)>;

void report(const std::string& who, const Error& error) {
  fmt::print(stderr, "muster: {}: {}\n", who, to_string(error));
  std::fflush(stderr);
}

// Longer is for ever: what is counted in nanoseconds ends after some 292 years.
constexpr std::chrono::milliseconds longest_timeout = std::chrono::hours(24 * 365 * 100);

}  // namespace

Result<std::chrono::milliseconds> timeout_of(const RunOptions& options) {
  const char* text = std::getenv("MUSTER_TIMEOUT");
  if (text == nullptr) return std::min(options.timeout, longest_timeout);
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(seconds > 0) || seconds > 1e9) {
    return Error{
        ErrorCode::invalid_argument,
        fmt::format(
            "MUSTER_TIMEOUT is \"{}\"; it must be a number of seconds above 0 and at most 1e9",
            text)};
  }
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000) + 1);
}

namespace {

// What the body made of it, with whatever it threw.
Result<int> call(const Body& body, Team& team) {
  try {
    return body(team);
  } catch (const Failure& failure) {
    return failure.error();
  } catch (const std::exception& thrown) {
    return Error{ErrorCode::aborted, fmt::format("the body threw: {}", thrown.what())};
  } catch (...) {
    return Error{ErrorCode::aborted, "the body threw something that is no std::exception"};
  }
}

// One rank from joining to leaving; its exit code.
int run_rank(const std::shared_ptr<const host::Job>& job, const host::JoinOptions& options,
             const Body& body) {
  const std::string who = fmt::format("rank {}", options.rank);
  const auto joined = host::join(job, options);
  if (!joined) return report(who, joined.error()), failed;
  host::RankContext& rank = **joined;
  const auto standing = std::make_shared<host::Standing>();
  standing->team = std::make_shared<host::TeamControl>(*joined, 0, standing);
  Team team(standing->team);
  Result<int> result = call(body, team);
  if (result && *result == 0) {
    if (const auto met = standing->team->agree("the end of the body"); !met) result = met.error();
  }
  int code = result ? *result : failed;
  if (code != 0 && (code & 0xff) == 0) code = failed;  // all that a process can pass on is 8 bits
  if (!result) report(who, result.error());
  if (code != 0) {
    standing->team->team().fail(WaitStatus::aborted, options.rank,
                                result ? fmt::format("{} ended with code {}", who, code)
                                       : fmt::format("{}: {}", who, to_string(result.error())));
  }
  standing->team.reset();
  std::fflush(nullptr);
  host::leave(rank);
  return code;
}

// The program may have asked for another number of ranks than it gets; rank 0 says so.
void compare_numbers(const launcher::LaunchedBy& self, std::uint32_t asked_for) {
  if (asked_for == 0 || asked_for == self.ranks || self.rank != 0) return;
  const bool by_other = self.launcher != launcher::Launcher::muster;
  fmt::print(stderr, "muster: {} started {} rank{}, and the program asks for {}; {} it is{}\n",
             name_of(self.launcher), self.ranks, self.ranks == 1 ? "" : "s", asked_for, self.ranks,
             by_other ? " (with MUSTER_LAUNCHER=none the program starts its own)" : "");
  std::fflush(stderr);
}

// As the rank that `self` says, in the process's turn between begin_run and end_run.
int join_started(host::Membership& membership, const launcher::LaunchedBy& self,
                 host::JoinOptions join, const Body& body) {
  struct EndOfRun {
    host::Membership& membership;
    ~EndOfRun() { membership.end_run(); }
  } const end{membership};
  // Those who do not come at all are told sooner, unless the user says how long.
  const bool as_told = std::getenv("MUSTER_TIMEOUT") != nullptr;
  const auto job =
      membership.job(as_told ? join.timeout : std::min(join.timeout, launcher::join_deadline));
  if (!job) return report(fmt::format("rank {}", self.rank), job.error()), failed;
  join.rank = self.rank;
  join.marked = true;
  // Another launcher takes code 0 for success, and does not know what a body is.
  std::optional<ExitWatch> watch;
  if (self.launcher != launcher::Launcher::muster) watch.emplace(fmt::format("rank {}", self.rank));
  return run_rank(*job, join, body);
}

// Ranks begin together, or none does: those that there is a thread for would wait for the others.
int start_threads(const std::shared_ptr<const host::Job>& job, host::JoinOptions join,
                  const Body& body) {
  join.processes = false;
  const std::uint32_t count = job->header().ranks;
  const ExitWatch watch(fmt::format("one of {} ranks", count));
  std::atomic<int> first{0};
  std::promise<bool> all_started;
  const std::shared_future<bool> begins = all_started.get_future().share();
  std::vector<std::thread> ranks;
  std::optional<Error> refusal;
  for (std::uint32_t rank = 0; rank < count && !refusal; ++rank) {
    try {
      ranks.emplace_back([&, rank] {
        if (!begins.get()) return;
        host::JoinOptions mine = join;
        mine.rank = rank;
        const int code = run_rank(job, mine, body);
        int none = 0;
        if (code != 0) first.compare_exchange_strong(none, code);
      });
    } catch (const std::system_error& refused) {
      const int code = refused.code().value();
      refusal = Error{ErrorCode::system,
                      fmt::format("cannot start a thread for rank {} of {}: {}{}", rank, count,
                                  std::strerror(code), note_on_processes(code))};
    }
  }
  all_started.set_value(!refusal);
  for (std::thread& rank : ranks) rank.join();
  if (refusal) return report("run", *refusal), failed;
  return first.load();
}

int start_processes(const std::shared_ptr<const host::Job>& job, const host::JoinOptions& join,
                    const Body& body) {
  launcher::LaunchOptions options;
  options.ranks = job->header().ranks;
  options.survivors_go_on = [&] { return host::survivors_stand(*job); };
  options.left_body = [&](std::uint32_t rank) { return host::left_body(*job, rank); };
  options.about_kill = host::watch_kills_for_memory();
  options.on_end = [&](std::uint32_t rank) { host::note_end(job->header(), rank); };
  options.is_lost = [&](std::uint32_t rank) { return host::is_lost(job->header(), rank); };
  options.first_to_fail = [&] { return host::first_to_fail(*job); };
  std::fflush(nullptr);  // or every rank would print what lies in this process's buffers
  return launcher::launch(options, [&](std::uint32_t rank) {
    host::JoinOptions mine = join;
    mine.rank = rank;
    const int code = run_rank(job, mine, body);
    std::fflush(nullptr);
    return code;
  });
}

}  // namespace

int detail::run_ranks(const RunOptions& options, const Body& body) {
  const Result<std::chrono::milliseconds> timeout = timeout_of(options);
  if (!timeout) return report("run", timeout.error()), usage;
  if (*timeout <= std::chrono::milliseconds(0)) {
    report("run",
           {ErrorCode::invalid_argument,
            fmt::format("the option `timeout` is {} ms; it must be above 0", timeout->count())});
    return usage;
  }
  if (options.lanes < 1 || options.lanes > 1024) {
    report("run",
           {ErrorCode::invalid_argument,
            fmt::format("the option `lanes` is {}; it must be from 1 to 1024", options.lanes)});
    return usage;
  }
  const Result<bool> verify = verifies_by_default();
  if (!verify) return report("run", verify.error()), usage;
  host::JoinOptions join{0, true, *timeout, *verify, options.lanes};
  join.on_expiry = options.on_expiry;
  host::Membership& membership = host::Membership::of_process();
  const auto started = membership.begin_run();
  if (!started) return report("run", started.error()), usage;
  if (*started) {
    compare_numbers(**started, options.ranks);
    return join_started(membership, **started, join, body);
  }
  Result<host::Job> job = host::create_job(
      {.ranks = options.ranks == 0 ? 2 : options.ranks, .cores = launcher::allowed_cores().size()});
  if (!job) return report("run", job.error()), usage;
  const auto shared = std::make_shared<const host::Job>(std::move(*job));
  return options.as == threads ? start_threads(shared, join, body)
                               : start_processes(shared, join, body);
}

}  // namespace muster
