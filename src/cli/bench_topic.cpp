#include "cli/bench_topic.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/printable.hpp"
#include "bench/machine.hpp"
#include "bench/measure.hpp"
#include "bench/report.hpp"

namespace muster::cli {

namespace {

// One line that is written over; on a terminal only.
class ProgressLine {
 public:
  explicit ProgressLine(std::uint32_t rounds) : rounds_(rounds) {}
  ~ProgressLine() {
    if (shown_) fmt::print(stderr, "\r\033[K");
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void operator()(std::uint32_t round, const std::string& contender) {
    if (!terminal_) return;
    const std::string where =
        round == 0 ? "warm-up" : fmt::format("round {} of {}", round, rounds_);
    fmt::print(stderr, "\r\033[K{}: {}", where, contender);
    std::fflush(stderr);
    shown_ = true;
  }

 private:
  std::uint32_t rounds_;
  bool terminal_ = isatty(STDERR_FILENO) == 1;
  bool shown_ = false;
};

// A peer that fails is reported in its place; only our own failures are ours.
bool is_failure(const bench::Measured& measured) {
  return measured.failed && measured.contender.role != bench::Role::peer;
}

// Opened before anything is measured: a path that cannot be written should not cost a measurement.
class OutputFile {
 public:
  OutputFile(const char* option, std::string path) : path_(std::move(path)) {
    if (path_.empty()) return;
    file_.open(path_);
    if (!file_) throw CLI::ValidationError(option, fmt::format("{} cannot be written", path_));
  }

  // False, with a complaint, where not all of it could be written. Nothing at all without a path.
  [[nodiscard]] bool write(const std::string& text) {
    if (path_.empty()) return true;
    file_ << text << std::flush;
    if (!file_)
      fmt::print(stderr, "muster bench: {} could not be written in full\n", printable(path_));
    return static_cast<bool>(file_);
  }

 private:
  std::string path_;
  std::ofstream file_;
};

// One table of a command.
struct Measurement {
  bench::Request request;
  bench::Conditions conditions;
  std::vector<bench::Measured> measured;
};

// One measurement. `devices`: what it runs on where that is not the cores.
Measurement measure_one(const bench::Topic& topic, const bench::Request& request,
                        const std::string& devices) {
  Measurement run{.request = request,
                  .conditions = {.machine = bench::this_machine(),
                                 .command = bench::command_line(),
                                 .date = bench::utc_now(),
                                 .load_before = bench::load_average()},
                  .measured = {}};
  bench::Conditions& conditions = run.conditions;
  conditions.machine.devices = devices;
  const std::vector<int>& cores = conditions.machine.cores;
  conditions.busy_before = bench::busy_share(cores);
  {
    ProgressLine progress(request.rounds);
    run.measured =
        bench::measure(bench::contenders_of(topic, request), request, cores, std::ref(progress));
  }
  conditions.busy_after = bench::busy_share(cores);
  return run;
}

// The requests of all tables.
std::vector<bench::Request> requests_of(const bench::Topic& topic, const BenchOptions& options) {
  const Sizes sizes = options.sizes.empty() ? Sizes{0} : options.sizes;
  const auto variants = topic.variants.empty() ? std::vector<std::string>{""} : topic.variants;
  bench::Request request = options.request;
  std::vector<bench::Request> all;
  for (const std::uint32_t ranks : options.ranks) {
    for (const std::uint64_t bytes : sizes) {
      for (const std::string& variant : variants) {
        request.ranks = ranks;
        request.bytes = bytes;
        request.variant = variant;
        all.push_back(request);
      }
    }
  }
  return all;
}

// What is written into the file, and how it went.
struct Outcome {
  bool failed = false;
  nlohmann::json reports = nlohmann::json::array();
};

Outcome measure_all(const bench::Topic& topic, const BenchOptions& options,
                    const std::string& devices) {
  Outcome outcome;
  for (const bench::Request& request : requests_of(topic, options)) {
    bench::Topic sized = topic;
    if (request.bytes != 0) sized.unit = fmt::format("{} of {} B", topic.unit, request.bytes);
    if (!outcome.reports.empty()) fmt::print("\n");
    const Measurement run = measure_one(sized, request, devices);
    const bench::Report report{sized, run.request, run.conditions, run.measured};
    fmt::print("{}", bench::table(report));
    std::fflush(stdout);
    for (const std::string& line : bench::warnings(run.conditions))
      fmt::print(stderr, "warning: {}\n", printable(line));
    outcome.reports.push_back(bench::to_json(report));
    outcome.failed |= std::any_of(run.measured.begin(), run.measured.end(), is_failure);
  }
  return outcome;
}

// Its devices are not there, which is no failure, or failed: a line and the file say why.
Outcome without_devices(const bench::Topic& topic, const Error& why) {
  Outcome outcome;
  if (why.code == ErrorCode::unavailable) {
    fmt::print("SKIPPED: {} is not measured on {}: {}\n", topic.name, topic.fabric, why.what);
    outcome.reports.push_back(
        {{"topic", topic.name}, {"fabric", topic.fabric}, {"skipped", why.what}});
    return outcome;
  }
  fmt::print(stderr, "muster bench: {} on {}: {}\n", topic.name, topic.fabric,
             printable(to_string(why)));
  outcome.failed = true;
  return outcome;
}

}  // namespace

int bench_topic(const bench::Topic& topic, const BenchOptions& options) {
  OutputFile json("--json", options.json);
  const Result<std::string> devices = topic.devices ? topic.devices() : Result<std::string>("");
  const Outcome outcome =
      devices ? measure_all(topic, options, *devices) : without_devices(topic, devices.error());
  // A single report is written as itself.
  const nlohmann::json& reports = outcome.reports;
  const bool written = json.write((reports.size() == 1 ? reports.front() : reports).dump(2) + '\n');
  return outcome.failed ? 1 : !written ? 4 : 0;  // 4: as main has it
}

}  // namespace muster::cli
