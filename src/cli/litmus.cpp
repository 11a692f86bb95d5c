// muster litmus: tests of the PTX memory model, decided by its axioms.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/printable.hpp"
#include "cli/numbers.hpp"
#include "litmus/enumerate.hpp"
#include "litmus/explore.hpp"
#include "litmus/show.hpp"
#include "litmus/suite.hpp"

namespace muster::cli {
namespace {

struct LitmusCommand {
  std::vector<std::string> paths;
  std::string turns = "2";
  std::string json;
  bool show = false;
};

struct Tally {
  std::size_t expected = 0;  // tests of which a verdict is known
  std::size_t agree = 0;
  std::size_t bounded = 0;
  std::size_t unread = 0;
  std::size_t differ = 0;  // explorer and enumerator
};

// What the explorer says, and why it says nothing.
struct Explored {
  litmus::Exploration result;
  bool circle = false;
  [[nodiscard]] bool decided() const { return result.decided() && !circle; }
};

Explored explore_whole(const litmus::Program& program, const litmus::Bounds& bounds) {
  Explored made{litmus::explore(program, bounds)};
  made.circle = made.result.decided() && litmus::has_circle(program, bounds);
  return made;
}

std::string why_not(const Explored& explored) {
  if (!explored.result.race.empty()) return "two writes race: " + explored.result.race;
  if (explored.circle) return "a circle of program order and reads-from is allowed";
  if (explored.result.late)
    return fmt::format("more than {} s of processor time", litmus::Bounds{}.seconds);
  return explored.result.cut ? fmt::format("more than {} states", litmus::most_states) : "";
}

const char* outcome_name(const litmus::Program& program, const litmus::Verdict& verdict) {
  if (verdict.bounded()) return "bounded";
  if (!verdict.executable) return "no execution";
  const bool found = !verdict.execution.empty();
  if (program.quantifier == litmus::Quantifier::forall) return found ? "violated" : "always";
  return found ? "allowed" : "forbidden";
}

std::string remark(const litmus::Verdict& verdict, const std::optional<bool>& expected,
                   const std::string& turns) {
  std::string said;
  if (verdict.bounded() && verdict.reached.events_cut)
    said += fmt::format("; more than {} events", litmus::Bounds{}.events);
  else if (verdict.bounded() && verdict.reached.seconds_cut)
    said += fmt::format("; more than {} s of processor time", litmus::Bounds{}.seconds);
  else if (verdict.bounded() && verdict.reached.orders_cut)
    said += fmt::format("; more than {} orders of writes and fences", litmus::Bounds{}.orders);
  else if (verdict.bounded())
    said += fmt::format("; more than {} candidates and dead ends",
                        verdict.reached.candidates + verdict.reached.dead_ends - 1);
  if (verdict.loops_cut()) said += fmt::format("; loops cut after {} turns", turns);
  if (expected && !verdict.bounded() && *expected != verdict.holds)
    said +=
        fmt::format("; DISAGREES: the condition is expected {}", *expected ? "to hold" : "to fail");
  return said;
}

class Run {
 public:
  Run(const LitmusCommand& command, litmus::Bounds bounds) : command_(command), bounds_(bounds) {}

  int all() {
    const auto files = litmus::collect(command_.paths);
    if (!files) throw UsageError(files.error().what);
    std::ofstream json;
    if (!command_.json.empty()) {
      json.open(command_.json);
      if (!json) json_unwritable();
    }
    for (std::size_t i = 0; i < files->size(); ++i) {
      progress(i, files->size());
      one((*files)[i]);
    }
    progress(files->size(), files->size());
    summary();
    if (json.is_open()) write_json(json);
    if (tally_.unread > 0) return 2;
    if (tally_.agree + tally_.bounded < tally_.expected || tally_.differ > 0) return 1;
    if (explorer_.agree < explorer_.expected) return 1;
    return tally_.bounded > 0 ? 3 : 0;
  }

 private:
  // A line that the next one overwrites, for who watches.
  void progress(std::size_t done, std::size_t of) const {
    if (isatty(STDERR_FILENO) == 0) return;
    if (done < of) {
      fmt::print(stderr, "\r\033[K{} of {}", done + 1, of);
    } else {
      fmt::print(stderr, "\r\033[K");
    }
    std::fflush(stderr);
  }

