// Messages by hand: store a flag, or copy and store a flag, and spin until the own flag is there.
// What the cache lines and the copy alone cost.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>

#include "bench/barrier/cells.hpp"
#include "bench/ranks.hpp"
#include "bench/transfer/transfer.hpp"
#include "launch/binding.hpp"

namespace muster::bench {

namespace {

// One rank's memory: its flag, what it sends, what it receives.
struct Place {
  std::atomic<std::uint32_t>* flag;
  std::byte* source;
  std::byte* target;
};

// The memory of all ranks; each part begins on a page of its own.
class Places {
 public:
  Places(std::uint32_t ranks, std::uint64_t bytes)
      : part_((bytes + 4095) / 4096 * 4096), memory_(ranks * (4096 + 2 * part_)) {}

  [[nodiscard]] Place at(std::uint32_t rank) const {
    std::byte* const begin = memory_.at<std::byte>(rank * (4096 + 2 * part_));
    return {&reinterpret_cast<Cell*>(begin)->word, begin + 4096, begin + 4096 + part_};
  }

 private:
  std::uint64_t part_;
  SharedBytes memory_;
};

// move(mine, right, left) is what one call does besides the flags: before them, or after.
template <bool before, class Move>
Contender bare(const char* name, const Request& request, const Move& move) {
  Contender one{.name = name, .role = Role::floor, .as = request.as};
  if (request.ranks > launcher::allowed_cores().size())
    one.why_not = "it never yields, which means nothing with more ranks than cores";
  one.run = [as = request.as, bytes = request.bytes, move](const Plan& plan) {
    const Places places(plan.ranks, bytes);
    return run_apart(plan, [&](std::span<RankLog> logs) {
      return run_ranks(plan, as, [&](std::uint32_t rank) {
        const Place mine = places.at(rank);
        const Place right = places.at((rank + 1) % plan.ranks);
        const Place left = places.at((rank + plan.ranks - 1) % plan.ranks);
        std::memset(mine.source, 1, bytes);
        std::uint32_t epoch = 0;
        time_blocks(plan, logs[rank], [&] {
          ++epoch;
          if (before) move(mine, right, left);
          right.flag->store(epoch, std::memory_order_release);  // pairs with the load below
          while (!reached(mine.flag->load(std::memory_order_acquire), epoch)) {
          }
          if (!before) move(mine, right, left);
          return true;
        });
      });
    });
  };
  return one;
}

}  // namespace

Contender bare_notify(const Request& request) {
  return bare<true>("bare store", request, [](const Place&, const Place&, const Place&) {});
}

Contender bare_put(const Request& request) {
  return bare<true>("memcpy and flag", request,
                    [bytes = request.bytes](const Place& mine, const Place& right, const Place&) {
                      std::memcpy(right.target, mine.source, bytes);
                    });
}

Contender bare_get(const Request& request) {
  return bare<false>("flag and memcpy", request,
                     [bytes = request.bytes](const Place& mine, const Place&, const Place& left) {
                       std::memcpy(mine.target, left.source, bytes);
                     });
}

Contender bare_add(const Request& request) {
  return bare<true>("atomic additions", request,
                    [bytes = request.bytes](const Place& mine, const Place& right, const Place&) {
                      auto* const to = reinterpret_cast<std::int32_t*>(right.target);
                      const auto* const from = reinterpret_cast<const std::int32_t*>(mine.source);
                      for (std::uint64_t i = 0; i < bytes / sizeof(std::int32_t); ++i)
                        std::atomic_ref<std::int32_t>(to[i]).fetch_add(from[i],
                                                                       std::memory_order_relaxed);
                    });
}

}  // namespace muster::bench
