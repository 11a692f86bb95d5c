// `muster bench TOPIC`: measures one topic beside its peers.
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "bench/contender.hpp"
#include "bench/measure.hpp"
#include "bench/report.hpp"
#include "bench/sizes.hpp"

namespace muster::cli {

namespace {

constexpr std::uint32_t most_ranks = 1024;

struct Options {
  bench::Request request;
  std::vector<std::string> sizes;  // as bench::parse_sizes reads them
  bool threads = false;
  std::string fabric = "host";
  std::string json;
};

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

// One table; its JSON is appended to `all`. True where something of ours failed.
bool measure_one(const bench::Topic& topic, const bench::Request& request, nlohmann::json& all) {
  bench::Conditions conditions{.machine = bench::this_machine(),
                               .command = bench::command_line(),
                               .date = bench::utc_now(),
                               .load_before = bench::load_average()};
  const std::vector<int>& cores = conditions.machine.cores;
  conditions.busy_before = bench::busy_share(cores);
  std::vector<bench::Measured> measured;
  {
    ProgressLine progress(request.rounds);
    measured =
        bench::measure(bench::contenders_of(topic, request), request, cores, std::ref(progress));
  }
  conditions.busy_after = bench::busy_share(cores);

  const bench::Report report{topic, request, conditions, measured};
  fmt::print("{}", bench::table(report));
  std::fflush(stdout);
  for (const std::string& line : bench::warnings(conditions))
    fmt::print(stderr, "warning: {}\n", line);
  all.push_back(bench::to_json(report));
  return std::any_of(measured.begin(), measured.end(), is_failure);
}

int run_topic(const bench::Topic& topic, const Options& options) {
  // Opened first: a path that cannot be written should not cost a measurement.
  std::ofstream json;
  if (!options.json.empty()) {
    json.open(options.json);
    if (!json)
      throw CLI::ValidationError("--json", fmt::format("{} cannot be written", options.json));
  }

  bench::Request request = options.request;
  request.as = options.threads ? bench::As::threads : bench::As::processes;
  nlohmann::json all = nlohmann::json::array();
  bool failed = false;
  const bench::Sizes sizes = *bench::parse_sizes(options.sizes);
  for (const std::uint64_t bytes : sizes) {
    bench::Topic sized = topic;
    sized.unit = fmt::format("{} of {} B", topic.unit, bytes);
    request.bytes = bytes;
    failed = measure_one(sized, request, all) || failed;
  }
  if (sizes.empty()) failed = measure_one(topic, request, all);
  if (json.is_open()) {
    // Without sizes the one report itself, as it has always been.
    json << (sizes.empty() ? all.front() : all).dump(2) << '\n' << std::flush;
    if (!json) {
      fmt::print(stderr, "muster bench: {} could not be written in full\n", options.json);
      failed = true;
    }
  }
  return failed ? 1 : 0;
}

const bench::Topic& topic_on(const std::string& name, const std::string& fabric) {
  for (const bench::Topic& topic : bench::topics())
    if (topic.name == name && topic.fabric == fabric) return topic;
  throw CLI::ValidationError("--fabric", fmt::format("{} is not measured on {}", name, fabric));
}

std::vector<std::string> fabrics_of(const std::string& name) {
  std::vector<std::string> fabrics;
  for (const bench::Topic& topic : bench::topics())
    if (topic.name == name) fabrics.push_back(topic.fabric);
  return fabrics;
}

void add_options(CLI::App& verb, const bench::Topic& topic, Options& options) {
  bench::Request& request = options.request;
  request.peers = topic.peers;
  verb.add_option("-n,--ranks", request.ranks, "Ranks")
      ->check(CLI::Range(2U, most_ranks))
      ->capture_default_str();
  for (const std::uint64_t size : topic.sizes) options.sizes.push_back(bench::size_word(size));
  if (!topic.sizes.empty())
    verb.add_option("--sizes", options.sizes,
                    "Bytes of a message, multiples of 4, by commas: 8, 64K, 2M, 1G, or ranges: "
                    "8:64M (each twice the one before), 8:64M:4 (each four times)")
        ->delimiter(',')
        ->check([](const std::string& word) {
          const auto sizes = bench::parse_size_word(word);
          return sizes ? std::string() : sizes.error().what;
        })
        ->capture_default_str();
  verb.add_flag("--threads", options.threads, "Ranks are threads of one process");
  verb.add_option("--fabric", options.fabric, "What carries it")
      ->check(CLI::IsMember(fabrics_of(topic.name)))
      ->capture_default_str();
  verb.add_option("--peer", request.peers, "Whom to measure beside it, separated by commas")
      ->delimiter(',')
      ->check(CLI::IsMember(topic.peers));
  verb.add_option("--rounds", request.rounds, "Rounds; each runs every contender once")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str();
  verb.add_option("--repeat", request.repeat, "Timed blocks in each run")
      ->check(CLI::Range(1U, bench::max_blocks))
      ->capture_default_str();
  verb.add_option("--calls", request.calls, "Calls in each block (default: 20 ms of them)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}));
  verb.add_option("--json", options.json, "Write everything to this file too")->type_name("FILE");
}

}  // namespace

// bench_check.cpp: no contenders, so no topic.
void add_bench_check(CLI::App& bench, int& status);

// Status 1: one of muster's own contenders, a floor or the report failed.
void add_bench(CLI::App& app, int& status) {
  CLI::App* bench = app.add_subcommand("bench", "Measure muster beside its peers");
  std::set<std::string> known;
  for (const bench::Topic& topic : bench::topics()) {
    if (!known.insert(topic.name).second) continue;  // the same on another fabric
    CLI::App* verb = bench->add_subcommand(topic.name, topic.summary);
    const auto options = std::make_shared<Options>();
    add_options(*verb, topic, *options);
    verb->callback([&status, options, name = topic.name] {
      status = run_topic(topic_on(name, options->fabric), *options);
    });
  }
  add_bench_check(*bench, status);
  known.insert("check");
  // Not require_subcommand(): for a misspelt topic it would only say that one is missing.
  bench->callback([bench, known] {
    if (bench->get_subcommands().empty() && bench->remaining_size() == 0)
      throw CLI::RequiredError(fmt::format("A topic ({})", fmt::join(known, ", ")));
  });
}

}  // namespace muster::cli
