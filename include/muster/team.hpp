// Team: P ranks that talk to each other, and what they have set up together. Host side.
//
// Set-up calls (window, allocate, rows, signals, free, sync, shrink) are collective: every rank of
// the team makes the same calls in the same order, outside of lanes. Ranks that differ get a
// `mismatch` error that names both sides. All of them are barriers of the team. One that expires
// fails the team: those who gave up and those who come late would be a call apart. Go on with
// shrink().
//
// While lanes of the team run, set-up calls on it are refused (invalid_argument), whichever thread
// makes them; so are further lanes. Ranks' elements must be of one type, too. What lanes are given
// is looked at as muster/fabric/host.hpp says; what is looked up besides in debug builds is so in a
// release with MUSTER_VERIFY=1, and MUSTER_VERIFY=0 leaves it out of either.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeindex>
#include <unordered_map>
#include <utility>

#include "muster/fabric/host.hpp"
#include "muster/result.hpp"
#include "muster/types.hpp"

namespace muster {

namespace host {
class TeamControl;
}
namespace task {
template <class F>
class EngineOf;
struct Options;
}  // namespace task

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
LaneOutcome lane_outcome(Body& body, host::Fabric& fabric) {
  using Returned = std::invoke_result_t<Body&, host::Fabric&>;
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
  // Made by muster::run and by shrink().
  explicit Team(std::shared_ptr<host::TeamControl> control);

  [[nodiscard]] Rank rank() const;
  [[nodiscard]] std::uint32_t size() const;
  [[nodiscard]] std::uint32_t max_lanes() const;
  // Do the cores that the job's ranks may run on suffice for one each? The same on every rank.
  [[nodiscard]] bool has_core_each() const;
  // From how many bytes on what a rank shows its peers goes past the caches: where each has a core,
  // that is tried out by the first call, which is a set-up call then (of some 100 us).
  [[nodiscard]] std::int64_t shown_from();
  // How many bytes a collective stages in a round, where it takes messages apart: 64 KiB of two
  // ranks' sums in one round took 25 us a 256 KiB, 256 KiB of them 22; a 1 MiB 101, and 76.
  [[nodiscard]] static constexpr std::int64_t long_chunk() { return 262144; }

  // ---- memory ----------------------------------------------------------------------------------
  // Zero on every rank before any peer can reach it. Up to 1 GiB per rank it is allocated for real,
  // beyond that page by page as it is touched. Errors: invalid_argument, out_of_memory (says how
  // much was asked for and how much there is).

  // A window of T, `extents` in elements per rank; more than two extents fold into rows x cols, one
  // extent n is 1 x n. `name`, if given, is unique within the team.
  template <class T>
  Result<WindowRef<T>> window(std::initializer_list<std::int64_t> extents,
                              std::string_view name = {}) {
    static_assert(std::is_trivially_copyable_v<T>, "peers see a window's bytes, nothing else");
    return shaped<T>(make_window(extents.begin(), extents.size(), element_code<T>, name));
  }

  // `bytes` without a type; and a window over them, which may be smaller.
  Result<Allocation> allocate(std::int64_t bytes, std::string_view name = {});
  template <class T>
  Result<WindowRef<T>> window(const Allocation& allocation,
                              std::initializer_list<std::int64_t> extents) const {
    static_assert(std::is_trivially_copyable_v<T>, "peers see a window's bytes, nothing else");
    return shaped<T>(shape_allocation(allocation, extents.begin(), extents.size(), sizeof(T)));
  }

  // A window over memory that each rank registers, which must live until the window is freed:
  // shared memory that `fd` names (memfd_create, shm_open), from byte `place` on, which muster maps
  // into every rank; or, where the ranks are threads, just a pointer. Not zeroed. A job has room
  // for 63. Ranks hand the descriptor to each other: they may live in different pid namespaces, and
  // in one network namespace.
  // Holes of a sparse file get pages as with other windows: those up to 1 GiB now, or
  // out_of_memory.
  template <class T>
  Result<WindowRef<T>> window_on(int fd, std::int64_t place,
                                 std::initializer_list<std::int64_t> extents) {
    static_assert(std::is_trivially_copyable_v<T>, "peers see a window's bytes, nothing else");
    return shaped<T>(
        register_memory(nullptr, fd, place, extents.begin(), extents.size(), element_code<T>));
  }
  template <class T>
  Result<WindowRef<T>> window_on(T* memory, std::initializer_list<std::int64_t> extents) {
    static_assert(std::is_trivially_copyable_v<T>, "peers see a window's bytes, nothing else");
    return shaped<T>(
        register_memory(memory, -1, 0, extents.begin(), extents.size(), element_code<T>));
  }

  // ---- signals ---------------------------------------------------------------------------------

  // A cell for each lane and each writer, and a counter for each lane; for the most lanes that will
  // run, or for `lanes` of them.
  Result<Rows> rows();
  Result<Rows> rows(std::uint32_t lanes);
  Result<Signals> signals(std::uint32_t count);

  // ---- giving back -----------------------------------------------------------------------------
  // An error where it is not allocated (any more). What is not freed goes with the job.

  template <class T>
  Result<void> free(WindowRef<T> window) {
    return window.segment == 0 ? free_memory(window.offset) : free_segment(window.segment);
  }
  Result<void> free(const Allocation& allocation) { return free_memory(allocation.offset); }
  Result<void> free(Rows rows) { return free_cells(rows.first.cell); }
  Result<void> free(Signals signals) { return free_cells(signals.first.cell); }

  // ---- running ---------------------------------------------------------------------------------

  // Runs body(fabric) as `count` lanes at once, each on a thread of its own (the first on the
  // calling one; the others' stay with the team for its next call), and returns when all have
  // ended. The body returns void, WaitStatus or
  // Result<void>. With several lanes, one that ends with an error ends the waits of the others,
  // here and on the peers, with `aborted`. The result is the first lane's error: what the body
  // returned, or, where it returned void, whatever went wrong with one of its waits. Where the team
  // was made with `.on_expiry = retry`, a wait that expired in a body that returns void is told as
  // the result like that, but ends no other lane's waits: it may have been tried again. One call at
  // a time: while one runs, another is refused (invalid_argument), from whatever thread.
  template <class Body>
  Result<void> lanes(std::uint32_t count, Body&& body) {
    return run_lanes(count,
                     [&](host::Fabric& fabric) { return detail::lane_outcome(body, fabric); });
  }
  template <class Body>
  Result<void> lane(Body&& body) {
    return lanes(1, std::forward<Body>(body));
  }

  // A barrier of the team, outside of lanes.
  Result<void> sync();

  // ---- kept objects ----------------------------------------------------------------------------

  // The object of that type that this team keeps, made by the first call as Object(*this), which is
  // a set-up call where that makes set-up calls. It lives as long as the team.
  template <class Object>
  Object& kept() {
    std::shared_ptr<void>& place = (*kept_)[std::type_index(typeid(Object))];
    if (!place) place = std::make_shared<Object>(*this);
    return *static_cast<Object*>(place.get());
  }

  // ---- other teams -----------------------------------------------------------------------------

  // Splits the team: ranks with the same `colour` (0 or more) form a team, numbered by `key`, then
  // by their rank here. Each has signals and a failure of its own, but fails with this team as
  // well; this team's windows can be used by it, with its own rank numbers. Teams may overlap and
  // nest.
  [[nodiscard]] Result<Team> split(std::int32_t colour, std::int32_t key = 0);

  // Gives back everything that the team has allocated, and its own record: a job has room for 1024
  // teams at a time. Nothing works on the team afterwards. Of a team that has failed each rank lets
  // go by itself, without waiting for the others, by close() or with its last Team object; what the
  // team had is given back when all ranks that live have. Errors: invalid_argument while a team
  // that was split off this one is open; those of a set-up call where it has not failed.
  Result<void> close();

  // ---- failure ---------------------------------------------------------------------------------

  // Ends the waits of all ranks with `aborted` and this reason. The first failure of a team stays.
  // Of a closed team, which has no waits, nothing.
  void abort(std::string_view reason);

  // After peer_lost or aborted: agrees with the other survivors on who they are, and returns their
  // team, renumbered without gaps, with no windows or signals yet. Waits for every rank that still
  // lives to call it. This team's addresses must not be used any more.
  [[nodiscard]] Result<Team> shrink();

  // What runs the tasks of a task::Graph of this team (muster/task.hpp; link muster::task).
  friend std::unique_ptr<task::EngineOf<host::Fabric>> make_engine(Team& team,
                                                                   const task::Options& options);

 private:
  struct Shape {
    std::uint64_t offset;
    std::int64_t rows;
    std::int64_t cols;
    std::uint32_t segment = 0;
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
  Result<Shape> register_memory(void* memory, int fd, std::int64_t place,
                                const std::int64_t* extents, std::size_t count,
                                std::uint64_t element);
  Result<void> free_memory(std::uint64_t offset);
  Result<void> free_segment(std::uint32_t segment);
  Result<void> free_cells(std::uint32_t cell);
  Result<void> run_lanes(std::uint32_t count,
                         const std::function<detail::LaneOutcome(host::Fabric&)>& body);

  std::shared_ptr<host::TeamControl> control_;
  // Shared by all copies of this object, which are one team.
  std::shared_ptr<std::unordered_map<std::type_index, std::shared_ptr<void>>> kept_ =
      std::make_shared<std::unordered_map<std::type_index, std::shared_ptr<void>>>();
};

static_assert(SetUpAll<Team>);

}  // namespace muster
