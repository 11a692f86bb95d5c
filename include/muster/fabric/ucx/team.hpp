// ucx::Team: ranks on one host or on many that talk over UCX, with the surface of muster::Team.
//
// A body that is a template over its team and its fabric runs on both; one that uses address() is
// for one host, and does not compile here. Set-up calls are collective as those of muster::Team,
// and refused in the same words. Ranks are processes.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <typeindex>
#include <unordered_map>
#include <utility>

#include "muster/fabric/ucx.hpp"
#include "muster/result.hpp"
#include "muster/types.hpp"

namespace muster::ucx {

class TeamCore;

// `bytes` of symmetric memory, not yet shaped.
struct Allocation {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint32_t segment = 0;
  std::uint32_t team = 0;
};

namespace detail {

// How a lane's body ended; no value where it returned void, and the lane itself must tell.
using LaneOutcome = std::optional<Result<void>>;

template <class Body>
LaneOutcome lane_outcome(Body& body, Fabric& fabric) {
  using Returned = std::invoke_result_t<Body&, Fabric&>;
  if constexpr (std::is_void_v<Returned>) {
    body(fabric);
    return std::nullopt;
  } else if constexpr (std::is_same_v<Returned, WaitStatus>) {
    return result_of(body(fabric));
  } else {
    static_assert(std::is_same_v<Returned, Result<void>>,
                  "the body of a lane returns void, WaitStatus or Result<void>");
    return body(fabric);
  }
}

}  // namespace detail

class Team {
 public:
  // Made by those who bring the ranks together, by split() and by shrink().
  explicit Team(std::shared_ptr<TeamCore> core);

  [[nodiscard]] Rank rank() const;
  [[nodiscard]] std::uint32_t size() const;
  [[nodiscard]] std::uint32_t max_lanes() const;
  // False: a barrier over a network is chosen by its rounds, not by cores.
  [[nodiscard]] bool has_core_each() const;

  // ---- memory: zero on every rank before any peer can reach it. Errors: invalid_argument,
  // out_of_memory.

  template <class T>
  Result<WindowRef<T>> window(std::initializer_list<std::int64_t> extents,
                              std::string_view name = {}) {
    static_assert(std::is_trivially_copyable_v<T>, "peers see a window's bytes, nothing else");
    return shaped<T>(make_window(extents.begin(), extents.size(), element_code<T>, name));
  }
  Result<Allocation> allocate(std::int64_t bytes, std::string_view name = {});
  template <class T>
  Result<WindowRef<T>> window(const Allocation& allocation,
                              std::initializer_list<std::int64_t> extents) const {
    static_assert(std::is_trivially_copyable_v<T>, "peers see a window's bytes, nothing else");
    return shaped<T>(shape_allocation(allocation, extents.begin(), extents.size(), sizeof(T)));
  }

  // ---- signals

  Result<Rows> rows();
  Result<Rows> rows(std::uint32_t lanes);
  Result<Signals> signals(std::uint32_t count);

  // ---- giving back: what is not freed goes with the team

  template <class T>
  Result<void> free(WindowRef<T> window) {
    return free_memory(window.segment, window.offset);
  }
  Result<void> free(const Allocation& allocation) {
    return free_memory(allocation.segment, allocation.offset);
  }
  Result<void> free(Rows rows) { return free_cells(rows.first); }
  Result<void> free(Signals signals) { return free_cells(signals.first); }

  // ---- running, as muster::Team::lanes. At its end a lane flushes.

  template <class Body>
  Result<void> lanes(std::uint32_t count, Body&& body) {
    return run_lanes(count, [&](Fabric& fabric) { return detail::lane_outcome(body, fabric); });
  }
  template <class Body>
  Result<void> lane(Body&& body) {
    return lanes(1, std::forward<Body>(body));
  }

  // A barrier of the team, outside of lanes.
  Result<void> sync();
  // Outside of lanes: a rank that computes for long between them calls it now and then.
  void progress();

  // The object of that type that this team keeps, made by the first call as Object(*this).
  template <class Object>
  Object& kept() {
    std::shared_ptr<void>& place = (*kept_)[std::type_index(typeid(Object))];
    if (!place) place = std::make_shared<Object>(*this);
    return *static_cast<Object*>(place.get());
  }

  // ---- other teams, and failure, as those of muster::Team

  [[nodiscard]] Result<Team> split(std::int32_t colour, std::int32_t key = 0);
  Result<void> close();
  void abort(std::string_view reason);
  [[nodiscard]] Result<Team> shrink();

 private:
  struct Shape {
    std::uint64_t offset;
    std::int64_t rows;
    std::int64_t cols;
    std::uint32_t segment;
  };

  template <class T>
  Result<WindowRef<T>> shaped(Result<Shape> shape) const {
    if (!shape) return shape.error();
    return WindowRef<T>{shape->offset, shape->rows, shape->cols, shape->segment, number()};
  }

  [[nodiscard]] std::uint32_t number() const;
  Result<Shape> make_window(const std::int64_t* extents, std::size_t count, std::uint64_t element,
                            std::string_view name);
  Result<Shape> shape_allocation(const Allocation& allocation, const std::int64_t* extents,
                                 std::size_t count, std::size_t element) const;
  Result<void> free_memory(std::uint32_t segment, std::uint64_t offset);
  Result<void> free_cells(Signal first);
  Result<void> run_lanes(std::uint32_t count,
                         const std::function<detail::LaneOutcome(Fabric&)>& body);

  std::shared_ptr<TeamCore> core_;
  // Shared by all copies of this object, which are one team.
  std::shared_ptr<std::unordered_map<std::type_index, std::shared_ptr<void>>> kept_ =
      std::make_shared<std::unordered_map<std::type_index, std::shared_ptr<void>>>();
};

static_assert(SetUpAll<Team>);

}  // namespace muster::ucx
