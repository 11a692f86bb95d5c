// The signal cells of all ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "check/cell.hpp"
#include "muster/types.hpp"

namespace muster::check::engine {

// Every rank has the same cells, numbered as they are made, in blocks. An index is of a number and
// a rank: an execution that makes the same cells as the last one gives them the same indices. Cells
// keep their memory from one execution to the next.
class Cells {
 public:
  explicit Cells(std::uint32_t ranks) : ranks_(ranks) {}

  // Before an execution: there are none.
  void reset();
  // Makes a block of cells on every rank and returns the number of its first. `name` is of its
  // kind: the blocks of a kind are numbered. Rows are of `row_ranks` ranks, with their counters
  // from `counters` on; 0: signals.
  std::uint32_t make(std::uint32_t count, const std::string& name, std::uint32_t row_ranks,
                     std::uint32_t counters);

  [[nodiscard]] std::uint32_t numbers() const { return numbers_; }
  [[nodiscard]] std::uint32_t index(std::uint32_t rank, std::uint32_t number) const {
    return number * ranks_ + rank;
  }
  [[nodiscard]] Cell& operator[](std::uint32_t index) { return all_[index]; }
  [[nodiscard]] const Cell& operator[](std::uint32_t index) const { return all_[index]; }
  [[nodiscard]] Cell& at(std::uint32_t rank, std::uint32_t number) {
    return all_[index(rank, number)];
  }

  // The first counter of the rows that begin with this cell.
  [[nodiscard]] std::uint32_t counters_of(std::uint32_t first) const;
  // "rows 0[lane 0, from rank 2] of rank 1", "signals 1[3] of rank 0"
  [[nodiscard]] std::string name_of(const Cell& cell) const;

 private:
  struct Block {  // a run of cells that was made together
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::uint32_t row_ranks = 0;
    std::uint32_t counters = 0;
    std::string name;
  };

  std::uint32_t ranks_;
  std::vector<Cell> all_;  // by number, then rank; those of earlier executions among them
  std::uint32_t numbers_ = 0;
  std::vector<Block> blocks_;
};

}  // namespace muster::check::engine
