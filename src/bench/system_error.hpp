// A system call that failed, with what errno says.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "muster/result.hpp"

namespace muster::bench {

inline Error system_error(const char* call) {
  return Error{ErrorCode::system, fmt::format("{}: {}", call, std::strerror(errno))};
}

}  // namespace muster::bench
