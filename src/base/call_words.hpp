// A described call in words, the same wherever two that differ are told apart.
#pragma once

#include <cstdint>
#include <string>

#include "muster/fabric/call.hpp"

namespace muster {

// "EpochBarrier (cell 12, its call 3)", "halo of 4 x 6 float32 in chunks of 2 x 6",
// "Reduce of 1 x 5 float32 (cell 8, operator max, root 1)"; "..., which is invalid".
[[nodiscard]] std::string to_string(const CallSignature& call);

// Do two ranks make the same call? Also where both have refused one of that name: nobody waits.
[[nodiscard]] bool agree(const CallSignature& a, const CallSignature& b);

// Of an element_code: the bytes of one element; "float32", "elements of 64 bytes".
[[nodiscard]] std::uint64_t bytes_of_element(std::uint64_t code);
[[nodiscard]] std::string name_of_element(std::uint64_t code);

}  // namespace muster
