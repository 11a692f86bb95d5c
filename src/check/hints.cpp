#include "check/hints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <utility>

#include "check/asked.hpp"
#include "check/sites.hpp"

namespace muster::check {

namespace {

constexpr std::uint64_t executions_of_a_try = 20'000;

bool releases(Order order) {
  return order == Order::release || order == Order::acq_rel;
}
bool acquires(Order order) {
  return order == Order::acquire || order == Order::acq_rel;
}
bool is_one_of(const std::string& operation, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const char* name) { return operation == name; });
}

// What is tried at a site, the most first: what may be left out need not be relaxed.
std::vector<Change> weakenings(const Site& site) {
  std::vector<Change> changes;
  if (is_one_of(site.operation, {"notify", "wait", "flush", "converge"}))
    changes.push_back(Change::drop);
  const bool relaxes = (is_one_of(site.operation, {"notify", "hand"}) && releases(site.order)) ||
                       (is_one_of(site.operation, {"wait", "test", "read", "wait_any", "take"}) &&
                        acquires(site.order));
  if (relaxes) changes.push_back(Change::relax);
  return changes;
}

// Would it change anything there? On sc every order is the strongest and no transfer is in flight;
// a lane of one thread has nobody to meet.
bool matters(const Site& site, Change change, const Options& options) {
  if (change == Change::relax || site.operation == "flush") return options.profile != Profile::sc;
  return site.operation != "converge" || options.threads > 1;
}

Cost sum_of(const std::vector<Cost>& costs) {
  Cost sum;
  for (const Cost& cost : costs) {
    sum.rounds = std::max(sum.rounds, cost.rounds);
    sum.notifies += cost.notifies + cost.own_notifies;
    sum.waits += cost.waits;
    sum.flushes += cost.flushes;
    sum.bytes += cost.bytes;
  }
  return sum;
}

// "saves 6 of 12 notifies, 6 of 12 waits"
std::string saved(const std::vector<Cost>& before, const std::vector<Cost>& after) {
  const Cost then = sum_of(before);
  const Cost now = sum_of(after);
  const std::pair<std::uint64_t Cost::*, const char*> parts[] = {{&Cost::notifies, "notifies"},
                                                                 {&Cost::waits, "waits"},
                                                                 {&Cost::flushes, "flushes"},
                                                                 {&Cost::rounds, "rounds"},
                                                                 {&Cost::bytes, "bytes"}};
  std::string text;
  for (const auto& [part, name] : parts)
    if (now.*part < then.*part)
      text += fmt::format("{}{} of {} {}", text.empty() ? "saves " : ", ", then.*part - now.*part,
                          then.*part, name);
  return text;
}

std::string times(std::uint64_t number) {
  return number == 1 ? "once in a run" : fmt::format("{} times in a run", number);
}

class Seeker {
 public:
  Seeker(const Entry& entry, const std::vector<Holding>& holding)
      : entry_(entry), holding_(holding) {
    for (const Holding& one : holding)
      for (const Site& site : one.report.sites) sites_.try_emplace(site.key(), site);
  }

  Hints seek(const std::function<void(std::size_t, std::size_t)>& progress) {
    std::size_t done = 0;
    for (const auto& [key, site] : sites_) {
      if (progress) progress(done++, sites_.size());
      for (const Change change : weakenings(site)) {
        if (halted()) ++hints_.not_tried;
        if (halted() || try_one(site, change)) break;
      }
    }
    join_notifies();
    return std::move(hints_);
  }

 private:
  using Changes = std::map<std::string, Change>;
  struct Trial {
    Verdict verdict = Verdict::certified;  // the worst
    std::string saved;
    bool matters = false;  // on some profile
  };

  [[nodiscard]] bool halted() const {
    const auto& halt = holding_.front().options.halt;
    return halt && halt();
  }

