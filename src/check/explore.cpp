// From one configuration to a verdict.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "check/certificate.hpp"
#include "check/execution.hpp"
#include "check/mirror.hpp"
#include "check/random.hpp"
#include "check/search.hpp"
#include "check/sites.hpp"

namespace muster::check {

namespace {

using namespace engine;

class Explorer {
 public:
  Explorer(const Options& options, const std::function<void(model::Team&)>& body)
      : options_(options), run_(options, body) {}

  Report report() {
    run_.keep_trace(options_.trace);
    if (!options_.replay.empty())
      replay();
    else if (options_.strategy != Strategy::search)
      randomly(options_.strategy == Strategy::pct, 0, options_.executions);
    else
      decide();
    report_.steps = run_.steps();
    return std::move(report_);
  }

 private:
  // What finds most in the least time comes first.
  void decide() {
    if (probe()) return;
    const std::uint64_t all = options_.executions;
    options_.executions = std::min(all, short_search);
    search();
    if (report_.verdict != Verdict::bounded || halted_ || !undetermined_.empty()) return;
    const Report found_short = report_;
    if (few_schedules()) return;
    report_ = found_short;
    options_.executions = all;
    report_.unfinished = !cut_ && all > short_search;
    if (!report_.unfinished || options_.quick) return;
    report_.unfinished = false;
    report_.bound.clear();  // of the short search
    search();
  }

  // True where one of a few random schedules fails.
  bool few_schedules() {
    for (const bool pct : {false, true}) {
      report_.executions = report_.dropped = 0;
      randomly(pct, 0, few);
      if (report_.verdict == Verdict::refuted) return true;
      if (halted_) break;
    }
    return false;
  }

  // One execution with one strategy; false where it has findings.
  bool once(Scheduler& strategy, const std::string& path, Ending& ending) {
    ending = run_.run(strategy);
    report_.costs = run_.costs();
    report_.parts = run_.has_parts();
    report_.polls = report_.polls || run_.polls().seen();
    has_substance_ = has_substance_ || run_.has_substance();  // one that is given up may have none
    if (polls_.empty()) polls_ = run_.polls().endless();
    note_halt();
    if (ending == Ending::lost) undetermined_ = "the same answers to the same reads lead elsewhere";
    if (run_.findings().empty() || ending == Ending::lost) return true;
    report_.verdict = Verdict::refuted;
    report_.findings = run_.findings().list();
    report_.replay = path;
    if (options_.trace) keep_events();
    return false;
  }

  // Also where time was up while sets were looked for, so that some were not found.
  void note_halt() { halted_ = halted_ || run_.halted() || run_.patience().is_over(); }

  void bounded(const std::string& why) {
    report_.verdict = Verdict::bounded;
    report_.bound = !undetermined_.empty()
                        ? "not determined by what the model sees: " + undetermined_
                    : polls_.empty() ? why
                                     : polls_ + (halted_ ? "; " + why : "");
  }

  [[nodiscard]] std::string stopped() const {
    return fmt::format("stopped after {} executions", report_.executions + report_.dropped);
  }

  // True where there is a verdict already.
  bool probe() {
    if (options_.expire > 0 || !options_.certificate) {
      report_.why_search = options_.expire > 0 ? "waits may expire" : "a search was asked for";
      return false;
    }
    Search search(true);
    run_.keep_sites(true);
    run_.keep_record(true);
    Ending ending{};
    const bool clean = once(search, "0", ending);
    run_.keep_sites(false);
    run_.keep_record(false);
    report_.sites = run_.sites();
    if (!clean) {
      report_.executions = 1;
      return true;
    }
    if (halted_) {
      bounded(stopped());
      return true;
    }
    if (ending != Ending::done || run_.unexplained()) {
      report_.why_search = "the first execution is none of the profile's";
      return false;
    }
    if (auto why = why_not_determinate(run_)) {
      note_halt();
      if (halted_) bounded(stopped());
      report_.why_search = std::move(*why);
      return halted_;
    }
    report_.executions = 1;
    report_.outcomes.insert(run_.outcome());
    if (is_undetermined())
      bounded(stopped());
    else
      report_.verdict = Verdict::certified;
    if (report_.bound.empty() && !has_substance_) report_.bound = vacuous;
    return true;
  }

