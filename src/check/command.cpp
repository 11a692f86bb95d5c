#include "check/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/printable.hpp"
#include "check/all.hpp"
#include "check/asked.hpp"
#include "check/configuration.hpp"
#include "check/hints.hpp"
#include "check/page.hpp"
#include "check/print.hpp"

namespace muster::check {

namespace {

constexpr const char* what_is_not_explored =
    "Not explored: load buffering and speculation (contract 5 excludes them), behaviour after a "
    "reported error,\nother ranks, inputs and calls than those run, mixed-size accesses, wrap of "
    "the "
    "32-bit counters, expiry unless\nasked for, loops that never call the fabric (the checker "
    "hangs with them; Ctrl-C twice ends it),\nschedulers that never run a runnable thread. "
    "Variables outside the fabric: where ranks, lanes and threads do\nsomething else when they run "
    "in the opposite order, there is no verdict. docs/checking.md says more.\n"
    "Exit status: 0 certified or complete, 1 refuted, 2 usage, 3 bounded (no verdict), 4 the "
    "output could not be written,\nor the checker itself failed.";

constexpr double seconds_of_reruns = 20;  // for the smallest failure and what mends it

std::size_t output_width() {
  winsize size{};
  if (isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
      size.ws_col >= 60)
    return size.ws_col;
  return 120;
}

// What writes over the other's output. A device, or a pipe, takes both.
bool names_one_file(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return false;
  std::error_code unknown;
  if (std::filesystem::equivalent(a, b, unknown))
    return std::filesystem::is_regular_file(a, unknown);
  return !std::filesystem::exists(a, unknown) && std::filesystem::weakly_canonical(a, unknown) ==
                                                     std::filesystem::weakly_canonical(b, unknown);
}

// A group is named with what is in it.
std::string no_check(const std::string& name) {
  std::vector<std::string> members;
  const std::string group = name.ends_with('/') ? name : name + '/';
  for (const Entry& entry : registry())
    if (entry.name.starts_with(group)) members.push_back(entry.name);
  if (members.empty()) return "there is no check '" + name + "'; --list names them";
  return fmt::format("'{}' is a group of checks: {} (--all {} runs those that are meant to pass)",
                     name, fmt::join(members, ", "), name);
}

class Runner {
 public:
  explicit Runner(const Command& command) : command_(command) {}

  int all() {
    int status = 0;
    listen_for_interrupts();
    if (names_one_file(command_.html, command_.json))
      throw Usage{"--html and --json are both '" + command_.html + "'; name two files"};
    open(json_, command_.json);
    open(html_, command_.html);
    for (const Entry* entry : chosen()) status = worse(status, one(*entry));
    if (html_.is_open()) html_ << page_of(page_);
    const bool written = is_written(json_, command_.json) && is_written(html_, command_.html);
    if (html_.is_open() && written) fmt::print("page: {}\n", printable(command_.html));
    return written || status != 0 ? status : no_answer_status;
  }

 private:
  static void open(std::ofstream& file, const std::string& path) {
    if (!path.empty()) file.open(path);
    if (!path.empty() && !file) throw Usage{"cannot write " + path};
  }

  static bool is_written(std::ofstream& file, const std::string& path) {
    if (!file.is_open() || file.flush()) return true;
    fmt::print(stderr, "muster check: {} could not be written\n", printable(path));
    return false;
  }

  [[nodiscard]] std::vector<const Entry*> chosen() const {
    std::vector<const Entry*> entries;
    if (command_.names.empty())
      for (const Entry& entry : registry()) entries.push_back(&entry);
    for (const std::string& name : command_.names) {
      const Entry* entry = find(name);
      if (entry == nullptr && (name.starts_with("broken/") || name.starts_with("self_clearing/")))
        throw Usage{"there is no check '" + name + "' in this build; those of " +
                    name.substr(0, name.find('/')) +
                    "/ are in builds with the tests (./dev build, then build/dev/bin/muster)"};
      if (entry == nullptr) throw Usage{no_check(name)};
      entries.push_back(entry);
    }
    return entries;
  }

  int one(const Entry& entry) {
    Options options = options_for(command_, entry);
    std::vector<Profile> profiles = profiles_for(command_, entry);
    if (command_.replay) {
      if (const std::string wrong = read_replay(*command_.replay, options); !wrong.empty())
        throw Usage{"--replay is '" + *command_.replay + "', which is no replay string: " + wrong};
      profiles = {options.profile};
      options.strategy = Strategy::search;
    }
    fmt::print("{}: {}\n", entry.name, in_words(options));
    std::fflush(stdout);
    told_ = {};
    page_.push_back({&entry, {}, {}});
    holding_.clear();
    const Deadline deadline(command_.timeout.value_or(0));
    const int status = on_profiles(options, profiles, [&](const Options& configured) {
      return configuration(entry, configured, deadline);
    });
    if (command_.hints) hints(entry, deadline);
    return status;
  }

