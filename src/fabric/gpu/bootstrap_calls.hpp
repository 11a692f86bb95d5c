// What the processes of a World tell each other while it is set up. Every call throws Failure where
// a process has gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "muster/fabric/gpu/bootstrap.hpp"

namespace muster::gpu {

void send_bytes(const Bootstrap& bootstrap, std::uint32_t to, const void* bytes, std::size_t count);
void receive_bytes(const Bootstrap& bootstrap, std::uint32_t from, void* bytes, std::size_t count);

// The receiver gets a descriptor of its own, which is closed on exec.
void send_descriptor(const Bootstrap& bootstrap, std::uint32_t to, int descriptor);
[[nodiscard]] int receive_descriptor(const Bootstrap& bootstrap, std::uint32_t from);

// All have come here.
void meet(const Bootstrap& bootstrap);

// Everybody's value, by process.
template <class T>
[[nodiscard]] std::vector<T> gather_all(const Bootstrap& bootstrap, const T& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> all(bootstrap.processes());
  for (std::uint32_t other = 0; other < bootstrap.processes(); ++other)
    if (other != bootstrap.process) send_bytes(bootstrap, other, &mine, sizeof(T));
  for (std::uint32_t other = 0; other < bootstrap.processes(); ++other) {
    if (other == bootstrap.process)
      all[other] = mine;
    else
      receive_bytes(bootstrap, other, &all[other], sizeof(T));
  }
  return all;
}

}  // namespace muster::gpu
