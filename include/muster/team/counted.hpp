// Collectives whose counts vary, from host code, on plain memory, in one line each:
//
//   std::vector<std::int64_t> counts = ...;                    // how many to each rank
//   const auto done = muster::all_to_all_v(team, std::span(to), rooms, received, from, parts);
//
// As those of muster/team/collective.hpp. Counts and places are one for each rank; `received` is
// empty where nobody wants to know.
//
// Errors: invalid_argument, in the same words on all ranks, where a count is negative or beyond a
// capacity, whoever gave it: they name rank, peer, count and capacity, and nothing has moved; else
// what a lane's waits end with (expired, peer_lost, aborted).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "muster/collective/all_gather_v.hpp"
#include "muster/collective/all_to_all_v.hpp"
#include "muster/collective/reduce_scatter_v.hpp"
#include "muster/result.hpp"
#include "muster/team.hpp"
#include "muster/team/collective.hpp"

namespace muster {

// The parts of a run of elements: counts[p] elements, or room for so many, from places[p] on.
struct SpanParts {
  std::span<const std::int64_t> counts;
  std::span<const std::int64_t> places;
};

// What is wrong, in a sentence.
[[nodiscard]] inline std::string to_string(const CountFault& fault) {
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  const std::string rank = "rank " + number(fault.rank.value);
  const std::string peer = number(fault.peer.value);
  const std::string count = number(fault.count);
  const std::string capacity = number(fault.capacity);
  const std::string end = fault.end == CountFault::End::to ? "`to`" : "`from`";
  using Kind = CountFault::Kind;
  switch (fault.kind) {
    case Kind::none: break;
    case Kind::parts:
      return rank + " gives " + count +
             (fault.end == CountFault::End::received ? " received counts" : " counts or places") +
             "; there must be " + capacity + ", one for each rank";
    case Kind::place:
      return rank + ", peer " + peer + ": the part of " + end + " begins at place " + count +
             "; it must be from 0 to its length, " + capacity;
    case Kind::count:
      return rank + ", peer " + peer +
             (fault.end == CountFault::End::to ? ": there is to be room for " : ": the count is ") +
             count + "; it must be from 0 to the capacity of " + end + " from its place on, " +
             capacity;
    case Kind::overlap: return rank + ": to and from overlap; they must be apart";
    case Kind::beyond:
      return rank + ", peer " + peer + ": the count is " + count +
             ", beyond the peer's capacity, which is " + capacity;
    case Kind::differs:
      return rank + ", peer " + peer + ": the count is " + count + ", and rank 0 says " + capacity +
             "; it must be the same on all ranks";
  }
  return "nothing is wrong";
}

namespace detail {

[[nodiscard]] inline Parts parts_of(SpanParts parts) {
  return {memory_of(parts.counts), memory_of(parts.places)};
}

// As run_kept; where all ranks are refused, with the reason.
template <class Object, class Call>
[[nodiscard]] Result<void> run_counted(Team& team, std::string_view name, Call&& call) {
  try {
    const Object& object = team.kept<Object>();
    return team.lane([&](auto& fabric) -> Result<void> {
      const WaitStatus status = call(object, fabric);
      if (status != WaitStatus::invalid) return result_of(status);
      return collective_error(team, name, to_string(object.fault(fabric)));
    });
  } catch (const Failure& failure) {
    return failure.error();
  }
}

}  // namespace detail

// Part s of `to` = this rank's part of rank s's `from`, and received[s] its length. The counts of
// `rooms` are capacities.
template <class T>
Result<void> all_to_all_v(Team& team, std::span<T> to, SpanParts rooms,
                          std::span<std::int64_t> received,
                          std::span<const std::type_identity_t<T>> from, SpanParts parts) {
  return detail::run_counted<AllToAllV<T>>(
      team, "all_to_all_v", [&](const AllToAllV<T>& object, auto& fabric) {
        return object.run(fabric, detail::memory_of(to), detail::parts_of(rooms),
                          detail::memory_of(received), detail::memory_of(from),
                          detail::parts_of(parts));
      });
}

// Part r of `to` = all of rank r's `from`, and received[r] its length. The counts of `rooms` are
// capacities.
template <class T>
Result<void> all_gather_v(Team& team, std::span<T> to, SpanParts rooms,
                          std::span<std::int64_t> received,
                          std::span<const std::type_identity_t<T>> from) {
  return detail::run_counted<AllGatherV<T>>(
      team, "all_gather_v", [&](const AllGatherV<T>& object, auto& fabric) {
        return object.run(fabric, detail::memory_of(to), detail::parts_of(rooms),
                          detail::memory_of(received), detail::memory_of(from),
                          static_cast<std::int64_t>(from.size()));
      });
}

// The first elements of `to` = this rank's part of the operator over all ranks' `from`. The counts
// are the same on all ranks.
template <class T, detail::OperatorOn<T> Op = Sum>
Result<void> reduce_scatter_v(Team& team, std::span<T> to,
                              std::span<const std::type_identity_t<T>> from, SpanParts parts,
                              Op op = {}) {
  return detail::run_counted<ReduceScatterV<T>>(
      team, "reduce_scatter_v", [&](const ReduceScatterV<T>& object, auto& fabric) {
        return object.run(fabric, detail::memory_of(to), detail::memory_of(from),
                          detail::parts_of(parts), op);
      });
}

}  // namespace muster
