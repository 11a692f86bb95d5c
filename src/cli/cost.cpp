// muster cost: what one call of a protocol costs each rank, counted on the model.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "check/builtin/transfer_costs.hpp"
#include "cli/numbers.hpp"
#include "cli/sizes.hpp"
#include "muster/check.hpp"

namespace muster::cli {

namespace {

struct Command {
  std::string name;
  std::uint32_t ranks = 2;
  std::uint32_t lanes = 1;
  std::optional<std::string> bytes;  // as parse_size reads it
  std::string profile = "direct";
  bool json = false;
};

constexpr const char* usual_bytes = "1K";
constexpr std::uint64_t most_held = std::uint64_t{1} << 26U;

// What is run, and what it is called.
struct Subject {
  std::string name;
  std::string about;
  std::uint64_t bytes = 0;  // 0: it has no size
  std::function<void(model::Team&)> body;
};

Subject sized_subject(const check::SizedBody& sized, const Command& command) {
  const std::string word = command.bytes.value_or(usual_bytes);
  const Result<std::uint64_t> bytes = parse_size(word);
  if (!bytes) throw UsageError("--bytes: " + bytes.error().what);
  if (const std::string wrong = check::objection(sized, *bytes); !wrong.empty())
    throw UsageError(fmt::format("--bytes is '{}' for {}; {}", word, sized.name, wrong));
  if (*bytes > most_held / (command.ranks * command.lanes))
    throw UsageError(
        fmt::format("--bytes is '{}' for each of {} lanes of {} ranks; the model holds "
                    "up to {} in all",
                    word, command.lanes, command.ranks, size_word(most_held)));
  return {sized.name, sized.about, *bytes,
          [&sized, size = *bytes](model::Team& team) { sized.body(team, size); }};
}

// A barrier's own cost is that of its rendezvous, without the data of its checks.
Subject subject_of(const Command& command) {
  if (const check::SizedBody* sized = check::find_sized(command.name))
    return sized_subject(*sized, command);
  std::vector<std::string> with_sizes;
  for (const check::SizedBody& one : check::sized_bodies()) with_sizes.emplace_back(one.name);
  const check::Entry* bare = check::find(command.name + "/rendezvous");
  const check::Entry* entry = bare != nullptr ? bare : check::find(command.name);
  if (entry == nullptr)
    throw UsageError(
        fmt::format("there is no protocol '{}'; there are {}, and those of muster "
                    "check --list",
                    command.name, fmt::join(with_sizes, ", ")));
  if (command.bytes)
    throw UsageError(fmt::format("--bytes is '{}', but {} has no size to choose; {} have",
                                 *command.bytes, command.name, fmt::join(with_sizes, ", ")));
  return {command.name, entry->protocol.about, 0, entry->body};
}

// One execution; the counts are the same in all where there is a certificate.
check::Report counted(const Subject& subject, const Command& command, std::uint32_t calls) {
  check::Options options;
  options.ranks = command.ranks;
  options.lanes = command.lanes;
  options.calls = calls;
  options.profile = *check::profile_of(command.profile);
  options.strategy = check::Strategy::random;
  options.executions = 1;
  check::Report report = check::explore(options, subject.body);
  if (report.good()) return report;
  throw std::runtime_error(fmt::format("{} is not correct here ({}); see muster check",
                                       subject.name, report.findings.front().what));
}

// By rank. Counts: the third call less the second, what a call costs after the first. Rounds: the
// longest chain of deposits that one call alone makes a rank wait for; over several calls the
// chains of neighbouring calls run into each other.
std::vector<check::Cost> cards_of(const Subject& subject, const Command& command) {
  std::vector<check::Cost> cards = counted(subject, command, 1).costs;
  const check::Report two = counted(subject, command, 2);
  const check::Report three = counted(subject, command, 3);
  if (three.steps == two.steps) return cards;  // it does not heed the number of calls: it made one
  for (std::uint32_t rank = 0; rank < command.ranks; ++rank) {
    const check::Cost& a = two.costs[rank];
    const check::Cost& b = three.costs[rank];
    cards[rank] = {cards[rank].rounds, b.notifies - a.notifies, b.own_notifies - a.own_notifies,
                   b.waits - a.waits,  b.flushes - a.flushes,   b.bytes - a.bytes};
  }
  return cards;
}

nlohmann::json as_json(const Subject& subject, const Command& command,
                       const std::vector<check::Cost>& cards) {
  nlohmann::json all{{"name", subject.name},       {"about", subject.about},
                     {"ranks", command.ranks},     {"lanes", command.lanes},
                     {"profile", command.profile}, {"per_rank", nlohmann::json::array()}};
  if (subject.bytes != 0) all["bytes_of_a_call"] = subject.bytes;
  for (const check::Cost& card : cards)
    all["per_rank"].push_back({{"rounds", card.rounds},
                               {"notifies", card.notifies},
                               {"notifies_to_itself", card.own_notifies},
                               {"waits", card.waits},
                               {"flushes", card.flushes},
                               {"bytes", card.bytes}});
  return all;
}

std::string as_table(const Subject& subject, const Command& command,
                     const std::vector<check::Cost>& cards) {
  std::string text = fmt::format("{}: one call{}, {} ranks, {} lanes, on {}\n", subject.name,
                                 subject.bytes == 0 ? "" : fmt::format(" of {} B", subject.bytes),
                                 command.ranks, command.lanes, command.profile);
  if (!subject.about.empty()) text += fmt::format("  ({})\n", subject.about);
  text += fmt::format("  {:>4} {:>7} {:>9} {:>13} {:>6} {:>8} {:>10}\n", "rank", "rounds",
                      "notifies", "to itself", "waits", "flushes", "bytes");
  for (std::size_t rank = 0; rank < cards.size(); ++rank) {
    const check::Cost& card = cards[rank];
    text += fmt::format("  {:>4} {:>7} {:>9} {:>13} {:>6} {:>8} {:>10}\n", rank, card.rounds,
                        card.notifies, card.own_notifies, card.waits, card.flushes, card.bytes);
  }
  return text;
}

void print(const Command& command) {
  const auto profile = check::profile_of(command.profile);
  if (!profile || *profile == Profile::noncoherent)  // which costs what `direct` does
    throw UsageError(
        fmt::format("--profile is '{}'; it must be sc, direct or rdma", command.profile));
  const Subject subject = subject_of(command);
  const std::vector<check::Cost> cards = cards_of(subject, command);
  fmt::print("{}", command.json ? as_json(subject, command, cards).dump(2) + "\n"
                                : as_table(subject, command, cards));
}

}  // namespace

void add_cost(CLI::App& app, int& status) {
  auto* verb =
      app.add_subcommand("cost", "what one call of a protocol costs, counted on the model");
  auto command = std::make_shared<Command>();
  verb->add_option("name", command->name,
                   "put, get, put_signal, remote_add, packet_exchange, or a name of muster check "
                   "--list")
      ->required();
  verb->add_option("-n,--ranks", command->ranks, "number of ranks")
      ->check(CLI::Range(1U, 256U))
      ->capture_default_str();
  verb->add_option("--lanes", command->lanes, "lanes per rank")
      ->check(CLI::Range(1U, 64U))
      ->capture_default_str();
  verb->add_option(
          "--bytes", command->bytes,
          fmt::format("size of a transfer, a multiple of 4: 8, 64K (default: {})", usual_bytes))
      ->type_name("SIZE");
  verb->add_option("--profile", command->profile, "sc, direct or rdma")->capture_default_str();
  verb->add_flag("--json", command->json, "As JSON, a card for each rank");
  verb->callback([command, &status] {
    print(*command);
    status = 0;
  });
}

}  // namespace muster::cli
