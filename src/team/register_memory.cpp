// Windows over memory that the ranks register.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/step.hpp"
#include "fabric/host/header_lock.hpp"
#include "fabric/host/room.hpp"
#include "muster/team.hpp"
#include "team/control.hpp"
#include "team/handover.hpp"

namespace muster::host {
namespace {

std::optional<Error> wrong(const TeamContext& team, const Registration& memory) {
  const auto invalid = [](std::string what) {
    return Error{ErrorCode::invalid_argument, std::move(what)};
  };
  if (memory.memory == nullptr && memory.fd < 0) {
    return invalid("window_on: neither memory nor a descriptor was given");
  }
  if (memory.memory != nullptr && team.process().processes && team.size() > 1) {
    return Error{ErrorCode::unavailable,
                 "window_on: a pointer reaches no other process; give the descriptor of shared "
                 "memory (memfd_create, shm_open) instead"};
  }
  if (memory.memory != nullptr) return std::nullopt;
  auto lacking = back_with_pages(memory.fd, memory.place, memory.bytes);
  if (lacking) lacking->what = "window_on: " + lacking->what;
  return lacking;
}

// Maps `bytes` of the file, from `place` on.
Result<Piece> map(Rank owner, int fd, std::uint64_t place, std::uint64_t bytes) {
  struct stat info {};
  if (fstat(fd, &info) != 0 || place > INT64_MAX - bytes ||
      static_cast<std::uint64_t>(info.st_size) < place + bytes) {
    return Error{
        ErrorCode::invalid_argument,
        fmt::format("window_on: the file has {} bytes; the window needs {} from {} on (the "
                    "file of rank {})",
                    info.st_size, bytes, place, owner.value)};
  }
  const std::uint64_t start = place / page * page;
  const std::uint64_t length = place + bytes - start;
  void* mapping =
      mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(start));
  if (mapping == MAP_FAILED) {
    return Error{ErrorCode::system, fmt::format("cannot map the memory of rank {}: {}", owner.value,
                                                std::strerror(errno))};
  }
  madvise(mapping, length, MADV_DONTDUMP);  // as with the job's own memory
  return Piece{static_cast<std::byte*>(mapping) + (place - start), mapping, length};
}

void unmap(const std::vector<Piece>& pieces) {
  for (const Piece& piece : pieces) {
    if (piece.mapping != nullptr) munmap(piece.mapping, piece.mapped);
  }
}

// Every rank's descriptor to every other, and all of it mapped.
Result<std::vector<Piece>> exchange_memory(TeamContext& team, CallClock& call, Handover& handover,
                                           const std::vector<std::uint64_t>& names,
                                           const Registration& memory) {
  std::vector<Piece> pieces(team.size());
  const auto keep = [&](Rank owner, int fd, std::uint64_t place) -> std::optional<Error> {
    const Result<Piece> piece = map(owner, fd, place, memory.bytes);
    if (!piece) return piece.error();
    pieces[owner.value] = *piece;
    return std::nullopt;
  };
  const std::optional<Error> own = keep(team.rank(), memory.fd, memory.place);
  const Result<void> done = handover.exchange(
      team, call, names, memory.fd, memory.place,
      [&](Rank from, const Fd& fd, std::uint64_t place) { return keep(from, fd.get(), place); });
  if (done && !own) return pieces;
  unmap(pieces);
  return done ? *own : done.error();
}

std::vector<Piece> pieces_at(const std::vector<std::uint64_t>& pointers) {
  std::vector<Piece> pieces;
  pieces.reserve(pointers.size());
  for (const std::uint64_t pointer : pointers)
    pieces.push_back({reinterpret_cast<std::byte*>(pointer), nullptr, 0});
  return pieces;
}

// A number that no segment of the job has.
Result<std::uint32_t> take_segment(const RankContext& rank) {
  JobHeader& header = rank.job->header();
  const HeaderLock lock(header, rank.job_rank, rank.timeout);
  if (!lock.is_held()) return lock.refusal();
  step(rank.job_rank, "window_on: take a number");
  const auto unused = std::ranges::find(header.segment_taken, false);
  if (unused == header.segment_taken.end()) {
    return Error{
        ErrorCode::out_of_memory,
        fmt::format("a job has room for {} windows on registered memory", max_segments - 1)};
  }
  *unused = true;
  return static_cast<std::uint32_t>(unused - header.segment_taken.begin());
}

void untake_segment(const RankContext& rank, std::uint32_t segment) {
  JobHeader& header = rank.job->header();
  const HeaderLock lock(header, rank.job_rank, rank.timeout);
  if (lock.is_held()) header.segment_taken[segment] = false;
}

}  // namespace

Result<std::uint32_t> TeamControl::register_memory(const Registration& memory,
                                                   const std::string& what,
                                                   const std::optional<Error>& local) {
  if (const auto refused = lanes_run(what)) return *refused;
  const auto call = one_call();
  std::optional<Error> mine = local ? local : wrong(team_, memory);
  std::optional<Handover> handover;
  if (!mine && memory.memory == nullptr) {
    Result<Handover> opened = Handover::open();
    if (opened)
      handover = std::move(*opened);
    else
      mine = opened.error();
  }
  step(team_.process().job_rank, "window_on: agree");
  // Between threads the pointers themselves; else where to send descriptors.
  const std::uint64_t word =
      handover ? handover->name() : reinterpret_cast<std::uint64_t>(memory.memory);
  const auto told = agree(what, mine ? 0 : word, mine);
  if (!told) return told.error();
  Result<std::vector<Piece>> pieces = handover
                                          ? exchange_memory(team_, call_, *handover, *told, memory)
                                          : Result<std::vector<Piece>>(pieces_at(*told));
  Result<std::uint32_t> number = 0U;
  if (!pieces) {
    number = pieces.error();
  } else if (team_.rank() == Rank{0}) {
    number = take_segment(team_.process());
  }
  step(team_.process().job_rank, "window_on: agree on the number");
  const auto mapped = agree(what, number ? *number : 0,
                            number ? std::nullopt : std::optional<Error>(number.error()));
  if (!mapped) {
    if (number && *number != 0) untake_segment(team_.process(), *number);
    if (pieces) unmap(*pieces);
    return mapped.error();
  }
  step(team_.process().job_rank, "window_on: keep");
  const auto segment = static_cast<std::uint32_t>(mapped->front());
  team_.segments().adopt(segment, std::move(*pieces), memory.bytes, memory.element);
  return segment;
}

Result<void> TeamControl::release_segment(std::uint32_t segment) {
  const std::string what = fmt::format("free of the window on registered memory {}", segment);
  if (const auto refused = lanes_run(what)) return *refused;
  const auto call = one_call();
  std::optional<Error> local;
  if (!team_.segments().is_own(segment)) {
    local = Error{ErrorCode::invalid_argument,
                  fmt::format("{}: this team has none such (freed twice, or another team's)", what),
                  team_.rank()};
  }
  if (const auto agreed = agree(what, 0, local); !agreed) return agreed.error();
  step(team_.process().job_rank, "window_on: drop");
  team_.segments().drop(segment);
  if (Result<void> dropped = sync(); !dropped) return dropped;
  if (team_.rank() == Rank{0}) untake_segment(team_.process(), segment);
  return {};
}

}  // namespace muster::host
