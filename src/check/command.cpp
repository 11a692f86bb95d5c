#include "check/command.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <fstream>

#include "check/configuration.hpp"
#include "check/print.hpp"

namespace muster::check {

namespace {

constexpr const char* what_is_not_explored =
    "Not explored: load buffering and speculation (contract 5 excludes them), behaviour after a "
    "reported error,\nother ranks, inputs and calls than those run, data touched outside the "
    "fabric, mixed-size accesses, wrap of the\n32-bit counters, expiry unless asked for, loops "
    "that "
    "never call the fabric (the checker hangs with\nthem), schedulers that never run a runnable "
    "thread. docs/checking.md says more.\n"
    "Exit status: 0 certified or complete, 1 refuted, 2 usage, 3 bounded.";

struct Usage {
  std::string what;
};

// Status 1 outdoes 3 outdoes 0.
int worse(int a, int b) {
  const auto weight = [](int status) { return status == 1 ? 2 : status == 3 ? 1 : 0; };
  return weight(a) >= weight(b) ? a : b;
}

std::size_t output_width() {
  winsize size{};
  if (isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
      size.ws_col >= 60)
    return size.ws_col;
  return 120;
}

void read_random(const std::string& text, Options& options) {
  const auto comma = text.find(',');
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, options.seed);
  bool good = comma != std::string::npos && first.ptr == text.data() + comma;
  if (good) {
    const auto second = std::from_chars(text.data() + comma + 1, end, options.executions);
    good = second.ec == std::errc{} && second.ptr == end;
  }
  if (!good) throw Usage{"--random wants SEED,N: two numbers, not '" + text + "'"};
}

Options options_for(const Command& command, const Entry& entry) {
  Options options;
  options.ranks = command.ranks.value_or(entry.protocol.ranks);
  options.calls = command.calls.value_or(entry.protocol.calls);
  options.lanes = command.lanes.value_or(entry.protocol.lanes);
  options.threads = command.threads.value_or(entry.protocol.threads);
  options.expire = command.expire.value_or(entry.protocol.expire);
  options.executions = command.executions;
  options.certificate = !command.search;
  if (command.pct || !command.random.empty()) {
    options.strategy = command.pct ? Strategy::pct : Strategy::random;
    options.executions = std::min<std::uint64_t>(options.executions, 10'000);
    if (!command.random.empty()) read_random(command.random, options);
  }
  if (isatty(STDERR_FILENO) != 0)
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
      throw Usage{"there is no profile '" + *command.profile + "'; there are sc, direct and rdma"};
    return {*profile};
  }
  std::vector<Profile> profiles;
  for (const Profile profile : {Profile::sc, Profile::direct, Profile::rdma})
    if (profile >= entry.protocol.weakest) profiles.push_back(profile);
  return profiles;
}

class Runner {
 public:
  explicit Runner(const Command& command) : command_(command) {}

  int all() {
    int status = 0;
    if (!command_.json.empty()) json_.open(command_.json);
    if (!command_.json.empty() && !json_) throw Usage{"cannot write " + command_.json};
    for (const Entry* entry : chosen()) status = worse(status, one(*entry));
    if (json_.is_open() && !json_.flush()) {
      fmt::print(stderr, "muster check: {} could not be written\n", command_.json);
      return 1;
    }
    return status;
  }

 private:
  [[nodiscard]] std::vector<const Entry*> chosen() const {
    std::vector<const Entry*> entries;
    if (command_.names.empty())
      for (const Entry& entry : registry()) entries.push_back(&entry);
    for (const std::string& name : command_.names) {
      const Entry* entry = find(name);
      if (entry == nullptr && name.starts_with("broken/"))
        throw Usage{"there is no check '" + name +
                    "' in this build; those that must be caught are in builds with the tests "
                    "(./dev build, then build/dev/bin/muster)"};
      if (entry == nullptr) throw Usage{"there is no check '" + name + "'; --list names them"};
      entries.push_back(entry);
    }
    return entries;
  }

