// What a run looks at that does not verify: whatever an operation is given, it touches nothing
// outside of the memory of its own team's ranks, and is an error that says what is wrong.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "conformance/bad_input.hpp"
#include "muster/muster.hpp"
#include "muster/packet.hpp"

namespace muster {
namespace {

class CheapChecks : public BadInputOf<Looks::cheap> {};

INSTANTIATE_TEST_SUITE_P(As, CheapChecks, ::testing::Values(threads, processes), name_of_way);

using Body = std::function<Result<void>(Team&)>;

// As in_a_lane; and the lane is over for rank 0: a wait that would hold at once is `invalid`, and
// what it would deposit afterwards does not arrive.
template <class Bad>
Body ends_the_lane(Bad bad, const Words& words) {
  return in_a_lane(
      [bad](auto& fabric, const Things& t) {
        bad(fabric, t);
        Checks checks;
        checks.equal(fabric.wait(t.never[0], Compare::ge, 0), WaitStatus::invalid, "a later wait");
        checks.equal(fabric.test(t.never[0], Compare::ge, 0), WaitStatus::invalid, "a later test");
        fabric.notify(t.never[0], Rank{1}, 1, NotifyOp::set);
        if (const auto done = checks.done(); !done) throw Failure(done.error());
      },
      words);
}

// ---- cells

const std::vector<Signal> no_cells = {{0, 1U << 20U}, {0, 0x8000'0000U}, {0, ~0U}, {1, 0},
                                      {63, 3},        {64, 0},           {~0U, 0}, {~0U, ~0U}};

TEST_P(CheapChecks, CellsThatAreNone) {
  for (const Signal none : no_cells) {
    const Words words{"signal", "cell " + std::to_string(none.cell),
                      "segment " + std::to_string(none.segment), "out of bounds"};
    const auto held = [&](auto bad) { expect_held(ends_the_lane(bad, words)); };
    held([none](auto& fabric, const Things&) { fabric.notify(none, Rank{1}, 1, NotifyOp::add); });
    held([none](auto& fabric, const Things&) {
      if (fabric.wait(none, Compare::ge, 0) != WaitStatus::invalid)
        throw Failure({ErrorCode::aborted, "the wait was not invalid"});
    });
  }
}

TEST_P(CheapChecks, EveryOperationLooksAtItsCell) {
  const Signal none{0, ~0U};
  const auto held = [&](const char* what, auto bad) {
    expect_held(ends_the_lane(bad, {what, "cell 4294967295", "out of bounds"}));
  };
  const auto invalid = [](WaitStatus status) {
    if (status != WaitStatus::invalid)
      throw Failure({ErrorCode::aborted, std::string("the status was ") + name_of(status)});
  };
  held("signal", [=](auto& f, const Things&) { invalid(f.test(none, Compare::ge, 0)); });
  held("signal", [=](auto& f, const Things&) { (void)f.read(none); });
  held("signal", [=](auto& f, const Things&) { invalid(f.hand(none, Rank{1})); });
  held("signal", [=](auto& f, const Things&) { invalid(f.take(none)); });
  held("signal", [=](auto& f, const Things&) { invalid(f.fetch_add(none, Rank{1}, 1).status); });
  held("signal", [=](auto& f, const Things&) { invalid(f.exchange(none, Rank{1}, 1).status); });
  held("signal",
       [=](auto& f, const Things&) { invalid(f.compare_swap(none, Rank{1}, 0, 1).status); });
  held("signal", [=](auto& f, const Things& t) {
    const Condition conditions[] = {{t.never[0], Compare::ge, 1}, {none, Compare::ge, 0}};
    invalid(f.wait_any(conditions, 2).status);
  });
  held("signal", [=](auto& f, const Things& t) {
    f.put_signal(t.window, Rank{1}, 0, t.window, 12, 1, none, 1, NotifyOp::set);
  });
  held("counter", [](auto& f, const Things&) { (void)f.counter(Counter{0, ~0U}); });
  held("counter", [](auto& f, const Things&) { f.set_counter(Counter{0, ~0U}, 1); });
}

// A lane of a team that has failed looks at its own cells still, and at no others.
TEST_P(CheapChecks, ALaneThatHasEndedReadsItsOwnCells) {
  expect_held([](Team& team) -> Result<void> {
    const Signals own = *team.signals(1);
    team.abort("as the test wants it");
    WaitStatus status = WaitStatus::ok;
    Checks checks;
    (void)team.lane([&](auto& fabric) {
      fabric.notify(own[0], fabric.rank(), 5, NotifyOp::set);
      status = fabric.wait(own[0], Compare::ge, 0);
      checks.equal(fabric.read(own[0]), 0U, "the own cell");
      checks.equal(fabric.read(Signal{0, ~0U}), 0U, "a cell that is none");
      checks.equal(fabric.counter(Counter{0, ~0U}), 0U, "a counter that is none");
    });
    checks.equal(status, WaitStatus::aborted, "the wait");
    return checks.done();
  });
}

// ---- windows

using Window = WindowRef<float>;

// Each of these is none, and what the error says of it.
std::vector<std::pair<Window, Words>> no_windows(const Window& real) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const auto with = [&](auto change) {
    Window made = real;
    change(made);
    return made;
  };
  const Words gone{"of segment 0 lies in none", "out of bounds"};
  return {
      {with([](Window& w) { w.segment = 1; }), {"segment 1 ", "out of bounds"}},
      {with([](Window& w) { w.segment = 64; }), {"segment 64 ", "out of bounds"}},
      {with([](Window& w) { w.segment = ~0U; }), {"segment 4294967295 ", "out of bounds"}},
      {with([](Window& w) { w.offset = 1ULL << 62U; }), gone},
      {with([](Window& w) { w.offset = ~0ULL - 15; }), gone},
      {with([](Window& w) { w.rows = w.cols = 1LL << 31U; }), gone},
      {with([](Window& w) { w.rows = w.cols = (1LL << 32U) + 1; }), gone},
      {with([](Window& w) { w.cols = most; }), gone},
      {with([](Window& w) { w.rows = w.cols = -6; }), gone},
      {with([](Window& w) { w.team += 1; }), {"another team's"}},
      {with([](Window& w) { w.team = 1024; }), {"another team's", "team 1024"}},
      {with([](Window& w) { w.team = ~0U; }), {"another team's"}},
  };
}

TEST_P(CheapChecks, WindowsThatAreNone) {
  const std::size_t cases = no_windows({}).size();
  for (std::size_t i = 0; i < cases; ++i) {
    const Words words = no_windows({})[i].second;
    const auto held = [&](auto operation) {
      expect_held(ends_the_lane(
          [=](auto& f, const Things& t) { operation(f, t, no_windows(t.window)[i].first); },
          words));
    };
    held([](auto& f, const Things& t, Window none) { f.put(none, Rank{1}, 0, t.window, 0, 1); });
    held([](auto& f, const Things&, Window none) {
      const auto view = f.local(none);
      if (view.size() > 0) view[0] = 1;  // a careless writer lives to report it
    });
  }
}

TEST_P(CheapChecks, EveryOperationLooksAtItsWindow) {
  const Box box{0, 0, 2, 2};
  const auto held = [&](auto operation) {
    expect_held(ends_the_lane(
        [operation](auto& f, const Things& t) {
          auto none = t.window;
          none.segment = 5;
          auto tile = f.template tile<float, 2, 2>();
          operation(f, t.window, none, tile);
        },
        {"segment 5 ", "4 x 6 float32", "out of bounds"}));
  };
  held([](auto& f, Window real, Window none, auto&) { f.put(real, Rank{1}, 0, none, 0, 1); });
  held([](auto& f, Window real, Window none, auto&) { (void)f.get(none, 0, real, Rank{1}, 0, 1); });
  held([](auto& f, Window real, Window none, auto&) { (void)f.get(real, 0, none, Rank{1}, 0, 1); });
  held([](auto& f, Window real, Window none, auto&) { f.put_async(none, Rank{1}, 0, real, 0, 1); });
  held([](auto& f, Window real, Window none, auto&) { f.get_async(none, 0, real, Rank{1}, 0, 1); });
  held([=](auto& f, Window, Window none, auto& tile) { f.load(tile, none, box); });
  held([=](auto& f, Window, Window none, auto& tile) { f.store(tile, none, box); });
  held([=](auto& f, Window, Window none, auto& tile) {
    (void)f.remote_load(tile, none, Rank{1}, box);
  });
  held([=](auto& f, Window, Window none, auto& tile) { f.remote_store(tile, none, Rank{1}, box); });
  held([=](auto& f, Window, Window none, auto& tile) { f.remote_add(tile, none, Rank{1}, box); });
  held([](auto& f, Window, Window none, auto&) { (void)f.address(none, Rank{1}); });
}

TEST_P(CheapChecks, SlotsThatAreNone) {
  const Slots none{0, 1, 8, 7, 0};
  const auto held = [&](auto operation) {
    expect_held(ends_the_lane(
        [operation](auto& f, const Things&) {
          auto tile = f.template tile<float, 2, 2>();
          operation(f, tile);
        },
        {"segment 7 ", "out of bounds"}));
  };
  held([=](auto& f, auto& tile) { f.put_packets(none, Rank{1}, 0, tile, 1); });
  held([=](auto& f, auto& tile) {
    if (f.wait_packets(tile, none, 0, 1) != WaitStatus::invalid)
      throw Failure({ErrorCode::aborted, "the wait was not invalid"});
  });
  held([=](auto& f, auto&) { f.clear_packets(none, 0, 1); });
}

// Ranks and bounds, as ever; and the overlap of a transfer within a rank.
TEST_P(CheapChecks, RanksAndBounds) {
  expect_held(ends_the_lane(
      [](auto& f, const Things& t) { f.notify(t.never[0], Rank{7}, 1, NotifyOp::set); },
      {"rank 7", "0 to 1"}));
  expect_held(
      ends_the_lane([](auto& f, const Things& t) { f.put(t.window, Rank{1}, 20, t.window, 0, 5); },
                    {"put", "5 elements", "20", "24"}));
  expect_held(
      ends_the_lane([](auto& f, const Things& t) { f.put(t.window, Rank{0}, 2, t.window, 0, 4); },
                    {"overlap", "apart"}));
}

// ---- teams

// What `window` gives is none of what the lanes of `team` may use.
Result<void> expect_foreign(Team& team, Window window, const char* words) {
  const Signals never = *team.signals(1);
  const Result<void> ran = team.lane([&](auto& fabric) {
    if (fabric.rank() == Rank{0}) fabric.put(window, Rank{1}, 0, window, 12, 1);
    return fabric.wait(never[0], Compare::ge, 1);
  });
  Checks checks;
  checks.refused(ran, team.rank() == Rank{0} ? ErrorCode::invalid_argument : ErrorCode::aborted,
                 "a put into a foreign window", words);
  return checks.done();
}

TEST_P(CheapChecks, AWindowOfATeamThatWasReplaced) {
  expect_held([](Team& old) -> Result<void> {
    const Window foreign = *old.window<float>({4, 6});
    Team team = *old.shrink();
    return expect_foreign(team, foreign, "another team's");
  });
}

TEST_P(CheapChecks, AWindowOfATeamThatWasSplitOff) {
  expect_held([](Team& team) -> Result<void> {
    Team part = *team.split(0);
    const Window foreign = *part.window<float>({4, 6});
    return expect_foreign(team, foreign, "another team's");
  });
}

TEST_P(CheapChecks, BroughtMemoryThatIsFreed) {
  if (GetParam() == processes) GTEST_SKIP() << "a pointer reaches no other process";
  expect_held([](Team& team) -> Result<void> {
    std::vector<float> memory(24);
    const Window window = *team.window_on(memory.data(), {4, 6});
    if (const auto freed = team.free(window); !freed) return freed;
    return expect_foreign(team, window, "freed");
  });
}

// What is right stays right: a team that was split off uses its parents' windows, with whole
// extents and from lanes, and an empty window is no error where nothing is moved.
TEST_P(CheapChecks, WindowsOfTheParentsAreFine) {
  expect_held([](Team& team) -> Result<void> {
    const Window first = *team.window<float>({4, 6});
    Team part = *team.split(0);
    const Window second = *part.window<float>({4, 6});
    Team rest = *part.split(0);
    return rest.lane([&](auto& fabric) -> Result<void> {
      Checks checks;
      const Rank right = right_of(fabric);
      fabric.put(first, right, 0, second, 0, 24);
      (void)fabric.get(second, 0, first, right, 0, 24);
      fabric.put(Window{}, right, 0, Window{}, 0, 0);
      checks.equal(fabric.local(first).size(), 24, "the size of the view");
      checks.equal(fabric.local(Window{}).size(), 0, "the size of the empty view");
      return checks.done();
    });
  });
}

}  // namespace
}  // namespace muster
