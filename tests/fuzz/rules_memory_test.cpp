// rules_test.cpp for atomicity domains, and for caches that nobody keeps alike.
#include <gtest/gtest.h>

#include "blocks.hpp"
#include "compare.hpp"

namespace muster::fuzz {
namespace {

Program ranks_with(Profile profile, std::vector<std::vector<Op>> code,
                   std::vector<Domain> domains = {}) {
  Program program;
  program.profile = profile;
  program.ranks = static_cast<std::uint32_t>(code.size());
  program.domains = std::move(domains);
  program.code = std::move(code);
  return program;
}

// Two ranks of two threads each, on memory that is not coherent.
Program cores(std::vector<std::vector<Op>> code, std::uint32_t apart = 16) {
  Program program = ranks_with(Profile::noncoherent, std::move(code));
  program.ranks = 2;
  program.threads = 2;
  program.apart = apart;
  return program;
}

void expect_agreement_on(const Program& program, const std::set<Wrong>& wrong) {
  EXPECT_EQ(interpret(program).wrong, wrong) << to_string(program);
  const Comparison result = compare(program);
  EXPECT_TRUE(result.compared);
  EXPECT_FALSE(result.bounded);
  EXPECT_EQ(result.difference.value_or(""), "") << to_string(program);
}

const std::set<Wrong> by_domain{Wrong::domain};
const std::set<Wrong> by_caches{Wrong::noncoherent};
const Op given = notify(0, 1, 1, NotifyOp::set);
const Op heard = wait(0, Compare::ge, 1);
const Op meets{.kind = Kind::converge};

TEST(RulesOfDomains, ReadModifyWritesOfACell) {
  const Op add = notify(0, 0, 1, NotifyOp::add), fetched = fetch(Kind::fetch_add, 0, 0, 1, {});
  const Op idle = fetch(Kind::fetch_add, 0, 0, 0, Order::relaxed);
  const Op fails = fetch(Kind::compare_swap, 0, 0, 2, Order::relaxed, 9);
  const std::vector<Domain> mixed{Domain::host, Domain::gpu}, one{Domain::nic, Domain::nic};
  for (const Profile profile : {Profile::rdma, Profile::direct, Profile::sc}) {
    for (const Op& other : {add, fetched, idle}) {
      expect_agreement_on(ranks_with(profile, {{add}, {other}}, mixed), by_domain);
      expect_agreement_on(ranks_with(profile, {{other}, {add}}, mixed), by_domain);
      expect_agreement_on(ranks_with(profile, {{add}, {other}}, one), {});
    }
    expect_agreement_on(ranks_with(profile, {{add}, {fails}}, mixed), {});
  }
}

// The second add is ordered after the first, and hides it from the third no more than from itself.
// The third comes last, by a relaxed wait, and knows of neither.
TEST(RulesOfDomains, RemoteAddsBehindLaterOnes) {
  const Op add = data(Kind::remote_add, 0, 0, 0, 1);
  const Op go = wait(1, Compare::ge, 1, Order::relaxed);
  const std::vector<Domain> mixed{Domain::host, Domain::gpu, Domain::gpu};
  for (const Profile profile : {Profile::rdma, Profile::direct})
    expect_agreement_on(
        ranks_with(profile, {{add, given}, {heard, add, notify(1, 2, 1, NotifyOp::set)}, {go, add}},
                   mixed),
        by_domain);
}

// A converge of the reader's lane invalidates nothing, and one of the writer's writes nothing back.
TEST(RulesOfCaches, EachThreadForItself) {
  const Op there = data(Kind::remote_store, 1, 0, 0, 7), load = data(Kind::load, 0, 0, 0, 0);
  const Op store = data(Kind::store, 0, 0, 0, 7), far = data(Kind::remote_load, 0, 0, 0, 0);
  expect_agreement_on(cores({{there, given}, {there}, {heard, meets}, {meets, load}}), by_caches);
  expect_agreement_on(cores({{there, given}, {there}, {heard, meets, load}, {meets}}), {});
  expect_agreement_on(cores({{meets, given}, {store, meets}, {heard, far}, {far}}), by_caches);
  expect_agreement_on(cores({{store, meets, given}, {meets}, {heard, far}, {far}}), {});
}

TEST(RulesOfCaches, ALineIsWrittenBackAsAWhole) {
  const Op there = data(Kind::remote_store, 1, 0, 0, 7), beside = data(Kind::store, 0, 1, 0, 3);
  for (const std::uint32_t apart : {1U, 16U}) {
    const std::set<Wrong> wrong = apart == 1 ? by_caches : std::set<Wrong>{};
    Program program = ranks_with(Profile::noncoherent, {{there}, {beside}});
    program.apart = apart;
    expect_agreement_on(program, wrong);
    expect_agreement_on(cores({{there, given}, {there}, {heard, meets}, {meets, beside}}, apart),
                        wrong);
  }
}

// The end of a kernel writes back what its threads have written, its start invalidates.
TEST(RulesOfCaches, LaunchesOrderThem) {
  const Op store = data(Kind::store, 0, 0, 0, 7), load = data(Kind::load, 0, 0, 0, 0);
  const Op boundary{.kind = Kind::boundary};
  expect_agreement_on(cores({{boundary, load}, {store, boundary}, {}, {}}), {});
  expect_agreement_on(cores({{meets, load}, {store, meets}, {}, {}}), by_caches);
}

// What an add to the own cell starts from.
TEST(RulesOfCaches, UpdatesOfTheOwnCell) {
  const Op add = notify(0, 1, 1, NotifyOp::add), back = notify(0, 1, ~0U, NotifyOp::add);
  const Op fetched = fetch(Kind::fetch_add, 0, 1, 1, Order::relaxed);
  const Op relaxed = wait(0, Compare::ge, 1, Order::relaxed);
  const auto program = [](std::vector<std::vector<Op>> code) {
    return ranks_with(Profile::noncoherent, std::move(code));
  };
  for (const Op& update : {back, fetched}) {
    expect_agreement_on(program({{add}, {relaxed, update}}), by_caches);
    expect_agreement_on(program({{add}, {heard, update}}), {});
  }
  expect_agreement_on(program({{add}, {relaxed, notify(0, 0, 1, NotifyOp::add)}}), {});
}

// A test that says pending either way may have seen a deposit, which an add of the lane then wipes;
// in the first execution it has not.
TEST(RulesOfCaches, AReadThatSawMore) {
  const Op looks{.kind = Kind::test, .value = 1, .order = Order::relaxed};
  expect_agreement_on(cores({{notify(0, 1, ~0U, NotifyOp::add)},
                             {},
                             {meets, notify(0, 1, 1, NotifyOp::add)},
                             {looks, meets}}),
                      by_caches);
}

}  // namespace
}  // namespace muster::fuzz
