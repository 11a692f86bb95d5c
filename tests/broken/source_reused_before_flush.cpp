// The source of a put_async is written again before a flush has said that the put is done.
//
// The checker must say: race. (Asynchronous transfers are in flight on direct too.)
#include "broken.hpp"

namespace muster::broken::source_reused_before_flush {
namespace {

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  const auto inbox = *team.window<int>({1}, "inbox");
  const auto mine = *team.window<int>({1}, "source");
  (void)team.lane([&](auto& fabric) {
    if (fabric.thread() == 0) fabric.local(mine)[0] = 1;
    fabric.converge();
    fabric.put_async(inbox, right_of(fabric), 0, mine, 0, 1);
    if (fixed) (void)fabric.flush();
    fabric.converge();
    if (fabric.thread() == 0) fabric.local(mine)[0] = 2;
  });
}

}  // namespace

MUSTER_BROKEN(source_reused_before_flush, race, .ranks = 2, .calls = 1)

}  // namespace muster::broken::source_reused_before_flush
