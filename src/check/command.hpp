// What `muster check` and a program with muster::check_main do with their arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "muster/check.hpp"

namespace CLI {
class App;
}

namespace muster::check {

struct Command {
  std::vector<std::string> names;  // none: all that are registered; with `all`: groups too
  bool list = false;
  bool all = false;                   // those that are meant to pass, a line each
  std::optional<std::uint32_t> jobs;  // with `all`: at once; none: the cores
  std::optional<double> timeout;      // of a check, seconds; 0: no limit; none: as 0, with `all` 10
  std::optional<std::uint32_t> ranks, calls, lanes, threads;
  std::optional<std::string> profile;
  std::optional<std::string> random;  // SEED,N
  bool pct = false;
  std::optional<std::uint32_t> expire;
  std::optional<std::string> place;  // where lanes run: check/placement.hpp
  std::optional<std::string> replay;
  std::string json;
  std::string html;
  bool search = false;  // even where there is a certificate
  bool hints = false;   // look for what is not needed
  std::uint64_t executions = 2'000'000;
  double seconds = 60;  // of the search on each profile; 0: no limit
};

void add_options(CLI::App& app, Command& command);

// The exit status: 0 as asked, 1 refuted, 2 usage, 3 bounded; 4 where all was well, but not all of
// the output could be written, or the checker itself has failed (no memory, no process).
[[nodiscard]] int run(const Command& command);

// The same from the words of a check program's command line; `version` is what --version prints.
[[nodiscard]] int run_program(int argc, char** argv, const char* version);

}  // namespace muster::check
