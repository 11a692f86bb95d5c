#include "check/all.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "base/printable.hpp"
#include "check/child.hpp"

namespace muster::check {

namespace {

constexpr double default_timeout = 10;  // seconds of each check
constexpr std::array<Verdict, 4> from_best = {Verdict::certified, Verdict::complete,
                                              Verdict::bounded, Verdict::refuted};

using Json = nlohmann::json;

std::string group_of(const std::string& name) {
  const auto slash = name.find('/');
  return slash == std::string::npos ? "" : name.substr(0, slash);
}

// Does it claim a profile that was asked for, and to be right? (Of what is right elsewhere, it is
// asked whether it is so on `noncoherent`, claimed or not.)
bool is_meant_to_pass(const Entry& entry, const std::optional<Profile>& profile) {
  return !entry.protocol.fails && (!profile || *profile >= entry.protocol.weakest);
}

// The first parts of names, each once.
std::vector<std::string> groups_of(const std::vector<const Entry*>& entries) {
  std::vector<std::string> groups;  // the entries are in order
  for (const Entry* entry : entries)
    if (const std::string group = group_of(entry->name);
        !group.empty() && (groups.empty() || groups.back() != group))
      groups.push_back(group);
  return groups;
}

// Does the name mean this check, or a group that it is in? `broken/` and `broken/...` are `broken`.
bool means(std::string name, const Entry& entry) {
  for (const std::string end : {"...", "*", "/"})
    if (name.ends_with(end)) name.erase(name.size() - end.size());
  return entry.name == name || entry.name.starts_with(name + '/');
}

std::vector<const Entry*> chosen(const Command& command) {
  std::optional<Profile> profile;
  if (command.profile && !registry().empty())
    profile = profiles_for(command, registry().front()).front();
  std::vector<const Entry*> entries;
  for (const Entry& entry : registry())
    if (is_meant_to_pass(entry, profile)) entries.push_back(&entry);
  if (entries.empty()) throw Usage{"there is no check that is meant to pass; --list names all"};
  for (const std::string& name : command.names) {
    if (std::any_of(entries.begin(), entries.end(),
                    [&](const Entry* entry) { return means(name, *entry); }))
      continue;
    if (find(name) != nullptr)
      throw Usage{"'" + name + "' is not meant to pass" + (profile ? " there" : "") +
                  ": name it without --all"};
    throw Usage{fmt::format(
        "there is no check or group '{}' that is meant to pass; --list names the checks, the "
        "groups are {}",
        name, fmt::join(groups_of(entries), ", "))};
  }
  std::erase_if(entries, [&](const Entry* entry) {
    return !command.names.empty() &&
           std::none_of(command.names.begin(), command.names.end(),
                        [&](const std::string& name) { return means(name, *entry); });
  });
  return entries;
}

Verdict verdict_of(const Json& report) {
  for (const Verdict verdict : from_best)
    if (report["verdict"] == name_of(verdict)) return verdict;
  return Verdict::bounded;
}

// Of all profiles together.
Verdict worst_of(const std::vector<Json>& reports) {
  const auto place = [](Verdict verdict) {
    return std::find(from_best.begin(), from_best.end(), verdict) - from_best.begin();
  };
  Verdict worst = Verdict::certified;
  for (const Json& report : reports)
    if (place(verdict_of(report)) > place(worst)) worst = verdict_of(report);
  return worst;
}

std::string joined_profiles(const std::vector<Json>& reports) {
  std::vector<std::string> names;
  for (const Json& report : reports) names.push_back(report["profile"].get<std::string>());
  return fmt::format("{}", fmt::join(names, ", "));
}

// What a verdict rests on besides, or why it is none, once for the profiles that share it.
std::string notes(const std::vector<Json>& reports) {
  std::vector<std::pair<std::string, std::vector<Json>>> notes;
  for (const Json& report : reports) {
    std::string note = report.value("bound", "");
    if (verdict_of(report) == Verdict::refuted && report.contains("findings")) {
      const Json& finding = report["findings"][0];
      note = finding["kind"].get<std::string>() + ": " + finding["what"].get<std::string>();
    }
    if (note.empty()) continue;
    const auto same = std::find_if(notes.begin(), notes.end(),
                                   [&](const auto& other) { return other.first == note; });
    if (same == notes.end())
      notes.push_back({note, {report}});
    else
      same->second.push_back(report);
  }
  std::string text;
  for (const auto& [note, on] : notes)
    text += "  " +
            (on.size() == reports.size() ? note : fmt::format("{}: {}", joined_profiles(on), note));
  return text;
}

// One check on its way.
struct Check {
  const Entry* entry = nullptr;
  std::unique_ptr<Child> child{};  // while it runs
  std::vector<Json> reports{};     // once it has ended
  double seconds = 0;
};

// Which ones run and how many are left, on a terminal alone.
class Progress {
 public:
  void show(const std::vector<Check>& checks) {
    if (!on_terminal_) return;
    std::vector<std::string> running;
    std::size_t left = 0;
    for (const Check& check : checks) {
      if (check.child) running.push_back(check.entry->name);
      if (check.reports.empty()) ++left;
    }
    std::string line =
        fmt::format("{} of {} left: {}", left, checks.size(), fmt::join(running, ", "));
    if (line.size() > width) line.resize(width);
    if (line == shown_) return;
    clear();
    fmt::print(stderr, "\r{}", line);
    std::fflush(stderr);
    shown_ = line;
  }
  void clear() {
    if (!shown_.empty()) fmt::print(stderr, "\r{:{}}\r", "", shown_.size());
    std::fflush(stderr);
    shown_.clear();
  }