  // On every profile on which it would change something, until one refutes it.
  Trial trial(const Site& site, Change change, const Changes& changes) const {
    Trial trial;
    for (const Holding& one : holding_) {
      if (!matters(site, change, one.options)) continue;
      trial.matters = true;
      Options options = one.options;
      options.executions = std::min(options.executions, executions_of_a_try);
      options.changes = changes;
      const Report report = explore(options, entry_.body);
      if (report.verdict == Verdict::bounded || report.verdict == Verdict::refuted)
        trial.verdict = report.verdict;
      else
        trial.saved = saved(one.report.costs, report.costs);
      if (trial.verdict == Verdict::refuted) break;
    }
    return trial;
  }

  // True where it is not refuted.
  bool try_one(const Site& site, Change change) {
    const Trial tried = trial(site, change, {{site.key(), change}});
    if (!tried.matters) return false;
    if (halted()) {  // half a run says nothing
      ++hints_.not_tried;
      return true;
    }
    if (tried.verdict == Verdict::refuted) {
      ++hints_.needed;
      if (site.operation == "notify" && change == Change::drop) needed_.push_back(site);
      return false;
    }
    Hint hint{{site, change, tried.verdict}, {}, tried.saved};
    if (change == Change::relax)
      hint.costs = fmt::format("{}, {}", engine::word(site.order), times(site.times));
    else if (hint.costs.empty())
      hint.costs = times(site.times);
    (tried.verdict == Verdict::bounded ? hints_.undecided : hints_.spare)
        .push_back(std::move(hint));
    return true;
  }

  // A notify is needed as long as somebody waits for it: without that wait it may not be.
  void join_notifies() {
    for (Hint& hint : hints_.spare) {
      if (hint.repair.site.operation != "wait" || hint.repair.change != Change::drop) continue;
      Changes changes = {{hint.repair.site.key(), Change::drop}};
      for (const Site& notify : needed_) {
        Changes more = changes;
        more[notify.key()] = Change::drop;
        const Trial tried = trial(notify, Change::drop, more);
        if (halted()) return;
        if (tried.verdict == Verdict::refuted || tried.verdict == Verdict::bounded) continue;
        changes = std::move(more);
        hint.with.push_back(notify);
        hint.costs = tried.saved;
      }
    }
  }

  const Entry& entry_;
  const std::vector<Holding>& holding_;
  std::map<std::string, Site> sites_;
  std::vector<Site> needed_;  // notifies
  Hints hints_;
};

std::string line_of(const Hint& hint) {
  std::string with;
  for (const Site& site : hint.with) with += fmt::format(", and then {}:{}", site.file, site.line);
  return fmt::format("{}{} ({})", describe(hint.repair), with, hint.costs);
}

}  // namespace

Hints hints_for(const Entry& entry, const std::vector<Holding>& holding,
                const std::function<void(std::size_t, std::size_t)>& progress) {
  return holding.empty() ? Hints{} : Seeker(entry, holding).seek(progress);
}

std::vector<std::string> hint_lines(const Hints& hints, const std::vector<Holding>& holding) {
  if (holding.empty()) return {"there are none where nothing is certified or complete"};
  std::vector<std::string> lines;
  for (const Hint& hint : hints.spare) lines.push_back(line_of(hint));
  for (const Hint& hint : hints.undecided)
    lines.push_back(line_of(hint) + ": not refuted, but not explored in full");
  std::string profiles;
  bool vacuous = false;
  for (const Holding& one : holding) {
    profiles += fmt::format("{}{}", profiles.empty() ? "" : ", ", name_of(one.options.profile));
    vacuous = vacuous || one.report.bound.starts_with("vacuous");
  }
  const std::size_t spare = hints.spare.size() + hints.undecided.size();
  std::string sum =
      hints.tried() == 0
          ? "there is nothing to weaken or leave out here"
          : fmt::format("{} tried, each alone: {}", hints.tried(),
                        spare == 0 ? "all are needed"
                                   : fmt::format("{} needed, {} not", hints.needed, spare));
  if (hints.not_tried > 0)
    sum += fmt::format("; {} not tried, {}", hints.not_tried,
                       interrupted() ? "interrupted" : "over time");
  const Options& options = holding.front().options;
  lines.push_back(fmt::format("{}; for {} on {}, and what this check looks at, alone{}", sum,
                              in_words(options), profiles,
                              vacuous ? ": it is vacuous, so that they mean little" : ""));
  return lines;
}

}  // namespace muster::check
