// `muster bench TOPIC`: measures one topic beside its peers.
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
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

// As it is typed. What is right depends on the fabric, which may be named behind all of it.
struct Typed {
  BenchOptions options;
  std::string fabric;              // empty: the first that the topic has
  std::vector<std::string> sizes;  // as parse_sizes reads them; empty: the topic's own
  bool threads = false;
};

// The topics of that name, one on each fabric that has it.
std::vector<bench::Topic> topics_called(const std::string& name) {
  std::vector<bench::Topic> found;
  for (const bench::Topic& topic : bench::topics())
    if (topic.name == name) found.push_back(topic);
  return found;
}

std::vector<std::string> fabrics_of(const std::vector<bench::Topic>& topics) {
  std::set<std::string> fabrics;
  for (const bench::Topic& topic : topics) fabrics.insert(topic.fabric);
  return {fabrics.begin(), fabrics.end()};
}

bench::Topic topic_on(const std::string& name, const std::string& fabric) {
  const std::vector<bench::Topic> topics = topics_called(name);
  for (const bench::Topic& topic : topics)
    if (fabric.empty() || topic.fabric == fabric) return topic;
  throw CLI::ValidationError("--fabric", fmt::format("{} is not measured on {}, but on {}", name,
                                                     fabric, fmt::join(fabrics_of(topics), ", ")));
}

std::string words(const Sizes& sizes) {
  std::vector<std::string> all;
  for (const std::uint64_t size : sizes) all.push_back(size_word(size));
  return fmt::format("{}", fmt::join(all, ","));
}

// "barrier on gpu"
std::string name_of(const bench::Topic& topic) {
  return fmt::format("{} on {}", topic.name, topic.fabric);
}

void check_ranks(const bench::Topic& topic, bool has_ranks, bool threads) {
  if (!topic.fixed_ranks || !(has_ranks || threads)) return;
  throw CLI::ValidationError(threads ? "--threads" : "--ranks",
                             fmt::format("{} chooses its ranks itself", name_of(topic)));
}

void check_peers(const bench::Topic& topic, const std::vector<std::string>& wanted) {
  const std::vector<std::string>& peers = topic.peers;
  for (const std::string& peer : wanted) {
    if (std::find(peers.begin(), peers.end(), peer) != peers.end()) continue;
    throw CLI::ValidationError(
        "--peer", fmt::format("{} is not measured beside {}; there {}: {}", name_of(topic), peer,
                              peers.size() == 1 ? "is" : "are",
                              peers.empty() ? "none" : fmt::format("{}", fmt::join(peers, ", "))));
  }
}

// Empty, or "all": every one that the topic has.
std::vector<std::string> algorithms_of(const bench::Topic& topic,
                                       const std::vector<std::string>& wanted) {
  const std::vector<std::string>& there = topic.algorithms;
  if (wanted.empty() || wanted == std::vector<std::string>{"all"}) return there;
  for (const std::string& name : wanted) {
    if (std::find(there.begin(), there.end(), name) != there.end()) continue;
    throw CLI::ValidationError(
        "--algorithm", fmt::format("{} has no algorithm '{}'; it has all, {}", name_of(topic), name,
                                   fmt::join(there, ", ")));
  }
  return wanted;
}

Sizes sizes_of(const bench::Topic& topic, const std::vector<std::string>& typed) {
  if (typed.empty()) return topic.sizes;
  if (topic.sizes.empty())
    throw CLI::ValidationError("--sizes", fmt::format("{} has no sizes", name_of(topic)));
  const Result<Sizes> sizes = parse_sizes(typed, {topic.size_step, topic.most_size});
  if (sizes) return *sizes;
  throw CLI::ValidationError("--sizes", fmt::format("{} ({})", sizes.error().what, name_of(topic)));
}

bool is_given(const CLI::App& verb, const std::string& option) {
  return verb.get_option_no_throw(option) != nullptr && verb.count(option) > 0;
}

// What the command line asks of this topic. Throws CLI::ValidationError where the topic, on its
// fabric, cannot do that.
BenchOptions options_for(const bench::Topic& topic, const CLI::App& verb, const Typed& typed) {
  BenchOptions options = typed.options;
  bench::Request& request = options.request;
  check_ranks(topic, is_given(verb, "--ranks"), typed.threads);
  request.as = typed.threads ? bench::As::threads : bench::As::processes;
  if (topic.fixed_ranks) request.as = bench::As::gpus;
  request.block = topic.block;
  if (!is_given(verb, "--peer")) request.peers = topic.peers;
  check_peers(topic, request.peers);
  request.algorithms = algorithms_of(topic, request.algorithms);
  options.sizes = sizes_of(topic, typed.sizes);
  return options;
}

void add_fabric(CLI::App& verb, Typed& typed, const std::vector<bench::Topic>& topics) {
  verb.add_option("--fabric", typed.fabric, "What carries it")
      ->check(CLI::IsMember(fabrics_of(topics)));
}

std::string sizes_help(const std::vector<bench::Topic>& topics) {
  std::string text =
      "Bytes of a message, by commas: 8, 64K, 2M, 1G, or ranges: 8:64M (each twice the one "
      "before), 8:64M:4 (each four times)";
  for (const bench::Topic& topic : topics)
    if (!topic.sizes.empty())
      text +=
          fmt::format("; on {}: multiples of {} up to {} (default: {})", topic.fabric,
                      size_word(topic.size_step), size_word(topic.most_size), words(topic.sizes));
  return text;
}

