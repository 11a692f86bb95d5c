// What a World is made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "fabric/gpu/board.hpp"
#include "fabric/gpu/memory.hpp"
#include "muster/fabric/gpu/world.hpp"

namespace muster::gpu {

// Hands out a range of an address space from the front; nothing is given back.
class Range {
 public:
  Range() = default;
  Range(std::uint64_t begin, std::uint64_t end) : begin_(begin), next_(begin), end_(end) {}
  [[nodiscard]] std::optional<std::uint64_t> take(std::uint64_t length, std::uint64_t align);
  [[nodiscard]] std::uint64_t left() const { return end_ - next_; }
  [[nodiscard]] std::uint64_t size() const { return end_ - begin_; }

 private:
  std::uint64_t begin_ = 0;
  std::uint64_t next_ = 0;
  std::uint64_t end_ = 0;
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

  std::uint32_t ranks = 0;
  std::uint32_t lanes = 0;
  std::uint32_t team = 0;
  bool verify = false;
  std::chrono::nanoseconds deadline{0};
  std::vector<Group> groups;
  std::vector<Bases> segments;
  std::unique_ptr<Memory> memory;  // that of segment 0, where muster allocated it
  std::unique_ptr<Board> board;
  std::optional<Mesh> mesh;  // where there are several processes

  Range cells;  // numbers of cells in segment cell_segment
  std::uint32_t cell_segment = 0;
  bool has_cells = false;
  Range windows;  // bytes in segment 0
  std::vector<Rows> known_rows;
  std::string reason;  // of abort()

  // Blocks that fit on a GPU at once: by device, kernel, threads and shared memory.
  std::map<std::tuple<int, const void*, std::uint32_t, std::uint32_t>, std::uint64_t> resident;
  std::mutex lock;  // of resident: streams may be fed by several threads
};

}  // namespace muster::gpu
