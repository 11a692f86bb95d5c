// Atomic objects against axioms, on random programs that are said both ways: under the rules of PTX
// against the enumerator of `muster litmus`, under those of C++20 against axioms of their own. All
// outcomes are compared, not one condition.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "litmus/axioms.hpp"
#include "litmus/parse.hpp"
#include "litmus/random_atomics.hpp"

namespace muster::litmus {
namespace {

Outcomes outcomes_of_cpp(const AtomicProgram& program) {
  Outcomes outcomes;
  const Program made = cpp_program(program);
  const Reached reached = for_each_candidate(made, {}, [&](const Candidate& candidate) {
    CppAxioms(candidate, outcomes).run();
    return true;
  });
  EXPECT_FALSE(reached.candidates_cut || reached.events_cut);
  return outcomes;
}

bool is_circle(const Candidate& candidate) {
  Relation steps(candidate.events.size());
  for (std::size_t b = 0; b < candidate.events.size(); ++b) {
    const Event& event = candidate.events[b];
    if (event.kind == Event::Kind::read) steps.add(event.from, b);
    for (std::size_t a = 0; a < b; ++a)
      if (event.thread != nothing && candidate.events[a].thread == event.thread) steps.add(a, b);
  }
  return !steps.acyclic();
}

// Each location's final value is that of a write that none comes behind.
void add_outcomes(const Candidate& candidate, const Relation& coherence, Outcomes& outcomes) {
  std::vector<std::uint64_t> outcome(locations_of_random);
  for (std::size_t i = 0; i < candidate.events.size(); ++i) {
    const Event& event = candidate.events[i];
    bool last = event.kind == Event::Kind::write;
    for (std::size_t other = 0; other < candidate.events.size(); ++other)
      last = last && !coherence.has(i, other);
    if (last) outcome[event.location] = *candidate.value(event.value);
  }
  for (const Strand& strand : candidate.strands)
    for (const std::size_t reg : strand.registers) outcome.push_back(*candidate.value(reg));
  outcomes.insert(outcome);
}

// Load buffering aside.
Outcomes outcomes_of_ptx(const AtomicProgram& program) {
  const Result<Program> made = parse(ptx_text(program), "random");
  EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().what) << "\n" << ptx_text(program);
  Outcomes outcomes;
  if (!made) return outcomes;
  std::uint64_t left = 50'000'000;
  (void)for_each_candidate(*made, {}, [&](const Candidate& candidate) {
    if (is_circle(candidate)) return true;
    return for_each_coherence(*made, candidate, left, [&](const Relation& coherence) {
      add_outcomes(candidate, coherence, outcomes);
      return true;
    });
  });
  EXPECT_GT(left, 0U);
  return outcomes;
}

// The checker lists threads by rank, the set-up of rank 0 with the final values first.
Outcomes outcomes_of_check(const AtomicProgram& program, check::Rules rules,
                           check::Report& report) {
  check::Options options;
  options.ranks = static_cast<std::uint32_t>(program.threads.size());
  options.profile = Profile::direct;
  options.calls = 1;
  options.rules = rules;
  report = check::explore(options, [&](model::Team& team) { run_steps(team, program); });
  return report.outcomes;
}

std::string in_words(const Outcomes& outcomes, const Outcomes& others) {
  std::string text;
  for (const auto& one : outcomes) {
    if (others.contains(one)) continue;
    text += "\n ";
    for (const std::uint64_t word : one) text += " " + std::to_string(word);
  }
  return text;
}

// How many to try: more on request.
std::uint32_t programs(std::uint32_t usual) {
  const char* asked = std::getenv("MUSTER_ATOMIC_PROGRAMS");
  return asked == nullptr ? usual : static_cast<std::uint32_t>(std::stoul(asked));
}
std::uint32_t first_seed() {
  const char* asked = std::getenv("MUSTER_ATOMIC_SEED");
  return asked == nullptr ? 0 : static_cast<std::uint32_t>(std::stoul(asked));
}

template <class Axioms>
void agree(check::Rules rules, bool sc, std::uint32_t usual, Axioms&& outcomes_of) {
  std::size_t several = 0;
  const std::uint32_t count = programs(usual);
  for (std::uint32_t seed = first_seed(); seed < first_seed() + count; ++seed) {
    const AtomicProgram program = RandomAtomics(seed, sc, rules == check::Rules::cpp).make();
    const Outcomes expected = outcomes_of(program);
    check::Report report;
    const Outcomes seen = outcomes_of_check(program, rules, report);
    ASSERT_EQ(report.verdict, check::Verdict::complete) << "seed " << seed << "\n" << report.bound;
    ASSERT_EQ(seen, expected) << "seed " << seed << (sc ? " with seq_cst" : "") << "\n"
                              << ptx_text(program) << "lost:" << in_words(expected, seen)
                              << "\nextra:" << in_words(seen, expected);
    several += seen.size() > 1 ? 1 : 0;
  }
  EXPECT_GT(several, count / 2);
}

TEST(Atomics, AgreeWithTheAxiomsOfPtx) {
  agree(check::Rules::ptx, false, 1500, outcomes_of_ptx);
}
TEST(Atomics, AgreeWithTheAxiomsOfPtxWithSeqCst) {
  agree(check::Rules::ptx, true, 700, outcomes_of_ptx);
}
TEST(Atomics, AgreeWithTheAxiomsOfCpp) {
  agree(check::Rules::cpp, false, 1500, outcomes_of_cpp);
}
TEST(Atomics, AgreeWithTheAxiomsOfCppWithSeqCst) {
  agree(check::Rules::cpp, true, 1500, outcomes_of_cpp);
}

}  // namespace
}  // namespace muster::litmus
