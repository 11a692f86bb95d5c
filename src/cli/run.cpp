// `muster run -n 4 ./program arguments...`: starts a program as the ranks of a job.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "cli/find_program.hpp"
#include "cli/numbers.hpp"
#include "cli/program_verb.hpp"
#include "cli/run_nodes.hpp"
#include "fabric/host/control_group.hpp"
#include "fabric/host/job.hpp"
#include "fabric/host/liveness.hpp"
#include "launch/binding.hpp"
#include "launch/environment.hpp"
#include "launch/launch.hpp"
#include "team/shrink.hpp"

namespace muster::cli {
namespace {

// What a shell returns for a program that is there and cannot be run.
constexpr int cannot_run_status = 126;

struct Options {
  std::string ranks = "2";
  std::optional<std::string> timeout;
  std::string grace = "5";
  bool tag_output = false;
  bool bind = false;
  std::string keep = "detached";
  Nodes nodes;  // of several hosts, where there is a rendezvous
};

launcher::Keep what_to_keep(const std::string& word) {
  if (word == "none") return launcher::Keep::none;
  if (word == "detached") return launcher::Keep::detached;
  if (word == "all") return launcher::Keep::all;
  throw UsageError(fmt::format("--keep is '{}'; it must be none, detached or all", word));
}

void set_number(const char* name, std::uint64_t value) {
  setenv(name, std::to_string(value).c_str(), 1);
}

// In the child, which has the descriptor that `variable` names. Returns only where the program
// cannot be run.
int become_program(const char* variable, int descriptor, const NodeRank& self,
                   const std::string& file, const std::vector<std::string>& words) {
  // Those of an outer job, whose rank this launcher is.
  for (const char* other :
       {"MUSTER_JOB_FD", "MUSTER_NET_FD", "MUSTER_LOCAL_RANK", "MUSTER_LOCAL_RANKS"})
    unsetenv(other);
  host::keep_across_exec(descriptor);
  set_number(variable, static_cast<std::uint64_t>(descriptor));
  set_number("MUSTER_RANK", self.rank);
  set_number("MUSTER_RANKS", self.ranks);
  set_number("MUSTER_LOCAL_RANK", self.local_rank);
  set_number("MUSTER_LOCAL_RANKS", self.local_ranks);
  launcher::take_from_others();

  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execv(file.c_str(), arguments.data());
  const char* hint = errno == ENOENT ? " (is its interpreter missing?)" : "";
  fmt::print(stderr, "muster: rank {} cannot run {}: {}{}\n", self.rank, printable(file),
             std::strerror(errno), hint);
  return cannot_run_status;
}

int run(const Options& options, const std::vector<std::string>& words) {
  launcher::LaunchOptions launch;
  launch.ranks = whole_number("-n", options.ranks, 1, host::max_ranks);
  if (options.timeout) launch.timeout = seconds("--timeout", *options.timeout, false);
  launch.grace = seconds("--grace", options.grace, true);
  launch.tag_output = options.tag_output;
  launch.keep = what_to_keep(options.keep);
  launch.tethers = true;
  launch.bind = options.bind ? launcher::Bind::cores : launcher::Bind::none;
  if (words.empty()) {
    throw UsageError("no program is given; for example: muster run -n 4 ./program");
  }
  const auto file = find_program(words.front());
  if (!file) throw UsageError(file.error().what);

  const bool several = options.nodes.nodes && *options.nodes.nodes != "1";
  if (!options.nodes.rendezvous.empty() && several) {
    return run_on_nodes(options.nodes, launch, [&](const NodeRank& self) {
      return become_program("MUSTER_NET_FD", self.link, self, *file, words);
    });
  }
  const bool alone = options.nodes.nodes && options.nodes.node && *options.nodes.node == "0";
  const bool any = options.nodes.node || options.nodes.nodes || !options.nodes.rendezvous.empty();
  if (any && (options.nodes.rendezvous.empty() || !alone)) {
    throw UsageError(
        "--rendezvous, --node and --nodes come together: where the hosts of the job meet, which "
        "one this is, counted from 0, and of how many");
  }

  host::JobOptions job_options;
  job_options.ranks = launch.ranks;
  job_options.cores = launcher::allowed_cores().size();
  job_options.watched = true;  // by on_end below
  auto made = host::create_job(job_options);
  if (!made) {
    fmt::print(stderr, "muster run: {}\n", to_string(made.error()));
    return 1;
  }
  const auto job = std::make_shared<const host::Job>(std::move(*made));
  const auto mark = host::LifeMark::take_as_launcher(job);
  launch.survivors_go_on = [&job] { return host::survivors_stand(*job); };
  launch.left_body = [&job](std::uint32_t rank) { return host::left_body(*job, rank); };
  launch.about_kill = host::watch_kills_for_memory();
  launch.on_end = [&job](std::uint32_t rank) { host::note_end(job->header(), rank); };
  launch.is_lost = [&job](std::uint32_t rank) { return host::is_lost(job->header(), rank); };
  launch.first_to_fail = [&job] { return host::first_to_fail(*job); };
  return launcher::launch(launch, [&](std::uint32_t rank) {
    const NodeRank self{rank, launch.ranks, rank, launch.ranks, job->fd()};
    return become_program("MUSTER_JOB_FD", job->fd(), self, *file, words);
  });
}

void add_node_options(CLI::App& verb, Nodes& nodes) {
  const char* group = "One launcher on each of several hosts, the same line but for --node";
  verb.add_option("--rendezvous", nodes.rendezvous,
                  "Where the launchers meet: an address of node 0, which listens there")
      ->type_name("HOST:PORT")
      ->group(group);
  verb.add_option("--node", nodes.node, "Which host this is, from 0; it has -n ranks of the job")
      ->type_name("K")
      ->group(group);
  verb.add_option("--nodes", nodes.nodes, "How many hosts")->type_name("N")->group(group);
  verb.add_option("--wait", nodes.wait, "Seconds for all of them to come")
      ->type_name("SECONDS")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--token-file", nodes.token_file,
                  "File with the job's secret, mode 600; without it MUSTER_TOKEN or "
                  "MUSTER_TOKEN_FILE")
      ->type_name("FILE")
      ->group(group);
}

}  // namespace

