#include "reference.hpp"

#include <unordered_set>

#include "semantics.hpp"

namespace muster::fuzz {
namespace {

struct Hash {
  std::size_t operator()(const std::vector<std::uint64_t>& words) const {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const std::uint64_t word : words) hash = (hash ^ word) * 0x100000001b3ULL ^ hash >> 29;
    return hash;
  }
};

class Search {
 public:
  Search(const Program& program, const ReferenceOptions& options)
      : program_(with_meetings(program)), options_(options) {}

  Verdict result() {
    visit(State(program_));
    return std::move(verdict_);
  }

 private:
  void visit(const State& state) {
    if (options_.memoise && !visited_.insert(state.identity()).second) return;
    if (++verdict_.states > options_.max_states) verdict_.complete = false;
    if (!verdict_.complete) return;
    if (state.finished()) return finish(state);
    bool stuck = true;
    for (std::size_t s = 0; s < program_.code.size(); ++s) {
      if (state.finished(s)) continue;
      if (state.runnable(s)) stuck = false;
      if (state.reads(s)) {
        for (const Events& set : state.readable(s)) step(state, s, set);
      } else if (state.runnable(s)) {
        step(state, s, {});
      }
    }
    if (stuck) state.stick(verdict_.wrong);
  }

  void step(const State& state, std::size_t strand, const Events& set) {
    State after = state;
    std::set<Wrong> wrong;
    after.run(strand, set, wrong);
    if (wrong.empty()) return visit(after);
    verdict_.wrong.insert(wrong.begin(), wrong.end());
  }

  void finish(const State& state) {
    std::set<Wrong> wrong;
    state.finish(wrong);
    if (wrong.empty()) verdict_.outcomes.insert(state.outcome());
    verdict_.wrong.insert(wrong.begin(), wrong.end());
  }

  const Program program_;
  const ReferenceOptions& options_;
  Verdict verdict_;
  std::unordered_set<std::vector<std::uint64_t>, Hash> visited_;
};

}  // namespace

const char* name_of(Wrong wrong) {
  switch (wrong) {
    case Wrong::race: return "race";
    case Wrong::deadlock: return "deadlock";
    case Wrong::clobber: return "clobber";
    case Wrong::credits: return "credits";
    case Wrong::divergence: return "divergence";
    case Wrong::domain: return "domain";
    case Wrong::noncoherent: return "noncoherent";
  }
  return "?";
}

Verdict interpret(const Program& program, const ReferenceOptions& options) {
  return Search(program, options).result();
}

}  // namespace muster::fuzz
