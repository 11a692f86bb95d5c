// What the broken protocols share. Each file has one protocol with one fault, and its corrected
// twin (NAME_fixed), which differs in nothing but the fault: `fixed` is a template argument of the
// body.
#pragma once

#include <cstdint>

#include "muster/barrier.hpp"
#include "muster/check.hpp"

namespace muster::broken {

using check::barrier_call;
using check::Kind;
using model::Team;

// One element to a peer's window; by all threads of the lane.
template <class F>
void send(F& fabric, WindowRef<int> window, Rank peer, std::int64_t at, int value) {
  auto tile = fabric.template tile<int, 1, 1>();
  tile.each([&](std::int64_t, std::int64_t, int& element) { element = value; });
  fabric.remote_store(tile, window, peer, Box{0, at, 1, 1});
}

// One element of a peer's window; by all threads of the lane, 0 for those that do not hold it.
template <class F>
int fetch(F& fabric, WindowRef<int> window, Rank peer, std::int64_t at) {
  auto tile = fabric.template tile<int, 1, 1>();
  (void)fabric.remote_load(tile, window, peer, Box{0, at, 1, 1});
  int value = 0;
  tile.each([&](std::int64_t, std::int64_t, int& element) { value = element; });
  return value;
}

}  // namespace muster::broken

// The build compiles every protocol a second time, with this and other names changed.
#ifdef MUSTER_BROKEN_RENAMED
#define MUSTER_BROKEN_NAME(name) renamed_##name
#else
#define MUSTER_BROKEN_NAME(name) name
#endif
#define MUSTER_BROKEN_CHECK(name, ...) MUSTER_CHECK(name, __VA_ARGS__)

// The protocol and its twin, with the same options but for what the checker must say; `expiring`:
// so many waits of an execution may expire.
#define MUSTER_BROKEN_EXPIRING(name, kind, expiring, ...)                                     \
  MUSTER_BROKEN_CHECK(MUSTER_BROKEN_NAME(name), {__VA_ARGS__ __VA_OPT__(, ).group = "broken", \
                                                 .fails = Kind::kind, .expire = expiring}) {  \
    body<false>(team, calls, lanes);                                                          \
  }                                                                                           \
  MUSTER_BROKEN_CHECK(MUSTER_BROKEN_NAME(name##_fixed),                                       \
                      {__VA_ARGS__ __VA_OPT__(, ).group = "broken", .expire = expiring}) {    \
    body<true>(team, calls, lanes);                                                           \
  }
#define MUSTER_BROKEN(name, kind, ...) \
  MUSTER_BROKEN_EXPIRING(name, kind, 0 __VA_OPT__(, ) __VA_ARGS__)
