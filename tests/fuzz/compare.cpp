#include "compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "body.hpp"
#include "generator.hpp"

namespace muster::fuzz {
namespace {

std::optional<Wrong> as_wrong(check::Kind kind) {
  switch (kind) {
    case check::Kind::race: return Wrong::race;
    case check::Kind::deadlock: return Wrong::deadlock;
    case check::Kind::clobber: return Wrong::clobber;
    case check::Kind::credits: return Wrong::credits;
    case check::Kind::domain: return Wrong::domain;
    case check::Kind::noncoherent: return Wrong::noncoherent;
    case check::Kind::divergence: return Wrong::divergence;
    default: return std::nullopt;
  }
}

check::Domain placed_in(Domain domain) {
  switch (domain) {
    case Domain::host: return check::Domain::host;
    case Domain::gpu: return check::Domain::gpu;
    case Domain::nic: break;
  }
  return check::Domain::nic;
}

std::string list(const std::set<Wrong>& kinds) {
  std::string text;
  for (const Wrong kind : kinds)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", name_of(kind));
  return text.empty() ? "correct" : text;
}

std::string list(const std::vector<std::uint64_t>& values) {
  return fmt::format("{}", fmt::join(values, " "));
}

std::optional<std::string> different_outcomes(const std::set<Outcome>& reference,
                                              const std::set<Outcome>& checker) {
  for (const Outcome& outcome : reference) {
    if (!checker.contains(outcome)) return "the checker lacks the outcome " + list(outcome);
  }
  for (const Outcome& outcome : checker) {
    if (!reference.contains(outcome)) return "the reference lacks the outcome " + list(outcome);
  }
  return std::nullopt;
}

}  // namespace

check::Report examine(const Program& program, bool certificate) {
  check::Options options;
  options.ranks = program.ranks;
  options.calls = 1;
  options.lanes = program.lanes;
  options.threads = program.threads;
  options.profile = program.profile;
  options.certificate = certificate;
  for (std::uint32_t rank = 0; rank < program.domains.size(); ++rank)
    options.place.push_back({rank, {}, placed_in(program.domains[rank]), {}});
  options.executions = 200'000;
  return check::explore(options, [&](model::Team& team) {
    run_rank(team, program, [&](std::uint64_t value) { team.outcome(value); });
  });
}

std::optional<std::string> difference(const Verdict& reference, const check::Report& report) {
  // These programs have no variables outside the fabric.
  if (report.bound.starts_with("not determined")) return report.bound;
  if (report.verdict == check::Verdict::bounded) return std::nullopt;
  if (report.verdict != check::Verdict::refuted) {
    if (!reference.correct())
      return fmt::format("{}, but the reference finds {}", check::name_of(report.verdict),
                         list(reference.wrong));
    return different_outcomes(reference.outcomes, report.outcomes);
  }
  const check::Finding& first = report.findings.front();
  // They are told in the order of their weight; the reference stops at the first in time.
  for (const check::Finding& finding : report.findings) {
    const std::optional<Wrong> kind = as_wrong(finding.kind);
    if (kind && reference.wrong.contains(*kind)) return std::nullopt;
  }
  return fmt::format("refuted ({}: {}), but the reference finds {}", check::name_of(first.kind),
                     first.what, list(reference.wrong));
}

Comparison compare(const Program& program) {
  Comparison result;
  const Verdict reference = interpret(program);
  if (!reference.complete) return result;
  result.compared = true;
  result.correct = reference.correct();
  for (const bool certificate : {true, false}) {
    const check::Report report = examine(program, certificate);
    result.bounded = result.bounded || report.verdict == check::Verdict::bounded;
    if (certificate) {
      result.certified = report.verdict == check::Verdict::certified;
      result.searched = !result.certified;
    }
    const auto found = difference(reference, report);
    if (!found) continue;
    result.difference =
        fmt::format("{}: {}", certificate ? "with certificates" : "search only", *found);
    return result;
  }
  return result;
}

namespace {

bool differs(const Program& program) {
  return well_formed(program) && compare(program).difference.has_value();
}

// Tries one change; keeps it where the program still differs.
template <class Change>
bool attempt(Program& program, Change&& change) {
  Program smaller = program;
  change(smaller);
  if (!differs(smaller)) return false;
  program = std::move(smaller);
  return true;
}

void erase(Program& program, std::size_t strand, std::size_t at) {
  auto& ops = program.code[strand];
  if (at < ops.size()) ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(at));
}

bool shrink_once(Program& program) {
  bool smaller = false;
  for (std::size_t s = 0; s < program.code.size(); ++s) {
    if (!program.code[s].empty())
      smaller = attempt(program, [&](Program& p) { p.code[s].clear(); }) || smaller;
    for (std::size_t at = program.code[s].size(); at-- > 0;) {
      smaller = attempt(program, [&](Program& p) { erase(p, s, at); }) || smaller;
      if (program.threads == 1 || program.thread_of(s) != 0) continue;
      // A common operation goes from all threads of the lane, wherever it is in their lists.
      const Op op = program.code[s].size() > at ? program.code[s][at] : Op{};
      if (!is_collective(op.kind)) continue;
      const auto everywhere = [&](Program& p) {
        for (std::size_t t = s; t < s + p.threads; ++t) {
          auto& ops = p.code[t];
          const auto found = std::find(ops.begin(), ops.end(), op);
          if (found != ops.end()) ops.erase(found);
        }
      };
      smaller = attempt(program, everywhere) || smaller;
    }
  }
  for (std::size_t s = 0; s < program.code.size(); ++s) {
    for (std::size_t at = 0; at < program.code[s].size(); ++at) {
      if (program.code[s][at].when != When::always)
        smaller =
            attempt(program, [&](Program& p) { p.code[s][at].when = When::always; }) || smaller;
    }
  }
  if (!program.domains.empty())
    smaller = attempt(program, [](Program& p) { p.domains.clear(); }) || smaller;
  if (program.zero_cells != 0)
    smaller = attempt(program, [](Program& p) { p.zero_cells = 0; }) || smaller;
  return smaller;
}

}  // namespace

Program shrink(Program program) {
  while (shrink_once(program)) {
  }
  return program;
}

}  // namespace muster::fuzz
