// The memory of the host's tiles: a thread keeps a few blocks of each size when tiles end, for the
// tiles that it makes next. A short collective makes two tiles a call, and memory on a cache line
// from the heap costs more than the call. Included by muster/fabric/host/tile.hpp.
#pragma once

#include <cstddef>
#include <new>

#include "muster/types.hpp"

namespace muster::host::detail {

// Blocks of `bytes` bytes, of the calling thread. One may be given back by another thread than it
// was taken by.
template <std::size_t bytes, std::size_t alignment>
class TileBlocks {
 public:
  [[nodiscard]] static void* take() {
    if constexpr (keeps)
      if (kept.count > 0) return kept.blocks[--kept.count];
    return ::operator new (bytes, std::align_val_t{alignment});
  }

  static void give(void* block) {
    if constexpr (keeps)
      if (kept.count >= 0 && kept.count < most) {
        kept.blocks[kept.count++] = block;
        return;
      }
    ::operator delete (block, std::align_val_t{alignment});
  }

 private:
  static constexpr int most = 4;
#if defined(__SANITIZE_ADDRESS__)
  static constexpr bool keeps = false;  // whoever uses a tile that has ended is to be seen
#else
  static constexpr bool keeps = bytes <= 16384;
#endif

  struct Kept {
    ~Kept() {
      while (count > 0) ::operator delete (blocks[--count], std::align_val_t{alignment});
      count = -1;  // tiles that end later than their thread's blocks keep nothing
    }
    void* blocks[most];
    int count = 0;
  };
  static inline thread_local Kept kept;
};

}  // namespace muster::host::detail