  void hints(const Entry& entry, const Deadline& deadline) {
    Options halting;
    const Limit limit(0, &deadline, halting);
    for (Holding& one : holding_) one.options.halt = halting.halt;
    const bool on_terminal = isatty(STDERR_FILENO) != 0;
    const auto found = hints_for(entry, holding_, [&](std::size_t done, std::size_t all) {
      if (on_terminal) fmt::print(stderr, "\r  hints: {} of {} places tried", done, all);
      if (on_terminal) std::fflush(stderr);
    });
    if (on_terminal) fmt::print(stderr, "\r{:40}\r", "");
    std::vector<std::string> lines = hint_lines(found, holding_);
    for (const std::string& line : lines) fmt::print("    hint: {}\n", line);
    std::fflush(stdout);
    page_.back().hints = std::move(lines);
  }

  // Nothing where a longer search is still to come.
  std::optional<int> configuration(const Entry& entry, Options options, const Deadline& deadline) {
    options.trace = !options.replay.empty();
    const Limit limit(command_.seconds, &deadline, options);
    const auto start = std::chrono::steady_clock::now();
    Report report = explore(options, entry.body);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    if (options.progress && report.executions + report.dropped >= 256)
      fmt::print(stderr, "\r{:30}\r", "");
    if (!report.no_such_replay.empty())
      throw Usage{"--replay is '" + *command_.replay + "': " + report.no_such_replay};
    if (report.unfinished && !limit.reached()) return std::nullopt;
    if (report.verdict == Verdict::bounded) report.bound = limit.in_words(report.bound);
    fmt::print("{} ({:.3f} s)\n", verdict_line(report, options), time.count());
    std::fflush(stdout);
    std::vector<Repair> repairs;
    PageResult shown;
    if (report.verdict == Verdict::refuted)
      repairs = refuted(entry, options, report, shown);
    else if (report.verdict != Verdict::bounded)
      holding_.push_back({options, report});
    if (html_.is_open()) add_to_page(entry, options, report, repairs, std::move(shown));
    if (json_.is_open()) json_ << as_json(entry, options, report, repairs, time.count()) << '\n';
    std::fflush(stdout);
    return status_of(report.verdict);
  }

  std::vector<Repair> refuted(const Entry& entry, const Options& options, const Report& report,
                              PageResult& shown) {
    const bool replays = !options.replay.empty();
    Options reruns = options;
    const Limit limit(seconds_of_reruns, nullptr, reruns);
    const Smallest failure = replays ? Smallest{options, report}
                                     : smallest_failure(entry, reruns, wanted(entry, report));
    const auto repairs =
        replays ? std::vector<Repair>{} : single_repairs(entry, failure.options, failure.report);
    const std::string text = counterexample(entry, failure, repairs, output_width());
    const auto& [profile, same] = told_;
    const bool as_before = same_but_for_the_profile(text, same);
    if (as_before) shown.same_as = profile;
    if (as_before)
      fmt::print("    fails as on {}, with --replay {}\n", name_of(profile),
                 replay_string(failure.options, failure.report.replay));
    else
      fmt::print("{}", text);
    told_ = {options.profile, text};
    shown.shown = failure;
    return repairs;
  }

  // With the executions that are looked at: what fails, what mends it, or one where all is well.
  void add_to_page(const Entry& entry, const Options& options, const Report& report,
                   const std::vector<Repair>& repairs, PageResult result) {
    result.options = options;
    result.report = report;
    if (report.verdict != Verdict::refuted)
      result.shown = {options, options.replay.empty() ? one_execution(entry, options) : report};
    if (!result.same_as)
      for (const Repair& repair : repairs)
        result.mends.push_back({repair, one_execution(entry, result.shown.options, &repair)});
    page_.back().results.push_back(std::move(result));
  }

  // The first line and the last name the profile.
  static bool same_but_for_the_profile(const std::string& a, const std::string& b) {
    const auto body = [](const std::string& text) {
      const auto first = text.find('\n', 1);
      const auto last = text.rfind("    replay: ");
      return first == std::string::npos || last == std::string::npos
                 ? std::string()
                 : text.substr(first, last - first);
    };
    return !a.empty() && body(a) == body(b);
  }

  // A check that says how it fails is shrunk to that, others to what was found first.
  static Kind wanted(const Entry& entry, const Report& report) {
    if (entry.protocol.fails && report.has(*entry.protocol.fails)) return *entry.protocol.fails;
    return report.findings.front().kind;
  }

