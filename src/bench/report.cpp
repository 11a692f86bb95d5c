#include "bench/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace muster::bench {

namespace {

constexpr double noticeable = 0.05;  // of the cores

const char* name_of(As as) {
  return as == As::processes ? "processes" : "threads";
}

const char* name_of(Role role) {
  switch (role) {
    case Role::floor: return "floor";
    case Role::bare: return "bare";
    case Role::muster: return "muster";
    case Role::peer: return "peer";
  }
  return "";
}

// What the ratios are taken to.
struct Bases {
  const Measured* floor;
  const Measured* bare;
  const Measured* peer;
};

Bases bases_of(const std::vector<Measured>& all) {
  return {fastest(all, Role::floor), fastest(all, Role::bare), fastest(all, Role::peer)};
}

std::optional<double> ratio_to(const Measured& one, const Measured* base) {
  return base == nullptr ? std::nullopt : ratio(one, *base);
}

std::string cell(const std::optional<double>& value) {
  return value ? fmt::format("{:.2f}", *value) : "-";
}

std::string ns(double value) {
  return fmt::format("{:.{}f}", value, value < 1000 ? 1 : 0);
}

using Row = std::array<std::string, 7>;

Row row_of(const Measured& one, const Bases& bases) {
  const std::vector<double> times = one.per_round();
  const auto [least, most] = std::minmax_element(times.begin(), times.end());
  return {one.contender.name,
          name_of(one.contender.as),
          ns(median(times)),
          fmt::format("{}..{}", ns(*least), ns(*most)),
          cell(ratio_to(one, bases.floor)),
          cell(ratio_to(one, bases.bare)),
          cell(ratio_to(one, bases.peer))};
}

// Text to the left, numbers to the right.
std::string aligned(const std::vector<Row>& rows) {
  std::array<std::size_t, std::tuple_size_v<Row>> widths{};
  for (const Row& row : rows)
    for (std::size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], row[column].size());
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      if (column > 0) text += "  ";
      text += column < 2 ? fmt::format("{:<{}}", row[column], widths[column])
                         : fmt::format("{:>{}}", row[column], widths[column]);
    }
    text += '\n';
  }
  return text;
}

nlohmann::json ratio_json(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

nlohmann::json contender_json(const Measured& one, const Bases& bases) {
  nlohmann::json entry{{"name", one.contender.name},
                       {"role", name_of(one.contender.role)},
                       {"as", name_of(one.contender.as)}};
  if (!one.contender.group.empty()) entry["peer"] = one.contender.group;
  if (one.rounds.empty()) {
    entry["why_not"] = one.why_not;
    entry["failed"] = one.failed;
    return entry;
  }
  const std::vector<double> times = one.per_round();
  const auto [least, most] = std::minmax_element(times.begin(), times.end());
  entry["calls_per_block"] = one.calls_per_block;
  entry["median_ns"] = median(times);
  entry["min_ns"] = *least;
  entry["max_ns"] = *most;
  entry["ratio_to_floor"] = ratio_json(ratio_to(one, bases.floor));
  entry["ratio_to_bare"] = ratio_json(ratio_to(one, bases.bare));
  entry["ratio_to_best_peer"] = ratio_json(ratio_to(one, bases.peer));
  entry["blocks_ns"] = one.rounds;
  return entry;
}

}  // namespace

std::string table(const Report& report) {
  const Request& request = report.request;
  const Machine& machine = report.conditions.machine;
  const Bases bases = bases_of(report.measured);
  std::string text = fmt::format(
      "{} on {} ranks, {} cores ({}); median of {} rounds of {} blocks\n\n", report.topic.name,
      request.ranks, machine.cores.size(), machine.cpu, request.rounds, request.repeat);

  std::vector<Row> rows{{"contender", "as", "ns per " + report.topic.unit, "least..most", "/ floor",
                         "/ bare", "/ best peer"}};
  for (const Measured& one : report.measured)
    if (!one.rounds.empty()) rows.push_back(row_of(one, bases));
  text += aligned(rows);

  if (bases.bare != nullptr || bases.peer != nullptr) text += '\n';
  if (bases.bare != nullptr) text += fmt::format("bare: {}\n", bases.bare->contender.name);
  if (bases.peer != nullptr) text += fmt::format("best peer: {}\n", bases.peer->contender.name);
  for (const Measured& one : report.measured)
    if (one.rounds.empty())
      text += fmt::format("{}: {}: {}\n", one.failed ? "failed" : "not measured",
                          one.contender.name, one.why_not);
  return text;
}

nlohmann::json to_json(const Report& report) {
  const Request& request = report.request;
  const Conditions& conditions = report.conditions;
  const Bases bases = bases_of(report.measured);
  nlohmann::json all{
      {"topic", report.topic.name},
      {"fabric", report.topic.fabric},
      {"command", conditions.command},
      {"date", conditions.date},
      {"machine",
       {{"cpu", conditions.machine.cpu},
        {"cores", conditions.machine.cores},
        {"kernel", conditions.machine.kernel},
        {"load_average_before", conditions.load_before},
        {"busy_share_before", conditions.busy_before},
        {"busy_share_after", conditions.busy_after}}},
      {"build", {{"compiler", conditions.machine.compiler}, {"commit", conditions.machine.commit}}},
      {"ranks", request.ranks},
      {"as", name_of(request.as)},
      {"rounds", request.rounds},
      {"blocks_per_round", request.repeat},
      {"warnings", warnings(conditions)},
      {"contenders", nlohmann::json::array()}};
  if (request.bytes != 0) all["bytes"] = request.bytes;
  for (const Measured& one : report.measured)
    all["contenders"].push_back(contender_json(one, bases));
  return all;
}

std::vector<std::string> warnings(const Conditions& conditions) {
  std::vector<std::string> lines;
  const double busy = std::max(conditions.busy_before, conditions.busy_after);
  if (busy > noticeable)
    lines.push_back(fmt::format(
        "the machine is not quiet: other work takes {:.0f} % of these cores (load average {:.2f})",
        100 * busy, conditions.load_before));
#ifndef NDEBUG
  lines.emplace_back("this is no release build: build with -DCMAKE_BUILD_TYPE=Release");
#endif
  return lines;
}

}  // namespace muster::bench
