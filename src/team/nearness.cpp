// Whether what ranks show each other is quicker to reach past the caches.
#include <algorithm>
#include <chrono>
#include <cstdint>

#include "muster/barrier/epoch.hpp"
#include "muster/collective/straight.hpp"
#include "muster/team.hpp"

namespace muster {

namespace {

// A line that its reader holds is fetched back before it is written, and fetched again to be read.
// Between cores that share a cache that is quicker than by way of memory for what is short (4 KiB:
// 0.7 of the time; 16 KiB: 1.2; 64 KiB: 1.8); between others it is not (1 KiB: 1.1; 4 KiB: 2.2; 64
// KiB: 5). Nobody says reliably which cores they are, least of all a virtual machine, so 4 KiB are
// tried out. (Two cores of an AMD EPYC 9004, 2026-12-01: ns for both ways, least of 10 blocks.)
constexpr std::int64_t run_tried = 4096;
constexpr std::int64_t around_from_near = 12288;
constexpr std::int64_t around_from_far = 1024;

class Nearness {
 public:
  explicit Nearness(Team& team) {
    const auto window = team.window<std::uint8_t>({2, run_tried});
    const auto rows = team.rows(1);
    if (!window || !rows) return;
    const EpochBarrier barrier(*rows);
    const Result<void> ended = team.lane([&](host::Fabric& fabric) {
      double least[2] = {1e18, 1e18};
      WaitStatus status = WaitStatus::ok;
      for (int block = 0; block < 12 && status == WaitStatus::ok; ++block) {
        const bool around = block % 2 != 0;
        const double took = time_rounds(fabric, barrier, *window, around, status);
        least[around] = std::min(least[around], took);
      }
      from_ = least[1] < least[0] ? around_from_far : around_from_near;
      return status;
    });
    if (!ended) from_ = around_from_near;
    (void)team.free(*rows);
    (void)team.free(*window);
  }

  [[nodiscard]] std::int64_t from() const { return from_; }

 private:
  // Every rank shows a run and reads its right neighbour's, so many times.
  static double time_rounds(host::Fabric& fabric, const EpochBarrier& barrier,
                            WindowRef<std::uint8_t> window, bool around, WaitStatus& status) {
    auto tile = fabric.tile<std::uint8_t, 1, run_tried>();
    const auto begin = std::chrono::steady_clock::now();
    for (std::int64_t round = 0; round < 8 && status == WaitStatus::ok; ++round) {
      const Box half{round % 2, 0, 1, run_tried};
      fabric.show(tile, window, fabric.rank(), half, around);
      fabric.converge();
      status = barrier.sync(fabric);
      (void)fabric.remote_load(tile, window, right_of(fabric), half);
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    return took.count();
  }

  std::int64_t from_ = around_from_near;
};

}  // namespace

std::int64_t Team::shown_from() {
  if (!has_core_each()) return around_from_near;  // nothing to be tried out while others run
  if (size() == 1) return detail::never_around;
  return kept<Nearness>().from();
}

}  // namespace muster
