// The sets of deposits that a read may take.
#include "check/closed_sets.hpp"

#include <gtest/gtest.h>

namespace muster::check::engine {
namespace {

// A cell with these deposits; each knows those whose numbers are listed, which are closed.
struct Made {
  NotifyOp op;
  std::uint32_t value;
  std::vector<std::uint32_t> before;
};

Cell cell_with(const std::vector<Made>& deposits) {
  Cell cell;
  for (const Made& made : deposits) {
    Deposit& deposit = cell.append();
    deposit.op = made.op;
    deposit.value = made.value;
    deposit.before.clear();
    for (const std::uint32_t at : made.before) deposit.before.add(at);
    if (made.op == NotifyOp::set) cell.sets.add(cell.count - 1);
  }
  return cell;
}

SetAnswer ask(const Cell& cell, bool minimal, std::optional<Condition> condition,
              std::size_t limit = 100) {
  SetQuery query;
  query.cell = &cell;
  query.among = cell.all();
  query.minimal = minimal;
  query.condition = condition;
  query.limit = limit;
  return closed_sets(query);
}

constexpr auto add = NotifyOp::add;
constexpr auto set = NotifyOp::set;

TEST(ClosedSets, AllOfTwoChains) {
  // 0 < 1, and 2 by itself: 3 prefixes times 2.
  const Cell cell = cell_with({{add, 1, {}}, {add, 1, {0}}, {add, 1, {}}});
  EXPECT_EQ(ask(cell, false, std::nullopt).sets.size(), 6U);
}

TEST(ClosedSets, MinimalOnes) {
  const Cell cell = cell_with({{add, 1, {}}, {add, 1, {0}}, {add, 1, {}}});
  // Two of them: the chain 0, 1, or 0 and 2.
  const SetAnswer answer = ask(cell, true, Condition{{}, Compare::ge, 2});
  ASSERT_EQ(answer.sets.size(), 2U);
  EXPECT_TRUE(answer.sets[0].has(0) && answer.sets[0].has(2) && !answer.sets[0].has(1));
  EXPECT_TRUE(answer.sets[1].has(0) && answer.sets[1].has(1) && !answer.sets[1].has(2));
}

TEST(ClosedSets, TheFirstOneIsMinimal) {
  const Cell cell = cell_with({{set, 1, {}}, {set, 2, {0}}, {set, 3, {0, 1}}});
  const SetAnswer answer = ask(cell, false, Condition{{}, Compare::ge, 2}, 1);
  ASSERT_EQ(answer.sets.size(), 1U);
  EXPECT_EQ(answer.sets[0].count(), 2U);
  EXPECT_TRUE(answer.cut);
}

TEST(ClosedSets, WhatWasReadFormsAChain) {
  Cell cell = cell_with({{add, 1, {}}, {add, 1, {}}});
  Bits first;
  first.add(0);
  cell.readings.push_back({0, 1, first});
  SetQuery query;
  query.cell = &cell;
  query.among = cell.all();
  query.chain = true;
  query.limit = 100;
  EXPECT_EQ(closed_sets(query).sets.size(), 3U);  // {}, {0}, {0, 1}, and not {1}
}

TEST(ClosedSets, OnlyWithSomethingNew) {
  const Cell cell = cell_with({{add, 1, {}}, {add, 1, {}}});
  SetQuery query;
  query.cell = &cell;
  query.among = cell.all();
  query.newer = 1;
  query.limit = 100;
  EXPECT_EQ(closed_sets(query).sets.size(), 2U);  // {1} and {0, 1}
}

TEST(Cells, ValueIsTheLastSetAndTheAddsAfterIt) {
  const Cell cell = cell_with({{add, 5, {}}, {set, 2, {0}}, {add, 1, {0, 1}}});
  EXPECT_EQ(cell.value(cell.all()), 3U);
  EXPECT_EQ(cell.contained(cell.all()).count(), 2U);
}

TEST(Bits, BeyondTheFirstWords) {
  Bits bits;
  bits.add(3);
  bits.add(200);
  EXPECT_TRUE(bits.has(200));
  EXPECT_EQ(bits.count(), 2U);
  EXPECT_EQ(bits.end(), 201U);
  Bits other = bits;
  other.remove(200);
  EXPECT_TRUE(other.within(bits));
  EXPECT_FALSE(bits.within(other));
}

}  // namespace
}  // namespace muster::check::engine
