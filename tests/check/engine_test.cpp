// Bodies that misbehave get a message that names them.
#include <alloca.h>

#include <stdexcept>

#include "check/asking.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

namespace muster::check {
namespace {

[[gnu::noinline]] int deep(int n) {
  volatile char here[4096] = {};
  here[n % 4096] = static_cast<char>(n);
  return n <= 0 ? here[0] : deep(n - 1) + here[1];
}

TEST(Body, StackOverflowIsCaughtAndNamed) {
#if defined(__SANITIZE_ADDRESS__)
  // What a fiber owns when its stack overflows is never given back.
  const __lsan::ScopedDisabler leaks_expected;
#endif
  for (int again = 0; again < 3; ++again) {  // the process goes on, and can be caught again
    const Report report = explore(options_for(2), [](model::Team& team) {
      (void)team.lane([](auto& fabric) {
        if (fabric.rank() == Rank{1}) expect(fabric, deep(100'000) >= 0);
      });
    });
    ASSERT_TRUE(report.has(Kind::body)) << told(report);
    EXPECT_NE(report.findings[0].what.find("the stack of rank 1 overflowed"), std::string::npos);
  }
}

TEST(Body, ThrowsAreNamed) {
  const Report report = explore(options_for(2), [](model::Team& team) {
    (void)team.lane([](auto& fabric) {
      if (fabric.rank() == Rank{1}) throw std::runtime_error("out of paper");
    });
  });
  ASSERT_TRUE(report.has(Kind::body)) << told(report);
  EXPECT_NE(report.findings[0].what.find("rank 1 threw: out of paper"), std::string::npos);
}

TEST(Body, ALoopWithoutAWaitIsNamed) {
  Options options = options_for(2);
  options.steps = 1000;
  const Report report = explore(options, [](model::Team& team) {
    const Signals cell = *team.signals(1);
    (void)team.lane([&](auto& fabric) {
      for (;;) fabric.notify(cell[0], fabric.rank(), 1, NotifyOp::add);
    });
  });
  ASSERT_TRUE(report.has(Kind::body)) << told(report);
  EXPECT_NE(report.findings[0].what.find("loops without a wait"), std::string::npos);
}

// What a body owns is given back where its execution is abandoned.
TEST(Body, IsUnwoundWhenAnExecutionEndsEarly) {
  static int alive = 0;
  struct Counted {
    Counted() { ++alive; }
    ~Counted() { --alive; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
  };
  const Report report = explore(options_for(2), [](model::Team& team) {
    const Counted counted;
    const Signals cell = *team.signals(1);
    (void)team.lane([&](auto& fabric) {
      const Counted inner;
      (void)fabric.wait(cell[0], Compare::ge, 1);
    });
  });
  EXPECT_FINDS(report, deadlock);
  EXPECT_EQ(alive, 0);
}

// Tiles, transfers and counters compute what they should.
TEST(Data, MovesAsOnAnyFabric) {
  for (const std::uint32_t threads : {1U, 2U, 3U}) {
    Options options = options_for(2, Profile::rdma);
    options.threads = threads;
    const Report report = explore(options, [](model::Team& team) {
      const auto from = *team.window<int>({3, 5}, "from");
      const auto to = *team.window<int>({3, 5}, "to");
      const Signals ready = *team.signals(1);
      (void)team.lane([&](auto& fabric) {
        const Rank peer{1 - fabric.rank().value};
        auto tile = fabric.template tile<int, 2, 2>();
        tile.each([](auto row, auto col, int& v) { v = static_cast<int>(10 * row + col); });
        fabric.store(tile, from, Box{1, 3, 2, 2});
        fabric.converge();
        fabric.put(to, peer, to.at(1, 0), from, from.at(1, 0), 10);
        (void)fabric.flush();
        fabric.converge();
        if (fabric.thread() == 0) fabric.notify(ready[0], peer, 1, NotifyOp::set);
        if (fabric.thread() == 0) (void)fabric.wait(ready[0], Compare::ge, 1);
        fabric.converge();
        auto back = fabric.template tile<int, 2, 2>();
        fabric.load(back, to, Box{1, 3, 2, 2});
        back.each([&](auto row, auto col, int v) {
          expect(fabric, v == static_cast<int>(10 * row + col), "the tile came back");
        });
      });
    });
    EXPECT_TRUE(answered(report)) << threads << ": " << told(report);
  }
}

}  // namespace
}  // namespace muster::check
