// What is said of a race: both accesses, and the edge that is missing between them.
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "check/execution.hpp"
#include "check/sites.hpp"

namespace muster::check::engine {

namespace {
using model::Access;
using Use = std::optional<History::Use>;

const char* verb(Access access) {
  switch (access) {
    case Access::read: return "reads";
    case Access::write: return "writes";
    case Access::remote_add: return "adds to";
  }
  return "?";
}

const char* past_of(Access access) {
  switch (access) {
    case Access::read: return "has read";
    case Access::write: return "has written";
    case Access::remote_add: return "has added";
  }
  return "?";
}

std::string nth(std::uint32_t number) {
  const std::uint32_t tens = number % 100 / 10;
  const std::uint32_t ones = tens == 1 ? 0 : number % 10;
  return fmt::format("{}{}", number, ones == 1 ? "st" : ones == 2 ? "nd" : ones == 3 ? "rd" : "th");
}

// " (x.cpp:5)", and how often where that differs from the other's.
std::string place_of(const Use& use, const Use& other) {
  if (!use) return "";
  const bool differs = other && other->times != use->times;
  return fmt::format(" ({}{})", differs ? nth(use->times) + " time, " : "",
                     short_place(use->where));
}
}  // namespace

// The execution has made `first` before `second`, of which nothing has come that orders them.
std::string Execution::missing_edge(const Thread& self, const Thread& other, Stamp earlier) const {
  using Of = TransferClocks::Of;
  const Of kind = clocks_.kind_of(earlier);
  const std::string who = name_of_thread(other);
  const std::string me = name_of_thread(self);
  if (kind == Of::agent) {
    switch (clocks_.flight_of(earlier)) {
      using Flight = TransferClocks::Flight;
      case Flight::reading:
        return fmt::format(
            "the source is still being read: {} has neither completed the put_async nor flushed",
            who);
      case Flight::put:
        return fmt::format(
            "the transfer is still in flight: neither a flush that {} made after it, nor a release "
            "notify of its to rank {} after it, has been acquired on the way to {}",
            who, clocks_.target_of_agent(earlier), me);
      case Flight::get:
        return fmt::format(
            "the transfer is still in flight: {} has neither completed the get_async nor flushed",
            who);
      case Flight::other: break;
    }
    return fmt::format(
        "the transfer is still in flight: {} has neither acquired its signal nor, being its "
        "issuer, flushed",
        me);
  }
  if (kind == Of::channel)
    return fmt::format(
        "the transfer is still in flight: neither a flush that {} made after it, nor a release "
        "notify of its to rank {} after it, has been acquired on the way to {}",
        who, clocks_.target_of_channel(earlier), me);
  if (kind == Of::loads && self.cause.has(clocks_.event_of(earlier)))
    return fmt::format(
        "signals lead from {} to {}, but none of them says that the load is done: the notify after "
        "it is relaxed, and no converge lies between",
        who, me);
  if (self.cause.has(earlier))
    return fmt::format(
        "signals lead from {} to {}, but not all of them release and acquire: one is relaxed, or "
        "carries its own payload alone",
        who, me);
  return fmt::format("no signal that {} gave after its access has been awaited on the way to {}",
                     who, me);
}

// Which of the two was to come first is not which one came first here: the one of the earlier call
// was. What is missing leads from it to the other.
void Execution::found_race(Thread& self, const History::Touch& touch, const Conflict& conflict,
                           const std::string& place, const char* how) {
  const Access access = touch.access;
  const Thread& other = threads_[clocks_.issuer_of(conflict.earlier)];
  const std::string who = name_of_thread(other);
  const std::string me = name_of_thread(self);
  const Use mine = history_.last_use(conflict.element);
  const Use theirs = history_.use(conflict.earlier, touch.rank, touch.segment, conflict.element,
                                  conflict.earlier_access);
  const bool in_flight = clocks_.is_transfer(conflict.earlier);
  std::string what =
      fmt::format("{} {} {}{}{}, unordered with what {} {} there{}{}", me, verb(access), place, how,
                  place_of(mine, theirs), who, past_of(conflict.earlier_access),
                  in_flight ? " by a transfer" : "", place_of(theirs, mine));
  std::string missing;
  const bool differ = mine && theirs && mine->times != theirs->times;
  const bool mine_first = differ && mine->times < theirs->times;
  const bool again = differ && (mine_first ? access : conflict.earlier_access) == Access::read;
  if (again)
    missing = fmt::format("it is written again before {}, which reads it, has said that it has: ",
                          mine_first ? me : who);
  missing += mine_first ? fmt::format(
                              "no signal that {} gives after its access has been awaited on "
                              "the way to {}",
                              me, who)
                        : missing_edge(self, other, conflict.earlier);
  Clock past;
  past.raise(clocks_.event_of(conflict.earlier));
  MissingEdge told = edge(other.rank, theirs ? theirs->step : Trace::none, self);
  if (mine_first && told.from) {
    std::swap(*told.from, told.to);
    told.rank = self.rank;
  }
  found(self, Kind::race, std::move(what), std::move(missing), place, &past, {told});
}

}  // namespace muster::check::engine
