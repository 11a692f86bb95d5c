// Collectives from host code, on plain memory, in one line each:
//
//   std::vector<float> v = ...;
//   const auto done = muster::all_reduce(team, std::span(v));          // the sums, in place
//   const auto most = muster::all_reduce(team, std::span(v), Max{});
//
// Every rank of the team makes the same calls in the same order, with the same lengths, operator
// and root, outside of lanes; they run on one lane, the calling thread. The team keeps what they
// need and makes it with the first call of each kind and type, which is then a set-up call too:
// 512 KiB for each lane that the team may run (all_reduce, reduce_scatter, all_to_all; 256 KiB for
// a broadcast, 128 KiB for an all_gather, 64 KiB for the others).
// Longer messages flow through that. A collective of one's own options, on several lanes or on
// windows is an object: muster/collective.hpp.
//
// Errors: invalid_argument where lengths do not fit each other, spans overlap, or the root does not
// exist, before anything is sent; else what a lane's waits end with (expired, peer_lost, aborted).
// What one rank alone is given wrongly it alone is told: the others wait for it until it calls
// again, or their deadline is over. In a verifying run all are told.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "muster/collective.hpp"
#include "muster/result.hpp"
#include "muster/team.hpp"

namespace muster {

namespace detail {

template <class T>
[[nodiscard]] MemoryRef<T> memory_of(std::span<T> elements) {
  return {elements.data(), 1, static_cast<std::int64_t>(elements.size())};
}

[[nodiscard]] inline Error collective_error(const Team& team, std::string_view call,
                                            const std::string& what) {
  return {ErrorCode::invalid_argument, std::string(call) + ": " + what, team.rank()};
}

// A call that this rank will not make. In a verifying run the others, which do, are told so.
[[nodiscard]] inline Error refuse_call(Team& team, const char* call, const std::string& what) {
  (void)team.lane([&](auto& fabric) {
    CallSignature refused{call, {CallSignature::no_cell, 0}};
    refused.invalid = true;
    describe(fabric, refused);
    return WaitStatus::ok;
  });
  return collective_error(team, call, what);
}

// The longer span must have a part of the shorter one's length for each rank.
[[nodiscard]] inline Result<void> check_lengths(Team& team, const char* call, const char* longer,
                                                std::size_t longer_length, const char* shorter,
                                                std::size_t shorter_length) {
  if (longer_length == shorter_length * team.size()) return {};
  return refuse_call(team, call,
                     std::string(longer) + " has " + std::to_string(longer_length) +
                         " elements and " + shorter + " " + std::to_string(shorter_length) +
                         "; on " + std::to_string(team.size()) + " ranks it must have " +
                         std::to_string(shorter_length * team.size()));
}

[[nodiscard]] inline Result<void> check_root(Team& team, const char* call, Rank root) {
  if (root.value < team.size()) return {};
  return refuse_call(team, call,
                     "root is " + std::to_string(root.value) + "; there are " +
                         std::to_string(team.size()) + " ranks, from 0 on");
}

template <class T>
[[nodiscard]] bool spans_overlap(std::span<const T> a, std::span<const T> b) {
  return !a.empty() && !b.empty() && a.data() < b.data() + b.size() &&
         b.data() < a.data() + a.size();
}

template <class Op, class T>
concept OperatorOn = std::is_same_v<Op, ReduceOp> ||
    std::is_invocable_r_v<Accumulator<T>, Op, Accumulator<T>, Accumulator<T>>;

// Runs call(object, fabric) on the object of that type that the team keeps.
template <class Object, class Call>
[[nodiscard]] Result<void> run_kept(Team& team, Call&& call) {
  try {
    const Object& object = team.kept<Object>();
    return team.lane([&](auto& fabric) { return call(object, fabric); });
  } catch (const Failure& failure) {
    return failure.error();
  }
}

}  // namespace detail

// Every rank's elements become the operator over all ranks' (Sum, Prod, Max, Min, a ReduceOp, or a
// functor of one's own without state).
template <class T, detail::OperatorOn<T> Op = Sum>
Result<void> all_reduce(Team& team, std::span<T> elements, Op op = {}) {
  const MemoryRef<T> all = detail::memory_of(elements);
  return detail::run_kept<AllReduce<T>>(team, [&](const AllReduce<T>& object, auto& fabric) {
    return object.run(fabric, all, all, all.size(), op);
  });
}

// to = the operator over all ranks' `from`; both have the same length.
template <class T, detail::OperatorOn<T> Op = Sum>
Result<void> all_reduce(Team& team, std::span<T> to, std::span<const std::type_identity_t<T>> from,
                        Op op = {}) {
  if (to.size() != from.size())
    return detail::refuse_call(team, "all_reduce",
                               "to has " + std::to_string(to.size()) + " elements and from " +
                                   std::to_string(from.size()) +
                                   "; they must have the same length");
  if (to.data() != from.data() && detail::spans_overlap<T>(to, from))
    return detail::refuse_call(team, "all_reduce",
                               "to and from overlap; they must be the same or apart");
  return detail::run_kept<AllReduce<T>>(team, [&](const AllReduce<T>& object, auto& fabric) {
    return object.run(fabric, detail::memory_of(to), detail::memory_of(from),
                      static_cast<std::int64_t>(to.size()), op);
  });
}

// to = this rank's part of the operator over all ranks' `from`, which is size() times as long.
template <class T, detail::OperatorOn<T> Op = Sum>
Result<void> reduce_scatter(Team& team, std::span<T> to,
                            std::span<const std::type_identity_t<T>> from, Op op = {}) {
  if (auto fits =
          detail::check_lengths(team, "reduce_scatter", "from", from.size(), "to", to.size());
      !fits)
    return fits;
  if (to.data() != from.data() + to.size() * team.rank().value &&
      detail::spans_overlap<T>(to, from))
    return detail::refuse_call(team, "reduce_scatter",
                               "to and from overlap; to may be this rank's part of from, or apart");
  return detail::run_kept<ReduceScatter<T>>(
      team, [&](const ReduceScatter<T>& object, auto& fabric) {
        return object.run(fabric, detail::memory_of(to), detail::memory_of(from),
                          static_cast<std::int64_t>(to.size()), op);
      });
}

// to = all ranks' `from`, in the order of the ranks; it is size() times as long.
template <class T>
Result<void> all_gather(Team& team, std::span<T> to,
                        std::span<const std::type_identity_t<T>> from) {
  if (auto fits = detail::check_lengths(team, "all_gather", "to", to.size(), "from", from.size());
      !fits)
    return fits;
  if (from.data() != to.data() + from.size() * team.rank().value &&
      detail::spans_overlap<T>(to, from))
    return detail::refuse_call(team, "all_gather",
                               "to and from overlap; from may be this rank's part of to, or apart");
  return detail::run_kept<AllGather<T>>(team, [&](const AllGather<T>& object, auto& fabric) {
    return object.run(fabric, detail::memory_of(to), detail::memory_of(from),
                      static_cast<std::int64_t>(from.size()));
  });
}

// Part s of `to` = this rank's part of rank s's `from`; size() parts of one length in each.
template <class T>
Result<void> all_to_all(Team& team, std::span<T> to,
                        std::span<const std::type_identity_t<T>> from) {
  if (to.size() != from.size() || to.size() % team.size() != 0)
    return detail::refuse_call(team, "all_to_all",
                               "to has " + std::to_string(to.size()) + " elements and from " +
                                   std::to_string(from.size()) +
                                   "; they must have the same length, a multiple of the " +
                                   std::to_string(team.size()) + " ranks");
  if (detail::spans_overlap<T>(to, from))
    return detail::refuse_call(team, "all_to_all", "to and from overlap; they must be apart");
  return detail::run_kept<AllToAll<T>>(team, [&](const AllToAll<T>& object, auto& fabric) {
    return object.run(fabric, detail::memory_of(to), detail::memory_of(from),
                      static_cast<std::int64_t>(to.size() / team.size()));
  });
}

// Every rank's elements become the root's.
template <class T>
Result<void> broadcast(Team& team, std::span<T> elements, Rank root) {
  if (auto exists = detail::check_root(team, "broadcast", root); !exists) return exists;
  const MemoryRef<T> all = detail::memory_of(elements);
  return detail::run_kept<Broadcast<T>>(team, [&](const Broadcast<T>& object, auto& fabric) {
    return object.run(fabric, all, all, all.size(), root);
  });
}

// to at the root = the operator over all ranks' `from`; both have the same length there, and `to`
// is not looked at elsewhere.
template <class T, detail::OperatorOn<T> Op = Sum>
Result<void> reduce(Team& team, std::span<T> to, std::span<const std::type_identity_t<T>> from,
                    Rank root, Op op = {}) {
  if (auto exists = detail::check_root(team, "reduce", root); !exists) return exists;
  const bool is_root = root == team.rank();
  if (is_root && to.size() != from.size())
    return detail::refuse_call(team, "reduce",
                               "to has " + std::to_string(to.size()) + " elements and from " +
                                   std::to_string(from.size()) +
                                   "; at the root they must have the same length");
  if (is_root && to.data() != from.data() && detail::spans_overlap<T>(to, from))
    return detail::refuse_call(team, "reduce",
                               "to and from overlap; they must be the same or apart");
  return detail::run_kept<Reduce<T>>(team, [&](const Reduce<T>& object, auto& fabric) {
    return object.run(fabric, detail::memory_of(to), detail::memory_of(from),
                      static_cast<std::int64_t>(from.size()), root, op);
  });
}

// The root's elements become the operator over all ranks'; those of the others stay.
template <class T, detail::OperatorOn<T> Op = Sum>
Result<void> reduce(Team& team, std::span<T> elements, Rank root, Op op = {}) {
  return reduce(team, elements, std::span<const T>(elements), root, op);
}

// to at the root = all ranks' `from`, in the order of the ranks; it is size() times as long there,
// and not looked at elsewhere.
template <class T>
Result<void> gather(Team& team, std::span<T> to, std::span<const std::type_identity_t<T>> from,
                    Rank root) {
  if (auto exists = detail::check_root(team, "gather", root); !exists) return exists;
  if (root == team.rank()) {
    if (auto fits = detail::check_lengths(team, "gather", "to", to.size(), "from", from.size());
        !fits)
      return fits;
    if (from.data() != to.data() + from.size() * root.value && detail::spans_overlap<T>(to, from))
      return detail::refuse_call(
          team, "gather", "to and from overlap; from may be the root's part of to, or apart");
  }
  return detail::run_kept<Gather<T>>(team, [&](const Gather<T>& object, auto& fabric) {
    return object.run(fabric, detail::memory_of(to), detail::memory_of(from),
                      static_cast<std::int64_t>(from.size()), root);
  });
}

// to = this rank's part of the root's `from`, which is size() times as long there, and not looked
// at elsewhere.
template <class T>
Result<void> scatter(Team& team, std::span<T> to, std::span<const std::type_identity_t<T>> from,
                     Rank root) {
  if (auto exists = detail::check_root(team, "scatter", root); !exists) return exists;
  if (root == team.rank()) {
    if (auto fits = detail::check_lengths(team, "scatter", "from", from.size(), "to", to.size());
        !fits)
      return fits;
    if (to.data() != from.data() + to.size() * root.value && detail::spans_overlap<T>(to, from))
      return detail::refuse_call(
          team, "scatter", "to and from overlap; to may be the root's part of from, or apart");
  }
  return detail::run_kept<Scatter<T>>(team, [&](const Scatter<T>& object, auto& fabric) {
    return object.run(fabric, detail::memory_of(to), detail::memory_of(from),
                      static_cast<std::int64_t>(to.size()), root);
  });
}

}  // namespace muster
