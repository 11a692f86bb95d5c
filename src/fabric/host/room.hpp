// The limits of a process on the size of what it maps and of files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "muster/result.hpp"

namespace muster::host {

// Bytes that this process may still map (RLIMIT_AS), and that a file may have (RLIMIT_FSIZE). The
// largest number where there is no limit.
[[nodiscard]] std::uint64_t address_room();
[[nodiscard]] std::uint64_t file_room();

// Why so many bytes of shared memory cannot be had: which limit it is, how much was wanted, how
// much there is. `code` is what the system said.
[[nodiscard]] Error no_room_for(const std::string& what, std::uint64_t bytes, int code);

// Takes real pages for part of a file, so that no rank meets a page later that cannot be had.
// Beyond 1 GiB it only looks whether there is room.
[[nodiscard]] std::optional<Error> back_with_pages(int fd, std::uint64_t place,
                                                   std::uint64_t bytes);

}  // namespace muster::host
