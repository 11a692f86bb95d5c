#include <span>
#include <vector>

#include "conformance/host_runner.hpp"
#include "conformance/send_receive_bodies.hpp"
#include "muster/team/send_receive.hpp"

namespace muster::conformance {
namespace {

// Rank 0 tells the last one, which answers; longer than what is staged, too.
Result<void> one_line_each_way(Team& team) {
  Checks checks;
  const SendReceive<float> pairs(team);
  const Rank first{0};
  const Rank last{team.size() - 1};
  if (first == last) return checks.done();
  for (const std::int64_t count : {0, 1, 1000, 40'000}) {
    const auto mine = input_of<float, Sum>(team.rank().value, 1, count);
    std::vector<float> theirs(mine.size());
    if (team.rank() == first) {
      checks.ok(send(team, pairs, std::span(mine), last), "send");
      checks.ok(receive(team, pairs, std::span(theirs), last), "receive");
      checks.holds(theirs == input_of<float, Sum>(last.value, 1, count), "the answer");
    } else if (team.rank() == last) {
      checks.ok(receive(team, pairs, std::span(theirs), first), "receive");
      checks.holds(theirs == input_of<float, Sum>(first.value, 1, count), "the message");
      checks.ok(send(team, pairs, std::span(mine), first), "send");
    }
  }
  return checks.done();
}

Result<void> one_line_send_refuses(Team& team) {
  Checks checks;
  const SendReceive<float> pairs(team);
  std::vector<float> two(2);
  const Rank beyond{team.size()};
  checks.refused(send(team, pairs, std::span(two), beyond), ErrorCode::invalid_argument, "the call",
                 "send: to is", "ranks, from 0 on");
  checks.refused(receive(team, pairs, std::span(two), team.rank()), ErrorCode::invalid_argument,
                 "the call", "receive: from is", "this rank itself", "another of the");
  if (team.size() > 1 && team.rank() == Rank{0})
    checks.ok(send(team, pairs, std::span(two), Rank{1}), "a message of 2");
  std::vector<float> three(3);
  if (team.rank() == Rank{1}) {
    checks.refused(receive(team, pairs, std::span(three), Rank{0}), ErrorCode::invalid_argument,
                   "the call", "rank 0 has sent 2 elements", "here are 3");
    checks.refused(receive(team, pairs, std::span(two), Rank{0}), ErrorCode::expired,
                   "the next call", "called again after a call of it had failed");
  }
  return checks.done();
}

HostCases all_pair_cases() {
  HostCases cases = send_receive_cases<Team>();
  cases.push_back({"OneLineEachWay", one_line_each_way, Sizes::all});
  cases.push_back({"OneLineSendRefuses", one_line_send_refuses, Sizes::few});
  return cases;
}

}  // namespace

[[maybe_unused]] const bool host_pair_cases = add_host_cases("send_receive", all_pair_cases());

}  // namespace muster::conformance
