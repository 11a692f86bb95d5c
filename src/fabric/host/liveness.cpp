#include "fabric/host/liveness.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "fabric/host/memory_info.hpp"

namespace muster::host {

Liveness::Liveness(JobHeader& header) : header_(header), descriptors_(header.ranks, -1) {}

Liveness::~Liveness() {
  for (const int descriptor : descriptors_) {
    if (descriptor >= 0) close(descriptor);
  }
}

bool Liveness::is_lost(std::uint32_t rank) {
  const RankRecord& record = header_.rank_records[rank];
  // Pairs with the release in enlist.
  const std::int32_t pid = record.pid.load(std::memory_order_acquire);
  // A rank that ended before it said who it is: only its launcher can know.
  const bool unseen = pid == 0 && record.ended.load(std::memory_order_acquire) != 0;
  if (!unseen && (pid == 0 || pid == getpid() || !has_ended(rank, pid))) return false;
  // Looked at after the end was seen: a rank says that it leaves before it ends.
  return record.state.load(std::memory_order_acquire) != RankState::left;
}

bool Liveness::is_gone(std::uint32_t rank) {
  const RankRecord& record = header_.rank_records[rank];
  // Pairs with the release in note_end.
  if (header_.watched) return record.ended.load(std::memory_order_acquire) != 0;
  const std::int32_t pid = record.pid.load(std::memory_order_acquire);
  return pid != 0 && pid != getpid() && has_ended(rank, pid);
}

bool Liveness::has_ended(std::uint32_t rank, std::int32_t pid) {
  int& descriptor = descriptors_[rank];
  if (descriptor < 0) {
    descriptor = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    if (descriptor < 0 && errno == ESRCH) return true;
    // The number may have passed to another process before it was opened.
    const std::uint64_t start =
        header_.rank_records[rank].start_time.load(std::memory_order_relaxed);
    if (start != 0 && process_start_time(pid) != start) return true;
  }
  if (descriptor < 0)
    return kill(pid, 0) != 0 && errno == ESRCH;  // a kernel without process descriptors
  pollfd query{descriptor, POLLIN, 0};
  return poll(&query, 1, 0) == 1;
}

}  // namespace muster::host
