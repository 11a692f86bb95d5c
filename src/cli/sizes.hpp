// Sizes of messages as they are typed, and as they are shown.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "muster/result.hpp"

namespace muster::cli {

using Sizes = std::vector<std::uint64_t>;  // in bytes

// In bytes: multiples of `step` from `step` to `most`.
struct SizeLimits {
  std::uint64_t step = 4;
  std::uint64_t most = std::uint64_t{1} << 30U;
};

// "8", "64K": K, M and G are powers of 1024. Errors (invalid_argument): no size; not within the
// limits.
[[nodiscard]] Result<std::uint64_t> parse_size(std::string_view text, SizeLimits limits = {});

// One word of a list: a size, or a range of them (8:64M, each twice the one before; 8:64M:4, each
// four times), whose end is in it where the steps meet it. Errors (invalid_argument): parse_size's;
// a range that falls; a factor that is not 2 to 1024.
[[nodiscard]] Result<Sizes> parse_size_word(const std::string& word, SizeLimits limits = {});

// All words of a list, in their order; a size that is named twice is taken once.
[[nodiscard]] Result<Sizes> parse_sizes(const std::vector<std::string>& words,
                                        SizeLimits limits = {});

// "8", "64K", "2M": the shortest that parse_size_word reads back.
[[nodiscard]] std::string size_word(std::uint64_t bytes);

}  // namespace muster::cli
