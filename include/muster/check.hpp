// Check an own protocol:
//
//   #include <muster/barrier.hpp>
//   #include <muster/check.hpp>
//
//   MUSTER_CHECK(hello, {.ranks = 3, .calls = 2}) {
//     auto inbox = *team.window<int>({1}, "inbox");
//     muster::EpochBarrier barrier(team);
//     (void)team.lanes(lanes, [&](auto& fabric) {
//       for (std::uint32_t call = 0; call < calls; ++call) {
//         ...
//         if (barrier.sync(fabric) != muster::WaitStatus::ok) return;
//         expect(fabric.local(inbox)[0] == 7, "the neighbour's number has arrived");
//       }
//     });
//   }
//
// Link muster::check_main and run the program: `--help` tells the rest.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "muster/check/report.hpp"
#include "muster/expect.hpp"
#include "muster/fabric/model.hpp"
#include "muster/types.hpp"

namespace muster::check {

// What MUSTER_CHECK says about a protocol: the second argument, by designated initialisers.
struct Protocol {
  std::uint32_t ranks = 2;  // the configuration to run where none is asked for
  std::uint32_t calls = 2;
  std::uint32_t lanes = 1;
  std::uint32_t threads = 1;  // per lane
  std::uint32_t tasks = 0;    // room for so many blocks of tasks on each rank (muster/task.hpp)
  const char* place = "";     // where its lanes run: check/placement.hpp
  Profile weakest = Profile::rdma;  // it claims this profile and all stronger ones
  bool noncoherent = false;         // it claims Profile::noncoherent, too
  const char* group = "";           // "broken" makes the name broken/NAME
  std::optional<Kind> fails{};      // it is wrong: this kind must be among those reported
  std::uint32_t expire = 0;         // at most so many waits of an execution expire
  const char* about = "";           // one line for --list
  Rules rules = Rules::cpp;         // of atomic objects (muster/check/atomic.hpp)
};

// What the body of a MUSTER_CHECK sees. The body runs once on each rank, as with muster::run.
class Body {
 public:
  Body(model::Team& rank_team, std::uint32_t with_calls, std::uint32_t with_lanes)
      : team(rank_team), calls(with_calls), lanes(with_lanes) {}

 protected:
  model::Team& team;
  const std::uint32_t calls;  // how often the protocol is to be used: --calls
  const std::uint32_t lanes;  // how many lanes to run: --lanes

  // The protocol's own assertion, in or outside a lane. A false one is a finding of kind `expect`.
  static void expect(bool holds, const char* what = "expectation");
  // The same as muster::expect, whose name the one above hides.
  static void expect(model::Fabric& fabric, bool holds, const char* what = "expectation",
                     model::Where where = model::Where::current()) {
    fabric.expectation(holds, what, where);
  }
  // Recorded in Report::outcomes.
  static void outcome(std::uint64_t value);
};

struct Entry {
  std::string name;
  Protocol protocol;
  std::function<void(model::Team&)> body;
};

// All checks that are linked into this program, by name.
[[nodiscard]] const std::vector<Entry>& registry();
[[nodiscard]] const Entry* find(const std::string& name);
bool add(const char* name, const Protocol& protocol, std::function<void(model::Team&)> body);

// The main of a check program: runs all registered checks, or those named. Exit status 0
// certified or complete, 1 refuted, 2 usage, 3 bounded, 4 where not all of the output could be
// written, or the checker itself has failed.
int main(int argc, char** argv);

// Model steps a second on this machine, one core, over about `seconds`.
struct StepRate {
  std::uint64_t steps = 0;
  std::uint64_t executions = 0;
  double seconds = 0;
  [[nodiscard]] double per_second() const;
};
[[nodiscard]] StepRate measure_steps(double seconds = 1.0);

// Marks one use of a barrier by all threads of a lane, so that the checker can tell a rank that
// leaves call k before every rank has entered it ("stale pass"). `barrier` tells barriers apart
// where a body uses several; `reach` says who meets there. On fabrics other than the model it just
// calls `use`.
template <class F, class Use>
WaitStatus barrier_call(F& fabric, Use&& use, [[maybe_unused]] std::uint32_t barrier = 0,
                        [[maybe_unused]] model::BarrierScope scope = model::BarrierScope::lane,
                        [[maybe_unused]] CallSite<F> site = {}) {
  if constexpr (requires { fabric.enter_call(barrier, scope); }) {
    fabric.enter_call(barrier, scope, site.where);
    const WaitStatus status = use();
    fabric.leave_call(barrier, status, site.where);
    return status;
  } else {
    return use();
  }
}

}  // namespace muster::check

// MUSTER_CHECK(name, {options}) { body }
#define MUSTER_CHECK(name, ...)                                                       \
  namespace {                                                                         \
  struct muster_check_##name final : ::muster::check::Body {                          \
    using Body::Body;                                                                 \
    void run();                                                                       \
  };                                                                                  \
  [[maybe_unused]] const bool muster_check_added_##name = ::muster::check::add(       \
      #name, ::muster::check::Protocol __VA_ARGS__, [](::muster::model::Team& team) { \
        muster_check_##name(team, team.calls(), team.max_lanes()).run();              \
      });                                                                             \
  }                                                                                   \
  void muster_check_##name::run()