  void clear() const {
    if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[K");
  }

  void refuse(const std::filesystem::path& file, const std::string& why) {
    ++tally_.unread;
    clear();
    fmt::print(stderr, "muster litmus: {}\n", printable(why));
    tests_.push_back({{"file", file.string()}, {"error", why}});
  }

  void one(const std::filesystem::path& file) {
    const auto program = litmus::load(file);
    if (!program) return refuse(file, program.error().what);
    const auto expected = litmus::expectation(file);
    if (!expected) return refuse(file, expected.error().what);
    const litmus::Verdict verdict = litmus::enumerate(*program, bounds_);
    const bool known = expected->has_value();
    const bool agrees = known && !verdict.bounded() && **expected == verdict.holds;
    if (known) ++tally_.expected;
    if (agrees) ++tally_.agree;
    if (verdict.bounded()) ++tally_.bounded;
    ++decided_;
    const Explored explored = explore_whole(*program, bounds_);
    const bool differs = tally(explored, verdict, *expected);

    clear();
    fmt::print("{}: {} {}{}\n", printable(file.stem().string()), name_of(program->quantifier),
               outcome_name(*program, verdict), remark(verdict, *expected, command_.turns));
    if (differs)
      fmt::print("  THE EXPLORER DIFFERS: the condition {}\n",
                 explored.result.holds ? "holds" : "does not hold");
    if (command_.show && !explored.decided())
      fmt::print("  not explored: {}\n", printable(why_not(explored)));
    const bool disagrees = known && !agrees && !verdict.bounded();
    if (disagrees || command_.show) {
      for (const std::string& line : verdict.execution) fmt::print("  {}\n", printable(line));
      if (disagrees && verdict.execution.empty())
        fmt::print("  none of {} candidates\n", verdict.reached.candidates);
    }
    note(file, *program, verdict, *expected);
    tests_.back()["explorer"] = nullptr;
    if (explored.decided())
      tests_.back()["explorer"] = explored.result.holds;
    else
      tests_.back()["not_explored"] = why_not(explored);
  }

  // True where the two halves say different things.
  bool tally(const Explored& explored, const litmus::Verdict& verdict,
             const std::optional<bool>& expected) {
    if (!explored.decided()) return false;
    ++explored_;
    if (expected) ++explorer_.expected;
    if (expected && *expected == explored.result.holds) ++explorer_.agree;
    const bool differs = !verdict.bounded() && verdict.holds != explored.result.holds;
    if (differs) ++tally_.differ;
    return differs;
  }

  void note(const std::filesystem::path& file, const litmus::Program& program,
            const litmus::Verdict& verdict, const std::optional<bool>& expected) {
    nlohmann::json test{{"file", file.string()},
                        {"name", program.name},
                        {"condition", name_of(program.quantifier)},
                        {"outcome", outcome_name(program, verdict)},
                        {"holds", nullptr},
                        {"expected", nullptr},
                        {"candidates", verdict.reached.candidates},
                        {"loops_cut", verdict.loops_cut()},
                        {"execution", verdict.execution}};
    if (!verdict.bounded()) test["holds"] = verdict.holds;
    if (expected) test["expected"] = *expected;
    tests_.push_back(std::move(test));
  }

  void summary() const {
    if (tally_.expected > 0) {
      fmt::print("explorer: {} of {}; enumerator: {} of {}", explorer_.agree, explorer_.expected,
                 tally_.agree, tally_.expected);
    } else {
      fmt::print("explorer: {} decided; enumerator: {} decided, nothing expected", explored_,
                 decided_ - tally_.bounded);
    }
    if (tally_.differ > 0) fmt::print(", {} DIFFER", tally_.differ);
    if (tally_.bounded > 0) fmt::print(", {} bounded", tally_.bounded);
    if (tally_.unread > 0) fmt::print(", {} not read", tally_.unread);
    fmt::print("\n");
  }

  [[noreturn]] void json_unwritable() const {
    throw UsageError(
        fmt::format("--json is '{}', which cannot be written; name a file", command_.json));
  }

  void write_json(std::ofstream& stream) const {
    const nlohmann::json whole{{"tests", tests_},
                               {"agree", tally_.agree},
                               {"expected", tally_.expected},
                               {"explorer_agree", explorer_.agree},
                               {"explorer_expected", explorer_.expected},
                               {"differ", tally_.differ},
                               {"bounded", tally_.bounded},
                               {"unread", tally_.unread}};
    // A name or a title may hold what is no UTF-8.
    stream << whole.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    if (!stream.flush()) json_unwritable();
  }

  const LitmusCommand& command_;
  litmus::Bounds bounds_;
  Tally tally_;
  Tally explorer_;
  std::size_t decided_ = 0;
  std::size_t explored_ = 0;
  nlohmann::json tests_ = nlohmann::json::array();
};

}  // namespace

void add_litmus(CLI::App& app, int& status) {
  auto* verb = app.add_subcommand("litmus", "decide litmus tests of the PTX memory model");
  auto command = std::make_shared<LitmusCommand>();
  verb->add_option("files", command->paths, "files, or directories of *.litmus")->required();
  verb->add_option("--turns", command->turns,
                   "how often a thread may jump back; loops are cut there")
      ->capture_default_str();
  verb->add_flag("--show", command->show, "print the execution that each verdict rests on");
  verb->add_option("--json", command->json, "write the verdicts to this file");
  verb->footer(
      "An axiomatic enumerator decides each test; an explorer, which runs them, those in which no\n"
      "two writes race and no circle of program order and reads-from is allowed. Where "
      "expected.csv\n"
      "lies beside a file and names it (NAME.litmus,1 or 0), the verdicts are compared with it. "
      "Not\n"
      "known and refused by name: proxies, aliases, vectors and mixed sizes, clusters.\n"
      "Exit codes: 0 all agree, or nothing is expected; 1 a test disagrees; 2 a file cannot be "
      "read;\n"
      "3 too many candidates for a verdict; 4 all was well, and the output could not be written.");
  verb->callback([command, &status] {
    litmus::Bounds bounds;
    bounds.turns = whole_number("--turns", command->turns, 0, 100);
    status = Run(*command, bounds).all();
  });
}

}  // namespace muster::cli