  // The execution that was recorded, once more in the opposite order.
  bool is_undetermined() {
    run_.keep_record(true);
    const bool traced = options_.trace;
    run_.keep_trace(false);
    undetermined_ = what_is_undetermined(run_);
    run_.keep_trace(traced);
    run_.keep_record(false);
    note_halt();
    return halted_ || !undetermined_.empty();
  }

  void search() {
    run_.keep_sites(report_.sites.empty());
    for (;;) {
      report_.executions = report_.dropped = 0;
      report_.outcomes.clear();
      run_.sensitivity().settle();
      run_.groups().settle();
      run_.polls().settle();
      run_.tasks().settle();
      if (pass()) return;  // else something has turned out that changes the search: again
    }
  }

  // Which executions of a search are run in the opposite order as well.
  [[nodiscard]] bool mirrors() const {
    return report_.executions < mirrored_all || report_.executions % mirrored_each == 0;
  }

  bool pass() {
    Search search(false);
    do {
      if (report_.executions + report_.dropped >= options_.executions) {
        bounded(stopped());
        return true;
      }
      Ending ending{};
      run_.keep_record(mirrors());
      const bool clean = once(search, "", ending);
      if (report_.sites.empty()) {
        report_.sites = run_.sites();
        run_.keep_sites(false);
      }
      if (!clean) {
        ++report_.executions;
        report_.replay = fmt::format("{}{}{}", run_.is_exact_sc() ? "x" : "",
                                     run_.polls().known_counted(), search.path());
        return true;
      }
      if (halted_ || ending == Ending::lost) {
        bounded(stopped());
        return true;
      }
      // On sc the minimal sets are enough as long as nothing goes wrong with them, since memory
      // that is weaker shows all that sc does, and each cell only grows. Else every set is tried.
      const bool sc = options_.profile == Profile::sc;
      if (sc && !run_.is_exact_sc() && (run_.unexplained() || run_.sensitivity().any())) {
        run_.search_sc_exactly();
        run_.groups().merge_all();
        return false;
      }
      if (run_.sensitivity().changed() || run_.groups().changed() || run_.polls().learned() ||
          run_.tasks().learned())
        return false;
      // One that sc does not have may fail in the other order, where it is noticed at another step.
      if (count(ending) && !run_.unexplained() && !run_.polls().spun() && !run_.aborted() &&
          !run_.tasks().has_chosen() && run_.recorded().is_kept() && is_undetermined()) {
        bounded(stopped());
        return true;
      }
    } while (search.advance());
    run_.keep_record(false);
    cut_ = search.cut();
    report_.verdict = Verdict::complete;
    if (!has_substance_) report_.bound = vacuous;
    if (!polls_.empty() || cut_) bounded("a read had too many sets of deposits to take");
    return true;
  }

  // True where it is an execution of the profile from its beginning to its end.
  bool count(Ending ending) {
    const bool whole =
        ending == Ending::done && (!run_.is_exact_sc() || run_.explained_by_one_order());
    if (whole) {
      ++report_.executions;
      report_.outcomes.insert(run_.outcome());
    } else {
      ++report_.dropped;
    }
    const std::uint64_t all = report_.executions + report_.dropped;
    if (options_.progress && all % 256 == 0) options_.progress(all);
    return whole;
  }

