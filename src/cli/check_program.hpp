// `muster check ./program`: an own check program.
#pragma once

#include <string>
#include <vector>

namespace muster::cli {

// Does the name mean a file and not one of the checks in this program?
[[nodiscard]] bool names_program(const std::string& name);

// Becomes the program, with all that the command line says but its name. Throws UsageError where it
// is none that was linked with muster::check_main: that is seen in its file, and it is not run.
[[noreturn]] void run_check_program(const std::string& program);

}  // namespace muster::cli
