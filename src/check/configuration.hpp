// Configurations of a check: from a command, into a replay string and back, and smaller ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "muster/check.hpp"

namespace muster::check {

// The largest that a command asks for.
inline constexpr std::uint32_t most_ranks = 256;
inline constexpr std::uint32_t most_calls = 1'000'000;
inline constexpr std::uint32_t most_lanes = 64;
inline constexpr std::uint32_t most_threads = 64;
inline constexpr std::uint32_t most_expired = 1000;
inline constexpr std::uint64_t most_executions = 1'000'000'000'000;

// "3 ranks, 2 calls, 1 lanes, 1 threads per lane, placed all=gpu"
[[nodiscard]] std::string in_words(const Options& options);

// "n=3,c=2,l=1,t=1,p=rdma,x=0:0.1.2": the configuration, and the choices of Report::replay. Where
// lanes are placed, ",d=0=gpu0+1=host" stands before the colon.
[[nodiscard]] std::string replay_string(const Options& options, const std::string& choices);
// Sets what the string says; what is wrong with it where it is none.
[[nodiscard]] std::string read_replay(const std::string& text, Options& options);

// The smallest configuration, first in ranks and then in calls, up to `options`, that fails with
// `kind`; and its report, with the events of the failing execution.
struct Smallest {
  Options options;
  Report report;
};
[[nodiscard]] Smallest smallest_failure(const Entry& entry, const Options& options, Kind kind);

// A change at one place of the source after which the configuration is no longer refuted.
struct Repair {
  Site site;
  Change change;
  Verdict verdict{};  // with it
  // Certified or complete; else only not refuted by a quick look.
  [[nodiscard]] bool is_whole() const { return verdict != Verdict::bounded; }
};
[[nodiscard]] std::vector<Repair> single_repairs(const Entry& entry, const Options& options,
                                                 const Report& report);
// One execution, with its events: the first of a search, with that repair in place.
[[nodiscard]] Report one_execution(const Entry& entry, Options options,
                                   const Repair* with = nullptr);

[[nodiscard]] std::string describe(const Repair& repair);

}  // namespace muster::check
