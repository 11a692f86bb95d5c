// The job's token: the secret that its members know and nobody else.
#pragma once

#include <string>

#include "muster/result.hpp"

namespace muster::detail::net {

// What a file holds, without space at its ends. Errors: system where it cannot be read;
// invalid_argument where others may read it (it has to be 0600 or less), or it is too short.
[[nodiscard]] Result<std::string> token_in_file(const std::string& path);

// Of MUSTER_TOKEN, or of the file that MUSTER_TOKEN_FILE names. Errors: those of token_in_file;
// invalid_argument where neither is set, which says how to make one.
[[nodiscard]] Result<std::string> token_by_environment();

}  // namespace muster::detail::net
