// Step 1: every rank says who it is, and rank 0 hears them all.
//
// The body is written for any team: main.cpp runs it on real ranks, the checker on modelled ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/fabric.hpp"
#include "muster/result.hpp"

namespace tutorial {

// Returns on rank 0 what it has heard, by rank; on the others nothing.
template <class Team>
muster::Result<std::vector<std::uint32_t>> hello_rank(Team& team) {
  using namespace muster;

  // A signal for each rank that may write: with one writer per cell no greeting can be overwritten.
  // Every rank allocates alike, so `rows` names the same place on all of them; all cells are zero.
  const Rows rows = *team.rows();
  std::vector<std::uint32_t> heard;

  // All communication happens in a lane: one strand of this rank. `fabric` is its view of the team.
  const Result<void> ran = team.lane([&](auto& fabric) {
    // A lane may have many threads (a block of a GPU); this needs one. On a host there is but one.
    if (fabric.thread() != 0) return WaitStatus::ok;

    // Zero means "nothing yet", so rank r says r + 1. notify is one-sided: rank 0 need not be
    // ready.
    const Signal mine = rows.from(fabric.lane(), fabric.rank());
    fabric.notify(mine, Rank{0}, fabric.rank().value + 1, NotifyOp::set);
    if (fabric.rank() != Rank{0}) return WaitStatus::ok;

    for (std::uint32_t rank = 0; rank < fabric.size(); ++rank) {
      const Signal theirs = rows.from(fabric.lane(), Rank{rank});
      const WaitStatus status = fabric.wait(theirs, Compare::ne, 0);
      // A wait that ends is not yet a success: the peer may have died. Hand the status on.
      if (status != WaitStatus::ok) return status;
      heard.push_back(fabric.read(theirs));
    }
    return WaitStatus::ok;
  });
  if (!ran) return ran.error();
  return heard;
}

// The golden value: rank r says r + 1. Names the first difference.
inline muster::Result<void> check_hello(const std::vector<std::uint32_t>& heard,
                                        std::uint32_t ranks) {
  if (heard.size() != ranks)
    return muster::Error{.code = muster::ErrorCode::mismatch,
                         .what = "heard " + std::to_string(heard.size()) + " ranks, expected " +
                                 std::to_string(ranks)};
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    if (heard[rank] != rank + 1)
      return muster::Error{.code = muster::ErrorCode::mismatch,
                           .what = "rank " + std::to_string(rank) + " said " +
                                   std::to_string(heard[rank]) + ", expected " +
                                   std::to_string(rank + 1)};
  return {};
}

}  // namespace tutorial
