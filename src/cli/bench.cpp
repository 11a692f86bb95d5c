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

namespace muster::cli {

namespace {

constexpr std::uint32_t most_ranks = 1024;

struct Options {
  bench::Request request;
  bench::Sizes sizes;
  bool threads = false;
  std::string fabric;  // empty: the first that the topic has
  std::string json;
  bool has_peers = false;  // --peer was given, and so on
  bool has_ranks = false;
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
bool measure_one(const bench::Topic& topic, const bench::Request& request,
                 const std::string& devices, nlohmann::json& all) {
  bench::Conditions conditions{.machine = bench::this_machine(),
                               .command = bench::command_line(),
                               .date = bench::utc_now(),
                               .load_before = bench::load_average()};
  conditions.machine.devices = devices;
  const std::vector<int>& cores = conditions.machine.cores;
  conditions.busy_before = bench::busy_share(cores);
  std::vector<bench::Measured> measured;
  {
    ProgressLine progress(request.rounds);
    measured = bench::measure(topic.contenders(request), request, cores, std::ref(progress));
  }
  conditions.busy_after = bench::busy_share(cores);

  const bench::Report report{topic, request, conditions, measured};
  fmt::print("{}{}", all.empty() ? "" : "\n", bench::table(report));
  std::fflush(stdout);
  for (const std::string& line : bench::warnings(conditions))
    fmt::print(stderr, "warning: {}\n", line);
  all.push_back(bench::to_json(report));
  return std::any_of(measured.begin(), measured.end(), is_failure);
}

// A table for each size and variant.
bool measure_all(const bench::Topic& topic, const Options& options, const std::string& devices,
                 nlohmann::json& all) {
  bench::Request request = options.request;
  request.as = options.threads ? bench::As::threads : bench::As::processes;
  if (topic.fixed_ranks) request.as = bench::As::gpus;
  request.block = topic.block;
  if (!options.has_peers) request.peers = topic.peers;
  bool failed = false;
  const bench::Sizes sizes = options.sizes.empty() ? topic.sizes : options.sizes;
  const auto variants = topic.variants.empty() ? std::vector<std::string>{""} : topic.variants;
  for (const std::uint64_t bytes : sizes.empty() ? bench::Sizes{0} : sizes)
    for (const std::string& variant : variants) {
      bench::Topic one = topic;
      if (bytes != 0) one.unit = fmt::format("{} of {} B", topic.unit, bytes);
      request.bytes = bytes;
      request.variant = variant;
      failed = measure_one(one, request, devices, all) || failed;
    }
  return failed;
}

// What cannot be measured here is no failure: one line says why, and the file, too.
int skip(const bench::Topic& topic, const Error& why, nlohmann::json& all) {
  fmt::print("SKIPPED: {} is not measured on {}: {}\n", topic.name, topic.fabric, why.what);
  all.push_back({{"topic", topic.name}, {"fabric", topic.fabric}, {"skipped", why.what}});
  return 0;
}

int run_topic(const bench::Topic& topic, const Options& options) {
  // Opened first: a path that cannot be written should not cost a measurement.
  std::ofstream json;
  if (!options.json.empty()) {
    json.open(options.json);
    if (!json)
      throw CLI::ValidationError("--json", fmt::format("{} cannot be written", options.json));
  }

  nlohmann::json all = nlohmann::json::array();
  const Result<std::string> devices = topic.devices ? topic.devices() : Result<std::string>("");
  int status = 1;
  if (devices) {
    status = measure_all(topic, options, *devices, all) ? 1 : 0;
  } else if (devices.error().code == ErrorCode::unavailable) {
    status = skip(topic, devices.error(), all);
  } else {
    fmt::print(stderr, "muster bench: {} on {}: {}\n", topic.name, topic.fabric,
               to_string(devices.error()));
  }
  if (json.is_open()) {
    // A single report itself, as it has always been.
    json << (all.size() == 1 ? all.front() : all).dump(2) << '\n' << std::flush;
    if (!json) {
      fmt::print(stderr, "muster bench: {} could not be written in full\n", options.json);
      status = 1;
    }
  }
  return status;
}

std::vector<std::string> fabrics_of(const std::string& name) {
  std::vector<std::string> fabrics;
  for (const bench::Topic& topic : bench::topics())
    if (topic.name == name) fabrics.push_back(topic.fabric);
  return fabrics;
}

std::vector<std::string> all_fabrics() {
  std::set<std::string> fabrics;
  for (const bench::Topic& topic : bench::topics()) fabrics.insert(topic.fabric);
  return {fabrics.begin(), fabrics.end()};
}

const bench::Topic& topic_on(const std::string& name, const std::string& fabric) {
  for (const bench::Topic& topic : bench::topics())
    if (topic.name == name && (fabric.empty() || topic.fabric == fabric)) return topic;
  throw CLI::ValidationError("--fabric", fmt::format("{} is not measured on {}, but on {}", name,
                                                     fabric, fmt::join(fabrics_of(name), ", ")));
}

// What the command line asks for and this topic, on this fabric, cannot do.
void check(const bench::Topic& topic, const Options& options) {
  const std::string where = fmt::format("{} on {}", topic.name, topic.fabric);
  if (topic.fixed_ranks && (options.has_ranks || options.threads))
    throw CLI::ValidationError(options.threads ? "--threads" : "--ranks",
                               fmt::format("{} chooses its ranks itself", where));
  for (const std::string& peer : options.request.peers) {
    if (std::find(topic.peers.begin(), topic.peers.end(), peer) != topic.peers.end()) continue;
    throw CLI::ValidationError(
        "--peer",
        fmt::format(
            "{} is not measured beside {}; there {}: {}", where, peer,
            topic.peers.size() == 1 ? "is" : "are",
            topic.peers.empty() ? "none" : fmt::format("{}", fmt::join(topic.peers, ", "))));
  }
  for (const std::uint64_t bytes : options.sizes)
    if (bytes == 0 || bytes % topic.size_step != 0 || bytes > topic.most_size)
      throw CLI::ValidationError(
          "--sizes", fmt::format("{} is not a multiple of {} from {} to {}, as {} needs", bytes,
                                 topic.size_step, topic.size_step, topic.most_size, where));
}

void add_fabric(CLI::App& verb, Options& options, const std::vector<std::string>& fabrics) {
  verb.add_option("--fabric", options.fabric, "What carries it")->check(CLI::IsMember(fabrics));
}

std::string sizes_help(const std::string& name) {
  std::string text = "Bytes of a message, by commas";
  for (const bench::Topic& topic : bench::topics())
    if (topic.name == name && !topic.sizes.empty())
      text += fmt::format("; on {}: multiples of {} (default: {})", topic.fabric, topic.size_step,
                          fmt::join(topic.sizes, ","));
  return text;
}

std::string peers_help(const std::string& name) {
  std::string text = "Whom to measure beside it, separated by commas";
  for (const bench::Topic& topic : bench::topics())
    if (topic.name == name && !topic.peers.empty())
      text += fmt::format("; on {}: {}", topic.fabric, fmt::join(topic.peers, ","));
  return text;
}

void add_options(CLI::App& verb, const bench::Topic& topic, Options& options) {
  bench::Request& request = options.request;
  add_fabric(verb, options, fabrics_of(topic.name));
  if (!topic.fixed_ranks) {
    verb.add_option("-n,--ranks", request.ranks, "Ranks")
        ->check(CLI::Range(2U, most_ranks))
        ->capture_default_str();
    verb.add_flag("--threads", options.threads, "Ranks are threads of one process");
  }
  if (!topic.sizes.empty())
    verb.add_option("--sizes", options.sizes, sizes_help(topic.name))->delimiter(',');
  verb.add_option("--peer", request.peers, peers_help(topic.name))->delimiter(',');
  verb.add_option("--rounds", request.rounds, "Rounds; each runs every contender once")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str();
  verb.add_option("--repeat", request.repeat, "Timed blocks in each run")
      ->check(CLI::Range(1U, bench::max_blocks))
      ->capture_default_str();
  verb.add_option("--calls", request.calls,
                  "Calls in each block (default: 20 ms of them; 5 ms on a GPU)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}));
  verb.add_option("--json", options.json, "Write everything to this file too")->type_name("FILE");
}

// `name` on whichever fabric the command line asks for, before the topic or after it.
int run_verb(const CLI::App& verb, Options options, const std::string& fabric_before) {
  if (options.fabric.empty()) options.fabric = fabric_before;
  const bench::Topic& topic = topic_on(verb.get_name(), options.fabric);
  options.has_peers = verb.count("--peer") > 0;
  options.has_ranks = verb.get_option_no_throw("--ranks") != nullptr && verb.count("--ranks") > 0;
  check(topic, options);
  return run_topic(topic, options);
}

}  // namespace

// bench_check.cpp: no contenders, so no topic.
void add_bench_check(CLI::App& bench, int& status);

// Status 1: one of muster's own contenders, a floor or the report failed.
void add_bench(CLI::App& app, int& status) {
  CLI::App* bench = app.add_subcommand("bench", "Measure muster beside its peers");
  const auto before = std::make_shared<Options>();
  add_fabric(*bench, *before, all_fabrics());
  std::set<std::string> known;
  for (const bench::Topic& topic : bench::topics()) {
    if (!known.insert(topic.name).second) continue;  // the same on another fabric
    CLI::App* verb = bench->add_subcommand(topic.name, topic.summary);
    const auto options = std::make_shared<Options>();
    add_options(*verb, topic, *options);
    verb->callback(
        [&status, options, verb, before] { status = run_verb(*verb, *options, before->fabric); });
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