void add_run(CLI::App& app, int& status) {
  const auto verb = std::make_shared<ProgramVerb>("Start a program as the ranks of a job", "run");
  const auto options = std::make_shared<Options>();
  verb->add_option("-n,--ranks", options->ranks, "How many ranks, 1 to 1024")
      ->type_name("RANKS")
      ->capture_default_str();
  verb->add_option("--timeout", options->timeout, "Stop the job after so many seconds; status 124")
      ->type_name("SECONDS");
  verb->add_option("--grace", options->grace,
                   "Seconds that the other ranks get to end after one has failed")
      ->type_name("SECONDS")
      ->capture_default_str();
  verb->add_flag("--tag-output", options->tag_output, "Start each line of output with [rank]");
  verb->add_flag("--bind", options->bind, "Pin rank r to the r-th core that may be used");
  verb->add_option(
          "--keep", options->keep,
          "What ranks leave running that is not ended with the job: none of it, all, or what "
          "is detached (in a session of its own, by setsid)")
      ->type_name("none|detached|all")
      ->capture_default_str();
  add_node_options(*verb, options->nodes);
  verb->footer(
      "Rank 0 reads the standard input. Signals are passed on to all ranks; a second INT kills\n"
      "them. The exit status is that of the rank that failed first, 128 + n for signal n. When "
      "the\n"
      "launcher is killed, the ranks are, too, also behind wrappers (sh -c './program; true').");
  verb->callback(
      [&status, options, program = verb.get()] { status = run(*options, program->program()); });
  app.add_subcommand(verb);
}

}  // namespace muster::cli
