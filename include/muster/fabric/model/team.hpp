// The set-up side of the model. Included by muster/fabric/model.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "muster/fabric/model/fabric.hpp"
#include "muster/fabric/model/span.hpp"
#include "muster/result.hpp"
#include "muster/types.hpp"

namespace muster::check::engine {
class Execution;
struct Thread;
}  // namespace muster::check::engine

namespace muster::task {
template <class F>
class EngineOf;
struct Options;
}  // namespace muster::task

namespace muster::model {

// Memory that every rank has, of `bytes` bytes.
struct Allocation {
  std::uint32_t segment = 0;
  std::uint64_t bytes = 0;
};

// The set-up side, as muster::Team: each rank runs the same body, the set-up calls of all ranks
// must match in order and in arguments.
class Team {
 public:
  explicit Team(check::engine::Thread& setup);

  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] std::uint32_t max_lanes() const { return max_lanes_; }
  [[nodiscard]] std::uint32_t calls() const { return calls_; }  // check::Options::calls
  [[nodiscard]] Profile profile() const { return profile_; }

  template <class T>
  Result<WindowRef<T>> window(std::initializer_list<std::int64_t> extents,
                              std::string_view name = {}, Where where = Where::current()) {
    return window<T>(std::vector<std::int64_t>(extents), name, where);
  }
  template <class T>
  Result<WindowRef<T>> window(const std::vector<std::int64_t>& extents, std::string_view name = {},
                              Where where = Where::current()) {
    constexpr auto slots = std::is_same_v<T, PacketLine>     ? Slotted::packets
                           : std::is_same_v<T, SentinelLine> ? Slotted::sentinels
                                                             : Slotted::none;
    return as_window<T>(make_window(extents, sizeof(T), slots, name, where));
  }
  template <class T>
  Result<WindowRef<T>> window(Allocation allocation, std::initializer_list<std::int64_t> extents,
                              Where where = Where::current()) {
    return as_window<T>(place_window(allocation, std::vector(extents), sizeof(T), where));
  }
  Result<Allocation> allocate(std::int64_t bytes, Where where = Where::current());
  Result<Rows> rows(Where where = Where::current()) { return rows(max_lanes_, where); }
  Result<Rows> rows(std::uint32_t lanes, Where where = Where::current());
  Result<Signals> signals(std::uint32_t count, Where where = Where::current());

  // Everything in it must have been reached before: a transfer or deposit still in flight is a
  // race.
  template <class T>
  Result<void> free(WindowRef<T> window, Where where = Where::current()) {
    return free_segment(window.segment, where);
  }
  Result<void> free(Allocation allocation, Where where = Where::current()) {
    return free_segment(allocation.segment, where);
  }
  Result<void> free(Rows rows, Where where = Where::current()) {
    return free_cells(rows.first, rows.lanes * rows.ranks, where);
  }
  Result<void> free(Signals signals, Where where = Where::current()) {
    return free_cells(signals.first, signals.count, where);
  }

  // Runs `body` on one lane, or on `count` lanes at once; each is `threads` fibers. The start
  // acquires and the end releases for the rank (contract 10).
  template <class B>
  Result<void> lane(B&& body, Where where = Where::current()) {
    return lanes(1, std::forward<B>(body), where);
  }
  template <class B>
  Result<void> lanes(std::uint32_t count, B&& body, Where where = Where::current()) {
    return overlapping_lanes(
        1, count, [&body](Fabric& fabric, std::uint32_t) { return body(fabric); }, where);
  }
  // `kernels` runs of so many lanes, body(fabric, 0), body(fabric, 1), ..., each of which may begin
  // before the one before it has ended: see LaunchFabric. Returns when the last has ended.
  template <class B>
  Result<void> overlapping_lanes(std::uint32_t kernels, std::uint32_t count, B&& body,
                                 Where where = Where::current()) {
    return launch(
        kernels, count,
        [&body](Fabric& fabric, std::uint32_t kernel) { return status_of(body, fabric, kernel); },
        where);
  }

  Result<void> sync(Where where = Where::current());
  void abort(std::string_view reason, Where where = Where::current());

  // The cells are zero when the check ends, or there is a finding of kind `credits`.
  void promise_zero(Rows rows) { promise_cells(rows.first, rows.lanes * rows.ranks); }
  void promise_zero(Signals signals) { promise_cells(signals.first, signals.count); }
  void expect(bool holds, std::string_view what = "expectation", Where where = Where::current());
  // Appended to what this rank records in this execution; see check::Report::outcomes.
  void outcome(std::uint64_t value);

  // What runs the tasks of a task::Graph of this team (muster/task.hpp).
  friend std::unique_ptr<task::EngineOf<Fabric>> make_engine(Team& team,
                                                             const task::Options& options);

 private:
  enum class Slotted : std::uint8_t { none, packets, sentinels };
  struct Made {  // a window without its type
    std::uint32_t segment = 0;
    std::uint64_t offset = 0;
    std::int64_t rows = 0;
    std::int64_t cols = 0;
  };

  template <class T>
  static Result<WindowRef<T>> as_window(const Result<Made>& made);
  using KernelBody = std::function<Result<void>(Fabric&, std::uint32_t)>;
  template <class B>
  static Result<void> status_of(B& body, Fabric& fabric, std::uint32_t kernel);

  Result<Made> make_window(const std::vector<std::int64_t>& extents, std::size_t element,
                           Slotted slots, std::string_view name, Where where);
  Result<Made> place_window(Allocation allocation, const std::vector<std::int64_t>& extents,
                            std::size_t element, Where where);
  Result<void> launch(std::uint32_t kernels, std::uint32_t count, const KernelBody& body,
                      Where where);
  Result<void> free_segment(std::uint32_t segment, Where where);
  Result<void> free_cells(Signal first, std::uint32_t count, Where where);
  void promise_cells(Signal first, std::uint32_t count);

  check::engine::Thread* self_;
  Rank rank_;
  std::uint32_t size_;
  std::uint32_t max_lanes_;
  std::uint32_t calls_;
  Profile profile_;
};

template <class T>
Result<WindowRef<T>> Team::as_window(const Result<Made>& made) {
  if (!made) return made.error();
  WindowRef<T> window;
  window.offset = made->offset;
  window.rows = made->rows;
  window.cols = made->cols;
  window.segment = made->segment;
  return window;
}

template <class B>
Result<void> Team::status_of(B& body, Fabric& fabric, std::uint32_t kernel) {
  using R = std::invoke_result_t<B&, Fabric&, std::uint32_t>;
  if constexpr (std::is_void_v<R>) {
    body(fabric, kernel);
    return {};
  } else if constexpr (std::is_same_v<R, WaitStatus>) {
    return result_of(body(fabric, kernel));
  } else {
    return body(fabric, kernel);
  }
}

}  // namespace muster::model