  void randomly(bool pct, std::uint64_t first, std::uint64_t last) {
    Random random(options_.seed, pct);
    run_.keep_sites(report_.sites.empty());
    for (std::uint64_t index = first; index < last; ++index) {
      random.aim(index);
      Ending ending{};
      const bool clean = once(random, random.path(), ending);
      if (report_.sites.empty()) {
        report_.sites = run_.sites();
        run_.keep_sites(false);
      }
      if (!clean) {
        ++report_.executions;
        return;
      }
      count(ending);
      if (halted_) break;
    }
    bounded(fmt::format("{} {} schedules, seed {}", report_.executions + report_.dropped,
                        pct ? "PCT" : "random", options_.seed));
  }

  void replay() {
    const std::string& path = options_.replay;
    const bool pct = path.starts_with("pct");
    if (pct || path.starts_with("random")) {
      const auto dash = path.find('-');
      const char* digits = path.c_str() + (pct ? 3 : 6);
      std::from_chars(digits, path.c_str() + path.size(), options_.seed);
      std::uint64_t index = 0;
      if (dash != std::string::npos)
        std::from_chars(path.c_str() + dash + 1, path.c_str() + path.size(), index);
      return randomly(pct, index, index + 1);
    }
    if (options_.profile == Profile::sc && path.starts_with("x")) run_.search_sc_exactly();
    Search search(false);
    const std::string choices = known_and_choices(path);
    search.follow(choices);
    run_.keep_sites(true);
    learn_sensitivity(choices);
    Ending ending{};
    if (once(search, path, ending)) {
      count(ending);
      if (options_.trace) keep_events();
      report_.verdict = Verdict::bounded;
      report_.bound = "one execution replayed";
    } else {
      report_.executions = 1;
    }
    report_.no_such_replay = search.objection();
    report_.sites = run_.sites();
  }

  // What the search knew of polls, which is taken over, and then its choices.
  std::string known_and_choices(const std::string& path) {
    std::string_view rest(path);
    if (rest.starts_with('x')) rest.remove_prefix(1);
    (void)run_.polls().know_counted(rest);
    return std::string(rest);
  }

  // The choices of a path are numbered as the search numbered them: with what it knew by then.
  void learn_sensitivity(const std::string& choices) {
    for (;;) {
      run_.sensitivity().settle();
      Search search(false);
      search.follow(choices);
      const bool traced = options_.trace;
      run_.keep_trace(false);
      run_.run(search);
      run_.keep_trace(traced);
      if (!run_.sensitivity().changed()) return;
    }
  }

  void keep_events() {
    report_.events.clear();
    for (const Step& step : run_.trace().steps()) {
      const Thread& thread = run_.threads()[step.thread];
      Event event;
      event.rank = thread.rank;
      event.lane = thread.lane;
      event.thread = thread.index;
      event.setup = thread.is_setup;
      event.what = step.what;
      event.where = short_place(step.where);
      event.past = run_.findings().empty() || run_.findings().past().at(thread.id) >= step.epoch;
      event.at = {step.where.at.file_name(), step.where.at.line()};
      if (step.where.is_called())
        event.call = {step.where.from.file_name(), step.where.from.line()};
      event.reads = step.reads;
      event.flies = step.flies;
      event.lands = step.lands;
      event.fails = step.fails;
      report_.events.push_back(std::move(event));
    }
  }

  static constexpr const char* vacuous =
      "vacuous: no window data, expect or barrier_call, so that little could have failed";
  static constexpr std::uint64_t short_search = 200;   // executions
  static constexpr std::uint64_t few = 100;            // random schedules of each kind
  static constexpr std::uint64_t mirrored_all = 1000;  // the first executions of a search
  static constexpr std::uint64_t mirrored_each = 16;   // and so many-th of the others

  Options options_;
  Execution run_;
  Report report_;
  std::string polls_;         // who polled without an end
  std::string undetermined_;  // what is not determined by what the model sees
  bool halted_ = false;
  bool has_substance_ = false;
  bool cut_ = false;
};

}  // namespace

Report explore(const Options& options, const std::function<void(model::Team&)>& body) {
  return Explorer(options, body).report();
}

}  // namespace muster::check
