#include <span>
#include <vector>

#include "conformance/counted_bodies.hpp"
#include "conformance/host_runner.hpp"
#include "muster/team/counted.hpp"

namespace muster::conformance {
namespace {

// Rank r has r + 1 numbers for each; also more than the team stages.
Result<void> counted_in_one_line(Team& team) {
  Checks checks;
  const std::uint32_t ranks = team.size();
  const std::uint32_t rank = team.rank().value;
  for (const std::int64_t unit : {1, 3000}) {
    const Layout sent(ranks, 0, [&](std::uint32_t) { return unit * (rank + 1); });
    const Layout rooms(ranks, 0, [&](std::uint32_t peer) { return unit * (peer + 1); });
    const SpanParts sent_parts{{sent.parts().counts.data, ranks},
                               {sent.parts().places.data, ranks}};
    const SpanParts room_parts{{rooms.parts().counts.data, ranks},
                               {rooms.parts().places.data, ranks}};
    const std::vector<float> from(static_cast<std::size_t>(sent.size()),
                                  static_cast<float>(rank + 1));
    std::vector<float> to(static_cast<std::size_t>(rooms.size()));
    std::vector<float> right;
    for (std::uint32_t peer = 0; peer < ranks; ++peer)
      right.insert(right.end(), static_cast<std::size_t>(unit * (peer + 1)),
                   static_cast<float>(peer + 1));
    std::vector<std::int64_t> received(ranks);
    checks.ok(all_to_all_v(team, std::span(to), room_parts, received, from, sent_parts),
              "all_to_all_v");
    checks.holds(to == right, "what everybody has sent");
    checks.equal(received[ranks - 1], unit * ranks, "the length of the last part");
    to.assign(to.size(), 0);
    const auto own = std::span(from).first(static_cast<std::size_t>(unit * (rank + 1)));
    checks.ok(all_gather_v(team, std::span(to), room_parts, received, own), "all_gather_v");
    checks.holds(to == right, "what everybody has");
    std::vector<float> part(own.size());
    checks.ok(reduce_scatter_v(team, std::span(part), right, room_parts), "reduce_scatter_v");
    checks.holds(part == std::vector<float>(own.size(), static_cast<float>((rank + 1) * ranks)),
                 "a part of the sums");
  }
  return checks.done();
}

// One rank is wrong, and all are told in the same words.
Result<void> counted_one_line_refuses(Team& team) {
  Checks checks;
  const std::uint32_t ranks = team.size();
  const std::uint32_t last = ranks - 1;
  const bool is_last = team.rank() == Rank{last};
  std::vector<float> from(100 * ranks);
  std::vector<float> to(10 * ranks);
  Layout sent(ranks, 0, [](std::uint32_t) { return 3; });
  const Layout rooms(ranks, 0, [](std::uint32_t) { return 5; });
  const auto spans = [&](const Layout& layout, std::uint32_t length) {
    return SpanParts{{layout.parts().counts.data, length}, {layout.parts().places.data, length}};
  };
  const std::string who = "rank " + std::to_string(last);
  if (is_last) sent.count(0) = 7;
  checks.refused(
      all_to_all_v(team, std::span(to), spans(rooms, ranks), {}, from, spans(sent, ranks)),
      ErrorCode::invalid_argument, "beyond", "all_to_all_v", who + ", peer 0", "the count is 7",
      "capacity, which is 5");
  if (is_last) sent.count(0) = -1;
  checks.refused(
      all_to_all_v(team, std::span(to), spans(rooms, ranks), {}, from, spans(sent, ranks)),
      ErrorCode::invalid_argument, "negative", who + ", peer 0", "the count is -1",
      std::to_string(100 * ranks));
  if (is_last) sent.count(0) = 3;
  if (is_last) sent.place(0) = -1;
  checks.refused(
      all_to_all_v(team, std::span(to), spans(rooms, ranks), {}, from, spans(sent, ranks)),
      ErrorCode::invalid_argument, "a negative place", who + ", peer 0",
      "the part of `from` begins at place -1",
      "from 0 to its length, " + std::to_string(100 * ranks));
  if (is_last) sent.place(0) = 0;
  checks.refused(all_to_all_v(team, std::span(to), spans(rooms, is_last ? ranks - 1 : ranks), {},
                              from, spans(sent, ranks)),
                 ErrorCode::invalid_argument, "too few rooms",
                 who + " gives " + std::to_string(ranks - 1) + " counts", "one for each rank");
  checks.refused(all_gather_v(team, std::span(to), spans(rooms, ranks), {},
                              std::span(from).first(is_last ? 6 : 5)),
                 ErrorCode::invalid_argument, "a long row", "all_gather_v", who + ", peer 0",
                 "the count is 6", "which is 5");
  if (ranks > 1) {
    if (is_last) sent.count(0) = 2;
    checks.refused(reduce_scatter_v(team, std::span(to), from, spans(sent, ranks)),
                   ErrorCode::invalid_argument, "another count", "reduce_scatter_v",
                   who + ", peer 0", "the count is 2", "rank 0 says 3");
    if (is_last) sent.count(0) = 3;
  }
  const std::span<float> one(from.data(), is_last ? 30 : 5);
  checks.refused(all_gather_v(team, one, spans(rooms, ranks), {},
                              std::span<const float>(from).subspan(is_last ? 1 : 50, 2)),
                 ErrorCode::invalid_argument, "rooms beyond to, or an overlap", "all_gather_v");
  checks.ok(all_to_all_v(team, std::span(to), spans(rooms, ranks), {}, from, spans(sent, ranks)),
            "the call after these");
  return checks.done();
}

HostCases all_counted_cases() {
  HostCases cases = counted_cases<Team>();
  cases.push_back({"CountedInOneLine", counted_in_one_line, Sizes::all});
  cases.push_back({"CountedOneLineRefuses", counted_one_line_refuses, Sizes::few});
  return cases;
}

}  // namespace

[[maybe_unused]] const bool host_counted_cases = add_host_cases("counted", all_counted_cases());

}  // namespace muster::conformance