 private:
  static constexpr std::size_t width = 79;  // more could wrap, and would then not be cleared
  const bool on_terminal_ = isatty(STDERR_FILENO) != 0;
  std::string shown_;
};

class All {
 public:
  explicit All(const Command& command)
      : command_(command),
        timeout_(command.timeout.value_or(default_timeout)),
        jobs_(command.jobs.value_or(std::max(1U, std::thread::hardware_concurrency()))) {
    if (!command.html.empty())
      throw Usage{"--html is '" + command.html +
                  "', and a page shows what was asked for by name: without --all, for example the "
                  "checks that it says are refuted"};
    for (const Entry* entry : chosen(command)) {
      (void)options_for(command, *entry);  // throws where they make no sense
      checks_.push_back({.entry = entry});
      name_width_ = std::max(name_width_, entry->name.size());
    }
  }

  int run() {
    if (!command_.json.empty()) json_.open(command_.json);
    if (!command_.json.empty() && !json_) throw Usage{"cannot write " + command_.json};
    listen_for_interrupts();
    fmt::print("{:<{}}  verdict    {}  {:<16}  seconds\n", "check", name_width_, numbers_heading,
               "profiles");
    while (printed_ < checks_.size() && !interrupted()) {
      start_more();
      progress_.show(checks_);
      wait_for_one();
      collect();
      print_in_order();
    }
    if (interrupted()) print_what_is_known();
    progress_.clear();
    return summary();
  }

 private:
  static constexpr const char* numbers_heading = "ranks/lanes/threads/calls";

  void start_more() {
    while (running_ < jobs_ && started_ < checks_.size()) {
      Check& check = checks_[started_];
      check.child = std::make_unique<Child>(command_, *check.entry, timeout_);
      ++started_;
      ++running_;
    }
  }

  // Not for long: Ctrl-C may have come just before, and a child that hangs has to be seen.
  void wait_for_one() {
    std::vector<pollfd> ends;
    for (const Check& check : checks_)
      if (check.child) ends.push_back({check.child->descriptor(), POLLIN, 0});
    (void)poll(ends.data(), ends.size(), 100);
  }

  void collect() {
    for (Check& check : checks_)
      if (check.child && check.child->ended()) end(check);
  }

  void end(Check& check) {
    check.seconds = check.child->seconds();
    check.reports = check.child->reports();
    check.child.reset();
    --running_;
  }

  void print_in_order() {
    while (printed_ < checks_.size() && !checks_[printed_].reports.empty())
      print(checks_[printed_++]);
  }

  // Those that run end now; those that have not begun have no line.
  void print_what_is_known() {
    for (Check& check : checks_)
      if (check.child) {
        check.child->interrupt();
        end(check);
      }
    for (; printed_ < checks_.size(); ++printed_)
      if (!checks_[printed_].reports.empty()) print(checks_[printed_]);
  }

  void print(const Check& check) {
    const Verdict verdict = worst_of(check.reports);
    ++counts_[verdict];
    status_ = worse(status_, status_of(verdict));
    const Options options = options_for(command_, *check.entry);
    const std::string numbers =
        fmt::format("{}/{}/{}/{}", options.ranks, options.lanes, options.threads, options.calls);
    progress_.clear();
    fmt::print("{:<{}}  {:<9}  {:<{}}  {:<16}  {:7.2f}{}\n", check.entry->name, name_width_,
               verdict == Verdict::refuted ? "REFUTED" : name_of(verdict), numbers,
               std::string_view(numbers_heading).size(), joined_profiles(check.reports),
               check.seconds, notes(check.reports));
    std::fflush(stdout);
    for (const Json& report : check.reports)
      if (json_.is_open()) json_ << report.dump() << '\n';
  }

  int summary() {
    std::size_t told = 0;
    Json json;
    std::vector<std::string> parts;
    for (const Verdict verdict : from_best) {
      told += counts_[verdict];
      json[name_of(verdict)] = counts_[verdict];
      parts.push_back(fmt::format("{} {}", counts_[verdict], name_of(verdict)));
    }
    const std::size_t not_run = checks_.size() - told;
    if (interrupted()) status_ = worse(status_, 3);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start_;
    fmt::print("muster check: {} in {:.{}f} s{}\n", fmt::join(parts, ", "), time.count(),
               time.count() < 10 ? 1 : 0,
               interrupted() ? fmt::format("; interrupted, {} not run", not_run) : "");
    json["not_run"] = not_run;
    json["seconds"] = time.count();
    json["status"] = status_;
    if (json_.is_open() && !(json_ << Json{{"summary", json}}.dump() << '\n').flush()) {
      fmt::print(stderr, "muster check: {} could not be written\n", printable(command_.json));
      return status_ == 0 ? no_answer_status : status_;
    }
    return status_;
  }

  const Command& command_;
  const double timeout_;
  const std::size_t jobs_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<Check> checks_;
  std::size_t name_width_ = 5;
  std::size_t started_ = 0, running_ = 0, printed_ = 0;
  std::map<Verdict, std::size_t> counts_;
  int status_ = 0;
  Progress progress_;
  std::ofstream json_;
};

}  // namespace

int run_all(const Command& command) {
  return All(command).run();
}

}  // namespace muster::check