  int one(const Entry& entry) {
    Options options = options_for(command_, entry);
    std::vector<Profile> profiles = profiles_for(command_, entry);
    if (!command_.replay.empty()) {
      if (!read_replay(command_.replay, options))
        throw Usage{"'" + command_.replay + "' is no replay string"};
      profiles = {options.profile};
      options.strategy = Strategy::search;
    }
    fmt::print("{}: {} ranks, {} calls, {} lanes, {} threads per lane\n", entry.name, options.ranks,
               options.calls, options.lanes, options.threads);
    int status = 0;
    for (const Profile profile : profiles) {
      options.profile = profile;
      status = worse(status, configuration(entry, options));
    }
    return status;
  }

  int configuration(const Entry& entry, Options options) {
    options.trace = !options.replay.empty();
    const auto start = std::chrono::steady_clock::now();
    const Report report = explore(options, entry.body);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    if (options.progress && report.executions + report.dropped >= 4096)
      fmt::print(stderr, "\r{:30}\r", "");
    fmt::print("{} ({:.3f} s)\n", verdict_line(report, options), time.count());
    std::vector<Repair> repairs;
    if (report.verdict == Verdict::refuted)
      repairs = refuted(entry, options, report);
    else if (command_.weaken)
      fmt::print("{}", weakening_lines(single_weakenings(entry, options, report)));
    if (json_.is_open()) json_ << as_json(entry, options, report, repairs) << '\n';
    std::fflush(stdout);
    if (report.verdict == Verdict::refuted) return 1;
    return report.verdict == Verdict::bounded ? 3 : 0;
  }

  std::vector<Repair> refuted(const Entry& entry, const Options& options, const Report& report) {
    const bool replays = !options.replay.empty();
    const Smallest failure = replays ? Smallest{options, report}
                                     : smallest_failure(entry, options, wanted(entry, report));
    const auto repairs =
        replays ? std::vector<Repair>{} : single_repairs(entry, failure.options, failure.report);
    fmt::print("{}", counterexample(entry, failure, repairs, output_width()));
    return repairs;
  }

  // A check that says how it fails is shrunk to that, others to what was found first.
  static Kind wanted(const Entry& entry, const Report& report) {
    if (entry.protocol.fails && report.has(*entry.protocol.fails)) return *entry.protocol.fails;
    return report.findings.front().kind;
  }

  const Command& command_;
  std::ofstream json_;
};

}  // namespace

void add_options(CLI::App& app, Command& command) {
  app.add_flag("--list", command.list,
               "name the checks, the weakest profile each claims, and stop");
  app.add_option("-n,--ranks", command.ranks, "number of ranks")->check(CLI::Range(1U, 256U));
  app.add_option("--calls", command.calls, "how often the protocol is used")
      ->check(CLI::Range(1U, 1'000'000U));
  app.add_option("--lanes", command.lanes, "lanes per rank")->check(CLI::Range(1U, 64U));
  app.add_option("--threads-per-lane", command.threads, "threads per lane")
      ->check(CLI::Range(1U, 64U));
  app.add_option("--profile", command.profile, "sc, direct or rdma; default: all that it claims");
  app.add_option("--random", command.random, "SEED,N: N random schedules instead of a search");
  app.add_flag("--pct", command.pct, "schedules with random priorities (with --random SEED,N)");
  app.add_option("--expire", command.expire, "let up to K waits of an execution expire");
  app.add_option("--executions", command.executions,
                 "at most so many; above, the answer is bounded");
  app.add_option("--replay", command.replay, "run one execution again and show it");
  app.add_option("--json", command.json, "write the reports to this file, one object a line");
  app.add_flag("--search", command.search, "search even where one execution stands for all");
  app.add_flag("--weaken", command.weaken, "look for orders and flushes that are not needed");
  app.footer(what_is_not_explored);
}

int run(const Command& command) {
  try {
    if (command.list) {
      fmt::print("{}", list_of_checks(registry()));
      return 0;
    }
    return Runner(command).all();
  } catch (const Usage& usage) {
    fmt::print(stderr, "muster check: {}\n", usage.what);
    return 2;
  }
}

}  // namespace muster::check