std::string peers_help(const std::vector<bench::Topic>& topics) {
  std::string text = "Whom to measure beside it, separated by commas";
  for (const bench::Topic& topic : topics)
    if (!topic.peers.empty())
      text += fmt::format("; on {}: {}", topic.fabric, fmt::join(topic.peers, ","));
  return text;
}

// What only some topics have is there if one of them has it, whatever its fabric.
void add_algorithms(CLI::App& verb, const std::vector<bench::Topic>& topics, Typed& typed) {
  std::set<std::string> names;
  for (const bench::Topic& topic : topics)
    names.insert(topic.algorithms.begin(), topic.algorithms.end());
  if (names.empty()) return;
  verb.add_option("--algorithm", typed.options.request.algorithms,
                  fmt::format("Which of its algorithms, by commas: all (the default), {}",
                              fmt::join(names, ", ")))
      ->delimiter(',');
}

void add_mpis(CLI::App& verb, const std::vector<bench::Topic>& topics, Typed& typed) {
  const auto has_mpi = [](const bench::Topic& topic) {
    return std::find(topic.peers.begin(), topic.peers.end(), "mpi") != topic.peers.end();
  };
  if (std::none_of(topics.begin(), topics.end(), has_mpi)) return;
  verb.add_option("--mpi", typed.options.request.mpis,
                  "Where an MPI lies, with bin/mpirun and bin/muster-peer-mpi; once for each. "
                  "bench/peers/mpis.sh makes some (default: the one on the PATH)")
      ->type_name("DIR")
      ->allow_extra_args(false)
      ->check(CLI::ExistingDirectory);
}

// Where and over what it is measured: what only some fabrics have is there if one has it.
void add_scope(CLI::App& verb, const std::vector<bench::Topic>& topics, Typed& typed) {
  const auto has_ranks = [](const bench::Topic& topic) { return !topic.fixed_ranks; };
  const auto has_sizes = [](const bench::Topic& topic) { return !topic.sizes.empty(); };
  add_fabric(verb, typed, topics);
  if (std::any_of(topics.begin(), topics.end(), has_ranks)) {
    verb.add_option("-n,--ranks", typed.options.ranks, "Ranks; several numbers by commas")
        ->delimiter(',')
        ->check(CLI::Range(2U, most_ranks))
        ->capture_default_str();
    verb.add_flag("--threads", typed.threads, "Ranks are threads of one process");
  }
  if (std::any_of(topics.begin(), topics.end(), has_sizes))
    verb.add_option("--sizes", typed.sizes, sizes_help(topics))->delimiter(',');
  verb.add_option("--peer", typed.options.request.peers, peers_help(topics))->delimiter(',');
  add_mpis(verb, topics, typed);
  add_algorithms(verb, topics, typed);
}

void add_options(CLI::App& verb, const std::vector<bench::Topic>& topics, Typed& typed) {
  add_scope(verb, topics, typed);
  bench::Request& request = typed.options.request;
  verb.add_option("--rounds", request.rounds, "Rounds; each runs every contender once")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str();
  verb.add_option("--repeat", request.repeat, "Timed blocks in each run")
      ->check(CLI::Range(1U, bench::max_blocks))
      ->capture_default_str();
  verb.add_option("--calls", request.calls,
                  "Calls in each block (default: 20 ms of them; 5 ms on a GPU)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}));
  verb.add_option("--json", typed.options.json, "Write everything to this file too")
      ->type_name("FILE");
}

// On whichever fabric the command line asks for, before the topic or after it.
int run_verb(const CLI::App& verb, const Typed& typed, const std::string& fabric_before) {
  const bench::Topic topic =
      topic_on(verb.get_name(), typed.fabric.empty() ? fabric_before : typed.fabric);
  return bench_topic(topic, options_for(topic, verb, typed));
}

}  // namespace

// bench_check.cpp and bench_tasks.cpp: no contenders, so no topics.
void add_bench_check(CLI::App& bench, int& status);
void add_bench_tasks(CLI::App& bench, int& status);

// Status 1: one of muster's own contenders, a floor or the report failed.
void add_bench(CLI::App& app, int& status) {
  CLI::App* bench = app.add_subcommand("bench", "Measure muster beside its peers");
  const auto before = std::make_shared<Typed>();
  add_fabric(*bench, *before, bench::topics());
  std::set<std::string> known;
  for (const bench::Topic& topic : bench::topics()) {
    if (!known.insert(topic.name).second) continue;  // the same on another fabric
    CLI::App* verb = bench->add_subcommand(topic.name, topic.summary);
    const auto typed = std::make_shared<Typed>();
    add_options(*verb, topics_called(topic.name), *typed);
    verb->callback(
        [&status, typed, verb, before] { status = run_verb(*verb, *typed, before->fabric); });
  }
  add_bench_check(*bench, status);
  known.insert("check");
#if defined(MUSTER_HAVE_TASKS)
  add_bench_tasks(*bench, status);
  known.insert("tasks");
#endif
  // Not require_subcommand(): for a misspelt topic it would only say that one is missing.
  bench->callback([bench, known] {
    if (bench->get_subcommands().empty() && bench->remaining_size() == 0)
      throw CLI::RequiredError(fmt::format("A topic ({})", fmt::join(known, ", ")));
  });
}

}  // namespace muster::cli
