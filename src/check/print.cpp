#include "check/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "check/configuration.hpp"
#include "check/fold.hpp"

namespace muster::check {

namespace {

constexpr std::size_t least_column = 30;
constexpr std::size_t most_events = 60;  // of the past, the latest ones

// Breaks at spaces; a word that is too long is cut.
std::vector<std::string> wrap(const std::string& text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t space = std::min(text.find(' ', at), text.size());
    std::string word = text.substr(at, space - at);
    at = space + 1;
    while (word.size() > width) {
      if (!line.empty()) lines.push_back(std::exchange(line, ""));
      lines.push_back(word.substr(0, width));
      word.erase(0, width);
    }
    if (!line.empty() && line.size() + 1 + word.size() > width)
      lines.push_back(std::exchange(line, ""));
    line += line.empty() ? word : " " + word;
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

std::string indented(const std::string& text, std::size_t indent, std::size_t width) {
  std::string out;
  for (const std::string& line : wrap(text, width - indent))
    out += fmt::format("{:{}}{}\n", "", indent, line);
  return out;
}

std::string event_text(const Event& event, bool lanes, bool threads) {
  std::string text;
  if (lanes && !event.setup) text += fmt::format("lane {} ", event.lane);
  if (threads && !event.setup) text += fmt::format("thread {} ", event.thread);
  if (!text.empty()) text.back() = ':';
  if (!text.empty()) text += ' ';
  return fmt::format("{}{} ({})", text, event.what, event.where);
}

}  // namespace

std::string event_table(const Report& report, std::uint32_t ranks, std::size_t width) {
  std::vector<Event> past;
  bool lanes = false;
  bool threads = false;
  for (const Event& event : report.events) {
    if (!event.past) continue;
    past.push_back(event);
    lanes = lanes || event.lane > 0;
    threads = threads || event.thread > 0;
  }
  std::vector<Folded> shown = folded(past);
  std::string out;
  if (shown.size() > most_events) {
    out += fmt::format("    ({} earlier events are left out)\n", shown.size() - most_events);
    shown.erase(shown.begin(), shown.end() - static_cast<std::ptrdiff_t>(most_events));
  }
  const std::size_t column = std::max(least_column, (width - 4) / ranks);
  out += "    ";
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    out += fmt::format("{:<{}}", fmt::format("rank {}", rank), column);
  out.erase(out.find_last_not_of(' ') + 1);
  out += '\n';
  for (const auto& [event, of] : shown)
    for (const std::string& line : wrap(event_text(event, lanes, threads), column - 2))
      out += fmt::format("    {:{}}{}\n", "", event.rank * column, line);
  return out;
}

namespace {
// What a good verdict rests on besides.
std::string notes(const Report& report) {
  return std::string(report.polls ? ", and that a poll that sees nothing new is repeated" : "") +
         (report.bound.empty() ? "" : "; " + report.bound);
}
}  // namespace

std::string verdict_line(const Report& report, const Options& options) {
  const std::string profile = fmt::format("  {:<6} ", name_of(options.profile));
  switch (report.verdict) {
    case Verdict::certified:
      return profile + "certified: all schedules, one execution; assumes that no wait expires" +
             notes(report);
    case Verdict::complete:
      return fmt::format("{}complete: {} executions{}{}{}", profile, report.executions,
                         report.dropped > 0 ? fmt::format(", {} given up", report.dropped) : "",
                         options.expire > 0
                             ? fmt::format("; at most {} waits expire", options.expire)
                             : "; assumes that no wait expires",
                         notes(report));
    case Verdict::bounded: return fmt::format("{}bounded: {}", profile, report.bound);
    case Verdict::refuted:
      return fmt::format("{}REFUTED: {}", profile, name_of(report.findings.front().kind));
  }
  return profile;
}

std::string counterexample(const Entry& entry, const Smallest& failure,
                           const std::vector<Repair>& repairs, std::size_t width) {
  const Options& options = failure.options;
  const Report& report = failure.report;
  std::string out = fmt::format("\n  {} fails with {}, on {}\n", entry.name, in_words(options),
                                name_of(options.profile));
  const Finding& first = report.findings.front();
  out += indented(fmt::format("{}: {}", name_of(first.kind), first.what), 4, width);
  if (!first.missing.empty()) out += indented("missing: " + first.missing, 4, width);
  std::vector<std::string> others;
  for (const Finding& finding : report.findings)
    if (finding.kind != first.kind)
      others.push_back(fmt::format("then {}: {}", name_of(finding.kind), finding.what));
  for (const std::string& other : others) out += indented(other, 4, width);
  out += '\n' + event_table(report, options.ranks, width) + '\n';
  if (repairs.empty() && options.replay.empty())  // a replay tries none
    out += "    no single stronger order, wider scope, flush or converge mends it\n";
  if (!repairs.empty()) out += "    each of these alone mends it (found by running it so):\n";
  for (const Repair& repair : repairs)
    out += fmt::format(
        "      {}{}\n", describe(repair),
        repair.is_whole() ? "" : " (not refuted by a short search and a few schedules)");
  out += fmt::format("    replay: --replay {}\n", replay_string(options, report.replay));
  return out;
}

std::string list_of_checks(const std::vector<Entry>& entries) {
  std::size_t width = 5;
  for (const Entry& entry : entries) width = std::max(width, entry.name.size());
  std::string out = fmt::format("{:<{}}  weakest profile  about\n", "check", width);
  for (const Entry& entry : entries) {
    const std::string line = fmt::format("{:<{}}  {:<15}  {}", entry.name, width,
                                         name_of(entry.protocol.weakest), entry.protocol.about);
    out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return out;
}

std::string as_json(const Entry& entry, const Options& options, const Report& report,
                    const std::vector<Repair>& repairs, double seconds) {
  nlohmann::json json;
  json["name"] = entry.name;
  json["ranks"] = options.ranks;
  json["calls"] = options.calls;
  json["lanes"] = options.lanes;
  json["threads_per_lane"] = options.threads;
  if (!options.place.empty()) json["place"] = to_string(options.place);
  json["profile"] = name_of(options.profile);
  json["verdict"] = name_of(report.verdict);
  json["executions"] = report.executions;
  json["dropped"] = report.dropped;
  json["steps"] = report.steps;
  json["seconds"] = seconds;
  if (!report.bound.empty()) json["bound"] = report.bound;
  if (!report.why_search.empty()) json["why_no_certificate"] = report.why_search;
  if (report.verdict == Verdict::refuted) json["replay"] = replay_string(options, report.replay);
  for (const Finding& finding : report.findings)
    json["findings"].push_back({{"kind", name_of(finding.kind)},
                                {"what", finding.what},
                                {"missing", finding.missing},
                                {"location", finding.location}});
  for (std::size_t at = 0; at < report.events.size(); ++at)
    if (const Event& event = report.events[at]; event.past)
      json["events"].push_back({{"number", at},
                                {"rank", event.rank},
                                {"lane", event.lane},
                                {"thread", event.thread},
                                {"what", event.what},
                                {"where", event.where},
                                {"reads", event.reads}});
  for (const Repair& repair : repairs) json["repairs"].push_back(describe(repair));
  // A name may hold what is no UTF-8.
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace muster::check
