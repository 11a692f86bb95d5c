// The verbs of the command that this build has. CMakeLists.txt says how to add one.
#pragma once

#include <CLI/CLI.hpp>
#include <vector>

namespace muster::cli {

using AddVerb = void (*)(CLI::App& app, int& status);

// In the order of `muster --help`.
[[nodiscard]] const std::vector<AddVerb>& verbs();

}  // namespace muster::cli
