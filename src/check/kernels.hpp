// The kernels of one rank that are launched together: see launches.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "check/clock.hpp"
#include "check/thread.hpp"
#include "check/where.hpp"
#include "muster/result.hpp"

namespace muster::check::engine {

// What a kernel has left behind when it ended, or was there before the first one.
struct Past {
  Clock hb;
  Clock cause;
  Clock ended;
  Clock issued;
  Clock pending;
  Clock back;  // noncoherent: the cached writes that are known to be written back
  std::uint64_t depth = 0;

  explicit Past(const Thread& thread)
      : hb(thread.hb),
        cause(thread.cause),
        ended(thread.ended),
        issued(thread.issued),
        pending(thread.pending),
        back(thread.caches.back),
        depth(thread.depth) {
    back.join(thread.caches.pending);
  }
  // A kernel acquires it: the thread knows of it, and so does what it gives relaxed from now on.
  void acquired_by(Thread& thread) const {
    thread.hb.join(hb);
    thread.cause.join(cause);
    thread.ended.join(ended);
    thread.issued.join(issued);
    thread.depth = std::max(thread.depth, depth);
    thread.learn(pending);
    thread.fence.join(hb);
    thread.fence.join(pending);
    thread.caches.back.join(back);
    thread.caches.fence.join(back);
  }
};

struct Kernels {
  const std::function<Result<void>(model::Fabric&, std::uint32_t)>* body = nullptr;
  Where where;
  std::uint32_t count = 0;
  std::uint32_t lanes = 0;
  std::uint32_t begun = 0;
  std::vector<Past> ends;         // of kernel k - 1, at k
  std::uint32_t running[2] = {};  // threads of a kernel that runs, by bank

  // Of the kernel that began last: how many threads of each lane have neither called launch_done
  // nor ended, 0 where one has called it; and what has happened until then.
  std::vector<std::uint32_t> silent;
  Clock told;

  Result<void> result;  // the first that is not good

  [[nodiscard]] bool next_may_begin() const {
    if (begun == count || running[begun % 2] > 0) return false;
    for (const std::uint32_t threads : silent)
      if (threads > 0) return false;
    return true;
  }
};

}  // namespace muster::check::engine
