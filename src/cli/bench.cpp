// `muster bench TOPIC`: measures one topic beside its peers.
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "bench/contender.hpp"
#include "cli/bench_topic.hpp"
#include "cli/sizes.hpp"

namespace muster::cli {

namespace {

constexpr std::uint32_t most_ranks = 1024;

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

void add_options(CLI::App& verb, const bench::Topic& topic, BenchOptions& options) {
  bench::Request& request = options.request;
  request.peers = topic.peers;
  verb.add_option("-n,--ranks", options.ranks, "Ranks; several numbers by commas")
      ->delimiter(',')
      ->check(CLI::Range(2U, most_ranks))
      ->capture_default_str();
  for (const std::uint64_t size : topic.sizes) options.sizes.push_back(size_word(size));
  if (!topic.sizes.empty())
    verb.add_option("--sizes", options.sizes,
                    "Bytes of a message, multiples of 4, by commas: 8, 64K, 2M, 1G, or ranges: "
                    "8:64M (each twice the one before), 8:64M:4 (each four times)")
        ->delimiter(',')
        ->check([](const std::string& word) {
          const auto sizes = parse_size_word(word);
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
  verb.add_option("--svg", options.svg,
                  topic.sizes.empty() ? "Draw the medians over the ranks into this file too"
                                      : "Draw the medians over the sizes into this file too")
      ->type_name("FILE");
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
    const auto options = std::make_shared<BenchOptions>();
    add_options(*verb, topic, *options);
    verb->callback([&status, options, name = topic.name] {
      status = bench_topic(topic_on(name, options->fabric), *options);
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
