// The calls that ranks make alike, or must: what each rank calls is compared with the others'.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <source_location>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "check/clock.hpp"
#include "check/trace.hpp"
#include "check/where.hpp"
#include "muster/fabric.hpp"

namespace muster::check::engine {

// The calls that bodies describe, numbered from 0 on each lane of each rank, or on each part of one
// by its first thread: kept is who came first to a number, and what all others are to call there.
class DescribedCalls {
 public:
  struct Call {
    std::uint32_t rank = 0;
    CallSignature signature;
    std::source_location where;
  };
  void clear() { first_.clear(); }
  // What is wrong, in words, where the call differs from the first one of its number on its lane.
  [[nodiscard]] std::optional<std::string> mismatch(std::uint32_t lane, std::uint32_t thread,
                                                    std::uint32_t number, const Call& call);

 private:
  // By lane, thread and number.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Call> first_;
};

// The set-up calls, numbered on each rank from 0. The first rank to come makes what is made; a call
// is over when all have come.
class SetupCalls {
 public:
  void clear() { calls_.clear(); }
  // A rank comes to the call of this number. `what` is the call with its arguments, `make` gives
  // its result. False where another rank has called something else: then the rank has not come.
  bool come(std::uint32_t number, const std::string& what,
            const std::function<std::uint32_t()>& make);
  [[nodiscard]] std::uint32_t arrived(std::uint32_t number) const { return calls_[number].arrived; }
  [[nodiscard]] std::uint32_t result(std::uint32_t number) const { return calls_[number].result; }
  [[nodiscard]] const std::string& what(std::uint32_t number) const { return calls_[number].what; }

 private:
  struct Call {
    std::string what;
    std::uint32_t result = 0;
    std::uint32_t arrived = 0;
  };
  std::vector<Call> calls_;
};

// How many lanes each rank has run at once, launch by launch.
class Launches {
 public:
  void reset(std::uint32_t ranks) { of_rank_.assign(ranks, {}); }
  void add(std::uint32_t rank, std::uint32_t lanes, Where where) {
    of_rank_[rank].push_back({lanes, where});
  }
  [[nodiscard]] std::size_t count(std::uint32_t rank) const { return of_rank_[rank].size(); }
  // The first launch in which a rank runs another number of lanes than rank 0, in words; empty
  // where there is none.
  [[nodiscard]] std::string difference() const;

 private:
  struct Launch {
    std::uint32_t lanes = 0;
    Where where;
  };
  std::vector<std::vector<Launch>> of_rank_;
};

// Who has entered which call of which barrier, by check::barrier_call.
class BarrierEntries {
 public:
  struct Entry {
    std::uint32_t rank = 0;
    std::uint32_t lane = 0;
    Stamp stamp;
    std::size_t step = Trace::none;  // of the trace, if one is kept
  };
  void clear() { entries_.clear(); }
  // The step in which a lane of that rank has first entered; Trace::none where it has not.
  [[nodiscard]] std::size_t step_of(std::uint32_t barrier, std::uint32_t call, std::uint32_t rank,
                                    std::uint32_t lane) const;
  void add(std::uint32_t barrier, std::uint32_t call, Entry entry) {
    entries_[key(barrier, call)].push_back(entry);
  }
  // How many threads of each lane have entered in that past: by rank, `lanes` of each.
  [[nodiscard]] std::vector<std::uint32_t> heard(std::uint32_t barrier, std::uint32_t call,
                                                 const Clock& past, std::uint32_t ranks,
                                                 std::uint32_t lanes) const;

 private:
  static std::uint64_t key(std::uint32_t barrier, std::uint32_t call) {
    return (std::uint64_t{barrier} << 32U) | call;
  }
  std::map<std::uint64_t, std::vector<Entry>> entries_;
};

}  // namespace muster::check::engine
