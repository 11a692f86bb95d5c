// Atomic objects: what two or three threads can see of each other, test by test of the literature;
// what is reported, and that loops have an end.
#include "muster/check/atomic.hpp"

#include <functional>
#include <set>
#include <vector>

#include "check/asking.hpp"

namespace muster::check {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;
constexpr auto acq_rel = std::memory_order_acq_rel;
constexpr auto seq_cst = std::memory_order_seq_cst;

struct Places {
  atomic<int> x{0};
  atomic<int> y{0};
  var<int> data{0};
};
// What a thread of that number does, and what it has found, in base 10.
using Thread = std::function<std::uint64_t(std::uint32_t, Places&)>;
using Outcomes = std::set<std::vector<std::uint64_t>>;

Report run(std::uint32_t threads, const Thread& thread, Rules rules = Rules::cpp,
           Profile profile = Profile::direct) {
  Options options = options_for(threads, profile);
  options.rules = rules;
  return explore(options, [&](model::Team& team) {
    Places& places = shared<Places>(team);
    (void)team.lane([&](auto& fabric) { fabric.outcome(thread(fabric.rank().value, places)); });
  });
}

Outcomes outcomes(std::uint32_t threads, const Thread& thread, Rules rules = Rules::cpp,
                  Profile profile = Profile::direct) {
  const Report report = run(threads, thread, rules, profile);
  EXPECT_VERDICT(report, complete);
  return report.outcomes;
}

std::uint64_t both(int first, int second) {
  return static_cast<std::uint64_t>(first * 10 + second);
}

// Data, and a flag that says that it is there.
Thread message(std::memory_order store, std::memory_order load) {
  return [=](std::uint32_t thread, Places& at) -> std::uint64_t {
    if (thread == 0) {
      at.x.store(1, relaxed);
      at.y.store(1, store);
      return 0;
    }
    const int flag = at.y.load(load);
    return both(flag, at.x.load(relaxed));
  };
}

TEST(Atomic, AMessageNeedsReleaseAndAcquire) {
  const Outcomes ordered = {{0, 0}, {0, 1}, {0, 11}};
  Outcomes all = ordered;
  all.insert({0, 10});
  EXPECT_EQ(outcomes(2, message(release, acquire)), ordered);
  EXPECT_EQ(outcomes(2, message(relaxed, acquire)), all);
  EXPECT_EQ(outcomes(2, message(release, relaxed)), all);
  EXPECT_EQ(outcomes(2, message(relaxed, relaxed), Rules::cpp, Profile::sc), ordered);
}

TEST(Atomic, FencesReleaseAndAcquireForRelaxedAccesses) {
  for (const bool fences : {true, false}) {
    const Outcomes seen = outcomes(2, [=](std::uint32_t thread, Places& at) -> std::uint64_t {
      if (thread == 0) {
        at.x.store(1, relaxed);
        if (fences) check::atomic_thread_fence(release);
        at.y.store(1, relaxed);
        return 0;
      }
      const int flag = at.y.load(relaxed);
      check::atomic_thread_fence(acquire);
      return both(flag, at.x.load(relaxed));
    });
    EXPECT_EQ(seen.contains({0, 10}), !fences);
  }
}

Thread store_buffer(std::memory_order store, std::memory_order load, bool fence = false) {
  return [=](std::uint32_t thread, Places& at) {
    (thread == 0 ? at.x : at.y).store(1, store);
    if (fence) check::atomic_thread_fence(seq_cst);
    return static_cast<std::uint64_t>((thread == 0 ? at.y : at.x).load(load));
  };
}

TEST(Atomic, OnlySeqCstForbidsThatBothMissTheOther) {
  const std::vector<std::uint64_t> none = {0, 0};
  EXPECT_TRUE(outcomes(2, store_buffer(release, acquire)).contains(none));
  EXPECT_FALSE(outcomes(2, store_buffer(seq_cst, seq_cst)).contains(none));
  EXPECT_FALSE(outcomes(2, store_buffer(relaxed, relaxed, true)).contains(none));
  EXPECT_TRUE(outcomes(2, store_buffer(relaxed, seq_cst)).contains(none));
  EXPECT_FALSE(outcomes(2, store_buffer(seq_cst, seq_cst), Rules::ptx).contains(none));
  EXPECT_FALSE(outcomes(2, store_buffer(relaxed, relaxed, true), Rules::ptx).contains(none));
  EXPECT_FALSE(outcomes(2, store_buffer(relaxed, relaxed), Rules::cpp, Profile::sc).contains(none));
}

TEST(Atomic, LoadsAreNotBuffered) {
  const Outcomes seen = outcomes(2, [](std::uint32_t thread, Places& at) {
    const int found = (thread == 0 ? at.x : at.y).load(relaxed);
    (thread == 0 ? at.y : at.x).store(1, relaxed);
    return static_cast<std::uint64_t>(found);
  });
  EXPECT_EQ(seen, (Outcomes{{0, 0}, {0, 1}, {1, 0}}));
}

// Two readers of two independent writes see them in different orders, unless all is seq_cst.
TEST(Atomic, IndependentWritesHaveNoOneOrder) {
  for (const auto order : {acquire, seq_cst}) {
    const Outcomes seen = outcomes(4, [=](std::uint32_t thread, Places& at) -> std::uint64_t {
      atomic<int>& first = thread % 2 == 0 ? at.x : at.y;
      if (thread < 2) {
        first.store(1, order == seq_cst ? seq_cst : release);
        return 0;
      }
      const int found = first.load(order);
      return both(found, (thread % 2 == 0 ? at.y : at.x).load(order));
    });
    EXPECT_EQ(seen.contains({0, 0, 10, 10}), order != seq_cst);
  }
}

TEST(Atomic, ALocationHasOneOrder) {
  const Outcomes seen = outcomes(2, [](std::uint32_t thread, Places& at) -> std::uint64_t {
    if (thread == 0) {
      at.x.store(1, relaxed);
      at.x.store(2, relaxed);
      return 0;
    }
    const int found = at.x.load(relaxed);
    return both(found, at.x.load(relaxed));
  });
  EXPECT_EQ(seen, (Outcomes{{0, 0}, {0, 1}, {0, 2}, {0, 11}, {0, 12}, {0, 22}}));
}

// The first writes of both may be the last in their locations' orders.
TEST(Atomic, StoresMayLieBeforeWhatIsThere) {
  const Outcomes seen = outcomes(3, [](std::uint32_t thread, Places& at) -> std::uint64_t {
    if (thread < 2) {
      (thread == 0 ? at.x : at.y).store(1, relaxed);
      (thread == 0 ? at.y : at.x).store(2, relaxed);
      return 0;
    }
    const int x[] = {at.x.load(relaxed), at.x.load(relaxed)};
    const int y[] = {at.y.load(relaxed), at.y.load(relaxed)};
    return both(x[0], x[1]) * 100 + both(y[0], y[1]);
  });
  EXPECT_TRUE(seen.contains({0, 0, 2121}));
}

TEST(Atomic, ReadModifyWritesFollowEachOther) {
  const Outcomes seen = outcomes(3, [](std::uint32_t, Places& at) {
    return static_cast<std::uint64_t>(at.x.fetch_add(1, relaxed));
  });
  EXPECT_EQ(seen.size(), 6U);
  for (const auto& one : seen) EXPECT_EQ(one[0] + one[1] + one[2], 3U);
}

// What a read-modify-write replaces goes on being carried; a store of another thread ends it, and
// so does, under the rules of C++20, a store of the same.
TEST(Atomic, AReleaseSequenceIsOfReadModifyWrites) {
  const auto third = [](bool atomically) {
    return [=](std::uint32_t thread, Places& at) -> std::uint64_t {
      if (thread == 0) {
        at.x.store(1, relaxed);
        at.y.store(1, release);
      } else if (thread == 1 && atomically) {
        return static_cast<std::uint64_t>(at.y.exchange(2, relaxed));
      } else if (thread == 1) {
        at.y.store(2, relaxed);
        return 1;
      } else {
        const int flag = at.y.load(acquire);
        return both(flag, at.x.load(relaxed));
      }
      return 0;
    };
  };
  EXPECT_FALSE(outcomes(3, third(true)).contains({0, 1, 20}));
  EXPECT_TRUE(outcomes(3, third(false)).contains({0, 1, 20}));
  const Thread again = [](std::uint32_t thread, Places& at) -> std::uint64_t {
    if (thread == 1) {
      const int flag = at.y.load(acquire);
      return both(flag, at.x.load(relaxed));
    }
    at.x.store(1, relaxed);
    at.y.store(1, release);
    at.y.store(2, relaxed);
    return 0;
  };
  EXPECT_TRUE(outcomes(2, again, Rules::cpp).contains({0, 20}));
  EXPECT_FALSE(outcomes(2, again, Rules::ptx).contains({0, 20}));
}

// ---- what is reported

Report guarded(const std::function<void(Places&)>& enter, const std::function<void(Places&)>& leave,
               std::uint32_t threads = 2, Profile profile = Profile::direct) {
  return run(
      threads,
      [&](std::uint32_t, Places& at) -> std::uint64_t {
        enter(at);
        at.data += 1;
        leave(at);
        return 0;
      },
      Rules::cpp, profile);
}

// Each turn that fails writes what was there: in the end it waits for something else.
TEST(Atomic, LoopsOfReadModifyWritesHaveAnEnd) {
  const auto spin = [](Places& at) {
    while (at.x.exchange(1, acquire) != 0) {
    }
  };
  for (const Profile profile : {Profile::direct, Profile::sc})
    EXPECT_VERDICT(guarded(
                       spin, [](Places& at) { at.x.store(0, release); }, 3, profile),
                   complete);
  const Report relaxed_store = guarded(spin, [](Places& at) { at.x.store(0, relaxed); });
  EXPECT_VERDICT(relaxed_store, refuted);
  EXPECT_FINDS(relaxed_store, race);
  const Report kept = guarded(spin, [](Places&) {});
  EXPECT_VERDICT(kept, refuted);
  EXPECT_FINDS(kept, deadlock);
}

TEST(Atomic, AHangNamesThreadObjectAndValue) {
  const Report report = run(2, [](std::uint32_t thread, Places& at) -> std::uint64_t {
    if (thread == 0) at.x.store(3, release);
    while (thread == 1 && at.x.load(acquire) != 4) {
    }
    return 0;
  });
  EXPECT_FINDS(report, deadlock);
  const std::string text = told(report);
  EXPECT_NE(text.find("rank 1 polls (atomic_test.cpp:"), std::string::npos) << text;
  EXPECT_NE(text.find("which it sees as 3, written last by rank 0"), std::string::npos) << text;
}

// A loop that gives up may do so while others can still go on.
TEST(Atomic, ATryMayFailAFewTimes) {
  const Outcomes seen = outcomes(2, [](std::uint32_t thread, Places& at) -> std::uint64_t {
    if (thread == 0) {
      at.x.store(1, release);
      return 0;
    }
    for (int turn = 0; turn < 3; ++turn)
      if (at.x.load(acquire) == 1) return 1;
    return 2;
  });
  EXPECT_EQ(seen, (Outcomes{{0, 1}, {0, 2}}));
}

TEST(Atomic, ScopesMustReachEachOther) {
  for (const bool wide : {false, true}) {
    const Report report = explore(options_for(2), [=](model::Team& team) {
      unsigned& word = shared<unsigned>(team);
      (void)team.lane([&](auto&) {
        if (wide)
          (void)atomic_ref<unsigned, thread_scope_system>(word).fetch_add(1);
        else
          (void)atomic_ref<unsigned, thread_scope_device>(word).fetch_add(1);
      });
    });
    EXPECT_EQ(report.has(Kind::scope), !wide) << told(report);
  }
}

TEST(Atomic, IsSharedMemory) {
  const Report report = run(
      2, [](std::uint32_t, Places& at) { return std::uint64_t(at.x.load()); }, Rules::cpp,
      Profile::rdma);
  EXPECT_FINDS(report, contract);
}

TEST(Atomic, RefusesAnOrderThatThereIsNot) {
  const Report report =
      run(1, [](std::uint32_t, Places& at) { return std::uint64_t(at.x.load(release)); });
  EXPECT_FINDS(report, contract);
}

// What lanes share on the stack of their rank, and what is told of a use that nothing orders with
// the object's construction.
TEST(Atomic, ObjectsBeginAndEnd) {
  Options options = options_for(1);
  options.lanes = 2;
  const Report kept = explore(options, [](model::Team& team) {
    atomic<int> sum{0};
    (void)team.lanes(2, [&](auto&) { ++sum; });
    team.expect(sum == 2, "both have counted");
  });
  EXPECT_VERDICT(kept, complete);
  const Report early = explore(options, [](model::Team& team) {
    atomic<atomic<int>*> published{nullptr};
    (void)team.lanes(2, [&](auto& fabric) {
      if (fabric.lane().value == 0) {
        atomic<int> fresh{7};
        published.store(&fresh, relaxed);
        while (published.load(acquire) != nullptr) {
        }
      } else {
        atomic<int>* found = nullptr;
        while ((found = published.load(acquire)) == nullptr) {
        }
        (void)found->load(relaxed);
        published.store(nullptr, release);
      }
    });
  });
  EXPECT_FINDS(early, race);
  EXPECT_NE(told(early).find("construction"), std::string::npos) << told(early);
}

TEST(Atomic, ArePlainValuesOutsideOfAcheck) {
  atomic<int> number{3};
  EXPECT_EQ(number.fetch_add(4), 3);
  int expected = 7;
  EXPECT_TRUE(number.compare_exchange_strong(expected, 9));
  EXPECT_EQ(number.load(), 9);
  EXPECT_EQ(number.fetch_max(12), 9);
  number = 1;
  EXPECT_EQ(number += 4, 5);
  EXPECT_EQ(number++, 5);
  EXPECT_EQ(number, 6);
  int word = 1;
  atomic_ref<int> ref(word);
  ref = 2;
  EXPECT_EQ(ref.exchange(3), 2);
  EXPECT_EQ(word, 3);
  var<int> plain(1);
  plain = 2;
  plain -= 1;
  EXPECT_EQ(plain, 1);
  atomic<double> real{0.5};
  EXPECT_EQ(real.fetch_add(0.25), 0.5);
  EXPECT_EQ(real.load(), 0.75);
  int cells[4] = {};
  atomic<int*> cursor{cells};
  EXPECT_EQ(cursor.fetch_add(2), cells);
  EXPECT_EQ(cursor.load(), cells + 2);
}

}  // namespace
}  // namespace muster::check
