// Loops in the text of a report: one line for each line of the loop, however often it ran.
#include "check/fold.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "check/asking.hpp"
#include "check/print.hpp"

namespace muster::check {
namespace {

using Words = std::vector<std::string>;

Event event_of(const std::string& what, const std::string& where = "x.cpp:5",
               std::uint32_t thread = 0) {
  Event event;
  event.thread = thread;
  event.what = what;
  event.where = where;
  event.past = true;
  return event;
}

Words folded_words(const std::vector<Event>& events) {
  Words words;
  for (const Folded& line : folded(events)) words.push_back(line.event.what);
  return words;
}

// `times` events, each of them the lines of a loop.
template <class Lines>
std::vector<Event> loop(int times, Lines lines) {
  std::vector<Event> events;
  for (int i = 0; i < times; ++i)
    for (Event& event : lines(i)) events.push_back(std::move(event));
  return events;
}

std::string n(std::int64_t number) {
  return std::to_string(number);
}

TEST(Fold, OneCallFromOneLineManyTimes) {
  const auto writes = [](auto number) {
    return [number](int i) {
      return std::vector{event_of("write data[" + n(number(i)) + "] of rank 1")};
    };
  };
  EXPECT_EQ(folded_words(loop(64, writes([](int i) { return i; }))),
            Words{"64 x write data[0..63] of rank 1"});
  EXPECT_EQ(folded_words(loop(5, writes([](int i) { return 9 - i; }))),
            Words{"5 x write data[9..5] of rank 1"});
  EXPECT_EQ(folded_words(loop(4, writes([](int i) { return 3 + 8 * i; }))),
            Words{"4 x write data[3, 11 .. 27] of rank 1"});
  EXPECT_EQ(folded_words(loop(3, writes([](int) { return 7; }))),
            Words{"3 x write data[7] of rank 1"});
  EXPECT_EQ(folded_words(loop(2, writes([](int i) { return i; }))),
            (Words{"write data[0] of rank 1", "write data[1] of rank 1"}));
}

TEST(Fold, SeveralNumbersAndSeveralLines) {
  EXPECT_EQ(
      folded_words(loop(3,
                        [](int i) {
                          return std::vector{event_of("notify cell[" + n(2 * i) + "] of rank " +
                                                      n(i + 1) + ": set 1 release")};
                        })),
      Words{"3 x notify cell[0, 2 .. 4] of rank 1..3: set 1 release"});
  EXPECT_EQ(folded_words(loop(8,
                              [](int i) {
                                return std::vector{
                                    event_of("write a[" + n(i) + "]", "x.cpp:5"),
                                    event_of("write b[" + n(7 - i) + "]", "x.cpp:6")};
                              })),
            (Words{"8 x in turn: write a[0..7]", "and: write b[7..0]"}));
}

// What is not the same call, or not the same step, is told by itself.
TEST(Fold, NothingElse) {
  const auto kept = [](const std::vector<Event>& events) {
    EXPECT_EQ(folded(events).size(), events.size())
        << ::testing::PrintToString(folded_words(events));
  };
  kept({event_of("write a[0]"), event_of("write a[1]"), event_of("write a[3]"),
        event_of("write a[9]")});
  kept({event_of("write a[0]", "x.cpp:5"), event_of("write a[1]", "x.cpp:6"),
        event_of("write a[2]", "x.cpp:7")});
  kept({event_of("write a[0]", "x.cpp:5", 0), event_of("write a[1]", "x.cpp:5", 1),
        event_of("write a[2]", "x.cpp:5", 2)});
  kept({event_of("wait a[0] >= 1: saw 1"), event_of("wait a[1] >= 1: saw 1"),
        event_of("wait a[2] >= 1: saw 1")});
  kept({});
}

TEST(Fold, TheOrderOfWhatIsLeftIsKept) {
  std::vector<Event> events = {event_of("flush")};
  for (Event& event : loop(4, [](int i) { return std::vector{event_of("write a[" + n(i) + "]")}; }))
    events.push_back(std::move(event));
  events.push_back(event_of("flush", "x.cpp:9"));
  EXPECT_EQ(folded_words(events), (Words{"flush", "4 x write a[0..3]", "flush"}));
}

// Each operation of a fabric that a body makes in a loop, as the model tells of it.
TEST(Fold, EachKindOfSetUpLoop) {
  constexpr std::uint32_t many = 40;
  Options options = options_for(2);
  options.trace = true;
  const Report report = explore(options, [](model::Team& team) {
    const auto data = *team.window<int>({many, 2}, "data");
    const Signals cells = *team.signals(many);
    const Rows rows = *team.rows();
    (void)team.lane([&](auto& fabric) {
      if (fabric.rank() != Rank{0}) return;
      auto tile = fabric.template tile<int, 1, 1>();
      for (std::uint32_t i = 0; i < many; ++i) fabric.local(data)[i] = 1;
      for (std::uint32_t i = 0; i < many; ++i) fabric.local(data)[2 * i] = 1;
      for (std::uint32_t i = 0; i < many; ++i) (void)static_cast<int>(fabric.local(data)[i]);
      for (std::uint32_t i = 0; i < many; ++i) fabric.store(tile, data, Box{i, 0, 1, 1});
      for (std::uint32_t i = 0; i < many; ++i)
        fabric.remote_store(tile, data, Rank{1}, Box{i, 0, 1, 1});
      for (std::uint32_t i = 0; i < many; ++i) fabric.put(data, Rank{1}, i, data, i, 1);
      for (std::uint32_t i = 0; i < many; ++i) (void)fabric.get(data, i, data, Rank{1}, i + 1, 1);
      for (std::uint32_t i = 0; i < many; ++i) fabric.notify(cells[i], Rank{1}, i, NotifyOp::set);
      for (std::uint32_t i = 0; i < many; ++i) fabric.set_counter(rows.epoch(fabric.lane()), i);
      expect(fabric, false, "told");
    });
  });
  const std::string table = event_table(report, 2, 200);
  const auto lines = static_cast<std::size_t>(std::count(table.begin(), table.end(), '\n'));
  EXPECT_LT(lines, 26U) << table;
  for (const char* words : {"write data[0..39] of rank 0", "write data[0, 2 .. 78] of rank 0",
                            "read data[0..39] of rank 0", "put 1 elements to data[0..39] of rank 1",
                            "signals 0[0..39] of rank 1: set 0..39"})
    EXPECT_NE(table.find(words), std::string::npos) << words << " is not in\n" << table;
  EXPECT_EQ(table.find("left out"), std::string::npos) << table;
}

}  // namespace
}  // namespace muster::check
