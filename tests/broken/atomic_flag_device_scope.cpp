// A flag that tells another rank of data, by atomic accesses whose scope is the device: a rank on
// another device need not see it, nor what it carries. The twin's scope is the system.
//
// The checker must say: scope.
#include "broken.hpp"
#include "muster/check/atomic.hpp"

namespace muster::broken::atomic_flag_device_scope {
namespace {

struct Told {
  unsigned flag = 0;
  check::var<int> data;
};

template <bool fixed>
void body(Team& team, std::uint32_t /*calls*/, std::uint32_t /*lanes*/) {
  constexpr Scope scope = fixed ? check::thread_scope_system : check::thread_scope_device;
  Told& message = check::shared<Told>(team);
  (void)team.lane([&](auto& fabric) {
    check::atomic_ref<unsigned, scope> flag(message.flag);
    if (fabric.rank().value == 0) {
      message.data = 42;
      flag.store(1, std::memory_order_release);
    } else if (fabric.rank().value == 1) {
      while (flag.load(std::memory_order_acquire) == 0) {
      }
      expect(fabric, message.data == 42, "the data is there");
    }
  });
}

}  // namespace

MUSTER_BROKEN(atomic_flag_device_scope, scope, .ranks = 2, .calls = 1, .weakest = Profile::direct)

}  // namespace muster::broken::atomic_flag_device_scope
