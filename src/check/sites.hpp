// Places in the source of a protocol.
#pragma once

#include <source_location>
#include <string>

#include "muster/check/report.hpp"

namespace muster::check::engine {

[[nodiscard]] Site site_of(const char* operation, std::source_location where);
// The place is in the file of that name, without its path.
[[nodiscard]] bool is_in(std::source_location where, const std::string& file);
// "credit.hpp:37": the last part of the path, and the line.
[[nodiscard]] std::string short_place(std::source_location where);

}  // namespace muster::check::engine
