#include "check/configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace muster::check {

std::string in_words(const Options& options) {
  const std::string place = to_string(options.place);
  return fmt::format("{} ranks, {} calls, {} lanes, {} threads per lane{}{}", options.ranks,
                     options.calls, options.lanes, options.threads,
                     place.empty() ? "" : ", placed ", place);
}

std::string replay_string(const Options& options, const std::string& choices) {
  std::string place = to_string(options.place);
  std::replace(place.begin(), place.end(), ',', '+');
  return fmt::format("n={},c={},l={},t={},p={},x={}{}{}:{}", options.ranks, options.calls,
                     options.lanes, options.threads, name_of(options.profile), options.expire,
                     place.empty() ? "" : ",d=", place, choices);
}

namespace {

template <class Number>
bool read_number(std::string_view text, Number& number, Number least, Number most) {
  const auto end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc{} && read.ptr == end && number >= least && number <= most;
}

bool read_place(std::string text, Options& options) {
  std::replace(text.begin(), text.end(), '+', ',');
  const Result<Placement> placement = placement_of(text);
  if (placement) options.place = *placement;
  return placement.has_value();
}

bool read_field(std::string_view field, Options& options) {
  if (field.size() < 3 || field[1] != '=') return false;
  const std::string_view value = field.substr(2);
  const auto profile = profile_of(std::string(value));
  switch (field[0]) {
    case 'n': return read_number(value, options.ranks, 1U, most_ranks);
    case 'c': return read_number(value, options.calls, 1U, most_calls);
    case 'l': return read_number(value, options.lanes, 1U, most_lanes);
    case 't': return read_number(value, options.threads, 1U, most_threads);
    case 'x': return read_number(value, options.expire, 0U, most_expired);
    case 'd': return read_place(std::string(value), options);
    case 'p': options.profile = profile.value_or(options.profile); return profile.has_value();
    default: return false;
  }
}

// "0.3.1", after an x where a search on sc tried every set, and after "n12ab,3c:" where polls are
// counted; "random7-12", "pct7-12".
bool are_choices(std::string_view text) {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t number = 0;
  for (const std::string_view kind : {"random", "pct"}) {
    if (!text.starts_with(kind)) continue;
    const auto dash = text.find('-');
    return dash != std::string_view::npos &&
           read_number(text.substr(kind.size(), dash - kind.size()), number, std::uint64_t{0},
                       most) &&
           read_number(text.substr(dash + 1), number, std::uint64_t{0}, most - 1);
  }
  if (text.starts_with('x')) text.remove_prefix(1);
  if (text.starts_with('n')) {
    const auto colon = text.find(':');
    if (colon == std::string_view::npos) return false;
    if (text.substr(1, colon - 1).find_first_not_of("0123456789abcdef,") != std::string_view::npos)
      return false;
    text.remove_prefix(colon + 1);
  }
  for (;;) {
    const auto dot = text.find('.');
    std::uint32_t choice = 0;
    if (!read_number(text.substr(0, dot), choice, 0U, ~0U)) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

// What a single change could be. An order that varies from call to call at its place can be made
// stronger there even where some calls have it already.
bool fetches(const std::string& operation) {
  return operation == "fetch_add" || operation == "exchange" || operation == "compare_swap";
}
bool reads(const std::string& operation) {
  return fetches(operation) || operation == "wait" || operation == "test" || operation == "read" ||
         operation == "wait_any" || operation == "take";
}
bool deposits(const std::string& operation) {
  return fetches(operation) || operation == "notify" || operation == "hand";
}
std::vector<Change> strengthenings(const Site& site, const Options& options) {
  std::vector<Change> changes;
  if (site.narrow) changes.push_back(Change::widen);
  if (site.operation.starts_with("atomic ")) {  // of an object, or a fence
    if (site.operation != "atomic load") changes.push_back(Change::release);
    if (site.operation != "atomic store") changes.push_back(Change::acquire);
    return changes;
  }
  const bool moves = site.operation == "put" || site.operation == "get";
  if (deposits(site.operation)) changes.push_back(Change::release);
  if (reads(site.operation)) changes.push_back(Change::acquire);
  if (options.profile == Profile::rdma && (deposits(site.operation) || moves))
    changes.push_back(Change::flush_before);
  if (deposits(site.operation)) changes.push_back(Change::converge_before);  // one thread's too
  if (options.threads > 1 && reads(site.operation)) changes.push_back(Change::converge_after);
  return changes;
}

constexpr std::uint64_t rerun_executions = 20'000;

}  // namespace

std::string read_replay(const std::string& text, Options& options) {
  const auto colon = text.find(':');
  if (colon == std::string::npos) return "there is no ':' before the choices";
  std::string_view rest(text.data(), colon);
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    const std::string_view field = rest.substr(0, comma);
    if (!read_field(field, options))
      return fmt::format("'{}' is none of n=, c=, l=, t= with a number, p= with a profile, x=",
                         field);
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
  }
  options.replay = text.substr(colon + 1);
  return are_choices(options.replay)
             ? ""
             : "its choices must be numbers between dots, as 0.2.1, or as random7-12";
}

namespace {

// Lowers one number of a failure's configuration as far as it still fails.
void lower(const Entry& entry, Smallest& failure, Kind kind, std::uint32_t Options::*number) {
  Options smaller = failure.options;
  smaller.replay.clear();
  for (smaller.*number = 1; smaller.*number < failure.options.*number; ++(smaller.*number)) {
    Report report = explore(smaller, entry.body);
    if (report.verdict != Verdict::refuted || !report.has(kind)) continue;
    failure = {smaller, std::move(report)};
    return;
  }
}

}  // namespace

Smallest smallest_failure(const Entry& entry, const Options& options, Kind kind) {
  Options smaller = options;
  smaller.executions = rerun_executions;
  smaller.trace = true;
  smaller.quick = true;
  Smallest failure;
  bool found = false;
  for (smaller.ranks = std::min(2U, options.ranks); !found && smaller.ranks <= options.ranks;
       ++smaller.ranks)
    for (smaller.calls = 1; !found && smaller.calls <= options.calls; ++smaller.calls) {
      if (smaller.ranks == options.ranks && smaller.calls == options.calls) break;
      Report report = explore(smaller, entry.body);
      found = report.verdict == Verdict::refuted && report.has(kind);
      if (found) failure = {smaller, std::move(report)};
    }
  if (!found) {
    Options same = options;
    same.trace = true;
    same.halt = {};  // it has failed before, and will
    failure = {same, explore(same, entry.body)};
    failure.options.halt = options.halt;
    failure.options.quick = true;
  }
  lower(entry, failure, kind, &Options::lanes);
  // The parts of a lane are what they are: with fewer threads some would not exist.
  if (!failure.report.parts) lower(entry, failure, kind, &Options::threads);
  return failure;
}

std::vector<Repair> single_repairs(const Entry& entry, const Options& options,
                                   const Report& report) {
  Options tried = options;
  tried.executions = rerun_executions;
  tried.replay.clear();
  tried.trace = false;
  tried.quick = true;
  std::vector<Repair> repairs;
  for (const Site& site : report.sites)
    for (const Change change : strengthenings(site, options)) {
      tried.changes = {{site.key(), change}};
      const Verdict verdict = explore(tried, entry.body).verdict;
      if (tried.halt && tried.halt()) return repairs;  // half a run says nothing
      if (verdict != Verdict::refuted) repairs.push_back({site, change, verdict});
    }
  return repairs;
}

Report one_execution(const Entry& entry, Options options, const Repair* with) {
  options.replay = "0";
  options.trace = true;
  options.strategy = Strategy::search;
  if (with != nullptr) options.changes = {{with->site.key(), with->change}};
  return explore(options, entry.body);
}

std::string describe(const Repair& repair) {
  const Site& site = repair.site;
  const std::string where = fmt::format("{}:{}", site.file, site.line);
  switch (repair.change) {
    case Change::release: return fmt::format("{}: let the {} release", where, site.operation);
    case Change::acquire: return fmt::format("{}: let the {} acquire", where, site.operation);
    case Change::widen:
      return fmt::format("{}: let the {} have the scope system", where, site.operation);
    case Change::relax: return fmt::format("{}: the {} may be relaxed", where, site.operation);
    case Change::flush_before: return fmt::format("{}: flush before the {}", where, site.operation);
    case Change::converge_before:
      return fmt::format("{}: converge before the {}", where, site.operation);
    case Change::converge_after:
      return fmt::format("{}: converge after the {}", where, site.operation);
    case Change::drop: return fmt::format("{}: the {} may be left out", where, site.operation);
  }
  return where;
}

}  // namespace muster::check
