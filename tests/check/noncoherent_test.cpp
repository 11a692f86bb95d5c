// The profile noncoherent: what caches that nobody keeps alike do to data and to cells.
#include "check/asking.hpp"
#include "muster/barrier.hpp"

namespace muster::check {
namespace {

constexpr std::int64_t in_a_line = 16;  // ints

Options with_cores(std::uint32_t threads, std::uint32_t ranks = 2) {
  Options options = options_for(ranks, Profile::noncoherent);
  options.threads = threads;
  return options;
}

bool has_words(const Report& report, const std::string& words) {
  return told(report).find(words) != std::string::npos;
}

template <class F>
void give(F& fabric, WindowRef<int> window, std::int64_t at, bool adds = false) {
  auto tile = fabric.template tile<int, 1, 1>();
  tile.each([](std::int64_t, std::int64_t, int& value) { value = 7; });
  if (adds)
    fabric.remote_add(tile, window, Rank(1), Box{0, at, 1, 1});
  else
    fabric.remote_store(tile, window, Rank(1), Box{0, at, 1, 1});
}

// Rank 0 tells rank 1 of what it has made; which threads of rank 1 wait, and which one then acts?
template <class Make, class Act>
Program told_of(Make&& make, Act&& act, bool all_wait, std::int64_t elements = 2 * in_a_line) {
  return [=](model::Team& team) {
    const auto data = *team.window<int>({elements}, "data");
    const Signal ready = (*team.signals(1))[0];
    (void)team.lane([&](auto& fabric) -> WaitStatus {
      const bool leads = fabric.thread() == 0;
      if (fabric.rank() == Rank(0)) {
        make(fabric, data);
        fabric.converge();
        if (leads) fabric.notify(ready, Rank(1), 1, NotifyOp::set);
        return WaitStatus::ok;
      }
      WaitStatus status = WaitStatus::ok;
      if (leads || all_wait) status = fabric.wait(ready, Compare::ge, 1);
      status = fabric.converge(status);
      if (status == WaitStatus::ok && fabric.thread() + 1 == fabric.threads()) act(fabric, data);
      return status;
    });
  };
}

const auto stores = [](auto& fabric, WindowRef<int> data) { give(fabric, data, 0); };
const auto adds = [](auto& fabric, WindowRef<int> data) { give(fabric, data, 0, true); };
const auto puts = [](auto& fabric, WindowRef<int> data) {
  fabric.put(data, Rank(1), 0, data, in_a_line, 1);
};
const auto reads = [](auto& fabric, WindowRef<int> data) {
  (void)static_cast<int>(fabric.local(data)[0]);
};

// Rule 1, and rule 3: a converge says that it is done, and invalidates nothing.
TEST(Noncoherent, AReaderAcquiresForItself) {
  for (const Program& alone :
       {told_of(stores, reads, false), told_of(adds, reads, false), told_of(puts, reads, false)}) {
    const Report report = explore(with_cores(2), alone);
    EXPECT_FINDS(report, noncoherent);
    EXPECT_FALSE(report.has(Kind::race)) << told(report);
    EXPECT_TRUE(has_words(report, "rank 1 thread 1 reads data[0] of rank 1")) << told(report);
    EXPECT_VERDICT(explore(with_cores(1), alone), certified);  // there it is the one that waits
    Options direct = with_cores(2);
    direct.profile = Profile::direct;
    EXPECT_VERDICT(explore(direct, alone), certified);
  }
  EXPECT_VERDICT(explore(with_cores(2), told_of(stores, reads, true)), certified);
}

// Rule 3 again: what the others of a lane have written is in their caches until they release.
TEST(Noncoherent, AWriterReleasesForItself) {
  for (const std::uint32_t writer : {0U, 1U}) {
    const auto make = [=](auto& fabric, WindowRef<int> data) {
      if (fabric.thread() == writer) fabric.address(data, Rank(1))[0] = 7;
    };
    const Report report = explore(with_cores(2), told_of(make, reads, true));
    EXPECT_EQ(report.has(Kind::noncoherent), writer == 1) << told(report);
    EXPECT_EQ(answered(report), writer == 0) << told(report);
    EXPECT_EQ(has_words(report, "may see what was there"), writer == 1) << told(report);
  }
}

// Rule 2: the line is fetched as a whole, so all of it must be fresh.
TEST(Noncoherent, ACachedWriteBringsItsLine) {
  for (const std::int64_t at : {std::int64_t{1}, in_a_line - 1, in_a_line}) {
    const auto writes = [=](auto& fabric, WindowRef<int> data) { fabric.local(data)[at] = 1; };
    const bool apart = at == in_a_line;
    const Report report = explore(with_cores(2), told_of(stores, writes, false));
    EXPECT_EQ(report.has(Kind::noncoherent), !apart) << at << told(report);
    EXPECT_EQ(answered(report), apart) << at << told(report);
    EXPECT_VERDICT(explore(with_cores(2), told_of(stores, writes, true)), certified);
  }
}

// Rule 2: a dirty line goes back over what is put beside it; whichever comes first.
TEST(Noncoherent, ADirtyLineGoesBackOverItsNeighbours) {
  for (const std::int64_t at : {std::int64_t{1}, in_a_line})
    for (const bool peer_first : {true, false})
      for (const bool adds_there : {true, false}) {
        const Program program = [=](model::Team& team) {
          const auto data = *team.window<int>({2 * in_a_line}, "data");
          (void)team.lane([&](auto& fabric) {
            if (fabric.rank() == Rank(peer_first ? 1 : 0)) fabric.local(data)[0] = 1;
            auto tile = fabric.template tile<int, 1, 1>();
            if (fabric.rank() == Rank(peer_first ? 0 : 1)) {
              const Rank peer(peer_first ? 1 : 0);
              if (adds_there)
                fabric.remote_add(tile, data, peer, Box{0, at, 1, 1});
              else
                fabric.remote_store(tile, data, peer, Box{0, at, 1, 1});
            }
          });
        };
        const Report report = explore(with_cores(1), program);
        EXPECT_EQ(report.has(Kind::noncoherent), at == 1) << told(report);
        EXPECT_EQ(answered(report), at != 1) << told(report);
      }
}

// Once the owner has released the line, and the peer has heard of it, the peer may write beside.
TEST(Noncoherent, AReleasedLineIsClean) {
  for (const bool releases : {true, false}) {
    const Program program = [=](model::Team& team) {
      const auto data = *team.window<int>({2}, "data");
      const Signal written = (*team.signals(1))[0];
      (void)team.lane([&](auto& fabric) {
        if (fabric.rank() == Rank(1)) {
          fabric.local(data)[0] = 1;
          fabric.converge();
          fabric.notify(written, Rank(0), 1, NotifyOp::set,
                        releases ? Order::release : Order::relaxed);
        } else if (fabric.wait(written, Compare::ge, 1) == WaitStatus::ok) {
          give(fabric, data, 1);
        }
      });
    };
    const Report report = explore(with_cores(1), program);
    EXPECT_EQ(report.has(Kind::noncoherent), !releases) << told(report);
    EXPECT_EQ(answered(report), releases) << told(report);
  }
}

// Transfers write what they write, and no line: peers may put beside each other.
TEST(Noncoherent, TransfersWriteNoLines) {
  const Program program = [](model::Team& team) {
    const auto data = *team.window<int>({4}, "data");
    (void)team.lane([&](auto& fabric) {
      if (fabric.rank() != Rank(1)) give(fabric, data, fabric.rank().value);
    });
  };
  EXPECT_VERDICT(explore(with_cores(1, 4), program), certified);
}

// A launch invalidates before it and writes back behind it, for all threads.
TEST(Noncoherent, LaunchesOrderCachesToo) {
  const Program program = [](model::Team& team) {
    const auto data = *team.window<int>({2}, "data");
    (void)team.lane([&](auto& fabric) { fabric.local(data)[fabric.thread()] = 1; });
    (void)team.sync();
    (void)team.lane([&](auto& fabric) {
      expect(fabric, fabric.local(data)[1 - fabric.thread()] == 1, "the sibling's");
    });
  };
  // The two elements share a line, which both cores have dirty.
  EXPECT_FINDS(explore(with_cores(2), program), noncoherent);
  const Program apart = [](model::Team& team) {
    const auto data = *team.window<int>({2 * in_a_line}, "data");
    (void)team.lane([&](auto& fabric) { fabric.local(data)[fabric.thread() * in_a_line] = 1; });
    (void)team.sync();
    (void)team.lane([&](auto& fabric) {
      expect(fabric, fabric.local(data)[(1 - fabric.thread()) * in_a_line] == 1, "the sibling's");
    });
  };
  EXPECT_VERDICT(explore(with_cores(2), apart), certified);
}

// Rule 4. Which operations of the own rank's cell start from a cached value?
TEST(Noncoherent, AnUpdateStartsFromWhatTheCacheHolds) {
  enum class Way : std::uint8_t { add, fetch, set, at_a_peer };
  for (const Way way : {Way::add, Way::fetch, Way::set, Way::at_a_peer})
    for (const Order order : {Order::relaxed, Order::acquire}) {
      const Program program = [=](model::Team& team) {
        const Signal cell = (*team.signals(1))[0];
        team.expect(true);
        (void)team.lane([&](auto& fabric) {
          if (fabric.rank() == Rank(0)) return fabric.notify(cell, Rank(1), 1, NotifyOp::add);
          if (fabric.wait(cell, Compare::ge, 1, order) != WaitStatus::ok) return;
          if (way == Way::add) fabric.notify(cell, Rank(1), ~0U, NotifyOp::add);
          if (way == Way::fetch) (void)fabric.fetch_add(cell, Rank(1), ~0U, Order::relaxed);
          if (way == Way::set) fabric.notify(cell, Rank(1), 0, NotifyOp::set);
          if (way == Way::at_a_peer) fabric.notify(cell, Rank(0), 1, NotifyOp::add);
        });
      };
      const Report report = explore(with_cores(1), program);
      const bool stale = order == Order::relaxed && (way == Way::add || way == Way::fetch);
      EXPECT_EQ(report.has(Kind::noncoherent), stale) << told(report);
      EXPECT_EQ(answered(report), !stale) << told(report);
    }
}

// Lanes that share a line have to do with each other, also where a search takes them apart.
TEST(Noncoherent, LanesThatShareALineAreSearchedTogether) {
  const Program program = [](model::Team& team) {
    const auto data = *team.window<int>({2}, "data");
    const Signals cells = *team.signals(2);
    (void)team.lanes(2, [&](auto& fabric) {
      const Signal own = cells[fabric.lane().value];
      if (fabric.rank() == Rank(0)) {
        fabric.notify(own, Rank(1), 1, NotifyOp::set);
      } else if (fabric.test(own, Compare::ge, 1) == WaitStatus::pending) {
        fabric.local(data)[fabric.lane().value] = 1;
      }
    });
  };
  Options options = with_cores(1);
  options.lanes = 2;
  EXPECT_FINDS(explore(options, program), noncoherent);
}

}  // namespace
}  // namespace muster::check
