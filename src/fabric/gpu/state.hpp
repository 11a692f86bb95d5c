// What a World is made of.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "fabric/gpu/failure_log.hpp"
#include "fabric/gpu/memory.hpp"
#include "muster/fabric/gpu/world.hpp"

namespace muster::gpu {

// Hands out pieces of an address space, the first that is long enough, and takes them back in any
// order.
class Range {
 public:
  Range() = default;
  Range(std::uint64_t begin, std::uint64_t end);
  // Where the piece begins; a piece of length 0 takes one unit, so that it can be told from others.
  [[nodiscard]] std::optional<std::uint64_t> take(std::uint64_t length, std::uint64_t align);
  // False where no piece begins there that was taken.
  bool release(std::uint64_t begin);
  // Of the piece that was taken there.
  [[nodiscard]] std::optional<std::uint64_t> length_at(std::uint64_t begin) const;
  [[nodiscard]] std::uint64_t left() const;     // in all free pieces
  [[nodiscard]] std::uint64_t longest() const;  // free piece
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint64_t begin() const { return begin_; }
  // Are these units within one piece that was taken?
  [[nodiscard]] bool has(std::uint64_t begin, std::uint64_t length) const;

 private:
  std::uint64_t begin_ = 0;
  std::uint64_t size_ = 0;
  std::map<std::uint64_t, std::uint64_t> free_;   // begin to end; no two touch
  std::map<std::uint64_t, std::uint64_t> taken_;  // begin to end
};

// The ranks of this process on one GPU, and what is allocated there for them.
struct Group {
  int device = 0;
  std::uint32_t first_rank = 0;
  std::uint32_t ranks = 0;
  Stream stream = nullptr;
  std::uint32_t* claims = nullptr;  // by rank of the team
  std::vector<std::byte**> far;     // by segment: a large team's bases, in device memory
};

struct World::State {
  struct Bases {
    std::vector<std::byte*> bases;  // by rank
    std::uint64_t bytes = 0;
  };

  State() = default;
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // Streams and device memory of the groups; the bases are known by then.
  void equip_groups();
  [[nodiscard]] Result<std::uint32_t> take_cells(std::uint32_t count, const char* what);
  // Is the cell one of rows or signals that this world has handed out and not taken back?
  [[nodiscard]] bool has_signal(Signal signal) const;
  // Are there such bytes, or cells, and has the world handed them out, where it is it that does?
  [[nodiscard]] bool has_memory(std::uint32_t segment, std::uint64_t offset,
                                std::uint64_t bytes) const;
  [[nodiscard]] bool has_cells_at(Signal first, std::uint64_t count) const;

  std::uint32_t ranks = 0;
  std::uint32_t lanes = 0;
  std::uint32_t team = 0;
  bool verify = false;
  std::atomic<bool> noted_checks = false;  // that a kernel has none
  std::chrono::nanoseconds deadline{0};
  OnExpiry on_expiry = OnExpiry::fail;
  std::vector<Group> groups;
  std::vector<Bases> segments;
  std::unique_ptr<Memory> memory;  // that of segment 0, where muster allocated it
  std::unique_ptr<FailureLog> failure_log;
  std::optional<Bootstrap> bootstrap;  // where there are several processes

  Range cells;  // numbers of cells in segment cell_segment
  std::uint32_t cell_segment = 0;
  bool has_cells = false;
  Range windows;  // bytes in segment 0
  std::vector<Rows> known_rows;
  std::vector<Signals> known_signals;
  std::string reason;  // of abort()

  // The driver's functions for operations of streams, found when they are first needed; by device
  // whether a wait can flush what came from elsewhere.
  void* stream_write = nullptr;
  void* stream_wait = nullptr;
  std::map<int, bool> can_flush;

  // Blocks that fit on a GPU at once: by device, kernel, threads and shared memory.
  std::map<std::tuple<int, const void*, std::uint32_t, std::uint32_t>, std::uint64_t> resident;
  std::mutex lock;  // of these: streams may be fed by several threads
};

}  // namespace muster::gpu
