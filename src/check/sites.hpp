// Places in the source of a protocol.
#pragma once

#include <source_location>
#include <string>

#include "check/where.hpp"
#include "muster/check/report.hpp"

namespace muster::check::engine {

// The operation itself: the same one whoever called the protocol that makes it.
[[nodiscard]] Site site_of(const char* operation, Where where);
[[nodiscard]] const char* word(Order order);
// The place is in the file of that name, without its path.
[[nodiscard]] bool is_in(Where where, const std::string& file);
[[nodiscard]] bool same_place(std::source_location a, std::source_location b);
// "my_ring.cpp:12": the last part of the path, and the line. Within a call of a protocol the call
// comes first: "my_ring.cpp:12, in credit.hpp:37".
[[nodiscard]] std::string short_place(Where where);

}  // namespace muster::check::engine
