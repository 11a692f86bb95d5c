// Wrong arguments: each gives an error that names the argument, its value and what would be right;
// the rank that made the mistake gets it, the others hear of it, and nothing is corrupted or hangs.
#include "conformance/bad_input.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "muster/muster.hpp"

namespace muster {
namespace {

class BadInput : public BadInputOf<Looks::all> {};

INSTANTIATE_TEST_SUITE_P(As, BadInput, ::testing::Values(threads, processes), name_of_way);

TEST_P(BadInput, RankOutOfRange) {
  const Words words{"peer", "rank 7", "0 to 1"};
  expect_held(in_a_lane(
      [](auto& fabric, const Things& t) { fabric.notify(t.never[0], Rank{7}, 1, NotifyOp::set); },
      words));
  expect_held(in_a_lane(
      [](auto& fabric, const Things& t) { fabric.put(t.window, Rank{7}, 0, t.window, 12, 1); },
      words));
  expect_held(in_a_lane(
      [](auto& fabric, const Things& t) {
        auto tile = fabric.template tile<float, 2, 2>();
        (void)fabric.remote_load(tile, t.window, Rank{7}, Box{0, 0, 2, 2});
      },
      words));
  expect_held(in_a_lane(
      [](auto& fabric, const Things& t) { (void)fabric.hand(t.never[0], Rank{7}, Order::release); },
      words));
  expect_held(in_a_lane(
      [](auto& fabric, const Things& t) { (void)fabric.fetch_add(t.never[0], Rank{7}, 1); },
      words));
  expect_held(in_a_lane(
      [](auto& fabric, const Things& t) { (void)fabric.exchange(t.never[0], Rank{7}, 1); }, words));
  expect_held(in_a_lane(
      [](auto& fabric, const Things& t) { (void)fabric.compare_swap(t.never[0], Rank{7}, 0, 1); },
      words));
}

TEST_P(BadInput, ChannelThatThePadHasNot) {
  struct Wrong {
    PadChannel first;
    std::uint32_t lanes;
    Words words;
  };
  for (const Wrong& wrong : {Wrong{{32}, 1, {"channel is 32 for 1 lanes", "has 32 channels"}},
                             Wrong{{30}, 3, {"channel is 30 for 3 lanes", "has 32 channels"}},
                             Wrong{{~0U}, 2, {"channel is 4294967295", "has 32 channels"}},
                             Wrong{{0}, 0, {"for 0 lanes", "at least one"}}})
    expect_held([&wrong](Team& team) -> Result<void> {
      Checks checks;
      const Rows pad = pad_rows(*team.signals(32 * team.size()), team.size());
      try {
        (void)FlipBarrier(pad, wrong.first, wrong.lanes);
        checks.holds(false, "a channel that the pad has not is refused");
      } catch (const Failure& failure) {
        expect_words(checks, failure.error(), ErrorCode::invalid_argument, wrong.words);
      }
      return checks.done();
    });
}

// What has gone wrong once stays the lane's status, and every meeting tells.
TEST_P(BadInput, StaysTheStatusOfTheLane) {
  expect_held(in_a_lane(
      [](auto& fabric, const Things& t) {
        const WaitStatus before = fabric.status();
        fabric.put(t.window, Rank{7}, 0, t.window, 12, 1);  // says nothing itself
        const WaitStatus after[] = {
            fabric.status(),
            fabric.converge(WaitStatus::ok),
            fabric.flush(),
            fabric.flush(Rank{1}),
            fabric.get(t.window, 0, t.window, Rank{1}, 12, 1),
            fabric.complete(fabric.get_async(t.window, 0, t.window, Rank{1}, 12, 1))};
        bool good = before == WaitStatus::ok;
        for (const WaitStatus status : after) good = good && status == WaitStatus::invalid;
        if (!good) throw Failure(Error{.what = "some operation does not say that it has failed"});
      },
      {"peer", "rank 7", "0 to 1"}));
}

TEST_P(BadInput, AddressOfNoRank) {
  expect_held(in_a_lane(
      [](auto& fabric, const Things& t) {
        // A careless writer lives to report it.
        fabric.address(t.window, Rank{7})[0] = 1;
      },
      {"address", "rank 7", "0 to 1"}));
}

TEST_P(BadInput, CellOutOfBounds) {
  // Far beyond everything that was allocated, and just one beyond the signals.
  for (const std::uint32_t beyond : {50000U, 1U}) {
    const auto wrong = [beyond](const Things& t) { return t.never[beyond]; };
    expect_held(
        in_a_lane([wrong](auto& fabric,
                          const Things& t) { fabric.notify(wrong(t), Rank{1}, 1, NotifyOp::set); },
                  {"signal", "cell", "out of bounds"}));
    expect_held(in_a_lane(
        [wrong](auto& fabric, const Things& t) { (void)fabric.wait(wrong(t), Compare::ge, 1); },
        {"signal", "cell", "out of bounds"}));
  }
}

TEST_P(BadInput, BoxOutsideTheWindow) {
  const auto with_box = [](Box box) {
    return [box](auto& fabric, const Things& t) {
      auto tile = fabric.template tile<float, 4, 4>();
      fabric.remote_store(tile, t.window, Rank{1}, box);
    };
  };
  expect_held(in_a_lane(with_box({1, 0, 4, 4}), {"remote_store", "box", "(1, 0)", "4 x 6"}));
  expect_held(in_a_lane(with_box({0, 3, 4, 4}), {"remote_store", "box", "(0, 3)", "4 x 6"}));
  expect_held(in_a_lane(with_box({-1, 0, 2, 2}), {"remote_store", "box", "(-1, 0)"}));
  expect_held(in_a_lane(with_box({0, 0, -2, 2}), {"remote_store", "-2 x 2"}));
  // Larger than the tile, though inside the window.
  expect_held(in_a_lane(with_box({0, 0, 4, 5}), {"remote_store", "4 x 5", "tile", "4 x 4"}));
  // Extents whose sum with the position overflows.
  expect_held(in_a_lane(with_box({0x7fffffffffffffff, 0, 2, 2}), {"remote_store", "box"}));
  const auto from_memory = [](Box box) {
    return [box](auto& fabric, const Things&) {
      float numbers[12] = {};
      auto tile = fabric.template tile<float, 4, 4>();
      fabric.load(tile, MemoryRef<float>{numbers, 3, 4}, box);
      fabric.store(tile, MemoryRef<float>{numbers, 3, 4}, box);
    };
  };
  expect_held(in_a_lane(from_memory({1, 0, 3, 4}), {"load", "plain memory", "(1, 0)", "3 x 4"}));
  expect_held(in_a_lane(from_memory({0, 0, 1, 5}), {"load", "plain memory", "1 x 5"}));
}

TEST_P(BadInput, RunOutsideTheWindow) {
  const auto put = [](std::int64_t to, std::int64_t from, std::int64_t count) {
    return [=](auto& fabric, const Things& t) {
      fabric.put(t.window, Rank{1}, to, t.window, from, count);
    };
  };
  expect_held(in_a_lane(put(20, 0, 5), {"put", "5 elements", "20", "24"}));
  expect_held(in_a_lane(put(0, 20, 5), {"put", "5 elements", "20", "24"}));
  expect_held(in_a_lane(put(-1, 0, 2), {"put", "-1"}));
  expect_held(in_a_lane(put(0, 0, -2), {"put", "-2"}));
  // A count of bytes: four times as much as there is, and the error says what counts are.
  expect_held(in_a_lane(put(0, 0, 24 * 4), {"put", "96", "24", "elements, not bytes"}));
  expect_held(
      in_a_lane([](auto& fabric,
                   const Things& t) { (void)fabric.get(t.window, 0, t.window, Rank{1}, 23, 2); },
                {"get", "2 elements", "23", "24"}));
}

TEST_P(BadInput, SourceAndTargetOverlap) {
  expect_held(in_a_lane(
      [](auto& fabric, const Things& t) { fabric.put(t.window, Rank{0}, 2, t.window, 0, 4); },
      {"overlap", "4 elements", "apart"}));
}

TEST_P(BadInput, NoConditionsForWaitAny) {
  expect_held(in_a_lane(
      [](auto& fabric, const Things&) {
        (void)fabric.wait_any(nullptr, 0, Order::acquire, Scope::system);
      },
      {"wait_any", "count is 0", "at least one"}));
}

// The first mistake is the one that is reported, and later operations of the lane do nothing.
TEST_P(BadInput, TheFirstMistakeIsReported) {
  expect_held(in_a_lane(
      [](auto& fabric, const Things& t) {
        fabric.notify(t.never[0], Rank{7}, 1, NotifyOp::set);
        fabric.put(t.window, Rank{9}, 0, t.window, 12, 1);
      },
      {"rank 7"}));
}

// ---- set-up: every rank gets an error, and the team goes on

TEST_P(BadInput, NothingToAllocate) {
  const auto code = ErrorCode::invalid_argument;
  expect_held(refused([](Team& t) { return t.allocate(0); }, code,
                      {"allocate", "bytes is 0", "at least 1"}));
  expect_held(refused([](Team& t) { return t.allocate(-64); }, code, {"allocate", "-64"}));
  expect_held(refused([](Team& t) { return t.signals(0); }, code, {"signals", "count is 0"}));
}

TEST_P(BadInput, MoreLanesThanTheTeamHas) {
  const auto code = ErrorCode::invalid_argument;
  const auto body = [](auto&) {};
  expect_held(refused([](Team& t) { return t.rows(5); }, code, {"lanes is 5", "1 to 4"}));
  expect_held(refused([](Team& t) { return t.rows(0); }, code, {"lanes is 0", "1 to 4"}));
  expect_held(refused([body](Team& t) { return t.lanes(5, body); }, code, {"5", "1 to 4"}));
  expect_held(refused([body](Team& t) { return t.lanes(0, body); }, code, {"0", "1 to 4"}));
}

// More than there is: the error says how much was asked for, and how much there is.
TEST_P(BadInput, MoreMemoryThanThereIs) {
  constexpr std::int64_t huge = 1LL << 40;
  expect_held(refused([](Team& t) { return t.window<float>({huge}); }, ErrorCode::out_of_memory,
                      {"4.0 TiB", "2 ranks", "available"}));
  expect_held(refused([](Team& t) { return t.allocate(huge); }, ErrorCode::out_of_memory,
                      {"1.0 TiB", "available"}));
}

// Bytes mistaken for elements: they do not fit the allocation.
TEST_P(BadInput, BytesMistakenForElements) {
  expect_held(refused(
      [](Team& t) {
        const Allocation bytes = *t.allocate(24 * 4);
        return t.window<float>(bytes, {24 * 4});
      },
      ErrorCode::invalid_argument, {"{96}", "384 bytes", "96", "elements, not bytes"}));
}

TEST_P(BadInput, ASecondWindowOfTheSameName) {
  expect_held(refused(
      [](Team& t) {
        (void)*t.window<float>({4}, "inbox");
        return t.window<float>({4}, "inbox");
      },
      ErrorCode::invalid_argument, {"\"inbox\"", "taken"}));
}

TEST_P(BadInput, FreeingTwice) {
  const auto code = ErrorCode::invalid_argument;
  expect_held(refused(
      [](Team& t) {
        const auto window = *t.window<float>({4});
        (void)t.free(window);
        return t.free(window);
      },
      code, {"free", "freed twice"}));
  expect_held(refused(
      [](Team& t) {
        const Rows rows = *t.rows();
        (void)t.free(rows);
        return t.free(rows);
      },
      code, {"free", "freed twice"}));
  expect_held(refused(
      [](Team& t) {
        return t.free(Signals{Signal{0, 40000}, 3});
      },
      code, {"free", "another team's"}));
}

// What was never made is not the team's own barrier and mailbox, which lie at the begin of memory.
TEST_P(BadInput, FreeingWhatWasNeverMade) {
  const auto code = ErrorCode::invalid_argument;
  expect_held(refused([](Team& t) { return t.free(Signals{}); }, code, {"free", "never made"}));
  expect_held(refused([](Team& t) { return t.free(Rows{}); }, code, {"free", "never made"}));
  expect_held(refused([](Team& t) { return t.free(Allocation{}); }, code, {"free", "never made"}));
  expect_held(
      refused([](Team& t) { return t.free(WindowRef<float>{}); }, code, {"free", "never made"}));
  expect_held(refused(
      [](Team& t) {
        Allocation none;
        none.bytes = 64;
        return t.window<float>(none, {4});
      },
      code, {"window", "never made"}));
}

// Freed, and used all the same.
TEST_P(BadInput, AWindowOrSignalThatIsFreed) {
  expect_held([](Team& team) -> Result<void> {
    const auto window = *team.window<float>({4, 6});
    const Signals never = *team.signals(1);
    if (const auto freed = team.free(window); !freed) return freed;
    const Result<void> ran = team.lane([&](auto& fabric) {
      if (fabric.rank() == Rank{0}) fabric.put(window, Rank{1}, 0, window, 12, 1);
      return fabric.wait(never[0], Compare::ge, 1);
    });
    Checks checks;
    checks.refused(ran, team.rank() == Rank{0} ? ErrorCode::invalid_argument : ErrorCode::aborted,
                   "a put into a freed window", "freed");
    return checks.done();
  });
}

// A window of a team that shrink() has replaced belongs to another team.
TEST_P(BadInput, AWindowOfAForeignTeam) {
  expect_held([](Team& old) -> Result<void> {
    const auto foreign = *old.window<float>({4, 6});
    Team team = *old.shrink();
    const Signals never = *team.signals(1);
    const Result<void> ran = team.lane([&](auto& fabric) {
      if (fabric.rank() == Rank{0}) fabric.put(foreign, Rank{1}, 0, foreign, 12, 1);
      return fabric.wait(never[0], Compare::ge, 1);
    });
    Checks checks;
    checks.refused(ran, team.rank() == Rank{0} ? ErrorCode::invalid_argument : ErrorCode::aborted,
                   "a put into a foreign window", "another team's");
    return checks.done();
  });
}

// What the team talks through lies in its memory, too, and is no window.
TEST_P(BadInput, TheTeamsOwnMemory) {
  expect_held(in_a_lane(
      [](auto& fabric, const Things& t) {
        WindowRef<float> own = t.window;
        own.offset = 0;
        own.rows = 1;
        fabric.put(own, Rank{1}, 0, t.window, 12, 1);
      },
      {"1 x 6 float32 at offset 0", "none that this team has allocated"}));
}

// Bytes of one type as elements of another, of the same size and of another.
template <class T>
auto with_elements_of() {
  return [](auto& fabric, const Things& t) {
    const WindowRef<T> other{t.window.offset, 2, 2, t.window.segment, t.window.team};
    auto tile = fabric.template tile<T, 2, 2>();
    fabric.remote_store(tile, other, Rank{1}, Box{0, 0, 2, 2});
  };
}

TEST_P(BadInput, AnotherTypeOfElement) {
  expect_held(in_a_lane(with_elements_of<std::int32_t>(), {"2 x 2 int32", "made for float32"}));
  expect_held(in_a_lane(with_elements_of<double>(), {"2 x 2 float64", "made for float32"}));
  // Without a type it is anybody's.
  expect_held([](Team& team) -> Result<void> {
    const Allocation bytes = *team.allocate(64);
    const auto floats = *team.window<float>(bytes, {4});
    const auto numbers = *team.window<std::int32_t>(bytes, {4});
    return team.lane([&](auto& fabric) {
      fabric.local(floats)[0] = 1;
      fabric.local(numbers)[1] = 1;
    });
  });
}

TEST_P(BadInput, RanksWithAnotherTypeOfElement) {
  expect_held([](Team& team) -> Result<void> {
    Checks checks;
    const bool first = team.rank() == Rank{0};
    const auto made = [&]<class T>(T) {
      const auto window = team.window<T>({4, 6});
      checks.refused(window, ErrorCode::mismatch, "windows of two types", "{4, 6} float32",
                     "{4, 6} int32");
    };
    first ? made(float{}) : made(std::int32_t{});
    checks.ok(team.sync(), "sync afterwards");
    return checks.done();
  });
}

// Ranks that differ: the error names both sides.
TEST_P(BadInput, RanksThatCallDifferentThings) {
  expect_held([](Team& team) -> Result<void> {
    Checks checks;
    const auto window =
        team.rank() == Rank{0} ? team.window<float>({4, 6}) : team.window<float>({4, 7});
    checks.refused(window, ErrorCode::mismatch, "windows that differ", "{4, 6}", "{4, 7}", "rank 0",
                   "rank 1");
    // Different calls altogether; both ranks have made one, so they are in step again.
    if (team.rank() == Rank{0})
      checks.refused(team.sync(), ErrorCode::mismatch, "sync against signals", "sync()",
                     "signals(3)");
    else
      checks.refused(team.signals(3), ErrorCode::mismatch, "signals against sync", "sync()",
                     "signals(3)");
    checks.ok(team.sync(), "sync afterwards");
    return checks.done();
  });
}

TEST(BadOptions, OfRunEndWithTwo) {
  const auto body = [](Team&) {};
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(run({.ranks = 5000, .as = threads}, body), 2);
  EXPECT_EQ(run({.ranks = 2, .as = threads, .lanes = 0}, body), 2);
  setenv("MUSTER_TIMEOUT", "soon", 1);
  EXPECT_EQ(run({.ranks = 2, .as = threads}, body), 2);
  unsetenv("MUSTER_TIMEOUT");
  setenv("MUSTER_VERIFY", "yes", 1);
  EXPECT_EQ(run({.ranks = 2, .as = threads}, body), 2);
  unsetenv("MUSTER_VERIFY");
  const std::string said = ::testing::internal::GetCapturedStderr();
  for (const char* word :
       {"5000", "1024", "`lanes` is 0", "MUSTER_TIMEOUT", "\"soon\"", "MUSTER_VERIFY", "\"yes\""})
    EXPECT_NE(said.find(word), std::string::npos) << word << " is not in: " << said;
}

}  // namespace
}  // namespace muster
