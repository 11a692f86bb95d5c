// What the threads of an execution did and what their reads were answered with, so that another
// execution can be given the same answers and be compared.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "check/bits.hpp"
#include "check/weak_memory.hpp"
#include "check/where.hpp"

namespace muster::check::engine {

// An operation of a thread. `with` sums up its arguments and what it saw.
struct Did {
  const char* operation = "";
  Where where;
  std::uint64_t time = 0;
  std::uint64_t with = 0;
  [[nodiscard]] bool same_as(const Did& other) const;
};

// How a read was answered: from which of its cells, and with which deposits there, numbered as they
// came in this execution.
struct Answer {
  bool expires = false;
  std::uint32_t look = 0;
  std::uint32_t cell = 0;
  Bits set;
  Stamp write{};  // of an atomic object: the write that was read
};

// Of one execution at a time, and of it only where it is kept: else what is there stays.
class Record {
 public:
  void keep(bool keep) { kept_ = keep; }
  [[nodiscard]] bool is_kept() const { return kept_; }
  // An execution begins.
  void begin(std::size_t threads);
  void did(std::uint32_t thread, const char* operation, Where where);
  // Adds to what the thread's last operation did it with.
  void with(std::uint32_t thread, std::initializer_list<std::uint64_t> values);
  void deposited(std::uint32_t cell, std::uint32_t thread);
  void answered(std::uint32_t thread, Answer answer);
  // At the end: the modification orders of atomic objects, and the order of fences.
  void ordered(const WeakMemory& memory, const std::vector<Stamp>& fences);

  [[nodiscard]] const std::vector<Answer>& answers(std::uint32_t thread) const {
    return answers_[thread];
  }
  // Who wrote each atomic object, in its order, with the initial write; the last one is of fences.
  [[nodiscard]] const std::vector<std::vector<Stamp>>& orders() const { return orders_; }
  // Who made the deposits of each cell, in the order in which they came.
  [[nodiscard]] const std::vector<std::vector<std::uint32_t>>& depositors() const {
    return depositors_;
  }

  // The earliest operation that its thread does not do alike in both; null where it has ended.
  struct Difference {
    std::uint32_t thread = 0;
    const Did* here = nullptr;
    const Did* there = nullptr;
  };
  [[nodiscard]] std::optional<Difference> difference(const Record& other) const;

 private:
  bool kept_ = false;
  std::uint64_t time_ = 0;
  std::vector<std::vector<Did>> did_;
  std::vector<std::vector<Answer>> answers_;
  std::vector<std::vector<std::uint32_t>> depositors_;
  std::vector<std::vector<Stamp>> orders_;
};

}  // namespace muster::check::engine
