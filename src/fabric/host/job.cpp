#include "fabric/host/job.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "fabric/host/memory_info.hpp"
#include "fabric/host/room.hpp"

namespace muster::host {
namespace {

constexpr std::uint64_t cells_per_rank = 1U << 20U;
// A process can map 128 TiB; this leaves room for everything else, sanitizers included.
constexpr std::uint64_t address_budget = 1ULL << 44U;
// Addresses cost nothing, and memory may be added to a running machine.
constexpr std::uint64_t least_heap = 1ULL << 38U;
constexpr std::uint64_t smallest_heap = 1ULL << 26U;

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) / to * to;
}

Error system_error(const std::string& what) {
  return Error{ErrorCode::system, fmt::format("{}: {}", what, std::strerror(errno))};
}

// What a job's memory begins with, at each of its runs.
void reset_space(JobHeader& header) {
  header.team_taken.fill(false);
  header.standing.store(0, std::memory_order_relaxed);
  header.segment_taken.fill(false);
  header.segment_taken[0] = true;
  header.cell_space.reset(0, header.cells);
  header.heap_space.reset(0, header.heap_bytes);
}

void make_marks(JobHeader& header) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  for (std::uint32_t rank = 0; rank < header.ranks; ++rank)
    pthread_mutex_init(&header.marks[rank], &attributes);
  pthread_mutex_init(&header.launcher_mark, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

// Which space of process numbers this process lives in; 0 where that cannot be told.
std::uint64_t own_pid_space() {
  struct stat space {};
  return stat("/proc/self/ns/pid", &space) == 0 ? space.st_ino : 0;
}

// A crash must not write the memory of all ranks to disk, nor fill its holes: the dumper touches
// every page that is mapped.
void keep_out_of_dumps(void* memory, std::uint64_t length) {
  madvise(memory, length, MADV_DONTDUMP);
}

void fill_header(JobHeader& header, const JobOptions& options, std::uint64_t heap_bytes) {
  if (getrandom(&header.nonce, sizeof header.nonce, 0) != sizeof header.nonce) header.nonce = 0;
  header.ranks = options.ranks;
  header.rank_offset = round_up(sizeof(JobHeader), page);
  header.cells = cells_per_rank;
  header.heap_bytes = heap_bytes;
  header.rank_stride = cells_per_rank * cell_stride + heap_bytes;
  header.ranks_in_line = options.ranks > options.cores ? cell_stride / sizeof(std::uint32_t) : 1;
  header.watched = options.watched;
  make_marks(header);
  reset_space(header);
}

}  // namespace

Job::Job(Job&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      header_(std::exchange(other.header_, nullptr)),
      length_(other.length_) {}

Job::~Job() {
  if (header_ != nullptr) munmap(header_, length_);
  if (fd_ >= 0) close(fd_);
}

Result<Job> Job::attach(int fd) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return system_error(fmt::format("descriptor {} holds no job", fd));
  Job job(fd, nullptr, static_cast<std::uint64_t>(info.st_size));
  if (job.length_ < sizeof(JobHeader)) {
    return Error{ErrorCode::invalid_argument, fmt::format("descriptor {} holds no muster job", fd)};
  }
  fcntl(fd, F_SETFD, FD_CLOEXEC);  // what a rank starts is not part of the job
  void* memory =
      mmap(nullptr, job.length_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (memory == MAP_FAILED) return no_room_for("the job", job.length_, errno);
  keep_out_of_dumps(memory, job.length_);
  job.header_ = static_cast<JobHeader*>(memory);
  // Pairs with the release in create_job: a header with its magic is complete.
  if (job.header().magic.load(std::memory_order_acquire) != JobHeader::magic_value) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("descriptor {} holds no muster job of this version", fd)};
  }
  return job;
}

std::byte* Job::region_of(std::uint32_t rank) const {
  return reinterpret_cast<std::byte*>(header_) + header_->rank_offset + header_->rank_stride * rank;
}

std::byte* Job::cells_of(std::uint32_t rank) const {
  const std::uint32_t place = rank % header_->ranks_in_line;
  return region_of(rank - place) + place * sizeof(std::uint32_t);
}

std::byte* Job::heap_of(std::uint32_t rank) const {
  return region_of(rank) + header_->cells * cell_stride;
}

void Job::clear_cells(std::uint32_t rank, std::uint64_t first, std::uint64_t count) const {
  std::byte* cell = cells_of(rank) + first * cell_stride;
  for (std::uint64_t i = 0; i < count; ++i, cell += cell_stride)
    std::memset(cell, 0, sizeof(std::uint32_t));
}

