#include "check/cells.hpp"

#include <fmt/format.h>

namespace muster::check::engine {

void Cells::reset() {
  for (Cell& cell : all_) cell.reset();
  numbers_ = 0;
  blocks_.clear();
}

std::uint32_t Cells::make(std::uint32_t count, const std::string& name, std::uint32_t row_ranks,
                          std::uint32_t counters) {
  const std::uint32_t first = numbers_;
  std::uint32_t of_kind = 0;
  for (const Block& block : blocks_) of_kind += (block.row_ranks == 0) == (row_ranks == 0) ? 1 : 0;
  blocks_.push_back({first, count, row_ranks, counters, fmt::format("{} {}", name, of_kind)});
  numbers_ += count;
  const std::size_t all = std::size_t{numbers_} * ranks_;
  if (all_.size() < all) all_.resize(all);
  for (std::uint32_t number = first; number < numbers_; ++number)
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      Cell& cell = at(rank, number);
      cell.rank = rank;
      cell.number = number;
      cell.live = true;
    }
  return first;
}

std::uint32_t Cells::counters_of(std::uint32_t first) const {
  for (const Block& block : blocks_)
    if (block.first == first) return block.counters;
  return 0;
}

std::string Cells::name_of(const Cell& cell) const {
  for (const Block& block : blocks_) {
    if (cell.number < block.first || cell.number >= block.first + block.count) continue;
    const std::uint32_t at = cell.number - block.first;
    if (block.row_ranks == 0) return fmt::format("{}[{}] of rank {}", block.name, at, cell.rank);
    return fmt::format("{}[lane {}, from rank {}] of rank {}", block.name, at / block.row_ranks,
                       at % block.row_ranks, cell.rank);
  }
  return fmt::format("cell {} of rank {}", cell.number, cell.rank);
}

}  // namespace muster::check::engine
