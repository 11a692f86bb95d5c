// The memory of a job: made once, mapped by every rank, gone with the last mapping.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fabric/host/layout.hpp"
#include "muster/result.hpp"

namespace muster::host {

struct JobOptions {
  std::uint32_t ranks = 1;
  std::size_t cores = 1;  // that the ranks will have between them
  bool watched = false;   // somebody will say of each rank that its process has ended
};

// A mapping of the job's memory. Owns the file descriptor and the mapping.
class Job {
 public:
  Job(Job&& other) noexcept;
  Job& operator=(Job&&) = delete;
  ~Job();

  // Maps what `fd` names and takes the descriptor over, also where it fails. An error where it is
  // no job of this version.
  [[nodiscard]] static Result<Job> attach(int fd);

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] JobHeader& header() const { return *header_; }
  // Cell i is the word at i * cell_stride from there; what lies between may be other ranks'.
  [[nodiscard]] std::byte* cells_of(std::uint32_t rank) const;
  [[nodiscard]] std::byte* heap_of(std::uint32_t rank) const;
  // Makes `count` cells of the rank, from `first` on, zero.
  void clear_cells(std::uint32_t rank, std::uint64_t first, std::uint64_t count) const;

  // Takes real pages for part of a rank's heap, or says how much was asked and how much there is.
  [[nodiscard]] Result<void> commit_heap(std::uint32_t rank, std::uint64_t offset,
                                         std::uint64_t bytes) const;
  // Gives the pages back; they read zero afterwards.
  void discard_heap(std::uint32_t rank, std::uint64_t offset, std::uint64_t bytes) const;

  // Makes the memory as it was at first, but for who the ranks are and what they have begun. While
  // nobody else uses it.
  void clear() const;

  // Writes which process and on which cores the rank is.
  void enlist(std::uint32_t rank) const;
  // " (pid 123)", where that number means something to the calling process; else nothing.
  [[nodiscard]] std::string pid_note(std::uint32_t rank) const;

 private:
  [[nodiscard]] std::byte* region_of(std::uint32_t rank) const;

  Job(int fd, JobHeader* header, std::uint64_t length)
      : fd_(fd), header_(header), length_(length) {}
  int fd_;
  JobHeader* header_;
  std::uint64_t length_;
};

// A new job: anonymous memory, 0600, all zero but its header. Its descriptor is closed on exec
// until keep_across_exec() says otherwise.
[[nodiscard]] Result<Job> create_job(const JobOptions& options);
void keep_across_exec(int fd);

}  // namespace muster::host
