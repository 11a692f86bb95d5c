// `muster bench TOPIC`: measures one topic beside its peers.
#pragma once

#include <CLI/CLI.hpp>

namespace muster::cli {

// Adds the verb. When it has run, `status` is the exit code: 0, or 1 where muster's own contender, a
// floor or the report failed.
void add_bench(CLI::App& app, int& status);

}  // namespace muster::cli
