#include "bench/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace muster::bench {

namespace {

constexpr double noticeable = 0.05;  // of the cores

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

using Row = std::vector<std::string>;

Row row_of(const Measured& one, const Bases& bases, std::uint64_t bytes) {
  const std::vector<double> times = one.per_round();
  const auto [least, most] = std::minmax_element(times.begin(), times.end());
  Row row{one.contender.name,
          name_of(one.contender.as),
          ns(median(times)),
          fmt::format("{}..{}", ns(*least), ns(*most)),
          cell(ratio_to(one, bases.floor)),
          cell(ratio_to(one, bases.bare)),
          cell(ratio_to(one, bases.peer))};
  if (bytes != 0) row.push_back(cell(static_cast<double>(bytes) / median(times)));
  return row;
}

// Text to the left, numbers to the right.
std::string aligned(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
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

// "2 ranks, 2 cores (AMD EPYC)", or the devices that the topic has found for itself.
std::string where(const Report& report) {
  const Machine& machine = report.conditions.machine;
  if (!machine.devices.empty()) return machine.devices;
  return fmt::format("{} ranks, {} cores ({})", report.request.ranks, machine.cores.size(),
                     machine.cpu);
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

const char* name_of(As as) {
  switch (as) {
    case As::processes: return "processes";
    case As::threads: return "threads";
    case As::gpus: return "GPUs";
  }
  return "";
}

std::string table(const Report& report) {
  const Request& request = report.request;
  const Bases bases = bases_of(report.measured);
  std::string text = fmt::format("{}{}{} on {}; median of {} rounds of {} blocks\n\n",
                                 report.topic.name, request.variant.empty() ? "" : ", ",
                                 request.variant, where(report), request.rounds, request.repeat);

  std::vector<Row> rows{{"contender", "as", "ns per " + report.topic.unit, "least..most", "/ floor",
                         "/ bare", "/ best peer"}};
  if (request.bytes != 0) rows.front().push_back("GB/s");
  for (const Measured& one : report.measured)
    if (!one.rounds.empty()) rows.push_back(row_of(one, bases, request.bytes));
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
  all["unit"] = report.topic.unit;
  if (!request.variant.empty()) all["variant"] = request.variant;
  if (request.bytes != 0) all["bytes"] = request.bytes;
  if (!conditions.machine.devices.empty()) all["machine"]["devices"] = conditions.machine.devices;
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
