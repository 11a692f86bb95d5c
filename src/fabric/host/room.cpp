#include "fabric/host/room.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>

#include "fabric/host/layout.hpp"
#include "fabric/host/memory_info.hpp"

namespace muster::host {
namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

std::uint64_t limit_of(int resource) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) return unlimited;
  return limit.rlim_cur == RLIM_INFINITY ? unlimited : limit.rlim_cur;
}

}  // namespace

std::uint64_t address_room() {
  const std::uint64_t limit = limit_of(RLIMIT_AS);
  if (limit == unlimited) return unlimited;
  std::uint64_t pages = 0;  // that are mapped; 0 where that cannot be told
  std::ifstream("/proc/self/statm") >> pages;
  return limit - std::min(limit, pages * page);
}

std::uint64_t file_room() {
  return limit_of(RLIMIT_FSIZE);
}

Error no_room_for(const std::string& what, std::uint64_t bytes, int code) {
  std::string limits;
  if (const std::uint64_t most = file_room(); most < bytes) {
    limits += fmt::format("; ulimit -f allows files of at most {}", format_bytes(most));
  }
  if (const std::uint64_t left = address_room(); left < bytes) {
    limits += fmt::format("; ulimit -v allows {}, of which {} are left",
                          format_bytes(limit_of(RLIMIT_AS)), format_bytes(left));
  }
  if (limits.empty()) limits = fmt::format(": {}", std::strerror(code));
  return Error{ErrorCode::out_of_memory, fmt::format("{} needs at least {} of shared memory{}",
                                                     what, format_bytes(bytes), limits)};
}

std::optional<Error> back_with_pages(int fd, std::uint64_t place, std::uint64_t bytes) {
  constexpr std::uint64_t taken_at_once = 1ULL << 30U;
  struct stat info {};
  struct statvfs system {};
  // What cannot be looked at, or is too short, is refused where it is mapped.
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  if (place + bytes > static_cast<std::uint64_t>(info.st_size)) return std::nullopt;
  // A file of anonymous memory is bounded by no file system.
  const bool bounded = fstatvfs(fd, &system) == 0 && system.f_blocks != 0;
  const std::uint64_t room =
      std::min(bounded ? system.f_bavail * system.f_frsize : unlimited, available_memory());
  const Error refused{
      ErrorCode::out_of_memory,
      fmt::format(
          "the file is sparse: not all of the {} from byte {} on have pages yet, and {} are "
          "available",
          format_bytes(bytes), place, format_bytes(room))};
  // Blocks of the file that lie elsewhere count as well: a lower bound.
  const std::uint64_t there = static_cast<std::uint64_t>(info.st_blocks) * 512;
  if (bytes - std::min(bytes, there) > room) return refused;
  if (bytes > taken_at_once) return std::nullopt;
  int code = 0;
  do {
    code = fallocate(fd, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(place),
                     static_cast<off_t>(bytes)) == 0
               ? 0
               : errno;
  } while (code == EINTR);
  if (code == ENOSPC || code == ENOMEM || code == EDQUOT) return refused;
  return std::nullopt;  // a file system that cannot tell beforehand
}

}  // namespace muster::host
