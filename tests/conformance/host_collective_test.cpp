#include <span>
#include <vector>

#include "conformance/collective_bodies.hpp"
#include "conformance/host_runner.hpp"
#include "muster/team/collective.hpp"

namespace muster::conformance {
namespace {

// One line each, call after call: also where the message is longer than what the team stages.
Result<void> one_line_each(Team& team) {
  Checks checks;
  const std::uint32_t ranks = team.size();
  const std::uint32_t rank = team.rank().value;
  for (const std::int64_t count : {0, 1, 1000, 40'000}) {
    const auto length = static_cast<std::size_t>(count);
    const std::vector<float> mine = input_of<float, Sum>(rank, 1, count);
    std::vector<float> sums = mine;
    checks.ok(all_reduce(team, std::span(sums)), "all_reduce in place");
    std::vector<float> most(length);
    checks.ok(all_reduce(team, std::span(most), mine, Max{}), "all_reduce");
    std::vector<float> rows(length * ranks);
    checks.ok(all_gather(team, std::span(rows), mine), "all_gather");
    std::vector<float> part(length);
    checks.ok(reduce_scatter(team, std::span(part), rows), "reduce_scatter");
    std::vector<float> turned(length * ranks);
    checks.ok(all_to_all(team, std::span(turned), rows), "all_to_all");
    std::vector<float> roots = mine;
    checks.ok(broadcast(team, std::span(roots), Rank{ranks - 1}), "broadcast");
    for (std::size_t i = 0; i < length; ++i) {
      const auto index = static_cast<std::int64_t>(i);
      checks.holds(is_result<float, Sum>(sums[i], ranks, 1, index), "a sum");
      checks.holds(is_result<float, Max>(most[i], ranks, 1, index), "a maximum");
      // All have gathered the same, so the sum is `ranks` times this rank's row.
      const float own = element_of<float, Sum>(rank, 1, index);
      checks.holds(std::abs(part[i] - own * static_cast<float>(ranks)) < 1e-4F, "a part of sums");
      checks.equal(roots[i], element_of<float, Sum>(ranks - 1, 1, index), "the root's element");
      for (std::uint32_t row = 0; row < ranks; ++row) {
        checks.equal(rows[row * length + i], element_of<float, Sum>(row, 1, index), "a row");
        checks.equal(turned[row * length + i], own, "a part from everybody");
      }
    }
  }
  return checks.done();
}

Result<void> one_line_refuses(Team& team) {
  Checks checks;
  const std::size_t ranks = team.size();
  std::vector<float> two(2);
  std::vector<float> many(2 * ranks + 1);
  const std::span<float> all(many);
  checks.refused(all_gather(team, all, two), ErrorCode::invalid_argument, "the call", "all_gather",
                 "to has", "from 2", "it must have");
  checks.refused(reduce_scatter(team, std::span(two), many), ErrorCode::invalid_argument,
                 "the call", "reduce_scatter", "from has", "it must have");
  checks.refused(all_reduce(team, std::span(two), many), ErrorCode::invalid_argument, "the call",
                 "all_reduce", "to has 2", "the same length");
  checks.refused(all_reduce(team, all.first(2), all.subspan(1, 2)), ErrorCode::invalid_argument,
                 "the call", "all_reduce", "overlap");
  checks.refused(all_to_all(team, all.first(2 * ranks), all.last(2 * ranks)),
                 ErrorCode::invalid_argument, {"all_to_all", "overlap"});
  checks.refused(broadcast(team, all, Rank{team.size()}), ErrorCode::invalid_argument, "the call",
                 "broadcast", "root is", "ranks");
  checks.ok(all_reduce(team, all), "the call after these");
  return checks.done();
}

// What cannot be staged is said where the object is made, on every rank alike.
Result<void> a_negative_chunk(Team& team) {
  Checks checks;
  const auto refused = [&](auto make, const char* what) {
    try {
      make();
      checks.holds(false, what);
    } catch (const Failure& failure) {
      checks.mentions(failure.error().what, "chunk is -5; it must be a positive number", what);
    }
  };
  refused([&] { AllReduce<float>(team, {.chunk = -5}); }, "AllReduce");
  refused([&] { AllReduce<float>(team, {.algorithm = Algorithm::ring, .chunk = -5}); }, "ring");
  refused([&] { AllGather<float>(team, {.chunk = -5}); }, "AllGather");
  refused([&] { ReduceScatter<float>(team, {.chunk = -5}); }, "ReduceScatter");
  refused([&] { AllToAll<float>(team, {.chunk = -5}); }, "AllToAll");
  refused([&] { Broadcast<float>(team, {.chunk = -5}); }, "Broadcast");
  const Result<Signals> signals = team.signals(1);  // the team is as it was
  checks.ok(signals, "the set-up call after these");
  return checks.done();
}

// Each team keeps its own: those of a split, and after it those of the whole again.
Result<void> one_line_on_a_split(Team& team) {
  Checks checks;
  std::vector<int> ones{1};
  checks.ok(all_reduce(team, std::span(ones)), "on the team");
  checks.equal(ones[0], static_cast<int>(team.size()), "its size");
  auto half = team.split(static_cast<std::int32_t>(team.rank().value % 2));
  if (!checks.ok(half, "the split")) return checks.done();
  std::vector<int> halves{1};
  checks.ok(all_reduce(*half, std::span(halves)), "on the split");
  checks.equal(halves[0], static_cast<int>(half->size()), "its size");
  std::vector<int> again{2};
  checks.ok(all_reduce(team, std::span(again)), "on the team again");
  checks.equal(again[0], 2 * static_cast<int>(team.size()), "twice its size");
  return checks.done();
}

// Messages so long that what is shown goes past the caches, in several pieces, the last one short.
Result<void> long_messages(Team& team) {
  constexpr std::int64_t most = 3 * 16384 + 4099;
  const std::uint32_t rank = team.rank().value;
  Checks checks;
  for (const Algorithm algorithm : {Algorithm::one_shot, Algorithm::two_phase, Algorithm::ring}) {
    const AllReduce<float> sums(team, {.algorithm = algorithm});
    for (std::uint32_t call = 0; call < 4; ++call) {
      const std::int64_t count = most - 1024 * call;
      std::vector<float> from = input_of<float, Sum>(rank, call, count);
      std::vector<float> to = poisoned<float>(count);
      const bool in_place = call % 2 == 1;
      if (in_place) to = from;
      checks.ok(team.lanes(1 + call / 2,
                           [&](auto& fabric) {
                             return sums.run(fabric, memory_of(to), memory_of(in_place ? to : from),
                                             count);
                           }),
                "the call");
      for (std::int64_t i = 0; i < count; ++i)
        if (!checks.holds(
                is_result<float, Sum>(to[static_cast<std::size_t>(i)], team.size(), call, i),
                "an element of the result"))
          break;
    }
  }
  return checks.done();
}

HostCases all_cases() {
  HostCases cases = collective_cases<Team>();
  cases.push_back({"LongMessages", long_messages, Sizes::few});
  cases.push_back({"OneLineEach", one_line_each, Sizes::all});
  cases.push_back({"OneLineRefuses", one_line_refuses, Sizes::few});
  cases.push_back({"ANegativeChunk", a_negative_chunk, Sizes::few});
  cases.push_back({"OneLineOnASplit", one_line_on_a_split, Sizes::all});
  return cases;
}

}  // namespace

[[maybe_unused]] const bool host_collective_cases = add_host_cases("collective", all_cases());

}  // namespace muster::conformance
