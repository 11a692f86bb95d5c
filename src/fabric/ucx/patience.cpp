#include "fabric/ucx/patience.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace muster::ucx {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// A peer with a core of its own answers within some microseconds; where ranks share cores, whoever
// looks again keeps it from doing so.
constexpr std::uint32_t eager = 2000;
constexpr std::uint32_t eager_on_shared_cores = 4;
constexpr auto yielding = milliseconds(1);
// Nothing wakes who sleeps here: a peer's put into shared memory tells nobody. A nap of a
// millisecond costs less than 1 % of a core.
constexpr auto longest_nap = milliseconds(1);
constexpr auto look_interval = milliseconds(100);  // between two looks for lost peers
constexpr auto notice_after = std::chrono::seconds(10);

}  // namespace

WaitStatus Patience::turn() {
  // Where something moves there is more: over TCP a long message comes 8 KiB a turn, and who sleeps
  // between two of them keeps its sender waiting.
  if (network_.progress() && ++moves_ % 64 != 0) return WaitStatus::ok;
  const std::uint32_t most = network_.has_core_each() ? eager : eager_on_shared_cores;
  return ++turns_ <= most ? WaitStatus::ok : slow_turn();
}

WaitStatus Patience::slow_turn() {
  if (const WaitStatus status = team_.status(); status != WaitStatus::ok) return status;
  // The clock is read by every turn once it is slow: a turn that yields costs more.
  now_ = Clock::now();
  if (begin_ == Clock::time_point{}) {
    begin_ = now_;
    next_look_ = now_ + milliseconds(50);
    const nanoseconds since(call_.turn_slow(nanoseconds(now_.time_since_epoch()).count()));
    slow_since_ = Clock::time_point(since);
  }
  if (now_ >= next_look_) {
    next_look_ = now_ + look_interval;
    network_.look_for_lost_peers();
    if (const WaitStatus status = team_.status(); status != WaitStatus::ok) return status;
  }
  if (now_ - slow_since_ >= network_.settings().timeout) return WaitStatus::expired;
  if (now_ - begin_ < yielding || moves_ != moves_seen_) {
    moves_seen_ = moves_;
    sched_yield();
    return WaitStatus::ok;
  }
  std::this_thread::sleep_for(nap_);
  nap_ = std::min<nanoseconds>(2 * nap_, longest_nap);
  return WaitStatus::ok;
}

bool Patience::has_turned_long() {
  if (long_ || begin_ == Clock::time_point{} || now_ - slow_since_ < notice_after) return false;
  return long_ = true;
}

}  // namespace muster::ucx
