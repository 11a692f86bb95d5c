// The memory of all ranks: windows and counters, each with its shadows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "check/memory.hpp"
#include "muster/fabric/model.hpp"
#include "muster/types.hpp"

namespace muster::check::engine {

// Segments of the same size on every rank, numbered as they are made. They keep their memory from
// one execution to the next.
class Windows {
 public:
  explicit Windows(std::uint32_t ranks) : ranks_(ranks) {}

  // Before an execution: there are none.
  void reset() { count_ = 0; }
  // Zeroed memory on every rank, with a shadow for each `grain` bytes; returns its number. An empty
  // name stands for "window N".
  std::uint32_t make(std::uint64_t bytes, std::uint32_t grain, const std::string& name);

  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] bool has(std::uint32_t segment) const { return segment < count_; }
  // One of that name that has not been freed.
  [[nodiscard]] bool has(const std::string& name) const;
  // 0 where there is no such segment.
  [[nodiscard]] std::uint64_t bytes_of(std::uint32_t segment) const {
    return has(segment) ? all_[segment].bytes : 0;
  }
  [[nodiscard]] Segment& operator[](std::uint32_t segment) { return all_[segment]; }
  [[nodiscard]] const Segment& operator[](std::uint32_t segment) const { return all_[segment]; }
  [[nodiscard]] std::byte* bytes(std::uint32_t rank, model::Span span) {
    return all_[span.segment].data[rank].data() + span.offset;
  }

  // "inbox[3] of rank 1": the grain of that number, or the first of the span.
  [[nodiscard]] std::string location(std::uint32_t segment, std::uint64_t grain,
                                     std::uint32_t rank) const;
  [[nodiscard]] std::string location(model::Span span, std::uint32_t rank) const {
    return location(span.segment, span.offset / all_[span.segment].grain, rank);
  }

 private:
  std::uint32_t ranks_;
  std::vector<Segment> all_;  // those of earlier executions among them
  std::uint32_t count_ = 0;
};

// The counters of all ranks: as many on each, numbered as they are made.
class Counters {
 public:
  explicit Counters(std::uint32_t ranks) : ranks_(ranks) {}

  void reset() { numbers_ = 0; }
  // Returns the number of the first.
  std::uint32_t make(std::uint32_t count);

  [[nodiscard]] std::uint32_t numbers() const { return numbers_; }
  // Where a rank's counter is; nothing where none has been made of that number.
  [[nodiscard]] std::optional<std::size_t> find(Counter counter, std::uint32_t rank) const {
    if (counter.segment != 0 || counter.cell >= numbers_) return std::nullopt;
    return std::size_t{counter.cell} * ranks_ + rank;
  }
  [[nodiscard]] std::uint32_t& operator[](std::size_t at) { return values_[at]; }
  [[nodiscard]] std::uint32_t number_of(std::size_t at) const {
    return static_cast<std::uint32_t>(at / ranks_);
  }
  [[nodiscard]] std::vector<Shadow>& shadows() { return shadows_; }
  [[nodiscard]] std::vector<std::uint32_t> values() const {
    return {values_.begin(), values_.begin() + std::ptrdiff_t{numbers_} * ranks_};
  }

 private:
  std::uint32_t ranks_;
  std::uint32_t numbers_ = 0;
  std::vector<std::uint32_t> values_;  // by number, then rank
  std::vector<Shadow> shadows_;        // of each value
};

// The windows and counters as an execution left them.
struct Memory {
  std::vector<std::vector<std::vector<std::byte>>> windows;  // by segment and rank
  std::vector<std::uint32_t> counters;
};
[[nodiscard]] Memory memory_of(const Windows& windows, const Counters& counters);
// Where they are not as they were then; empty where they are.
[[nodiscard]] std::string first_difference(const Windows& windows, const Counters& counters,
                                           const Memory& then);

}  // namespace muster::check::engine
