// Windows over memory that the ranks bring.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "muster/team.hpp"
#include "team/setup.hpp"

namespace muster::host {
namespace {

// What a rank tells the others: the descriptor and where in the file its piece begins.
constexpr unsigned place_bits = 44;

std::uint64_t pack(const Bring& bring) {
  if (bring.memory != nullptr) return reinterpret_cast<std::uint64_t>(bring.memory);
  return static_cast<std::uint64_t>(bring.fd) << place_bits | bring.place;
}

std::optional<Error> wrong(const TeamContext& team, const Bring& bring) {
  const auto invalid = [](std::string what) {
    return Error{ErrorCode::invalid_argument, std::move(what)};
  };
  if (bring.memory == nullptr && bring.fd < 0) {
    return invalid("window_on: neither memory nor a descriptor was given");
  }
  if (bring.memory != nullptr && team.process().processes && team.size() > 1) {
    return Error{ErrorCode::unavailable,
                 "window_on: a pointer reaches no other process; give the descriptor of shared "
                 "memory (memfd_create, shm_open) instead"};
  }
  if (bring.memory == nullptr && bring.place >> place_bits != 0) {
    return invalid(
        fmt::format("window_on: place is {}; it must be below 2^{}", bring.place, place_bits));
  }
  return std::nullopt;
}

// Maps `bytes` of the file that the process has open as `fd`, from `place` on.
Result<Piece> map(std::int32_t pid, std::uint64_t packed, std::uint64_t bytes) {
  const std::uint64_t place = packed & ((1ULL << place_bits) - 1);
  const std::string path = fmt::format("/proc/{}/fd/{}", pid, packed >> place_bits);
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) {
    return Error{ErrorCode::system, fmt::format("cannot open the memory of process {}: {}", pid,
                                                std::strerror(errno))};
  }
  struct stat info {};
  const bool long_enough =
      fstat(fd, &info) == 0 && static_cast<std::uint64_t>(info.st_size) >= place + bytes;
  const std::uint64_t start = place / page * page;
  const std::uint64_t length = place + bytes - start;
  void* mapping = long_enough ? mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                                     static_cast<off_t>(start))
                              : MAP_FAILED;
  const int code = errno;
  close(fd);
  if (!long_enough) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("window_on: the file has {} bytes; the window needs {} from {} on",
                             info.st_size, bytes, place)};
  }
  if (mapping == MAP_FAILED) {
    return Error{ErrorCode::system,
                 fmt::format("cannot map the memory of process {}: {}", pid, std::strerror(code))};
  }
  return Piece{static_cast<std::byte*>(mapping) + (place - start), mapping, length};
}

Result<std::vector<Piece>> map_all(const TeamContext& team, const std::vector<Message>& messages,
                                   const Bring& bring) {
  std::vector<Piece> pieces;
  const auto give_up = [&](const Error& error) {
    for (const Piece& piece : pieces) munmap(piece.mapping, piece.mapped);
    return error;
  };
  for (std::uint32_t peer = 0; peer < team.size(); ++peer) {
    if (bring.memory != nullptr) {
      pieces.push_back(Piece{reinterpret_cast<std::byte*>(messages[peer].value), nullptr, 0});
      continue;
    }
    const auto& record = team.header().rank_records[team.job_rank_of(Rank{peer})];
    Result<Piece> piece =
        map(record.pid.load(std::memory_order_relaxed), messages[peer].value, bring.bytes);
    if (!piece) return give_up(piece.error());
    pieces.push_back(*piece);
  }
  return pieces;
}

// A number that no segment of the job has; 0 where all are taken.
std::uint32_t take_segment(JobHeader& header) {
  const HeaderLock lock(header);
  const auto unused = std::ranges::find(header.segment_taken, false);
  if (unused == header.segment_taken.end()) return 0;
  *unused = true;
  return static_cast<std::uint32_t>(unused - header.segment_taken.begin());
}

void untake_segment(JobHeader& header, std::uint32_t segment) {
  const HeaderLock lock(header);
  header.segment_taken[segment] = false;
}

}  // namespace

Result<std::uint32_t> Setup::bring(const Bring& bring, const std::string& what,
                                   const std::optional<Error>& local) {
  const std::optional<Error> mine = local ? local : wrong(team_, bring);
  const auto told = agree(what, mine ? 0 : pack(bring), mine);
  if (!told) return told.error();
  Result<std::vector<Piece>> pieces = map_all(team_, *told, bring);
  std::uint32_t number = 0;
  std::optional<Error> failed;
  if (!pieces) {
    failed = pieces.error();
  } else if (team_.rank() == Rank{0}) {
    number = take_segment(team_.header());
    if (number == 0)
      failed =
          Error{ErrorCode::out_of_memory,
                fmt::format("a job has room for {} windows on brought memory", max_segments - 1)};
  }
  const auto mapped = agree(what, number, failed);
  if (!mapped) {
    if (number != 0) untake_segment(team_.header(), number);
    if (pieces) {
      for (const Piece& piece : *pieces) {
        if (piece.mapping != nullptr) munmap(piece.mapping, piece.mapped);
      }
    }
    return mapped.error();
  }
  const auto segment = static_cast<std::uint32_t>(mapped->front().value);
  team_.segments().adopt(segment, std::move(*pieces), bring.bytes);
  return segment;
}

Result<void> Setup::release_segment(std::uint32_t segment) {
  const std::string what = fmt::format("free of the window on brought memory {}", segment);
  std::optional<Error> local;
  if (!team_.segments().is_own(segment)) {
    local = Error{ErrorCode::invalid_argument,
                  fmt::format("{}: this team has none such (freed twice, or another team's)", what),
                  team_.rank()};
  }
  if (const auto agreed = agree(what, 0, local); !agreed) return agreed.error();
  team_.segments().drop(segment);
  if (Result<void> dropped = sync(); !dropped) return dropped;
  if (team_.rank() == Rank{0}) untake_segment(team_.header(), segment);
  return {};
}

}  // namespace muster::host