Result<void> Job::commit_heap(std::uint32_t rank, std::uint64_t offset, std::uint64_t bytes) const {
  const auto start = heap_of(rank) + offset - reinterpret_cast<std::byte*>(header_);
  int code = 0;
  do {
    code = posix_fallocate(fd_, start, static_cast<off_t>(bytes));
  } while (code == EINTR);
  if (code == 0) return {};
  return Error{ErrorCode::out_of_memory,
               fmt::format("{} were asked for and {} are available ({})", format_bytes(bytes),
                           format_bytes(available_memory()), std::strerror(code))};
}

void Job::discard_heap(std::uint32_t rank, std::uint64_t offset, std::uint64_t bytes) const {
  const auto start = heap_of(rank) + offset - reinterpret_cast<std::byte*>(header_);
  fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, start, static_cast<off_t>(bytes));
}

void Job::clear() const {
  header_->lock.store(0, std::memory_order_relaxed);  // who held it in the last run is done
  reset_space(*header_);
  header_->joined.store(0, std::memory_order_relaxed);
  for (std::uint32_t rank = 0; rank < header_->ranks; ++rank) {
    RankRecord& record = header_->rank_records[rank];
    record.state.store(RankState::absent, std::memory_order_relaxed);
    record.shrinking.store(0, std::memory_order_relaxed);
    record.sleepers.store(0, std::memory_order_relaxed);
  }
  fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
            static_cast<off_t>(header_->rank_offset),
            static_cast<off_t>(header_->rank_stride * header_->ranks));
}

void Job::enlist(std::uint32_t rank) const {
  RankRecord& record = header_->rank_records[rank];
  sched_getaffinity(0, sizeof record.cores, &record.cores);
  // Relaxed: a message that comes too early lacks the number.
  record.pid_space.store(own_pid_space(), std::memory_order_relaxed);
  record.pid.store(getpid(), std::memory_order_relaxed);
}

Result<Job> create_job(const JobOptions& options) {
  if (options.ranks < 1 || options.ranks > max_ranks) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("ranks is {}; it must be from 1 to {}", options.ranks, max_ranks)};
  }
  // Not 0, 1 or 2, which may be closed here: a rank's standard streams would take its place.
  const int first = memfd_create("muster", MFD_CLOEXEC);
  const int fd = first < 0 ? first : fcntl(first, F_DUPFD_CLOEXEC, 3);
  if (first >= 0) close(first);
  if (fd < 0) return system_error("cannot make shared memory");
  fchmod(fd, S_IRUSR | S_IWUSR);
  const std::uint64_t wanted = std::max(least_heap, std::bit_ceil(total_memory()));
  std::uint64_t heap = std::min(wanted, std::bit_floor(address_budget / options.ranks));
  void* memory = MAP_FAILED;
  std::uint64_t length = 0;
  // A limit on addresses (RLIMIT_AS, a sanitizer's shadow) or on files (RLIMIT_FSIZE, which is a
  // signal to who passes it) makes the heaps smaller, not impossible. The rest of the program gets
  // half of the addresses, as long as a smaller heap can leave them.
  const std::uint64_t room = address_room();
  int refused = ENOMEM;
  for (; heap >= smallest_heap; heap /= 2) {
    length =
        round_up(sizeof(JobHeader), page) + (cells_per_rank * cell_stride + heap) * options.ranks;
    if (length > file_room() || (length > room / 2 && heap > smallest_heap)) continue;
    if (ftruncate(fd, static_cast<off_t>(length)) != 0) {
      Error error = system_error("cannot size the job's memory");
      close(fd);
      return error;
    }
    memory = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (memory != MAP_FAILED) break;
    refused = errno;
  }
  if (memory == MAP_FAILED) {
    close(fd);
    return no_room_for(fmt::format("a job of {} ranks", options.ranks), length, refused);
  }
  keep_out_of_dumps(memory, length);
  fill_header(*static_cast<JobHeader*>(memory), options, heap);
  // Pairs with the acquire in attach.
  static_cast<JobHeader*>(memory)->magic.store(JobHeader::magic_value, std::memory_order_release);
  munmap(memory, length);
  return Job::attach(fd);
}

void keep_across_exec(int fd) {
  fcntl(fd, F_SETFD, 0);
}

std::string Job::pid_note(std::uint32_t rank) const {
  const RankRecord& record = header_->rank_records[rank];
  const std::uint64_t space = record.pid_space.load(std::memory_order_relaxed);
  if (space == 0 || space != own_pid_space()) return {};
  return fmt::format(" (pid {})", record.pid.load(std::memory_order_relaxed));
}

}  // namespace muster::host
