// The threads that a team's lanes run on, kept from one call of lanes to the next.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>

namespace muster {

// Used by one thread at a time. The threads end with it.
class LanePool {
 public:
  LanePool();
  ~LanePool();
  LanePool(const LanePool&) = delete;
  LanePool& operator=(const LanePool&) = delete;

  // Threads for the lanes 1 to lanes - 1, of which those that are missing are started. Throws
  // std::system_error where one cannot be; a call that wants no more than there are goes on.
  void grow(std::uint32_t lanes);
  [[nodiscard]] std::uint32_t lanes() const;  // how many there are threads for, the caller's one

  // Calls job(lane) for each lane below `lanes`, which grow has been told, for lane 0 on this
  // thread, and returns when all have returned. The job throws nothing.
  void run(std::uint32_t lanes, const std::function<void(std::uint32_t)>& job);

 private:
  struct Crew;

  // A child of fork has none of its parent's threads: it begins with none.
  void forget_if_forked();

  std::unique_ptr<Crew> crew_;
  pid_t process_;
};

}  // namespace muster
