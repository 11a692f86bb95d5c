#include "litmus/enumerate.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "litmus/axioms.hpp"
#include "litmus/condition.hpp"
#include "litmus/show.hpp"

namespace muster::litmus {
namespace {

// The write that is last at each location.
using Finals = std::vector<std::size_t>;

Word value_of_term(const Candidate& candidate, const Finals& finals, const Term& term) {
  switch (term.kind) {
    case Term::Kind::constant: return term.value;
    case Term::Kind::reg:
      return *candidate.value(candidate.strands[term.thread].registers[term.index]);
    case Term::Kind::location: break;
  }
  return *candidate.value(candidate.events[finals[term.index]].value);
}

// The locations that the condition is about.
void mark(const Condition& condition, std::vector<bool>& named) {
  for (const Term& term : {condition.left, condition.right}) {
    if (condition.kind == Condition::Kind::compare && term.kind == Term::Kind::location)
      named[term.index] = true;
  }
  for (const Condition& part : condition.parts) mark(part, named);
}

class Judge {
 public:
  Judge(const Program& program, const Bounds& bounds)
      : program_(program), bounds_(bounds), named_(program.locations.size()) {
    mark(program.condition, named_);
  }

  Verdict run() {
    bool orders_cut = false;
    Deadline deadline(bounds_);
    verdict_.reached = for_each_candidate(program_, bounds_, [&](const Candidate& candidate) {
      // The axioms are what takes time: they are asked where the answer may depend on them.
      if (verdict_.executable && !find(candidate, nullptr)) return true;
      const bool goes_on = for_each_coherence(
          program_, candidate, orders_left_,
          [&](const auto& one) {
            verdict_.executable = true;
            const std::optional<Finals> found = find(candidate, &one);
            if (!found) return true;
            verdict_.execution = show(program_, candidate, *found);
            return false;
          },
          &deadline);
      orders_cut = orders_left_ == 0;
      return goes_on && !orders_cut && !deadline.was_over();
    });
    verdict_.reached.orders_cut = orders_cut;
    verdict_.reached.seconds_cut = verdict_.reached.seconds_cut || deadline.was_over();
    const bool found = !verdict_.execution.empty();
    verdict_.holds = program_.quantifier == Quantifier::exists ? found : !found;
    return verdict_;
  }

 private:
  // The last writes that satisfy exists or ~exists, or speak against forall. Without a coherence
  // order any write may be last. Coherence is partial: any write may be that none comes behind.
  std::optional<Finals> find(const Candidate& candidate, const Relation* coherence) const {
    std::vector<Finals> choices(program_.locations.size());
    for (std::size_t i = 0; i < candidate.events.size(); ++i) {
      const Event& event = candidate.events[i];
      if (event.kind != Event::Kind::write) continue;
      Finals& last = choices[event.location];
      const bool covered = coherence != nullptr && overwritten(candidate, *coherence, i);
      if (!covered && (named_[event.location] || last.empty())) last.push_back(i);
    }
    Finals finals(choices.size());
    return choose(candidate, choices, finals, 0) ? std::optional<Finals>(finals) : std::nullopt;
  }

  static bool overwritten(const Candidate& candidate, const Relation& coherence,
                          std::size_t write) {
    for (std::size_t i = 0; i < candidate.events.size(); ++i) {
      if (coherence.has(write, i)) return true;
    }
    return false;
  }

  bool choose(const Candidate& candidate, const std::vector<Finals>& choices, Finals& finals,
              std::size_t at) const {
    if (at == choices.size())
      return satisfies(program_.condition, [&](const Term& term) {
               return value_of_term(candidate, finals, term);
             }) != (program_.quantifier == Quantifier::forall);
    return std::any_of(choices[at].begin(), choices[at].end(), [&](std::size_t write) {
      finals[at] = write;
      return choose(candidate, choices, finals, at + 1);
    });
  }

  const Program& program_;
  const Bounds& bounds_;
  std::uint64_t orders_left_ = bounds_.orders;
  std::vector<bool> named_;
  Verdict verdict_;
};

}  // namespace

namespace {

bool has_circle(const Candidate& candidate) {
  Relation relation(candidate.events.size());
  for (std::size_t b = 0; b < candidate.events.size(); ++b) {
    const Event& event = candidate.events[b];
    if (event.kind == Event::Kind::read) relation.add(event.from, b);
    for (std::size_t a = 0; a < b; ++a) {
      if (event.thread != nothing && candidate.events[a].thread == event.thread) relation.add(a, b);
    }
  }
  return !relation.acyclic();
}

}  // namespace

bool has_circle(const Program& program, const Bounds& bounds) {
  bool found = false;
  std::uint64_t orders_left = bounds.orders;
  Deadline deadline(bounds);
  const Reached reached = for_each_candidate(program, bounds, [&](const Candidate& candidate) {
    if (candidate.events.size() > Relation::most || !has_circle(candidate)) return true;
    const bool goes_on = for_each_coherence(
        program, candidate, orders_left,
        [&](const Relation& /*any*/) {
          found = true;
          return false;
        },
        &deadline);
    return goes_on && orders_left > 0 && !deadline.was_over();
  });
  return found || orders_left == 0 || reached.seconds_cut || deadline.was_over();
}

Verdict enumerate(const Program& program, const Bounds& bounds) {
  return Judge(program, bounds).run();
}

}  // namespace muster::litmus
