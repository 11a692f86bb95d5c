// The file that a command names.
#pragma once

#include <string>

#include "muster/result.hpp"

namespace muster::cli {

// The path of an executable file: `name` itself where it has a slash, else the first on $PATH. An
// error says what is wrong with it: missing, a directory, not executable.
[[nodiscard]] Result<std::string> find_program(const std::string& name);

}  // namespace muster::cli
