// A system barrier whose wait does not acquire: TileScale's barrier_blocks has a fence on entry
// and none on exit. Whoever passes has met everybody, and may still read what was there before.
//
// The checker must say: race (the neighbour's value is read unordered with its store).
#include "broken.hpp"

namespace muster::broken::system_barrier_no_acquire {
namespace {

// All lanes of all ranks meet: each adds to a cell of every rank, its own included.
template <bool fixed>
class Barrier {
 public:
  explicit Barrier(Team& team) : cell_((*team.signals(1))[0]), counts_(*team.rows()) {}

  template <class F>
  WaitStatus sync(F& fabric) const {
    const Counter count = counts_.epoch(fabric.lane());
    const std::uint32_t sum = fabric.counter(count) + fabric.size() * fabric.lanes();
    fabric.converge();
    WaitStatus status = WaitStatus::ok;
    if (fabric.thread() == 0) {
      if (fabric.profile() < Profile::direct) (void)fabric.flush();
      for (std::uint32_t p = 0; p < fabric.size(); ++p)
        fabric.notify(cell_, Rank{p}, 1, NotifyOp::add, Order::release);
      status = fabric.wait(cell_, Compare::ge, sum, fixed ? Order::acquire : Order::relaxed);
      fabric.set_counter(count, sum);
    }
    return fabric.converge(status);
  }

 private:
  Signal cell_;
  Rows counts_;
};

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t lanes) {
  const auto window = *team.window<int>({lanes}, "data");
  const Barrier<fixed> barrier(team);
  (void)team.lanes(lanes, [&](auto& fabric) -> WaitStatus {
    const std::int64_t own = fabric.lane().value;
    for (std::uint32_t call = 0; call < calls; ++call) {
      const int value = static_cast<int>(call) + 1;
      if (fabric.thread() == 0) fabric.local(window)[own] = value;
      if (barrier.sync(fabric) != WaitStatus::ok) return WaitStatus::aborted;
      const int seen = fetch(fabric, window, right_of(fabric), own);
      if (fabric.thread() == 0) expect(fabric, seen == value, "the neighbour's value of this call");
      if (barrier.sync(fabric) != WaitStatus::ok) return WaitStatus::aborted;  // all have read
    }
    return WaitStatus::ok;
  });
}

}  // namespace

MUSTER_BROKEN(system_barrier_no_acquire, race, .ranks = 2, .calls = 1)

}  // namespace muster::broken::system_barrier_no_acquire
