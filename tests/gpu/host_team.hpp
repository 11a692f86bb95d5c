// A team whose lanes run gpu::Fabric on host threads, one thread for each: so the fabric's code is
// tried by the same bodies as the host's, where there is no GPU. What only a GPU has (several
// threads in a lane, its own memory model, peer memory) is left to the tests that need one.
#pragma once

#include <sys/mman.h>

#include <barrier>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

#include "muster/fabric/gpu.cuh"
#include "muster/result.hpp"

namespace muster::gpu_test {

// What the ranks share.
class HostSite {
 public:
  static constexpr std::uint32_t max_lanes = 4;
  static constexpr std::size_t cells = 1U << 16U;
  static constexpr std::size_t bytes = 256U << 20U;  // of each rank; pages come as they are touched

  explicit HostSite(std::uint32_t ranks)
      : claims_(ranks), records_(ranks), meeting_(static_cast<std::ptrdiff_t>(ranks)) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) bases_.push_back(map());
    gpu::Segment& segment = handle_.segments[0];
    segment.bytes = bytes;
    segment.far = bases_.data();
    for (std::uint32_t rank = 0; rank < ranks && rank < gpu::near_ranks; ++rank)
      segment.near[rank] = bases_[rank];
    handle_.ranks = ranks;
    handle_.max_lanes = max_lanes;
    handle_.team = 17;
    handle_.cells_end = cells * gpu::cell_bytes;
    handle_.retries = 1;
    handle_.notes = 1;
    handle_.deadline_ns = 20'000'000'000U;
    handle_.stop = &stop_;
    handle_.claims = claims_.data();
    handle_.records = records_.data();
  }
  ~HostSite() {
    for (std::byte* base : bases_) munmap(base, bytes);
  }
  HostSite(const HostSite&) = delete;
  HostSite& operator=(const HostSite&) = delete;

  [[nodiscard]] gpu::Handle& handle() { return handle_; }
  [[nodiscard]] const gpu::ErrorRecord& record(Rank rank) const { return records_[rank.value]; }
  void meet() { meeting_.arrive_and_wait(); }

 private:
  static std::byte* map() {
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no memory for a rank");
    return static_cast<std::byte*>(memory);
  }

  std::vector<std::byte*> bases_;
  std::vector<std::uint32_t> claims_;
  std::vector<gpu::ErrorRecord> records_;
  std::uint32_t stop_ = 0;
  std::barrier<> meeting_;
  gpu::Handle handle_;
};

using HostFabric = gpu::Fabric<gpu::Thread, gpu::Ranks::many, true>;

struct HostAllocation {
  std::uint64_t offset;
};

static_assert(FabricAll<HostFabric> && DirectFabricAll<HostFabric>);

// One rank's view, with muster::Team's interface as far as the bodies use it.
class HostTeam {
 public:
  HostTeam(HostSite& site, Rank rank) : site_(&site), rank_(rank) {}

  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] std::uint32_t size() const { return site_->handle().ranks; }
  [[nodiscard]] static std::uint32_t max_lanes() { return HostSite::max_lanes; }

  // Offsets come out alike on all ranks, since all make the same calls.
  Result<HostAllocation> allocate(std::uint64_t bytes) {
    const std::uint64_t offset = next_byte_;
    next_byte_ = (next_byte_ + bytes + 255) / 256 * 256;
    if (next_byte_ > HostSite::bytes) return Error{ErrorCode::out_of_memory, "the test's memory"};
    return HostAllocation{offset};
  }
  template <class T>
  Result<WindowRef<T>> window(const HostAllocation& allocation,
                              std::initializer_list<std::int64_t> extents) {
    WindowRef<T> made{allocation.offset, 1, 1, 0, site_->handle().team};
    for (const std::int64_t extent : extents) {
      made.rows *= made.cols;
      made.cols = extent;
    }
    return made;
  }
  template <class T>
  Result<WindowRef<T>> window(std::initializer_list<std::int64_t> extents, std::string_view = {}) {
    std::uint64_t bytes = sizeof(T);
    for (const std::int64_t extent : extents) bytes *= static_cast<std::uint64_t>(extent);
    return window<T>(*allocate(bytes), extents);
  }
  Result<Rows> rows() { return rows(max_lanes()); }
  Result<Rows> rows(std::uint32_t lanes) {
    const Signal first{0, take_cells(lanes * size())};
    return Rows{first, Counter{0, take_cells(lanes * Rows::counters_of_lane)}, lanes, size()};
  }
  Result<Signals> signals(std::uint32_t count) { return Signals{{0, take_cells(count)}, count}; }
  // Nothing is given back: the site goes with the test.
  template <class T>
  Result<void> free(const T&) {
    return {};
  }

  template <class Body>
  Result<void> lanes(std::uint32_t count, Body&& body) {
    std::vector<Result<void>> results(count);
    std::vector<std::thread> threads;
    for (std::uint32_t lane = 0; lane < count; ++lane)
      threads.emplace_back([&, lane] { results[lane] = run(lane, count, body); });
    for (std::thread& thread : threads) thread.join();
    for (const Result<void>& result : results)
      if (!result) return result;
    return {};
  }
  template <class Body>
  Result<void> lane(Body&& body) {
    return lanes(1, body);
  }
  Result<void> sync() {
    site_->meet();
    return {};
  }

 private:
  std::uint32_t take_cells(std::uint32_t count) {
    const std::uint32_t first = next_cell_;
    next_cell_ += count;
    if (next_cell_ > HostSite::cells) throw std::runtime_error("no cells left");
    return first;
  }

  template <class Body>
  Result<void> run(std::uint32_t lane, std::uint32_t count, Body& body) {
    HostFabric fabric(site_->handle(), gpu::LaneCoordinates{rank_, Lane{lane}, count});
    using Returned = std::invoke_result_t<Body&, HostFabric&>;
    if constexpr (std::is_void_v<Returned>) {
      body(fabric);
      return {};
    } else if constexpr (std::is_same_v<Returned, WaitStatus>) {
      return result_of(body(fabric));
    } else {
      return body(fabric);
    }
  }

  HostSite* site_;
  Rank rank_;
  std::uint32_t next_cell_ = 0;
  std::uint64_t next_byte_ = HostSite::cells * gpu::cell_bytes;
};

static_assert(SetUpAll<HostTeam>);

// The body on `ranks` threads, each with a team of its own; the first error.
inline Result<void> run_on_host(std::uint32_t ranks, bool verify,
                                const std::function<Result<void>(HostTeam&)>& body) {
  HostSite site(ranks);
  site.handle().verify = verify ? 1 : 0;
  std::vector<Result<void>> results(ranks);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      HostTeam team(site, Rank{rank});
      results[rank] = body(team);
    });
  for (std::thread& thread : threads) thread.join();
  for (const Result<void>& result : results)
    if (!result) return result;
  return {};
}

}  // namespace muster::gpu_test
