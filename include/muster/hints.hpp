// What protocols tell the compiler. It changes how fast they are, never what they do.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "muster/fabric.hpp"

namespace muster {

// What a loop shall keep in a register rather than work out, or fetch, again in each turn.
[[nodiscard]] MUSTER_FN inline std::uint32_t opaque(std::uint32_t value) {
#if defined(__CUDA_ARCH__)
  asm volatile("" : "+r"(value));
#endif
  return value;
}

namespace detail {
// With copies, because a fabric whose address is known elsewhere lives in memory, not in registers.
template <class F, class Act>
[[gnu::noinline]] MUSTER_FN auto on_copy(F fabric, Act act) {
  return act(fabric);
}
}  // namespace detail

// act(fabric) for what hardly ever happens. In a kernel it becomes a function of its own, so that
// its instructions do not lie between those that the peers wait for. There it works on a copy: it
// returns what it found, and what it does to the lane's status is lost, so it makes no mistake that
// was not looked for before. It captures copies, too.
template <Fabric F, class Act>
MUSTER_FN auto outlined(F& fabric, Act&& act) {
  if constexpr (DeviceFabric<F>)
    return detail::on_copy<F, std::decay_t<Act>>(fabric, act);
  else
    return act(fabric);
}

}  // namespace muster
