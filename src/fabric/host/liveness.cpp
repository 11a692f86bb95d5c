#include "fabric/host/liveness.hpp"

#include <fmt/format.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/gone.hpp"

namespace muster::host {
namespace {

// The word that the kernel writes to. Where it lies in the mutex is fixed: processes of different
// C libraries' versions share such mutexes.
std::uint32_t word_of(pthread_mutex_t& mark) {
  // Acquire pairs with the kernel's atomic exchange at the thread's end: what its owner wrote, a
  // rank's leaving above all, is seen with it.
  return static_cast<std::uint32_t>(
      std::atomic_ref<int>(mark.__data.__lock).load(std::memory_order_acquire));
}

std::uint32_t word_of(JobHeader& header, std::uint32_t rank) {
  return word_of(header.marks[rank]);
}

bool has_died(std::uint32_t word) {
  return (word & FUTEX_OWNER_DIED) != 0;
}

bool lives(std::uint32_t word) {
  return !has_died(word) && (word & FUTEX_TID_MASK) != 0;
}

// 0, or why not.
int lock(pthread_mutex_t& mark) {
  const int code = pthread_mutex_trylock(&mark);
  // An earlier process of the rank ended with it: `sh -c "./one; ./two"`.
  return code == EOWNERDEAD ? pthread_mutex_consistent(&mark) : code;
}

}  // namespace

bool kernel_keeps_robust_list() {
  void* list = nullptr;
  std::size_t length = 0;
  const long got = syscall(SYS_get_robust_list, 0, &list, &length);
  // A filter may forbid to ask and not to keep.
  return got == 0 ? list != nullptr : errno != ENOSYS;
}

LifeMark::LifeMark(std::shared_ptr<const Job> job, pthread_mutex_t& mark)
    : job_(std::move(job)), mark_(&mark), thread_(gettid()) {}

LifeMark::LifeMark(LifeMark&& other) noexcept
    : job_(std::move(other.job_)), mark_(other.mark_), thread_(other.thread_) {
  other.job_.reset();
}

LifeMark& LifeMark::operator=(LifeMark&& other) noexcept {
  std::swap(job_, other.job_);
  std::swap(mark_, other.mark_);
  std::swap(thread_, other.thread_);
  return *this;
}

Result<LifeMark> LifeMark::take(std::shared_ptr<const Job> job, std::uint32_t rank) {
  if (!kernel_keeps_robust_list()) {
    return Error{ErrorCode::unavailable,
                 "this kernel, or a filter in front of it, has no robust futexes (get_robust_list: "
                 "not implemented): ranks could not see each other end"};
  }
  pthread_mutex_t& mark = job->header().marks[rank];
  const int code = lock(mark);
  if (code == EBUSY) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("rank {} is taken: another process{} has joined as it and lives", rank,
                             job->pid_note(rank)),
                 Rank{rank}};
  }
  if (code != 0) {
    return Error{ErrorCode::system,
                 fmt::format("cannot take the mark of rank {}: {}", rank, std::strerror(code))};
  }
  return LifeMark(std::move(job), mark);
}

LifeMark LifeMark::take_as_launcher(std::shared_ptr<const Job> job) {
  pthread_mutex_t& mark = job->header().launcher_mark;
  if (!kernel_keeps_robust_list() || lock(mark) != 0) return {};
  return LifeMark(std::move(job), mark);
}

void LifeMark::release() {
  if (job_ == nullptr) return;
  // Another thread cannot; a process that the rank has forked has nothing to give. The memory must
  // stay then, for the C library still has the mark in its list.
  if (gettid() != thread_ || pthread_mutex_unlock(mark_) != 0) new std::shared_ptr<const Job>(job_);
  job_.reset();
}

bool is_lost(JobHeader& header, std::uint32_t rank) {
  const std::uint32_t word = word_of(header, rank);
  if (lives(word)) return false;
  const RankRecord& record = header.rank_records[rank];
  // Without a mark: it has not come, or has left. Pairs with the release in note_end.
  if (!has_died(word) && record.ended.load(std::memory_order_acquire) == 0) return false;
  // Looked at after the end was seen: a rank says that it leaves before it ends.
  return record.state.load(std::memory_order_acquire) != RankState::left;
}

bool is_gone(JobHeader& header, std::uint32_t rank) {
  // Pairs with the release in note_end.
  if (header.watched) return header.rank_records[rank].ended.load(std::memory_order_acquire) != 0;
  return has_died(word_of(header, rank));
}

bool is_launcher_lost(JobHeader& header) {
  return has_died(word_of(header.launcher_mark));
}

void end_if_launcher_is_lost(JobHeader& header, std::uint32_t rank) {
  if (is_launcher_lost(header)) end_without_launcher("muster run", fmt::format("rank {}", rank));
}

void note_end(JobHeader& header, std::uint32_t rank) {
  // Pairs with the acquire in is_lost.
  header.rank_records[rank].ended.store(1, std::memory_order_release);
}

}  // namespace muster::host
