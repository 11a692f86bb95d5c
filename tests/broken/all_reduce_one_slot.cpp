// The all-reduce of examples/kernels with one slot for each lane: the next tile is written into it
// while a slow peer still reads the one before.
//
// The checker must say: race.
#include "../../examples/kernels/all_reduce.hpp"
#include "broken.hpp"

namespace muster::broken::all_reduce_one_slot {
namespace {

constexpr std::int64_t columns = 2;

template <bool fixed>
void body(Team& team, std::uint32_t calls, std::uint32_t lanes) {
  const example::AllReduce<columns> sums(team, fixed ? 2 : 1);
  const auto data = *team.window<float16>({2 * columns + 1}, "data");
  for (std::uint32_t call = 0; call < calls; ++call)
    (void)team.lanes(lanes, [&](auto& fabric) { return sums.sum(fabric, data); });
}

}  // namespace

MUSTER_BROKEN(all_reduce_one_slot, race, .ranks = 2, .calls = 1)

}  // namespace muster::broken::all_reduce_one_slot
