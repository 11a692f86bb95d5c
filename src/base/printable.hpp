// Text from outside, for a message.
#pragma once

#include <string>
#include <string_view>

namespace muster {

// What a terminal would take as a command, and what is no UTF-8, as "\\x1b"; the rest as it is.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace muster
