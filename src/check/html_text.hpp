// Text that becomes part of an HTML page.
#pragma once

#include <string>
#include <string_view>

namespace muster::check {

// As text of an element or a quoted attribute: it is shown as it is, whatever it holds. What is no
// UTF-8, and what is no character of a page, is shown as U+FFFD, one for each byte.
[[nodiscard]] std::string html_text(std::string_view text);

}  // namespace muster::check