  const Command& command_;
  std::ofstream json_, html_;
  std::vector<PageCheck> page_;
  std::vector<Holding> holding_;          // of the check at hand
  std::pair<Profile, std::string> told_;  // the last counterexample
};

// A number that is one: "nan" is not less than 0 either.
CLI::Validator some_seconds() {
  const auto objection = [](std::string& text) -> std::string {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (!text.empty() && *end == '\0' && std::isfinite(value) && value >= 0) return {};
    return fmt::format("'{}' must be a number of seconds, 0 or more", text);
  };
  return {objection, "SECONDS"};
}

int answer(const Command& command) {
  try {
    if (command.list) {
      fmt::print("{}", list_of_checks(registry()));
      return 0;
    }
    return command.all ? run_all(command) : Runner(command).all();
  } catch (const Usage& usage) {
    fmt::print(stderr, "muster check: {}\n", printable(usage.what));
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "muster check: {}\n", printable(error.what()));
    return no_answer_status;
  }
}

}  // namespace

void add_options(CLI::App& app, Command& command) {
  auto* list = app.add_flag("--list", command.list,
                            "name the checks, the weakest profile each claims, and stop");
  auto* all = app.add_flag(
      "--all", command.all,
      "every check that is meant to pass, a line each; names may be groups, as in --all transfer");
  app.add_option("--jobs", command.jobs, "with --all: so many at once; default: the cores")
      ->check(CLI::Range(1U, 1024U))
      ->needs(all);
  app.add_option("--timeout", command.timeout,
                 "of a check on all its profiles, in seconds of processor time (with --all 10); "
                 "above, the answer is bounded; 0: no limit")
      ->check(some_seconds());
  app.add_option("-n,--ranks", command.ranks, "number of ranks")->check(CLI::Range(1U, most_ranks));
  app.add_option("--calls", command.calls, "how often the protocol is used")
      ->check(CLI::Range(1U, most_calls));
  app.add_option("--lanes", command.lanes, "lanes per rank")->check(CLI::Range(1U, most_lanes));
  app.add_option("--threads-per-lane", command.threads, "threads per lane")
      ->check(CLI::Range(1U, most_threads));
  app.add_option("--profile", command.profile,
                 "sc, direct, rdma or noncoherent; default: all that it claims");
  app.add_option(
      "--place", command.place,
      "where lanes run, WHO=WHERE with commas: 0=gpu0,1=gpu1 or all=gpu,all.1=host; WHO "
      "is a rank, a lane of one (0.1), all or all.1, WHERE is host, gpuN, gpu (one for "
      "each rank) or nic; default: each rank on a device of its own, atomic towards all");
  app.add_option("--random", command.random, "SEED,N: N random schedules instead of a search");
  app.add_flag("--pct", command.pct, "schedules with random priorities (with --random SEED,N)");
  app.add_option("--expire", command.expire, "let up to K waits of an execution expire")
      ->check(CLI::Range(0U, most_expired));
  app.add_option("--executions", command.executions,
                 "at most so many; above, the answer is bounded")
      ->check(CLI::Range(std::uint64_t{1}, most_executions));
  app.add_option("--seconds", command.seconds,
                 "of the search on each profile (60); above, the answer is bounded; 0: no limit")
      ->check(some_seconds());
  auto* replay = app.add_option("--replay", command.replay, "run one execution again and show it");
  app.add_option("--json", command.json, "write the reports to this file, one object a line");
  app.add_option(
      "--html", command.html,
      "write a page to look at to this file: the execution as a diagram, beside its source");
  app.add_flag("--search", command.search, "search even where one execution stands for all");
  auto* hints = app.add_flag(
      "--hints", command.hints,
      "look for orders, flushes, converges, notifies and waits that this check does not need");
  all->excludes(list)->excludes(replay)->excludes(hints);
  app.footer(what_is_not_explored);
}

int run(const Command& command) {
  const int status = answer(command);
  if (status != 0 || (std::fflush(stdout) == 0 && std::ferror(stdout) == 0)) return status;
  fmt::print(stderr, "muster check: the output could not be written\n");
  return no_answer_status;
}

int run_program(int argc, char** argv, const char* version) {
  CLI::App app("checks of this program");
  Command command;
  app.add_option("names", command.names,
                 "which checks to run, with --all groups of them too; default: all");
  app.set_version_flag("--version", version);
  add_options(app, command);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    return app.exit(asked);  // --help, --version
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "{}\nsee --help\n", printable(error.what()));
    return 2;
  }
  return run(command);
}

}  // namespace muster::check
