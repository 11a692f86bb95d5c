// How a check program is told from any other without running it: its file holds this mark.
#pragma once

#include <string_view>

namespace muster::check {

// The mark is the first part and, directly behind it, the second. In two parts, so that who looks
// for it does not hold it.
inline constexpr std::string_view mark_first = "muster check program, ";
inline constexpr std::string_view mark_second = "interface 1";

}  // namespace muster::check
