// What random programs are put together from: blocks of operations that are correct in themselves.
#pragma once

#include <cstdint>
#include <iterator>
#include <vector>

#include "generator.hpp"

namespace muster::fuzz {

inline constexpr std::uint32_t most_cells = 6;
inline constexpr std::uint32_t most_elements = 8;

inline Op notify(std::uint32_t cell, std::uint32_t peer, std::uint32_t value, NotifyOp op,
                 Order order = Order::release) {
  return {
      .kind = Kind::notify, .cell = cell, .peer = peer, .value = value, .op = op, .order = order};
}

inline Op wait(std::uint32_t cell, Compare compare, std::uint32_t value,
               Order order = Order::acquire) {
  return {.kind = Kind::wait, .cell = cell, .value = value, .compare = compare, .order = order};
}

inline Op fetch(Kind kind, std::uint32_t cell, std::uint32_t peer, std::uint32_t value, Order order,
                std::uint32_t expected = 0) {
  return {.kind = kind,
          .cell = cell,
          .peer = peer,
          .value = value,
          .expected = expected,
          .order = order};
}

inline Op data(Kind kind, std::uint32_t peer, std::uint32_t to, std::uint32_t from,
               std::uint32_t value) {
  return {.kind = kind, .peer = peer, .value = value, .to = to, .from = from};
}

// Appends blocks to a program. Each takes cells and elements of its own.
class Blocks {
 public:
  Blocks(Program& program, Random& random) : program_(program), random_(random) {}

  // One more, drawn at random, if there is room.
  void block();
  // One with fetched operations.
  void fetched_block();
  [[nodiscard]] std::uint32_t cells() const { return cells_; }
  [[nodiscard]] std::uint32_t elements() const { return elements_; }
  Order maybe_relaxed(Order order) { return random_.percent(50) ? Order::relaxed : order; }

 private:
  std::uint32_t cell() { return cells_++; }
  std::uint32_t element() { return elements_++; }
  std::uint32_t rank_of(std::uint32_t lane) const { return lane / program_.lanes; }
  std::uint32_t lanes() const { return program_.ranks * program_.lanes; }

  std::uint32_t other_lane(std::uint32_t lane) {
    return (lane + 1 + random_.below(lanes() - 1)) % lanes();
  }
  // A lane of every rank.
  std::vector<std::uint32_t> one_per_rank() {
    std::vector<std::uint32_t> result;
    for (std::uint32_t r = 0; r < program_.ranks; ++r) {
      result.push_back(r * program_.lanes + random_.below(program_.lanes));
    }
    return result;
  }

  // By all threads of the lane if the operation is a common one, else by one of them.
  void emit(std::uint32_t lane, const Op& op) {
    const std::uint32_t begin = lane * program_.threads;
    const bool common = is_collective(op.kind);
    const std::uint32_t only = begin + random_.below(program_.threads);
    for (std::uint32_t s = begin; s < begin + program_.threads; ++s) {
      if (common || s == only) program_.code[s].push_back(op);
    }
  }
  void meet(std::uint32_t lane) {
    if (program_.threads > 1) emit(lane, {.kind = Kind::converge});
  }
  void tell(std::uint32_t lane, const Op& op) { meet(lane), emit(lane, op); }
  // For a relaxed notify, what was loaded must be complete. Mostly.
  void complete(std::uint32_t lane, Order order) {
    constexpr Kind ways[] = {Kind::converge, Kind::converge, Kind::converge, Kind::flush};
    if (program_.threads == 1 && order == Order::relaxed && random_.percent(80))
      emit(lane, {.kind = ways[random_.below(std::size(ways))]});
  }
  void hear(std::uint32_t lane, const Op& op) { emit(lane, op), meet(lane); }

  void message();
  void payload(std::uint32_t a, std::uint32_t b, std::uint32_t to);
  void pull(std::uint32_t a, std::uint32_t b, std::uint32_t to, std::uint32_t from);
  void acknowledge(std::uint32_t a, std::uint32_t b, std::uint32_t way, std::uint32_t to,
                   std::uint32_t from);
  void third_party();
  void sum();
  void handoff();
  void ring();
  void crowd();
  void boundary(std::uint32_t rank);
  void kernels();
  void siblings();
  void barrier();
  void enter(std::uint32_t m, std::uint32_t kind, std::uint32_t first, std::uint32_t ranks,
             std::uint32_t call);
  void count_down(std::uint32_t m, std::uint32_t first, std::uint32_t p);
  void first_come();
  void last_of_us();
  void try_lock();
  void tickets();
  void latch();
  void semaphore();

  Program& program_;
  Random& random_;
  std::uint32_t cells_ = 0;
  std::uint32_t elements_ = 0;
};

}  // namespace muster::fuzz
