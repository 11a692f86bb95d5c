#include "check/certificate.hpp"

#include <fmt/format.h>

#include "check/closed_sets.hpp"
#include "check/mutant.hpp"
#include "check/sites.hpp"

namespace muster::check::engine {

namespace {

constexpr std::size_t most_sets = 4096;  // beyond, a wait counts as not determinate

struct Lesson {  // what a reader learns
  Clock view;
  Clock behind;
  Clock cause;
  Clock ended;
  Clock back;
};

class WaitJudge {
 public:
  WaitJudge(const Cell& cell, const Taken& taken, Patience& patience)
      : cell_(cell), taken_(taken), patience_(patience) {
    for (std::uint32_t at = 0; at < cell.count; ++at)
      if (cell.deposits[at].cause.at(taken.thread) < taken.epoch || mutant("D-after-the-wait"))
        upper_.add(at);
  }

  [[nodiscard]] bool holds() const {
    const bool blocks = waits(taken_.kind);
    // In an execution where a look sees less, less is learnt: only what it had to see counts.
    if (!blocks && !taken_.set.within(taken_.must) && !mutant("D-looks")) return false;
    if (sees_what_is_wiped()) return by_all_sets(blocks);
    if (blocks && adds_that_only_grow()) return misses_threshold_without_each();
    return ordered() ? by_prefixes(blocks) : by_all_sets(blocks);
  }

 private:
  // What the read took, and no more than that, matters by itself.
  [[nodiscard]] bool sees_what_is_wiped() const {
    return cell_.updated_unseen && !mutant("D-unseen-updates");
  }

  [[nodiscard]] bool satisfied(const Bits& set) const {
    return satisfies(cell_.value(set), taken_.compare, taken_.value);
  }

  [[nodiscard]] bool adds_that_only_grow() const {
    if (taken_.compare != Compare::ge && taken_.compare != Compare::gt) return false;
    bool grows = true;
    upper_.each([&](std::uint32_t at) {
      const Deposit& deposit = cell_.deposits[at];
      if (deposit.op == NotifyOp::set) grows = false;
      if (mutant("D-negative-adds")) return;
      if (!taken_.must.has(at) && static_cast<std::int32_t>(deposit.value) < 0) grows = false;
    });
    return grows;
  }

  // No deposit of M can be made up for by others: without it and what had to see it, all the rest
  // is too little.
  [[nodiscard]] bool misses_threshold_without_each() const {
    bool all = true;
    taken_.set.each([&](std::uint32_t at) {
      if (!all || taken_.must.has(at)) return;
      Bits rest;
      upper_.each([&](std::uint32_t other) {
        if (other != at && !cell_.deposits[other].before.has(at)) rest.add(other);
      });
      if (satisfied(rest) && !mutant("D-threshold")) all = false;
    });
    return all;
  }

  [[nodiscard]] bool ordered() const {
    std::uint32_t earlier = 0;
    bool is = true;
    upper_.each([&](std::uint32_t at) {
      Bits before = cell_.deposits[at].before;
      std::uint32_t seen = 0;
      upper_.each([&](std::uint32_t other) {
        if (other < at && before.has(other)) ++seen;
      });
      if (seen != earlier++ && !mutant("D-ordered")) is = false;
    });
    return is;
  }

  [[nodiscard]] bool by_prefixes(bool waits) const {
    Bits prefix = taken_.must;
    if (!allows(prefix, waits)) return false;
    bool all = true;
    upper_.each([&](std::uint32_t at) {
      if (!all || prefix.has(at)) return;
      prefix.add(at);
      if (!allows(prefix, waits)) all = false;
    });
    return all;
  }

  [[nodiscard]] bool by_all_sets(bool waits) const {
    SetQuery query;
    query.cell = &cell_;
    query.must = taken_.must;
    query.among = upper_;
    query.limit = most_sets;
    query.patience = &patience_;
    const SetAnswer answer = closed_sets(query);
    if (answer.cut) return false;
    for (const Bits& set : answer.sets)
      if (!allows(set, waits)) return false;
    return true;
  }

  [[nodiscard]] Lesson lesson(const Bits& set) const {
    Lesson lesson;
    cell_.contained(set).each([&](std::uint32_t at) {
      lesson.view.join(cell_.deposits[at].view);
      lesson.behind.join(cell_.deposits[at].behind);
      lesson.cause.join(cell_.deposits[at].cause);
      lesson.ended.join(cell_.deposits[at].ended);
      lesson.back.join(cell_.deposits[at].back);
    });
    return lesson;
  }

  // A closed set between L and U does not speak against determinacy.
  [[nodiscard]] bool allows(const Bits& set, bool waits) const {
    const bool contains = taken_.set.within(set);
    if (sees_what_is_wiped() && (!waits || satisfied(set))) return set == taken_.set;
    if (waits) {
      if (satisfied(set) && !contains && !mutant("D-only-if")) return false;
      if (contains && !satisfied(set) && !mutant("D-if")) return false;
      if (!contains) return true;
    } else if (taken_.kind == ReadKind::read) {
      if (cell_.value(set) != cell_.value(taken_.set) && !mutant("D-read")) return false;
    } else if (satisfied(set) != satisfied(taken_.set) && !mutant("D-test")) {
      return false;
    }
    if ((cell_.sets.empty() && !cell_.flipped) || set == taken_.set || mutant("D-lesson"))
      return true;  // adds: more teaches more
    const Lesson more = lesson(set);
    const Lesson less = lesson(taken_.set);
    return more.view.covers(less.view) && more.behind.covers(less.behind) &&
           more.cause.covers(less.cause) && more.ended.covers(less.ended) &&
           more.back.covers(less.back);
  }

  const Cell& cell_;
  const Taken& taken_;
  Patience& patience_;
  Bits upper_;
};

}  // namespace

std::optional<std::string> why_not_determinate(Execution& run) {
  if (run.expired() > 0) return "a wait has expired";
  if (run.aborted()) return "the team was aborted";
  if (run.polls().spun()) return "there are polls that see nothing new";
  if (run.tasks().may_lack_workers() && !mutant("D-workers"))
    return "there are more tasks than workers, and some wait";
  // Whoever comes first decides what they find, and where a write lies.
  if (run.has_atomics() && !mutant("D-atomics")) return "there are atomic objects";
  if (mutant("D-unjudged")) return std::nullopt;
  for (const Taken& taken : run.taken()) {
    const Cell& cell = run.cell(taken.cell);
    if (run.patience().ends(cell.count)) return "time was up before all reads were judged";
    // Whoever comes first decides what is found: D says nothing of it.
    if (taken.kind == ReadKind::fetch && !mutant("D-fetched"))
      return fmt::format("there are fetched operations ({} at {})", run.name_of_cell(cell),
                         short_place(taken.where));
    if (taken.looks == 1 && WaitJudge(cell, taken, run.patience()).holds()) continue;
    return fmt::format("the read of {} by {} ({}) can be answered in more than one way",
                       run.name_of_cell(cell), run.name_of_thread(run.threads()[taken.thread]),
                       short_place(taken.where));
  }
  return std::nullopt;
}

}  // namespace muster::check::engine
