#include <span>
#include <vector>

#include "conformance/host_runner.hpp"
#include "conformance/rooted_bodies.hpp"
#include "muster/team/collective.hpp"

namespace muster::conformance {
namespace {

// One line each, with every root: also where the message is longer than what the team stages.
Result<void> rooted_in_one_line(Team& team) {
  Checks checks;
  const std::uint32_t ranks = team.size();
  const std::uint32_t rank = team.rank().value;
  std::uint32_t call = 0;
  for (const std::int64_t count : {0, 1, 1000, 40'000}) {
    const Rank root{(call + ranks - 1) % ranks};
    const bool is_root = root == team.rank();
    const auto length = static_cast<std::size_t>(count);
    const std::vector<float> mine = input_of<float, Sum>(rank, call, count);
    std::vector<float> rows(is_root ? length * ranks : 0);
    checks.ok(gather(team, std::span(rows), mine, root), "gather");
    std::vector<float> back(length);
    checks.ok(scatter(team, std::span(back), rows, root), "scatter");
    checks.holds(back == mine, "what was gathered and scattered");
    std::vector<float> sums = mine;
    checks.ok(reduce(team, std::span(sums), root), "reduce in place");
    std::vector<float> most(is_root ? length : 0);
    checks.ok(reduce(team, std::span(most), mine, root, Max{}), "reduce");
    for (std::size_t i = 0; i < length; ++i) {
      const auto index = static_cast<std::int64_t>(i);
      if (!is_root) {
        checks.equal(sums[i], mine[i], "an element of who is not the root");
        continue;
      }
      checks.holds(is_result<float, Sum>(sums[i], ranks, call, index), "a sum");
      checks.holds(is_result<float, Max>(most[i], ranks, call, index), "a maximum");
      for (std::uint32_t row = 0; row < ranks; ++row)
        checks.equal(rows[row * length + i], element_of<float, Sum>(row, call, index), "a row");
    }
    ++call;
  }
  return checks.done();
}

// Each rank is told of what it gave wrongly before anybody waits.
Result<void> rooted_one_line_refuses(Team& team) {
  Checks checks;
  const std::size_t ranks = team.size();
  const Rank own = team.rank();
  std::vector<float> two(2);
  std::vector<float> many(2 * ranks + 1);
  const std::span<float> all(many);
  const Rank beyond{team.size()};
  checks.refused(reduce(team, all, beyond), ErrorCode::invalid_argument, "the call", "reduce",
                 "root is", "ranks, from 0 on");
  checks.refused(gather(team, all, two, beyond), ErrorCode::invalid_argument, "the call", "gather",
                 "root is", "ranks, from 0 on");
  checks.refused(scatter(team, all, two, beyond), ErrorCode::invalid_argument, "the call",
                 "scatter", "root is", "ranks, from 0 on");
  checks.refused(reduce(team, all, two, own), ErrorCode::invalid_argument, "the call", "reduce",
                 "to has", "from 2", "the same length");
  checks.refused(gather(team, all, two, own), ErrorCode::invalid_argument, "the call", "gather",
                 "to has", "from 2", "it must have");
  checks.refused(scatter(team, std::span(two), many, own), ErrorCode::invalid_argument, "the call",
                 "scatter", "from has", "to 2", "it must have");
  checks.refused(reduce(team, all.first(2), all.subspan(1, 2), own), ErrorCode::invalid_argument,
                 "the call", "reduce", "overlap");
  checks.ok(reduce(team, all, Rank{0}), "the call after these");
  return checks.done();
}

HostCases all_rooted_cases() {
  HostCases cases = rooted_cases<Team>();
  cases.push_back({"RootedInOneLine", rooted_in_one_line, Sizes::all});
  cases.push_back({"RootedOneLineRefuses", rooted_one_line_refuses, Sizes::few});
  return cases;
}

}  // namespace

[[maybe_unused]] const bool host_rooted_cases = add_host_cases("rooted", all_rooted_cases());

}  // namespace muster::conformance
