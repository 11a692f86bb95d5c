// The limits on memory of the control groups that this process is in.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace muster::host {

// Version 1 and 2, from this process's own group up to the outermost that can be seen here; each of
// them binds. `root` is where /proc and the mounts are looked for; tests keep copies elsewhere.
class ControlGroup {
 public:
  explicit ControlGroup(std::string root = {});

  // What may still be taken, in bytes: the least that a limit leaves, pages of files that the
  // kernel would give up first not counted as taken. No value where nothing is limited.
  [[nodiscard]] std::optional<std::uint64_t> left() const;

  // Processes that the kernel has killed for this group's memory. 0 where it does not say.
  [[nodiscard]] std::uint64_t killed() const;

  // "/jobs/7 has a limit of 512.0 MiB", of the group that leaves least; empty where none has one.
  [[nodiscard]] std::string limit_in_words() const;

 private:
  struct Level {
    std::string directory;
    std::uint64_t limit;
    std::uint64_t left;
  };
  // The level that leaves least.
  [[nodiscard]] std::optional<Level> tightest() const;

  std::string directory_;  // of the process's own group; empty: there is none
  std::string top_;        // where its hierarchy is mounted
  bool second_ = false;    // version 2
};

// Counts from now on; says what the kernel has killed for memory since: ", and the kernel has
// killed 2 processes for memory meanwhile: ...". Empty where it has killed none.
[[nodiscard]] std::function<std::string()> watch_kills_for_memory();

}  // namespace muster::host
