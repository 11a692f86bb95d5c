// A litmus test of the PTX memory model, read from text in the format of herd and Dartagnan.
#pragma once

#include <string>
#include <string_view>

#include "litmus/program.hpp"
#include "muster/result.hpp"

namespace muster::litmus {

// What is not known is refused by name, with its place: proxies, aliases, vectors and sizes,
// clusters, instructions. `file` is what errors call the text: "FILE:LINE:COLUMN: ...".
// Registers and locations that nothing initialises are 0.
[[nodiscard]] Result<Program> parse(std::string_view text, const std::string& file);

}  // namespace muster::litmus
