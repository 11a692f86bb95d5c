#include "cli/bench_topic.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <utility>

#include "bench/chart.hpp"
#include "bench/curves.hpp"
#include "bench/machine.hpp"
#include "bench/measure.hpp"
#include "bench/report.hpp"
#include "cli/sizes.hpp"

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
    if (!file_) fmt::print(stderr, "muster bench: {} could not be written in full\n", path_);
    return static_cast<bool>(file_);
  }

 private:
  std::string path_;
  std::ofstream file_;
};

// One table.
bench::Measurement measure_one(const bench::Topic& topic, const bench::Request& request) {
  bench::Measurement run{.request = request,
                         .conditions = {.machine = bench::this_machine(),
                                        .command = bench::command_line(),
                                        .date = bench::utc_now(),
                                        .load_before = bench::load_average()},
                         .measured = {}};
  bench::Conditions& conditions = run.conditions;
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
std::vector<bench::Request> requests_of(const BenchOptions& options, const Sizes& sizes) {
  bench::Request request = options.request;
  request.as = options.threads ? bench::As::threads : bench::As::processes;
  std::vector<bench::Request> all;
  for (const std::uint32_t ranks : options.ranks) {
    request.ranks = ranks;
    if (sizes.empty()) all.push_back(request);
    for (const std::uint64_t bytes : sizes) {
      request.bytes = bytes;
      all.push_back(request);
    }
  }
  return all;
}

void check_axes(const BenchOptions& options, const Sizes& sizes) {
  const bool by_ranks = options.ranks.size() > 1;
  if (options.svg.empty() || by_ranks != (sizes.size() > 1)) return;
  const std::string has = by_ranks ? "several of both were given"
                          : sizes.empty()
                              ? fmt::format("-n {} is one", options.ranks.front())
                              : fmt::format("-n {} and --sizes {} are one each",
                                            options.ranks.front(), size_word(sizes.front()));
  throw CLI::ValidationError(
      "--svg",
      fmt::format("a chart needs several numbers of ranks (-n 2,4,8){}; {}",
                  sizes.empty() ? "" : " or several sizes (--sizes 8:64M), and not both", has));
}

}  // namespace

int bench_topic(const bench::Topic& topic, const BenchOptions& options) {
  const Sizes sizes = *parse_sizes(options.sizes);
  check_axes(options, sizes);
  OutputFile json("--json", options.json);
  OutputFile svg("--svg", options.svg);

  bool failed = false;
  std::vector<bench::Measurement> runs;
  nlohmann::json reports = nlohmann::json::array();
  for (const bench::Request& request : requests_of(options, sizes)) {
    bench::Topic sized = topic;
    if (request.bytes != 0) sized.unit = fmt::format("{} of {} B", topic.unit, request.bytes);
    if (!runs.empty()) fmt::print("\n");
    const bench::Measurement& run = runs.emplace_back(measure_one(sized, request));
    const bench::Report report{sized, run.request, run.conditions, run.measured};
    fmt::print("{}", bench::table(report));
    std::fflush(stdout);
    for (const std::string& line : bench::warnings(run.conditions))
      fmt::print(stderr, "warning: {}\n", line);
    reports.push_back(bench::to_json(report));
    failed = failed || std::any_of(run.measured.begin(), run.measured.end(), is_failure);
  }
  // A topic without sizes and one number of ranks: the one report itself.
  const bool single = sizes.empty() && options.ranks.size() == 1;
  const bool written = json.write((single ? reports.front() : reports).dump(2) + '\n');
  const bool drawn = svg.write(bench::to_svg(bench::chart_of(topic, runs)));
  return failed || !written || !drawn ? 1 : 0;
}

}  // namespace muster::cli
