// How processes that share GPU memory find each other: a socket between every two of them.
#pragma once

#include <cstdint>
#include <vector>

#include "muster/result.hpp"

namespace muster::gpu {

// One connected Unix stream socket to each other process, by process number; -1 at the own. Memory
// is passed through them as file descriptors, so nobody else can get at it.
struct Bootstrap {
  std::uint32_t process = 0;
  std::vector<int> sockets;  // owned by whoever made them

  [[nodiscard]] std::uint32_t processes() const {
    return static_cast<std::uint32_t>(sockets.size());
  }
};

// The bootstraps of `processes` processes that the caller is about to fork: number i is for child
// i. The caller closes them all; a child first closes those of the others. A process must not use
// CUDA before it forks.
[[nodiscard]] Result<std::vector<Bootstrap>> make_bootstraps(std::uint32_t processes);

// Closes the sockets.
void close_bootstrap(Bootstrap& bootstrap);

}  // namespace muster::gpu
