// A program whose ranks are killed by failure_kill_test: it does one thing over and over until that
// fails, writes on the board how it failed, and goes on with the survivors.
//
//   failure_victim BOARD RANKS SCENARIO    epoch | credit | flip | counter | asleep | setup
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "conformance/cases.hpp"
#include "muster/muster.hpp"
#include "support/board.hpp"

namespace {

using namespace muster;
using testing::Board;
using testing::BoardRow;
using testing::Checks;

template <class Barrier>
Result<void> meet_forever(Team& team, BoardRow& row) {
  const Barrier barrier(team);
  return team.lane([&](auto& fabric) {
    WaitStatus status = WaitStatus::ok;
    while (status == WaitStatus::ok) {
      status = barrier.sync(fabric);
      row.rounds.fetch_add(1, std::memory_order_relaxed);
    }
    return status;
  });
}

// Everybody waits for deposits that never come: so long that they sleep.
Result<void> sleep_forever(Team& team, BoardRow& row) {
  const Signals never = *team.signals(1);
  row.rounds.store(1000, std::memory_order_relaxed);
  return team.lane([&](auto& fabric) { return fabric.wait(never[0], Compare::ge, 1); });
}

// Windows, rows and signals come and go: a rank may die while it holds the allocator's lock.
Result<void> set_up_forever(Team& team, BoardRow& row) {
  for (;;) {
    const auto window = team.window<float>({16, 16});
    if (!window) return window.error();
    const auto rows = team.rows();
    if (!rows) return rows.error();
    if (const auto freed = team.free(*rows); !freed) return freed;
    if (const auto freed = team.free(*window); !freed) return freed;
    row.rounds.fetch_add(1, std::memory_order_relaxed);
  }
}

Result<void> until_it_fails(Team& team, BoardRow& row, const std::string& scenario) {
  if (scenario == "epoch") return meet_forever<EpochBarrier>(team, row);
  if (scenario == "credit") return meet_forever<CreditBarrier>(team, row);
  if (scenario == "flip") return meet_forever<FlipBarrier>(team, row);
  if (scenario == "counter") return meet_forever<CounterBarrier>(team, row);
  if (scenario == "asleep") return sleep_forever(team, row);
  if (scenario == "setup") return set_up_forever(team, row);
  return Error{.what = "unknown scenario " + scenario};
}

// The survivors' team works: data goes round behind each of 50 barriers.
Result<void> carry_on(Team& team) {
  const auto inbox = *team.window<std::uint32_t>({2});
  const auto outbox = *team.window<std::uint32_t>({1});
  const EpochBarrier barrier(team);
  return team.lane([&](auto& fabric) -> Result<void> {
    Checks checks;
    for (std::uint32_t round = 1; round <= 50 && checks.done(); ++round) {
      fabric.local(outbox)[0] = round * 100 + fabric.rank().value;
      fabric.put(inbox, right_of(fabric), round % 2, outbox, 0, 1);
      checks.ok(barrier.sync(fabric), "the barrier of the survivors");
      checks.equal(fabric.local(inbox)[round % 2], round * 100 + left_of(fabric).value,
                   "the neighbour's word");
    }
    return checks.done();
  });
}

Result<void> live_on(Team& team, const Board& board, const std::string& scenario) {
  BoardRow& row = board[team.rank().value];
  row.pid.store(getpid(), std::memory_order_release);  // pairs with the test's acquire
  row.report(until_it_fails(team, row, scenario));
  if (!row.failed || row.code != ErrorCode::peer_lost) return Error{.what = row.text.data()};

  auto survivors = team.shrink();
  if (!survivors) return survivors.error();
  if (const auto carried = carry_on(*survivors); !carried) return carried;
  row.new_rank = survivors->rank().value;
  row.new_size = survivors->size();
  row.recovered.store(true, std::memory_order_release);  // pairs with the test's acquire
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const Board board(argv[1], false);
  const RunOptions options{.ranks = static_cast<std::uint32_t>(std::atoi(argv[2])),
                           .timeout = std::chrono::seconds(30)};
  const std::string scenario = argv[3];
  return run(options, [&](Team& team) { return live_on(team, board, scenario); });
}
