// The launchers that muster knows: how each tells a process which rank it is.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "launch/environment.hpp"

namespace muster::launcher {

// Which rank a launcher's variables say that this process is, and of how many.
struct Claim {
  std::uint32_t rank = 0;
  std::optional<std::uint32_t> ranks;  // none: the variables do not say
};

[[nodiscard]] std::string describe(const Claim& claim);  // "rank 2 of 3"

// One launcher's variables, as `lookup` has them.
class Kind {
 public:
  Kind(const Lookup& lookup, Launcher launcher) : lookup_(lookup), launcher_(launcher) {}

  [[nodiscard]] Launcher launcher() const { return launcher_; }

  // Are there variables that only this launcher sets, for a rank? RANK and WORLD_SIZE alone may be
  // anybody's, and SLURM sets much for a batch script too.
  [[nodiscard]] bool is_present() const;

  // Errors: a variable is missing or no number, or the numbers contradict each other.
  [[nodiscard]] Result<Claim> claim() const;

  // The process as a rank of the launcher's job. Errors: those of claim; a job that spans hosts, or
  // that no rank can join, where its ranks have to be on one host.
  [[nodiscard]] Result<LaunchedBy> identify(Reach reach = Reach::one_host) const;

  // The variables that hold the numbers: "RANK, WORLD_SIZE".
  [[nodiscard]] std::string where_it_says() const;

  // Changes where a variable does that tells one process of this launcher from any other; no value
  // where none of them is set.
  [[nodiscard]] std::optional<std::string> digest() const;

  // Takes the numbers out of the process's own environment.
  void forget() const;

 private:
  const Lookup& lookup_;
  Launcher launcher_;
};

// An inner one before those that often stand around it; who says more before who says less.
[[nodiscard]] std::span<const Launcher> all_launchers();

// How MUSTER_LAUNCHER names it.
[[nodiscard]] const char* choice_of(Launcher launcher);

}  // namespace muster::launcher
