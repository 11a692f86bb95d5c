// muster cost: what one call of a protocol costs each rank, counted on the model.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/numbers.hpp"
#include "muster/check.hpp"

namespace muster::cli {

namespace {

struct Command {
  std::string name;
  std::uint32_t ranks = 2;
  std::uint32_t lanes = 1;
  std::string profile = "direct";
};

// One execution; the counts are the same in all where there is a certificate.
check::Report counted(const check::Entry& entry, const Command& command, std::uint32_t calls) {
  check::Options options;
  options.ranks = command.ranks;
  options.lanes = command.lanes;
  options.calls = calls;
  options.profile = *check::profile_of(command.profile);
  options.strategy = check::Strategy::random;
  options.executions = 1;
  return check::explore(options, entry.body);
}

// A barrier's own cost is that of its rendezvous, without the data of its checks.
const check::Entry* entry_for(const std::string& name) {
  const check::Entry* bare = check::find(name + "/rendezvous");
  return bare != nullptr ? bare : check::find(name);
}

// Counts: the third call less the second, what a call costs after the first. Rounds: the longest
// chain of deposits that one call alone makes a rank wait for; over several calls the chains of
// neighbouring calls run into each other.
int print(const Command& command) {
  const check::Entry* entry = entry_for(command.name);
  if (entry == nullptr)
    throw UsageError("there is no protocol '" + command.name + "'; muster check --list names them");
  if (!check::profile_of(command.profile))
    throw UsageError("there is no profile '" + command.profile +
                     "'; there are sc, direct and rdma");
  const check::Report one = counted(*entry, command, 1);
  const check::Report two = counted(*entry, command, 2);
  const check::Report three = counted(*entry, command, 3);
  if (!one.good() || !two.good() || !three.good()) {
    fmt::print(stderr, "muster cost: {} is not correct here; see muster check\n", entry->name);
    return 1;
  }
  fmt::print("{}: one call, {} ranks, {} lanes, on {}\n", command.name, command.ranks,
             command.lanes, command.profile);
  fmt::print("  {:>4} {:>7} {:>9} {:>13} {:>6} {:>8} {:>10}\n", "rank", "rounds", "notifies",
             "to itself", "waits", "flushes", "bytes");
  for (std::uint32_t rank = 0; rank < command.ranks; ++rank) {
    // A body that does not heed the number of calls makes one.
    const check::Cost none;
    const bool repeats = three.steps != two.steps;
    const check::Cost& a = repeats ? two.costs[rank] : none;
    const check::Cost& b = repeats ? three.costs[rank] : one.costs[rank];
    fmt::print("  {:>4} {:>7} {:>9} {:>13} {:>6} {:>8} {:>10}\n", rank, one.costs[rank].rounds,
               b.notifies - a.notifies, b.own_notifies - a.own_notifies, b.waits - a.waits,
               b.flushes - a.flushes, b.bytes - a.bytes);
  }
  return 0;
}

}  // namespace

void add_cost(CLI::App& app, int& status) {
  auto* verb =
      app.add_subcommand("cost", "what one call of a protocol costs, counted on the model");
  auto command = std::make_shared<Command>();
  verb->add_option("name", command->name, "a name of muster check --list")->required();
  verb->add_option("-n,--ranks", command->ranks, "number of ranks")->check(CLI::Range(1U, 256U));
  verb->add_option("--lanes", command->lanes, "lanes per rank")->check(CLI::Range(1U, 64U));
  verb->add_option("--profile", command->profile, "sc, direct or rdma");
  verb->callback([command, &status] { status = print(*command); });
}

}  // namespace muster::cli
