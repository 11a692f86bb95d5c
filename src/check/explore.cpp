// From one configuration to a verdict.
#include <fmt/format.h>

#include <charconv>

#include "check/certificate.hpp"
#include "check/execution.hpp"
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
    else if (!probe())
      search();
    report_.steps = run_.steps();
    return std::move(report_);
  }

 private:
  // One execution with one strategy; false where it has findings.
  bool once(Scheduler& strategy, const std::string& path, Ending& ending) {
    ending = run_.run(strategy);
    report_.costs = run_.costs();
    if (run_.findings().empty()) return true;
    report_.verdict = Verdict::refuted;
    report_.findings = run_.findings();
    report_.replay = path;
    if (options_.trace) keep_events();
    return false;
  }

  // True where there is a verdict already.
  bool probe() {
    if (options_.expire > 0 || !options_.certificate) {
      report_.why_search = options_.expire > 0 ? "waits may expire" : "a search was asked for";
      return false;
    }
    Search search(true);
    run_.keep_sites(true);
    Ending ending{};
    const bool clean = once(search, "0", ending);
    run_.keep_sites(false);
    report_.sites = run_.sites();
    if (!clean) {
      report_.executions = 1;
      return true;
    }
    if (ending != Ending::done || run_.unexplained()) {
      report_.why_search = "the first execution is none of the profile's";
      return false;
    }
    if (auto why = why_not_determinate(run_)) {
      report_.why_search = std::move(*why);
      return false;
    }
    report_.verdict = Verdict::certified;
    report_.executions = 1;
    report_.outcomes.insert(run_.outcome());
    return true;
  }

  void search() {
    run_.keep_sites(report_.sites.empty());
    for (;;) {
      run_.sensitivity().changed = false;
      run_.groups().settle();
      if (pass()) return;  // else something has turned out that changes the search: again
      report_.executions = report_.dropped = 0;
      report_.outcomes.clear();
    }
  }

  bool pass() {
    Search search(false);
    do {
      if (report_.executions + report_.dropped >= options_.executions) {
        report_.verdict = Verdict::bounded;
        report_.bound =
            fmt::format("stopped after {} executions", report_.executions + report_.dropped);
        return true;
      }
      Ending ending{};
      const bool clean = once(search, "", ending);
      if (report_.sites.empty()) {
        report_.sites = run_.sites();
        run_.keep_sites(false);
      }
      if (!clean) {
        ++report_.executions;
        report_.replay = fmt::format("{}{}", run_.is_exact_sc() ? "x" : "", search.path());
        return true;
      }
      // On sc the minimal sets are enough as long as nothing goes wrong with them, since memory
      // that is weaker shows all that sc does, and each cell only grows. Else every set is tried.
      const bool sc = options_.profile == Profile::sc;
      if (sc && !run_.is_exact_sc() && (run_.unexplained() || !run_.sensitivity().cells.empty())) {
        run_.exact_sc(true);
        run_.groups().merge_all();
        return false;
      }
      if (run_.sensitivity().changed || run_.groups().changed()) return false;
      count(ending);
    } while (search.advance());
    report_.verdict = search.cut() ? Verdict::bounded : Verdict::complete;
    if (search.cut()) report_.bound = "a read had too many sets of deposits to take";
    return true;
  }

  void count(Ending ending) {
    const bool whole =
        ending == Ending::done && (!run_.is_exact_sc() || run_.explained_by_one_order());
    if (whole) {
      ++report_.executions;
      report_.outcomes.insert(run_.outcome());
    } else {
      ++report_.dropped;
    }
    const std::uint64_t all = report_.executions + report_.dropped;
    if (options_.progress && all % 4096 == 0) options_.progress(all);
  }

  void randomly(bool pct, std::uint64_t first, std::uint64_t last) {
    Random random(options_.seed, pct);
    run_.keep_sites(true);
    for (std::uint64_t index = first; index < last; ++index) {
      random.aim(index);
      Ending ending{};
      const bool clean = once(random, random.path(), ending);
      if (index == first) {
        report_.sites = run_.sites();
        run_.keep_sites(false);
      }
      if (!clean) {
        ++report_.executions;
        return;
      }
      count(ending);
    }
    report_.verdict = Verdict::bounded;
    report_.bound = fmt::format("{} {} schedules, seed {}", last - first, pct ? "PCT" : "random",
                                options_.seed);
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
    run_.exact_sc(options_.profile == Profile::sc && path.starts_with("x"));
    Search search(false);
    search.follow(choices(path));
    run_.keep_sites(true);
    learn_sensitivity();
    Ending ending{};
    if (once(search, path, ending)) {
      count(ending);
      report_.verdict = Verdict::bounded;
      report_.bound = "one execution replayed";
    } else {
      report_.executions = 1;
    }
    report_.sites = run_.sites();
  }

  static std::string choices(const std::string& path) {
    return path.starts_with("x") ? path.substr(1) : path;
  }

  // The choices of a path are numbered as the search numbered them: with what it knew by then.
  void learn_sensitivity() {
    for (;;) {
      run_.sensitivity().changed = false;
      Search search(false);
      search.follow(choices(options_.replay));
      const bool traced = options_.trace;
      run_.keep_trace(false);
      run_.run(search);
      run_.keep_trace(traced);
      if (!run_.sensitivity().changed) return;
    }
  }

  void keep_events() {
    report_.events.clear();
    for (const Step& step : run_.trace()) {
      const Thread& thread = run_.threads()[step.thread];
      Event event;
      event.rank = thread.rank;
      event.lane = thread.lane;
      event.thread = thread.index;
      event.setup = thread.is_setup;
      event.what = step.what;
      event.where = short_place(step.where);
      event.past = run_.finding_past().at(thread.id) >= step.epoch;
      report_.events.push_back(std::move(event));
    }
  }

  Options options_;
  Execution run_;
  Report report_;
};

}  // namespace

Report explore(const Options& options, const std::function<void(model::Team&)>& body) {
  return Explorer(options, body).report();
}

}  // namespace muster::check
