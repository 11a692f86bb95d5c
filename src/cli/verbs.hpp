// The verbs of the command that this build has. CMakeLists.txt says how to add one.
#pragma once

#include <vector>

namespace CLI {
class App;
}

namespace muster::cli {

using AddVerb = void (*)(CLI::App& app, int& status);

// In the order of `muster --help`.
[[nodiscard]] const std::vector<AddVerb>& verbs();

}  // namespace muster::cli
