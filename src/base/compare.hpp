// How a comparison is written in messages.
#pragma once

#include "muster/types.hpp"

namespace muster {

// "==", "!=", ">=", ">", "<=" or "<".
[[nodiscard]] constexpr const char* symbol_of(Compare compare) {
  switch (compare) {
    case Compare::eq: return "==";
    case Compare::ne: return "!=";
    case Compare::ge: return ">=";
    case Compare::gt: return ">";
    case Compare::le: return "<=";
    case Compare::lt: return "<";
  }
  return "?";
}

}  // namespace muster
